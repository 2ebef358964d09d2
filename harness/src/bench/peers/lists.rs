//! A vector of ids under a lock: the ordinary design. With a bit for each id beside it, it notices double frees.

use super::{all, double_free};
use crate::bench::allocator::{Allocator, Shape, User, Worker};
use kvledger_core::{BlockId, Hint};
use std::sync::PoisonError;

/// A lock around something.
trait Lock<T>: Sync {
    fn around(value: T) -> Self;
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R;
}

impl<T: Send> Lock<T> for std::sync::Mutex<T> {
    fn around(value: T) -> Self {
        std::sync::Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: Send> Lock<T> for parking_lot::Mutex<T> {
    fn around(value: T) -> Self {
        parking_lot::Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.lock())
    }
}

impl<T: Send> Lock<T> for spin::Mutex<T> {
    fn around(value: T) -> Self {
        spin::Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.lock())
    }
}

/// Free ids, last in first out.
trait List: Send {
    fn filled(blocks: u32) -> Self;
    /// All or nothing.
    fn pop(&mut self, ids: &mut [BlockId]) -> bool;
    fn push(&mut self, ids: &[BlockId]);
}

impl List for Vec<BlockId> {
    fn filled(blocks: u32) -> Self {
        all(blocks).collect()
    }

    #[inline]
    fn pop(&mut self, ids: &mut [BlockId]) -> bool {
        let Some(rest) = self.len().checked_sub(ids.len()) else { return false };
        ids.copy_from_slice(&self[rest..]);
        self.truncate(rest);
        true
    }

    #[inline]
    fn push(&mut self, ids: &[BlockId]) {
        self.extend_from_slice(ids);
    }
}

/// The same, and one bit an id that is set while it is in the list.
struct Checked {
    ids: Vec<BlockId>,
    is_free: Vec<u64>,
}

impl List for Checked {
    fn filled(blocks: u32) -> Self {
        Checked { ids: Vec::filled(blocks), is_free: vec![u64::MAX; blocks as usize / 64 + 1] }
    }

    #[inline]
    fn pop(&mut self, ids: &mut [BlockId]) -> bool {
        if !List::pop(&mut self.ids, ids) {
            return false;
        }
        for id in ids.iter() {
            self.is_free[id.0 as usize / 64] &= !(1 << (id.0 % 64));
        }
        true
    }

    #[inline]
    fn push(&mut self, ids: &[BlockId]) {
        for id in ids {
            let (word, bit) = (&mut self.is_free[id.0 as usize / 64], 1 << (id.0 % 64));
            if *word & bit != 0 {
                double_free(id.0);
            }
            *word |= bit;
        }
        List::push(&mut self.ids, ids);
    }
}

struct Locked<L, T> {
    lock: L,
    list: std::marker::PhantomData<fn(T)>,
}

fn lend<L: Lock<T>, T: List>(shape: Shape, user: User<'_>) {
    user(&Locked::<L, T> { lock: L::around(T::filled(shape.blocks)), list: std::marker::PhantomData });
}

impl<L: Lock<T>, T: List> Allocator for Locked<L, T> {
    fn worker(&self, _: usize, _: usize) -> Box<dyn Worker + '_> {
        Box::new(self)
    }
}

impl<L: Lock<T>, T: List> Worker for &Locked<L, T> {
    fn take(&mut self, _: usize, _: Hint, ids: &mut [BlockId]) -> bool {
        self.lock.with(|list| list.pop(ids))
    }

    fn give(&mut self, _: usize, ids: &[BlockId]) {
        self.lock.with(|list| list.push(ids));
    }
}

/// `std::sync::Mutex<Vec>`.
pub fn mutex_list(shape: Shape, user: User<'_>) {
    lend::<std::sync::Mutex<Vec<BlockId>>, _>(shape, user);
}

/// `parking_lot::Mutex<Vec>`.
pub fn parking_lot_list(shape: Shape, user: User<'_>) {
    lend::<parking_lot::Mutex<Vec<BlockId>>, _>(shape, user);
}

/// Under a lock that spins.
pub fn spin_list(shape: Shape, user: User<'_>) {
    lend::<spin::Mutex<Vec<BlockId>>, _>(shape, user);
}

/// `parking_lot::Mutex`, with a bit an id.
pub fn parking_lot_checked(shape: Shape, user: User<'_>) {
    lend::<parking_lot::Mutex<Checked>, _>(shape, user);
}

/// Under a lock that spins, with a bit an id.
pub fn spin_checked(shape: Shape, user: User<'_>) {
    lend::<spin::Mutex<Checked>, _>(shape, user);
}
