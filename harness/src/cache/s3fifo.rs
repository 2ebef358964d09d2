//! S3-FIFO (Yang et al., SOSP 2023): a small queue of newcomers, a main queue of what was used again while it was there, and
//! the names of what left the small queue unused, which go to the main queue if they come back soon.

use super::list::List;
use super::{Name, Policy};
use std::collections::VecDeque;

/// The small queue has one part in so many of the capacity.
const SMALL: usize = 10;
/// Uses that are counted.
const USES_MAX: u8 = 3;

/// Where a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    Small,
    Main,
}

/// S3-FIFO.
pub struct S3Fifo {
    small: VecDeque<Name>,
    main: VecDeque<Name>,
    /// What left unused, by when: as many as the main queue may have.
    ghosts: List,
    is_ghost: Vec<bool>,
    place: Vec<Place>,
    uses: Vec<u8>,
}

impl S3Fifo {
    /// Empty, for names below `names`.
    pub fn new(names: usize) -> S3Fifo {
        S3Fifo {
            small: VecDeque::new(),
            main: VecDeque::new(),
            ghosts: List::new(names),
            is_ghost: vec![false; names],
            place: vec![Place::Nowhere; names],
            uses: vec![0; names],
        }
    }

    /// The oldest newcomer leaves, or moves on if it was used more than once. Whether it left.
    fn leave_small(&mut self, ghosts_max: usize) -> bool {
        let Some(block) = self.small.pop_front() else { return false };
        if std::mem::replace(&mut self.uses[block as usize], 0) > 1 {
            self.place[block as usize] = Place::Main;
            self.main.push_back(block);
            return false;
        }
        self.place[block as usize] = Place::Nowhere;
        self.is_ghost[block as usize] = true;
        self.ghosts.push_front(block);
        while self.ghosts.len() > ghosts_max
            && let Some(forgotten) = self.ghosts.back()
        {
            self.forget(forgotten);
        }
        true
    }

    /// A name is no ghost any more.
    fn forget(&mut self, block: Name) {
        self.ghosts.remove(block);
        self.is_ghost[block as usize] = false;
    }

    /// The oldest of the main queue leaves, or goes round once more for each use. Whether it left.
    fn leave_main(&mut self) -> bool {
        let Some(block) = self.main.pop_front() else { return false };
        if self.uses[block as usize] > 0 {
            self.uses[block as usize] -= 1;
            self.main.push_back(block);
            return false;
        }
        self.place[block as usize] = Place::Nowhere;
        true
    }
}

impl Policy for S3Fifo {
    fn name(&self) -> &'static str {
        "S3-FIFO"
    }

    fn has(&self, block: Name) -> bool {
        self.place[block as usize] != Place::Nowhere
    }

    fn touch(&mut self, block: Name) -> bool {
        let index = block as usize;
        if self.has(block) {
            self.uses[index] = (self.uses[index] + 1).min(USES_MAX);
            return false;
        }
        self.uses[index] = 0;
        if self.is_ghost[index] {
            self.forget(block);
            self.place[index] = Place::Main;
            self.main.push_back(block);
        } else {
            self.place[index] = Place::Small;
            self.small.push_back(block);
        }
        true
    }

    fn evict_to(&mut self, capacity: usize) -> u64 {
        let small_max = (capacity / SMALL).max(1);
        let mut evicted = 0;
        while self.small.len() + self.main.len() > capacity {
            let from_small = self.small.len() > small_max || self.main.is_empty();
            let left = if from_small { self.leave_small(capacity - capacity / SMALL) } else { self.leave_main() };
            evicted += u64::from(left);
        }
        evicted
    }
}
