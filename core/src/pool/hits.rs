//! Finding the blocks of a prefix, and taking hold of them.
//!
//! 1. *Look*: from the first name on, find the block of each in the index, and check it: its word (held, retiring or
//!    idle; named; not being written by a transfer), its name, its group, its tokens. Nothing changes. The ids go to the
//!    asker's row, which nobody reads yet.
//! 2. *Price*: idle blocks are need (one each, A), so is a place on a block that comes back to somebody (R). The admission
//!    charges all at once, in one compare-exchange (`admit.rs`).
//! 3. *Grip*: each block gets its holder by a compare-exchange of its word from what was checked (I7). Between the look and
//!    the grip an idle one may have been evicted, or a live one may have become idle; what was charged pays for what is found:
//!
//! ```text
//!   looked     gripped     the purse
//!   idle       idle        pays 1 of A
//!   idle       held        keeps 1, which goes back in the end
//!   held       idle        pays 1 that was promised to blocks not shared, or asks for one more
//!   any        gone        keeps it: the block is private now, at the same price; so are those behind it
//! ```

use super::{Counter, Pool};
use crate::accounts::Credit;
use crate::block::{Flag, Kind, Word};
use crate::calls::{Found, Prefix};
use crate::identity::Identity;
use crate::ids::{Epoch, Group};
use crate::ledger::Need;
use crate::sync::{AcqRel, Acquire, Plant, Relaxed, full_fence, planted, point};
use crate::table::Row;

/// Who looks for a prefix.
pub(super) struct Asker<'a> {
    pub(super) group: Group,
    /// The reset number of this moment.
    pub(super) stamp: u64,
    pub(super) prefix: Prefix<'a>,
    /// Most blocks that may be hits.
    pub(super) blocks_max: u32,
    /// Blocks before the end that must be found; `u32::MAX`: all, from the first.
    pub(super) reach: u32,
    /// The same if the prefix is so many blocks long: then its last token is computed again, and what it looks back to
    /// begins one token earlier.
    pub(super) whole: (u32, u32),
    pub(super) frontier: Epoch,
    /// Whether it may hold blocks that come back to somebody: not who draws on a shared account, whose total has no room for
    /// a promise behind a block.
    pub(super) takes_places: bool,
}

impl Asker<'_> {
    /// Whether it looks back only so far, and so needs only the end of its prefix.
    pub(super) const fn is_windowed(&self) -> bool {
        self.reach != u32::MAX
    }

    /// Blocks before the block at `end` that must be found.
    fn reach_before(&self, end: u32) -> u32 {
        if end == self.whole.0 { self.whole.1 } else { self.reach }
    }
}

/// What was found.
#[derive(Clone, Copy, Default)]
pub(super) struct Plan {
    /// Blocks of the prefix.
    pub(super) blocks: u32,
    /// The first of them that is held: those before it are out of the window.
    pub(super) first: u32,
    pub(super) idle: u32,
    /// Blocks on which each grip beyond the first is a promise.
    pub(super) owed: u32,
    /// Retiring blocks that carry a credit.
    pub(super) credited: u32,
    /// Of all of these and of others that retire, blocks that come back to a windowed asker.
    pub(super) own: u32,
    /// The newest epoch under which one of them is being written.
    pub(super) after: Epoch,
}

impl Plan {
    pub(super) const fn found(&self) -> Found {
        Found { blocks: self.blocks, priced: self.idle + self.owed + self.credited, after: self.after }
    }
}

/// What has been charged and not used yet.
pub(super) struct Purse {
    /// In A.
    pub(super) committed: u32,
    /// In R.
    pub(super) promised: u32,
    /// Who pays for what is missing: a shared account; `NONE`: the group and the pool.
    pub(super) account: Credit,
    pub(super) group: Group,
}

/// A block that has been gripped.
pub(super) struct Gripped {
    /// Whether it comes back to its new holder.
    pub(super) owed: bool,
    pub(super) after: Epoch,
}

