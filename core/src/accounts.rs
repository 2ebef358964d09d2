//! Shared accounts: one promise that many sequences draw on. How time-phased and statistical admission work with the
//! same mechanism as full reservation: the policy sets the account's total to the peak that its sequences can reach
//! together.
//!
//! total = balance + blocks that its sequences took and that have not left A. Every block that leaves A returns to the
//! balance; only lowering the total gives it to others. Order of a credit: bit, then word (A − 1, R + 1), then balance;
//! the other way round the holder would borrow from A. A credit for a closed account only lowers A.
//!
//! The word of an account: generation 42 | drawn 20 | open 1 | busy 1. *drawn* counts the sequences that draw on it;
//! *busy* is a call that changes the total. Generation 0 is never used; 2^42 at 10,000 reuses of one slot a second are
//! 13.9 years.

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::balance::Balance;
use crate::config::SLOTS_MAX;
use crate::ids::{Account, Group};
use crate::slots::{Slots, SlotsLayout};
use crate::sync::{AcqRel, Acquire, AtomicU64, Relaxed, Release};

const BUSY: u64 = 1;
const OPEN: u64 = 2;
const DRAWN_SHIFT: u32 = 2;
const DRAWN_BITS: u32 = 20;
const DRAWN_ONE: u64 = 1 << DRAWN_SHIFT;
const DRAWN_MAX: u64 = (1 << DRAWN_BITS) - 1;
const GENERATION_SHIFT: u32 = DRAWN_SHIFT + DRAWN_BITS;

const fn drawn(word: u64) -> u64 {
    (word >> DRAWN_SHIFT) & DRAWN_MAX
}

/// Cells of one account.
const CELLS: usize = 4;
const WORD: usize = 0;
const BALANCE: usize = 1;
/// The total; changed by who set *busy*.
const TOTAL: usize = 2;
/// The group; fixed from open to close.
const GROUP: usize = 3;

/// An account in one word: own 1 | generation 43 | slot 20; 0 is none. Whom a sequence draws on, and who is paid when one of
/// its blocks leaves A: a shared account, or the own account of a sequence that was told that the block comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Credit(u64);

const CREDIT_SLOT_BITS: u32 = 20;
const CREDIT_OWN: u64 = 1 << 63;
const _: () = assert!(SLOTS_MAX <= 1 << CREDIT_SLOT_BITS);

impl Credit {
    /// Nobody.
    pub(crate) const NONE: Credit = Credit(0);

    pub(crate) const fn to(account: Account) -> Credit {
        if account.is_none() {
            return Credit::NONE;
        }
        Credit(account.generation << CREDIT_SLOT_BITS | account.slot as u64)
    }

    /// The own account of the sequence in `slot`. (A balance compares 33 bits of the generation.)
    pub(crate) const fn own(slot: u32, generation: u64) -> Credit {
        Credit(CREDIT_OWN | (generation << CREDIT_SLOT_BITS & !CREDIT_OWN) | slot as u64)
    }

    pub(crate) const fn is_own(self) -> bool {
        self.0 & CREDIT_OWN != 0
    }

    pub(crate) const fn from_raw(raw: u64) -> Credit {
        Credit(raw)
    }

    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn slot(self) -> u32 {
        (self.0 & ((1 << CREDIT_SLOT_BITS) - 1)) as u32
    }

    pub(crate) const fn generation(self) -> u64 {
        (self.0 & !CREDIT_OWN) >> CREDIT_SLOT_BITS
    }

    /// The handle, in pool number `pool`.
    pub(crate) const fn account(self, pool: u32) -> Account {
        Account { slot: self.slot(), pool, generation: self.generation() }
    }
}

/// Where the parts are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    cells: Span<AtomicU64>,
    vacant: SlotsLayout,
}

/// All shared accounts of a pool.
#[derive(Clone, Copy)]
pub(crate) struct Accounts<'m> {
    cells: Cells<'m, AtomicU64>,
    vacant: Slots<'m>,
    count: u32,
    pool: u32,
}

