//! SIEVE (Zhang et al., NSDI 2024): a queue in the order of arrival, a mark for what was used since, and a hand that goes
//! from old to new, takes marks away, and takes out the first block that has none. Nothing moves when it is used.

use super::list::List;
use super::{Name, Policy};

/// SIEVE.
pub struct Sieve {
    order: List,
    present: Vec<bool>,
    used: Vec<bool>,
    /// Where the hand is; at the oldest if nowhere.
    hand: Option<Name>,
}

impl Sieve {
    /// Empty, for names below `names`.
    pub fn new(names: usize) -> Sieve {
        Sieve { order: List::new(names), present: vec![false; names], used: vec![false; names], hand: None }
    }
}

impl Policy for Sieve {
    fn name(&self) -> &'static str {
        "SIEVE"
    }

    fn has(&self, block: Name) -> bool {
        self.present[block as usize]
    }

    fn touch(&mut self, block: Name) -> bool {
        let was_there = std::mem::replace(&mut self.present[block as usize], true);
        if was_there {
            self.used[block as usize] = true;
        } else {
            self.used[block as usize] = false;
            self.order.push_front(block);
        }
        !was_there
    }

    fn evict_to(&mut self, capacity: usize) -> u64 {
        let mut evicted = 0;
        while self.order.len() > capacity {
            let Some(block) = self.hand.or(self.order.back()) else { break };
            self.hand = self.order.newer(block);
            if !std::mem::replace(&mut self.used[block as usize], false) {
                self.order.remove(block);
                self.present[block as usize] = false;
                evicted += 1;
            }
        }
        evicted
    }
}
