//! Orders of eviction as their papers say them, over lists that are searched: no links, no marks apart from the blocks.

use crate::cache::{Name, Policy};

/// The least recently used block goes.
#[derive(Default)]
pub struct Lru {
    /// The oldest first.
    order: Vec<Name>,
}

impl Policy for Lru {
    fn name(&self) -> &'static str {
        "LRU"
    }

    fn has(&self, block: Name) -> bool {
        self.order.contains(&block)
    }

    fn touch(&mut self, block: Name) -> bool {
        let is_new = !self.has(block);
        self.order.retain(|&other| other != block);
        self.order.push(block);
        is_new
    }

    fn evict_to(&mut self, capacity: usize) -> u64 {
        let surplus = self.order.len().saturating_sub(capacity);
        self.order.drain(..surplus);
        surplus as u64
    }
}

/// The hand goes from old to new; who was used since it came by stays, the first that was not goes.
#[derive(Default)]
pub struct Sieve {
    /// The oldest first: each block, and whether it was used.
    queue: Vec<(Name, bool)>,
    /// The place that is looked at next; one behind the newest is the oldest.
    hand: usize,
}

impl Policy for Sieve {
    fn name(&self) -> &'static str {
        "SIEVE"
    }

    fn has(&self, block: Name) -> bool {
        self.queue.iter().any(|(name, _)| *name == block)
    }

    fn touch(&mut self, block: Name) -> bool {
        if let Some((_, used)) = self.queue.iter_mut().find(|(name, _)| *name == block) {
            *used = true;
            return false;
        }
        self.queue.push((block, false));
        true
    }

    fn evict_to(&mut self, capacity: usize) -> u64 {
        let mut evicted = 0;
        while self.queue.len() > capacity {
            if self.queue[self.hand].1 {
                self.queue[self.hand].1 = false;
                self.hand += 1;
            } else {
                self.queue.remove(self.hand);
                evicted += 1;
            }
            // At the newest it begins again, whoever comes behind it later.
            self.hand = if self.hand == self.queue.len() { 0 } else { self.hand };
        }
        evicted
    }
}

/// Newcomers in a small queue, what was used again in a main queue, and the names of who left the small one.
#[derive(Default)]
pub struct S3Fifo {
    /// The oldest first, with how often each was used, up to three times.
    small: Vec<(Name, u8)>,
    /// Likewise.
    main: Vec<(Name, u8)>,
    /// The oldest first.
    ghosts: Vec<Name>,
}

impl S3Fifo {
    /// Whether a block left. From the small queue it does unless it was used twice.
    fn leave_small(&mut self, ghosts_max: usize) -> bool {
        let (block, used) = self.small.remove(0);
        if used >= 2 {
            self.main.push((block, 0));
            return false;
        }
        self.ghosts.push(block);
        while self.ghosts.len() > ghosts_max {
            self.ghosts.remove(0);
        }
        true
    }

    /// Likewise; each use is one more round.
    fn leave_main(&mut self) -> bool {
        let (block, used) = self.main.remove(0);
        if used == 0 {
            return true;
        }
        self.main.push((block, used - 1));
        false
    }
}

impl Policy for S3Fifo {
    fn name(&self) -> &'static str {
        "S3-FIFO"
    }

    fn has(&self, block: Name) -> bool {
        self.small.iter().chain(&self.main).any(|(name, _)| *name == block)
    }

    fn touch(&mut self, block: Name) -> bool {
        if let Some((_, used)) = self.small.iter_mut().chain(&mut self.main).find(|(name, _)| *name == block) {
            *used = (*used + 1).min(3);
            return false;
        }
        let ghosts = self.ghosts.len();
        self.ghosts.retain(|&name| name != block);
        let queue = if self.ghosts.len() < ghosts { &mut self.main } else { &mut self.small };
        queue.push((block, 0));
        true
    }

    fn evict_to(&mut self, capacity: usize) -> u64 {
        let tenth = capacity / 10;
        let mut evicted = 0;
        while self.small.len() + self.main.len() > capacity {
            let from_small = self.small.len() > tenth.max(1) || self.main.is_empty();
            let has_left = if from_small { self.leave_small(capacity - tenth) } else { self.leave_main() };
            evicted += u64::from(has_left);
        }
        evicted
    }
}