impl<'m> Accounts<'m> {
    pub(crate) const fn layout(carve: &mut Carve, count: u32) -> Layout {
        Layout { cells: carve.region(count as usize * CELLS), vacant: Slots::layout(carve, count) }
    }

    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout, count: u32, pool: u32) -> Result<Self, Refusal> {
        let cells = arena.cells(layout.cells)?;
        Ok(Accounts { cells, vacant: Slots::view(arena, &layout.vacant)?, count, pool })
    }

    /// At init: every slot is vacant, in its first generation.
    pub(crate) fn fill(&self) {
        for slot in 0..self.count {
            self.cell(slot, WORD).store(1 << GENERATION_SHIFT, Relaxed);
            self.vacant.put(slot);
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Take a vacant slot; nobody has a handle to it yet.
    pub(crate) fn take_slot(&self) -> Option<u32> {
        self.vacant.take()
    }

    /// Give back a slot that was taken and not opened.
    pub(crate) fn untake_slot(&self, slot: u32) {
        self.vacant.put(slot);
    }

    /// Open an account in a taken slot. Its total is admitted already.
    pub(crate) fn open(&self, slot: u32, group: Group, total: u32) -> Account {
        let generation = self.cell(slot, WORD).load(Relaxed) >> GENERATION_SHIFT;
        self.cell(slot, TOTAL).store(total as u64, Relaxed);
        self.cell(slot, GROUP).store(group.0 as u64, Relaxed);
        self.balance(slot).open(generation, total);
        self.cell(slot, WORD).store(generation << GENERATION_SHIFT | OPEN, Release);
        Account { slot, pool: self.pool, generation }
    }

    /// One more sequence draws on it: its group, or why not.
    pub(crate) fn attach(&self, account: Account) -> Result<Group, Refusal> {
        self.change(account, |word| if drawn(word) == DRAWN_MAX { Err(Refusal::Full) } else { Ok(word + DRAWN_ONE) })?;
        Ok(self.group(account.slot))
    }

    /// One sequence fewer.
    pub(crate) fn detach(&self, account: Credit) {
        let before = self.cell(account.slot(), WORD).fetch_sub(DRAWN_ONE, AcqRel);
        debug_assert!(drawn(before) > 0, "I10: nobody leaves an account twice");
    }

    /// Keep other changes of the total out, until `unlock`.
    pub(crate) fn lock(&self, account: Account) -> Result<(), Refusal> {
        self.change(account, |word| if word & BUSY != 0 { Err(Refusal::Busy) } else { Ok(word | BUSY) })
    }

    pub(crate) fn unlock(&self, account: Account) {
        self.cell(account.slot, WORD).fetch_and(!BUSY, AcqRel);
    }

    /// Close an account that nobody draws on or changes: its handle is late from here on. The balance is still in it.
    pub(crate) fn close(&self, account: Account) -> Result<(), Refusal> {
        self.change(account, |word| {
            if word & BUSY != 0 || drawn(word) > 0 {
                return Err(Refusal::Busy);
            }
            Ok(word & !OPEN)
        })
    }

    /// The slot is nobody's again; its balance is closed.
    pub(crate) fn vacate(&self, account: Account) {
        self.cell(account.slot, WORD).store((account.generation + 1) << GENERATION_SHIFT, Release);
        self.untake_slot(account.slot);
    }

    pub(crate) fn balance(&self, slot: u32) -> Balance<'m> {
        Balance(self.cell(slot, BALANCE))
    }

    pub(crate) fn total(&self, slot: u32) -> u32 {
        self.cell(slot, TOTAL).load(Relaxed) as u32
    }

    pub(crate) fn set_total(&self, slot: u32, total: u32) {
        self.cell(slot, TOTAL).store(total as u64, Relaxed);
    }

    pub(crate) fn group(&self, slot: u32) -> Group {
        Group(self.cell(slot, GROUP).load(Relaxed) as u32)
    }

    /// The account that is open in a slot.
    pub(crate) fn opened(&self, slot: u32) -> Option<Account> {
        let word = self.cell(slot, WORD).load(Acquire);
        let account = Account { slot, pool: self.pool, generation: word >> GENERATION_SHIFT };
        (word & OPEN != 0).then_some(account)
    }

    /// Sequences that draw on the account, if the handle is good.
    pub(crate) fn drawn(&self, account: Account) -> Result<u32, Refusal> {
        Ok(drawn(self.find(account)?) as u32)
    }

    /// The word, if the handle is good.
    fn find(&self, account: Account) -> Result<u64, Refusal> {
        if account.is_none() || account.pool != self.pool || account.slot >= self.count {
            return Err(Refusal::Stale);
        }
        let word = self.cell(account.slot, WORD).load(Acquire);
        if word >> GENERATION_SHIFT == account.generation && word & OPEN != 0 { Ok(word) } else { Err(Refusal::Stale) }
    }

    /// One transition of the word. Lock-free: a failed exchange is another's success.
    fn change(&self, account: Account, next: impl Fn(u64) -> Result<u64, Refusal>) -> Result<(), Refusal> {
        let mut word = self.find(account)?;
        loop {
            match self.cell(account.slot, WORD).compare_exchange_weak(word, next(word)?, AcqRel, Acquire) {
                Ok(_) => return Ok(()),
                Err(_) => word = self.find(account)?,
            }
        }
    }

    #[inline(always)]
    fn cell(&self, slot: u32, which: usize) -> &'m AtomicU64 {
        self.cells.at(slot as usize * CELLS + which)
    }
}