impl<'m> Pool<'m> {
    /// The asker of `prefix`, for up to `blocks_max` blocks, which looks back `window` tokens (0: all).
    pub(super) fn asker<'a>(&self, group: Group, prefix: &Prefix<'a>, blocks_max: u32, window: u32) -> Asker<'a> {
        let named = u32::try_from(prefix.identities.len()).unwrap_or(u32::MAX);
        Asker {
            group,
            stamp: self.stamp(group),
            prefix: *prefix,
            blocks_max: if self.config.cache == 0 { 0 } else { named.min(prefix.blocks_max).min(blocks_max) },
            reach: if window == 0 { u32::MAX } else { self.blocks_for(window - 1) },
            whole: (u32::MAX, 0),
            frontier: if named == 0 { Epoch::NONE } else { self.streams.frontier() },
            takes_places: true,
        }
    }

    /// The reset number of a group.
    pub(super) fn stamp(&self, group: Group) -> u64 {
        let (all, its) = (self.resets.at(0), self.resets.at(group.0 as usize + 1));
        // O25 acquire, pairs with O25 release in `advance_reset`.
        all.load(Acquire) << 32 | its.load(Acquire)
    }

    /// What is found of the prefix. The ids go to `row`.
    pub(super) fn look(&self, asker: &Asker<'_>, row: Option<Row<'_>>) -> Plan {
        if asker.blocks_max == 0 {
            return Plan::default();
        }
        if asker.is_windowed() { self.look_from_last(asker, row) } else { self.look_from_first(asker, row) }
    }

    fn look_from_first(&self, asker: &Asker<'_>, row: Option<Row<'_>>) -> Plan {
        let mut plan = Plan::default();
        while plan.blocks < asker.blocks_max {
            let Some((id, word)) = self.find(asker, plan.blocks) else { break };
            self.add_to(&mut plan, id, word);
            if let Some(row) = row {
                row.at(plan.blocks as usize).store(id, Relaxed);
            }
            plan.blocks += 1;
        }
        plan
    }

    /// A windowed sequence needs only what its next token looks back to: the longest prefix whose last `reach` blocks are
    /// there.
    fn look_from_last(&self, asker: &Asker<'_>, row: Option<Row<'_>>) -> Plan {
        let (mut end, mut run, mut position) = (asker.blocks_max, 0, asker.blocks_max);
        while position > 0 && run < asker.reach_before(end).min(end) {
            position -= 1;
            match self.find(asker, position) {
                Some((id, _)) => {
                    run += 1;
                    if let Some(row) = row {
                        row.at(position as usize).store(id, Relaxed);
                    }
                }
                None => (end, run) = (position, 0),
            }
        }
        let mut plan = Plan { blocks: end, first: end - asker.reach_before(end).min(end), ..Plan::default() };
        for position in plan.first..plan.blocks {
            if let Some((id, word)) = self.find(asker, position) {
                self.add_to(&mut plan, id, word);
            }
        }
        if let Some(row) = row {
            (plan.blocks..asker.blocks_max).for_each(|position| row.at(position as usize).store(0, Relaxed));
        }
        plan
    }

    fn add_to(&self, plan: &mut Plan, id: u32, word: Word) {
        plan.after = plan.after.max(self.names.get(id).written);
        plan.own += u32::from(will_be_owed(word));
        match word.kind() {
            Some(Kind::Idle) => plan.idle += 1,
            Some(Kind::Held) => plan.owed += u32::from(word.has(Flag::Owed)),
            _ => plan.credited += u32::from(!self.goes_to_everybody(&self.blocks.tag(id))),
        }
    }

    /// The block of the name at `position`.
    fn find(&self, asker: &Asker<'_>, position: u32) -> Option<(u32, Word)> {
        let name = *asker.prefix.identities.get(position as usize)?;
        let tokens = self.tokens_of(asker.prefix.tokens, position);
        let mut best = None;
        let mut spare: Option<(u32, Word)> = None;
        self.index.find(name, |id| {
            let Some(word) = self.answers(asker, id, name, tokens) else { return false };
            if !word.has(Flag::Spare) {
                best = Some((id, word));
                return true;
            }
            // Of second copies the lowest, so that it does not depend on the index.
            if spare.is_none_or(|(other, _)| id < other) {
                spare = Some((id, word));
            }
            false
        });
        let (id, word) = best.or(spare)?;
        let written = self.names.get(id).written;
        (written <= asker.frontier || asker.prefix.unfinished).then_some((id, word))
    }

    /// The tokens of the block at `position`.
    pub(super) fn tokens_of<'a>(&self, tokens: &'a [u32], position: u32) -> &'a [u32] {
        let block = self.block_tokens.get() as usize;
        let from = (position as usize).saturating_mul(block);
        tokens.get(from..from.saturating_add(block)).unwrap_or(&[])
    }

    /// Whether the block is what is looked for; I6: by its whole name, in its group.
    fn answers(&self, asker: &Asker<'_>, id: u32, name: Identity, tokens: &[u32]) -> Option<Word> {
        if !self.blocks.exists(id) {
            return None;
        }
        let word = self.blocks.word(id);
        let may = word.may_be_hit() && (word.is(Kind::Held) || word.is(Kind::Idle) || word.is(Kind::Retiring));
        let has = self.names.get(id);
        let may = may && (asker.takes_places || !(word.is(Kind::Held) && word.has(Flag::Owed)));
        let is_it = has.identity == name && (has.stamp == asker.stamp || planted(Plant::OldNames));
        let good = may && is_it && self.blocks.group(id) == asker.group && self.names.has_tokens(id, tokens);
        good.then_some(word)
    }

    /// One more holder for the block of the name at `position`, which was `id` when it was looked for. `None`: it is gone,
    /// or cannot be paid for.
    pub(super) fn grip(&self, asker: &Asker<'_>, position: u32, id: u32, purse: &mut Purse) -> Option<Gripped> {
        let name = *asker.prefix.identities.get(position as usize)?;
        let tokens = self.tokens_of(asker.prefix.tokens, position);
        let windowed = asker.is_windowed() && purse.account.is_none();
        loop {
            let word = self.answers(asker, id, name, tokens)?;
            let written = self.names.get(id).written;
            if written > asker.frontier && !asker.prefix.unfinished {
                return None;
            }
            point("grip: looked");
            let owed = word.has(Flag::Owed) || (windowed && will_be_owed(word));
            let gripped = Gripped { owed, after: written };
            let revived = |word: Word| if owed { word.revive().and_then(Word::owe) } else { word.revive() };
            // O24: the exchange is from the word that was there when the name was read.
            if word.is(Kind::Held) {
                let next = word.join()?;
                if word.has(Flag::Owed) && !self.pay_promised(purse) {
                    return None;
                }
                let joined = if planted(Plant::JoinAnyWord) {
                    self.blocks.change(id, Word::join).is_some()
                } else {
                    self.blocks.exchange(id, word, next).is_ok()
                };
                if joined {
                    self.order.hit(id);
                    return Some(gripped);
                }
                purse.promised += u32::from(word.has(Flag::Owed));
                continue;
            }
            let next = revived(word)?;
            if word.is(Kind::Idle) {
                if !self.pay_committed(purse) {
                    return None;
                }
                if self.blocks.exchange(id, word, next).is_ok() {
                    self.order.hit(id);
                    self.blocks.set_credit(id, purse.account);
                    self.counter(Counter::Idle).fetch_sub(1, AcqRel);
                    return Some(gripped);
                }
                purse.committed += 1;
                continue;
            }
            // Retiring: it is in A already, and may be read at once. Who was told that it comes back to him is paid now.
            let tag = self.blocks.tag(id);
            let (credit, paid) = (tag.credit, !self.goes_to_everybody(&tag));
            if paid && !self.pay_promised(purse) {
                return None;
            }
            if self.blocks.exchange(id, word, next).is_err() {
                purse.promised += u32::from(paid);
                continue;
            }
            self.order.hit(id);
            if paid {
                // What was everybody's stays everybody's: nobody has paid for it.
                self.blocks.set_credit(id, purse.account);
            }
            self.unlink(id, &word, tag.epoch);
            if paid && !self.balance_of(credit).credit(credit.generation(), 1) {
                // Closed since: what it was owed is everybody's.
                self.uncharge(purse.group, 0, 1);
            } else if paid {
                self.returned();
            }
            return Some(gripped);
        }
    }

    /// A revived block is in no bucket any more: not in that of the epoch of its tag as it was. (If its bit is on its way
    /// there, who brings it finds that the block is held.)
    fn unlink(&self, id: u32, was: &Word, epoch: Epoch) {
        if was.holds() == 0 {
            // O28: between the exchange that revived it and the look at its bit.
            full_fence();
            self.retiring.forget(epoch, id);
        } else {
            self.counter(self.gripped_as(*was)).fetch_sub(1, AcqRel);
        }
    }

    fn pay_committed(&self, purse: &mut Purse) -> bool {
        if purse.committed > 0 {
            purse.committed -= 1;
            return true;
        }
        if purse.promised > 0 {
            purse.promised -= 1;
            self.ledger.materialize(1);
            return true;
        }
        self.charge_more(purse, Need::committed(1))
    }

    fn pay_promised(&self, purse: &mut Purse) -> bool {
        if purse.promised > 0 {
            purse.promised -= 1;
            return true;
        }
        if purse.committed > 0 {
            purse.committed -= 1;
            self.ledger.credit(1);
            return true;
        }
        self.charge_more(purse, Need::promised(1))
    }

    /// What was not to be expected when the price was made.
    fn charge_more(&self, purse: &Purse, need: Need) -> bool {
        if purse.account.is_none() {
            return self.try_charge(Some(purse.group), need, 0).is_ok();
        }
        let paid = self.balance_of(purse.account).debit(purse.account.generation(), 1).is_ok();
        if paid && need.committed > 0 {
            self.ledger.materialize(1);
        }
        paid
    }
}

/// Whether a block comes back to a windowed sequence that hits it. One that somebody else grips, and that was told to come
/// back to nobody, does not: its price stays in the balance of the sequence.
fn will_be_owed(word: Word) -> bool {
    word.has(Flag::Owed) || (!word.is(Kind::Held) && word.holds() == 0)
}
