//! The one that was not used for longest goes.

use super::list::List;
use super::{Name, Policy};

/// Exact LRU.
pub struct Lru {
    order: List,
    present: Vec<bool>,
}

impl Lru {
    /// Empty, for names below `names`.
    pub fn new(names: usize) -> Lru {
        Lru { order: List::new(names), present: vec![false; names] }
    }
}

impl Policy for Lru {
    fn name(&self) -> &'static str {
        "LRU"
    }

    fn has(&self, block: Name) -> bool {
        self.present[block as usize]
    }

    fn touch(&mut self, block: Name) -> bool {
        let was_there = std::mem::replace(&mut self.present[block as usize], true);
        if was_there {
            self.order.remove(block);
        }
        self.order.push_front(block);
        !was_there
    }

    fn evict_to(&mut self, capacity: usize) -> u64 {
        let mut evicted = 0;
        while self.order.len() > capacity
            && let Some(oldest) = self.order.back()
        {
            self.order.remove(oldest);
            self.present[oldest as usize] = false;
            evicted += 1;
        }
        evicted
    }
}
