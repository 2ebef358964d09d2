//! The one that is needed last goes (Belady 1966): what an eviction that knows the future hits, and so the most that any can.
//! Between blocks that are needed equally late the children of a prefix go first; a parent is never needed later than its
//! child, so nothing is left whose parent is gone.

use super::{Accesses, Name, Policy};
use std::collections::BinaryHeap;

/// Never needed again.
const NEVER: u32 = u32::MAX;

/// Eviction that knows the requests to come. It is for the requests that it was made of, in their order.
pub struct Belady {
    /// For each touch to come, the next one last: the next request that needs the block, and how deep it is in its prefix.
    future: Vec<(u32, u32)>,
    /// By name: when it is needed next; `None` when it is not in the cache.
    needed: Vec<Option<u32>>,
    /// When it is needed, how deep it is, its name. Entries that `needed` does not have any more are passed over.
    queue: BinaryHeap<(u32, u32, Name)>,
    len: usize,
}

impl Belady {
    /// Empty, for these requests.
    pub fn new(accesses: &Accesses) -> Belady {
        let mut next = vec![NEVER; accesses.names()];
        let mut future = Vec::new();
        let requests: Vec<&[Name]> = accesses.requests().collect();
        for (now, blocks) in requests.iter().enumerate().rev() {
            // Backwards: the last touch of a request is that of its first block.
            for (depth, &block) in (0..).zip(*blocks) {
                future.push((std::mem::replace(&mut next[block as usize], now as u32), depth));
            }
        }
        Belady { future, needed: vec![None; accesses.names()], queue: BinaryHeap::new(), len: 0 }
    }
}

impl Policy for Belady {
    fn name(&self) -> &'static str {
        "Belady"
    }

    fn has(&self, block: Name) -> bool {
        self.needed[block as usize].is_some()
    }

    fn touch(&mut self, block: Name) -> bool {
        // `future` was written backwards: what comes next is at its end.
        let (next, depth) = self.future.pop().unwrap_or((NEVER, 0));
        let was_there = self.needed[block as usize].replace(next).is_some();
        self.queue.push((next, depth, block));
        self.len += usize::from(!was_there);
        !was_there
    }

    fn evict_to(&mut self, capacity: usize) -> u64 {
        let mut evicted = 0;
        while self.len > capacity
            && let Some((next, _, block)) = self.queue.pop()
        {
            if self.needed[block as usize] == Some(next) {
                self.needed[block as usize] = None;
                self.len -= 1;
                evicted += 1;
            }
        }
        evicted
    }
}
