//! A doubly linked list of names, each in it at most once: every change takes the same time.

use super::Name;

/// No name.
const NONE: Name = Name::MAX;

/// The newest is at the front, the oldest at the back.
pub(crate) struct List {
    /// The next newer one, by name.
    newer: Vec<Name>,
    /// The next older one.
    older: Vec<Name>,
    front: Name,
    back: Name,
    len: usize,
}

impl List {
    /// An empty list for names below `names`.
    pub(crate) fn new(names: usize) -> List {
        List { newer: vec![NONE; names], older: vec![NONE; names], front: NONE, back: NONE, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn back(&self) -> Option<Name> {
        (self.back != NONE).then_some(self.back)
    }

    pub(crate) fn newer(&self, name: Name) -> Option<Name> {
        Some(self.newer[name as usize]).filter(|&newer| newer != NONE)
    }

    /// Puts in a name that is not in it, as the newest.
    pub(crate) fn push_front(&mut self, name: Name) {
        self.older[name as usize] = self.front;
        self.newer[name as usize] = NONE;
        match self.front {
            NONE => self.back = name,
            front => self.newer[front as usize] = name,
        }
        self.front = name;
        self.len += 1;
    }

    /// Takes out a name that is in it.
    pub(crate) fn remove(&mut self, name: Name) {
        let (newer, older) = (self.newer[name as usize], self.older[name as usize]);
        match newer {
            NONE => self.front = older,
            newer => self.older[newer as usize] = older,
        }
        match older {
            NONE => self.back = newer,
            older => self.newer[older as usize] = newer,
        }
        self.len -= 1;
    }
}
