//! The balance of an account: one word, so that a debit and a cancellation that meet are decided by one
//! compare-exchange. Own accounts (one in each sequence) and shared accounts have the same word.
//!
//! balance 31 bits | generation 33 bits. N ≤ 2^31 − 2 leaves the largest balance free to mean *closed*. The generation
//! is the low part of the owner's: it only has to outlive a caller stopped between two instructions of one call, and
//! the word compares the balance too; 2^33 reuses of one slot at 10,000 a second are ten days of standing still.

use crate::sync::{AcqRel, Acquire, AtomicU64, Plant, Release, planted};

const BALANCE_BITS: u32 = 31;
const CLOSED: u32 = (1 << BALANCE_BITS) - 1;
const BALANCE_MASK: u64 = CLOSED as u64;

/// What the word says to somebody who names a generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Open, with this balance.
    Open(u32),
    /// Closed: cancelled, or being ended.
    Closed,
    /// Of another generation.
    Other,
}

/// Why a debit was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Denied {
    /// The account is closed, or it is not the one that was meant.
    Closed,
    /// The balance is short by so many blocks.
    Short(u32),
}

const fn pack(balance: u32, generation: u64) -> u64 {
    balance as u64 | generation << BALANCE_BITS
}

const fn read(raw: u64, generation: u64) -> State {
    if raw >> BALANCE_BITS != pack(0, generation) >> BALANCE_BITS {
        return State::Other;
    }
    match (raw & BALANCE_MASK) as u32 {
        CLOSED => State::Closed,
        balance => State::Open(balance),
    }
}

/// One account's word.
#[derive(Clone, Copy)]
pub(crate) struct Balance<'m>(pub(crate) &'m AtomicU64);

impl Balance<'_> {
    /// Open it with `balance`. Only its owner, before anybody else has the handle.
    pub(crate) fn open(self, generation: u64, balance: u32) {
        self.0.store(pack(balance, generation), Release);
    }

    pub(crate) fn load(self, generation: u64) -> State {
        read(self.0.load(Acquire), generation)
    }

    /// Whether it is closed, whoever owns it now.
    #[inline(always)]
    pub(crate) fn is_closed(self) -> bool {
        self.0.load(Acquire) & BALANCE_MASK == BALANCE_MASK
    }

    /// The balance, whoever owns it now. For sums.
    pub(crate) fn blocks(self) -> u32 {
        match (self.0.load(Acquire) & BALANCE_MASK) as u32 {
            CLOSED => 0,
            balance => balance,
        }
    }

    /// Take `count` out, all or nothing. Lock-free; a failure of the exchange is another's success.
    #[inline]
    pub(crate) fn debit(self, generation: u64, count: u32) -> Result<(), Denied> {
        let mut raw = self.0.load(Acquire);
        loop {
            match read(raw, generation) {
                State::Open(balance) if balance >= count => {}
                State::Open(balance) => return Err(Denied::Short(count - balance)),
                State::Closed | State::Other => return Err(Denied::Closed),
            }
            match self.0.compare_exchange_weak(raw, raw - count as u64, AcqRel, Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => raw = now,
            }
        }
    }

    /// Take up to `count` out; how much it was.
    pub(crate) fn debit_up_to(self, generation: u64, count: u32) -> Result<u32, Denied> {
        let mut raw = self.0.load(Acquire);
        loop {
            let State::Open(balance) = read(raw, generation) else { return Err(Denied::Closed) };
            let part = if balance < count { balance } else { count };
            match self.0.compare_exchange_weak(raw, raw - part as u64, AcqRel, Acquire) {
                Ok(_) => return Ok(part),
                Err(now) => raw = now,
            }
        }
    }

    /// Put `count` in. False if the account is closed or another: the caller keeps what he wanted to put in.
    #[inline]
    #[must_use]
    pub(crate) fn credit(self, generation: u64, count: u32) -> bool {
        let mut raw = self.0.load(Acquire);
        loop {
            let State::Open(balance) = read(raw, generation) else { return false };
            debug_assert!(balance + count < CLOSED, "I10: a balance stays below N");
            match self.0.compare_exchange_weak(raw, raw + count as u64, AcqRel, Acquire) {
                Ok(_) => return true,
                Err(now) => raw = now,
            }
        }
    }

    /// Close it in one compare-exchange: what was in it, and what `beside` read while it was still open; or why not.
    /// I8: the balance leaves exactly once.
    #[inline]
    pub(crate) fn close<T>(self, generation: u64, beside: impl Fn() -> T) -> Result<(u32, T), State> {
        let mut raw = self.0.load(Acquire);
        loop {
            let read_beside = beside();
            let balance = match read(raw, generation) {
                State::Open(balance) => balance,
                other => return Err(other),
            };
            if planted(Plant::CancelInTwoSteps) {
                self.0.store(pack(CLOSED, generation), Release);
                return Ok((balance, read_beside));
            }
            match self.0.compare_exchange_weak(raw, pack(CLOSED, generation), AcqRel, Acquire) {
                Ok(_) => return Ok((balance, read_beside)),
                Err(now) => raw = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_largest_pool_still_leaves_a_balance_that_means_closed() {
        assert_eq!(read(pack((1 << 31) - 2, 5), 5), State::Open((1 << 31) - 2));
        assert_eq!(read(pack(CLOSED, 5), 5), State::Closed);
        assert_eq!(read(pack(3, 5), 6), State::Other);
        assert_eq!(read(pack(3, 5), 5 + (1 << 33)), State::Open(3), "only the low 33 bits are kept");
    }

    #[test]
    fn i8_a_balance_leaves_once() {
        let word = AtomicU64::new(0);
        let account = Balance(&word);
        account.open(9, 4);
        assert_eq!(account.debit(9, 5), Err(Denied::Short(1)));
        assert_eq!(account.debit(9, 1), Ok(()));
        assert_eq!(account.close(9, || 'a'), Ok((3, 'a')));
        assert_eq!(account.close(9, || 'a'), Err(State::Closed));
        assert_eq!(account.debit(9, 1), Err(Denied::Closed));
        assert!(!account.credit(9, 1));
        assert_eq!(account.blocks(), 0);
    }
}
