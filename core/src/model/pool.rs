//! The model: every operation in the obvious way. What it cannot know (which slot, which ids) it is told afterwards, and
//! then checks that it could be so.

use super::blocks::{Block, Credit};
use super::time::Time;
use crate::answer::{Argument, Refusal, Scope};
use crate::calls::{Admission, Promise, Released};
use crate::config::PoolConfig;
use crate::ids::{Account, Epoch, Group, Sequence, Stream, StreamSet};
use std::vec;
use std::vec::Vec;

const fn invalid(argument: Argument) -> Refusal {
    Refusal::Invalid { argument }
}

/// A sequence of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Seq {
    pub(super) generation: u64,
    pub(super) open: bool,
    pub(super) admitted: bool,
    pub(super) cancelled: bool,
    pub(super) balance: u32,
    pub(super) group: Option<Group>,
    pub(super) streams: StreamSet,
    pub(super) tokens: u32,
    pub(super) ids: Vec<u32>,
    /// Blocks taken that it has not been told the ids of yet: of a row that stands in a batch twice.
    pub(super) untold: u32,
    pub(super) shared: Credit,
    /// Which row is in use, and until when each is read in place.
    pub(super) turn: usize,
    pub(super) in_flight: [(Epoch, StreamSet); 2],
}

impl Seq {
    /// Blocks that it has.
    pub(super) fn held(&self) -> u32 {
        self.ids.len() as u32 + self.untold
    }
}

/// A shared account of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) generation: u64,
    pub(super) open: bool,
    pub(super) group: Group,
    pub(super) balance: u32,
}

/// The obvious pool.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) config: PoolConfig,
    pub(super) safety: u32,
    pub(super) quotas: Vec<u32>,
    /// Block id is the index; 0 is the null block, held by nobody for ever.
    pub(super) blocks: Vec<Block>,
    pub(super) sequences: Vec<Seq>,
    pub(super) accounts: Vec<Shared>,
    pub(super) time: Time,
    /// Whether the last operation gave something back.
    pub(super) returned: bool,
}

impl Model {
    /// Of a configuration that was checked.
    pub fn new(config: &PoolConfig) -> Model {
        let seq = Seq { generation: 1, ..Seq::default() };
        let account = Shared { generation: 1, ..Shared::default() };
        Model {
            config: *config,
            safety: config.safety,
            quotas: vec![u32::MAX; config.groups as usize],
            blocks: vec![Block::Free; config.blocks as usize + 1],
            sequences: vec![seq; config.sequences as usize],
            accounts: vec![account; config.accounts as usize],
            time: Time::new(config.streams, config.epochs),
            returned: false,
        }
    }

    /// The group that an open sequence was admitted to.
    pub(super) fn group_of(&self, sequence: Sequence) -> Option<Group> {
        self.find(sequence).ok().and_then(|slot| self.sequences[slot].group)
    }

    pub(super) fn may_open(&self) -> bool {
        self.sequences.iter().any(|seq| !seq.open)
    }

    /// The pool opened this sequence.
    pub(super) fn opened(&mut self, sequence: Sequence) -> bool {
        let Some(seq) = self.sequences.get_mut(sequence.slot as usize) else { return false };
        let could_be = !seq.open && seq.generation == sequence.generation && sequence.pool == self.config.number;
        let (turn, in_flight) = (seq.turn, seq.in_flight);
        *seq = Seq { generation: sequence.generation, open: true, turn, in_flight, ..Seq::default() };
        could_be
    }

    pub(super) fn admit(&mut self, sequence: Sequence, admission: &Admission) -> Result<u32, Refusal> {
        let tokens = admission.prompt_tokens.checked_add(admission.output_tokens_max);
        let tokens = tokens.filter(|_| admission.prompt_tokens > 0).ok_or(invalid(Argument::Tokens))?;
        let full = tokens.div_ceil(self.config.block_tokens);
        let promise = match admission.promise {
            Promise::Full => full,
            Promise::Blocks(blocks) => blocks,
        };
        if promise < admission.prompt_tokens.div_ceil(self.config.block_tokens) {
            return Err(invalid(Argument::Count));
        }
        let group = self.group(admission.group)?;
        let streams = self.time.known(admission.streams)?;
        let slot = self.drive(sequence, false)?;
        if self.sequences[slot].group.is_some_and(|before| before != group) {
            return Err(invalid(Argument::Group));
        }
        let turn = self.free_turn(slot)?;
        let peak = full.max(promise);
        if admission.account.is_none() {
            self.ceiling(group, u64::from(peak))?;
            self.fits(group, promise, admission.watermark)?;
            self.sequences[slot].balance = promise;
        } else {
            let account = self.account(admission.account)?;
            if self.accounts[account].group != group {
                return Err(invalid(Argument::Account));
            }
            let ceiling = self.total(account).min(self.config.table_width);
            if peak > ceiling {
                return Err(Refusal::NeverFits { needed: peak, ceiling });
            }
            self.sequences[slot].shared = Some((account, admission.account.generation));
        }
        let seq = &mut self.sequences[slot];
        seq.in_flight[turn] = Default::default();
        (seq.admitted, seq.group, seq.streams, seq.turn) = (true, Some(group), streams, turn);
        Ok(if admission.account.is_none() { promise } else { 0 })
    }

    /// How many blocks an advance takes; the pool then says which.
    pub(super) fn advance(&mut self, sequence: Sequence, tokens: u32, growth: Option<u32>) -> Result<u32, Refusal> {
        if tokens == 0 {
            return Err(invalid(Argument::Tokens));
        }
        let slot = self.drive(sequence, true)?;
        let seq = &self.sequences[slot];
        let tokens = seq.tokens.checked_add(tokens).ok_or(invalid(Argument::Tokens))?;
        let blocks = tokens.div_ceil(self.config.block_tokens).max(seq.held());
        let taken = self.grow(slot, blocks, growth)?;
        self.sequences[slot].tokens = tokens;
        self.sequences[slot].untold += taken;
        Ok(taken)
    }

    pub(super) fn materialize(&mut self, sequence: Sequence, blocks: u32) -> Result<u32, Refusal> {
        if blocks == 0 {
            return Err(invalid(Argument::Count));
        }
        let slot = self.drive(sequence, true)?;
        let blocks = blocks.max(self.sequences[slot].held());
        let taken = self.grow(slot, blocks, None)?;
        self.sequences[slot].untold += taken;
        Ok(taken)
    }

    fn grow(&mut self, slot: usize, blocks: u32, growth: Option<u32>) -> Result<u32, Refusal> {
        let seq = &self.sequences[slot];
        if seq.shared.is_some() && growth.is_some() {
            return Err(invalid(Argument::Account));
        }
        let need = blocks - seq.held();
        if need == 0 {
            return Ok(0);
        }
        if blocks > self.config.table_width {
            return Err(Refusal::NeverFits { needed: blocks, ceiling: self.config.table_width });
        }
        if let Some((account, generation)) = seq.shared {
            let balance = self.accounts[account].balance;
            if balance < need {
                return Err(self.account_refusal(account, generation, need - balance));
            }
            self.accounts[account].balance -= need;
            return Ok(need);
        }
        let missing = need.saturating_sub(seq.balance);
        if missing > 0 {
            let group = seq.group.unwrap_or_default();
            let Some(watermark) = growth else { return Err(Refusal::OverPromise { short_by: missing }) };
            self.ceiling(group, u64::from(blocks))?;
            self.fits(group, missing, watermark)?;
        }
        self.sequences[slot].balance -= need - missing;
        Ok(need)
    }

    /// The pool says that these are the blocks of a sequence now.
    pub(super) fn took(&mut self, sequence: Sequence, ids: &[u32]) -> bool {
        let seq = &mut self.sequences[sequence.slot as usize];
        let Some(fresh) = ids.strip_prefix(seq.ids.as_slice()) else { return false };
        for &id in fresh {
            match self.blocks.get_mut(id as usize) {
                Some(block) if *block == Block::Free && id != 0 => *block = Block::Held,
                _ => return false,
            }
        }
        seq.ids = ids.to_vec();
        core::mem::take(&mut seq.untold) as usize == fresh.len()
    }

    pub(super) fn extend(&mut self, sequence: Sequence, blocks: u32, watermark: u32) -> Result<(), Refusal> {
        let slot = self.drive_own(sequence, blocks)?;
        let seq = &self.sequences[slot];
        let group = seq.group.unwrap_or_default();
        self.ceiling(group, seq.ids.len() as u64 + u64::from(seq.balance) + u64::from(blocks))?;
        self.fits(group, blocks, watermark)?;
        self.sequences[slot].balance += blocks;
        Ok(())
    }

    pub(super) fn shrink(&mut self, sequence: Sequence, blocks: u32) -> Result<u32, Refusal> {
        let slot = self.drive_own(sequence, blocks)?;
        let part = blocks.min(self.sequences[slot].balance);
        self.sequences[slot].balance -= part;
        self.returned |= part > 0;
        Ok(part)
    }

    pub(super) fn draw_safety(&mut self, sequence: Sequence, blocks: u32) -> Result<(), Refusal> {
        let slot = self.drive_own(sequence, blocks)?;
        let group = self.sequences[slot].group.unwrap_or_default();
        let seq = &self.sequences[slot];
        let has = seq.ids.len() as u64 + u64::from(seq.balance);
        let ceiling = self.config.blocks.min(self.config.table_width).min(self.quotas[group.0 as usize]);
        Self::within(has + u64::from(blocks), ceiling)?;
        if blocks > self.safety {
            return Err(Refusal::WouldBlock { short_by: blocks - self.safety, scope: Scope::Pool });
        }
        let short_by = self.group_short(group, blocks);
        if short_by > 0 {
            return Err(self.refusal(short_by, Scope::Group, group));
        }
        self.safety -= blocks;
        self.sequences[slot].balance += blocks;
        Ok(())
    }

    pub(super) fn cancel(&mut self, sequence: Sequence) -> Result<(), Refusal> {
        let slot = self.find(sequence)?;
        let seq = &mut self.sequences[slot];
        self.returned |= seq.balance > 0;
        (seq.cancelled, seq.balance) = (true, 0);
        Ok(())
    }

    pub(super) fn end(&mut self, sequence: Sequence) -> Result<Released, Refusal> {
        let slot = self.find(sequence)?;
        let released = self.let_go(slot);
        let seq = &mut self.sequences[slot];
        (seq.open, seq.admitted, seq.generation) = (false, false, seq.generation + 1);
        Ok(released)
    }

    pub(super) fn preempt(&mut self, sequence: Sequence) -> Result<Released, Refusal> {
        let slot = self.drive(sequence, true)?;
        let released = self.let_go(slot);
        self.sequences[slot].admitted = false;
        Ok(released)
    }

    fn let_go(&mut self, slot: usize) -> Released {
        let seq = &mut self.sequences[slot];
        let (ids, streams) = (core::mem::take(&mut seq.ids), seq.streams);
        let (credit, group) = (seq.shared.take(), seq.group.unwrap_or_default());
        let mut released = Released { promised: core::mem::take(&mut seq.balance), ..Released::default() };
        seq.tokens = 0;
        self.returned |= released.promised > 0;
        let tag = self.time.tag(streams);
        for id in ids {
            match tag {
                None => {
                    self.free(id, credit);
                    released.free += 1;
                }
                Some(epoch) => {
                    self.blocks[id as usize] = Block::Retiring { epoch, streams, group, credit };
                    released.retiring += 1;
                    released.after = epoch;
                }
            }
        }
        released
    }

    /// A block leaves A; the account that it is credited to gets it back, if it is still open.
    fn free(&mut self, id: u32, credit: Credit) {
        self.blocks[id as usize] = Block::Free;
        self.returned = true;
        if let Some(account) = self.credited(credit) {
            self.accounts[account].balance += 1;
        }
    }

    pub(super) fn credited(&self, credit: Credit) -> Option<usize> {
        let (account, generation) = credit?;
        (self.accounts[account].open && self.accounts[account].generation == generation).then_some(account)
    }

    pub(super) fn use_streams(&mut self, sequence: Sequence, streams: StreamSet) -> Result<(), Refusal> {
        let streams = self.time.known(streams)?;
        let slot = self.drive(sequence, true)?;
        self.sequences[slot].streams = self.sequences[slot].streams.with(streams);
        Ok(())
    }

    pub(super) fn may_open_account(&mut self, group: Group, total: u32, watermark: u32) -> Result<(), Refusal> {
        let group = self.group(group)?;
        if self.accounts.iter().all(|account| account.open) {
            return Err(Refusal::Full);
        }
        self.account_fits(group, 0, total, watermark)
    }

    /// The pool opened this account.
    pub(super) fn opened_account(&mut self, account: Account, group: Group, total: u32) -> bool {
        let Some(shared) = self.accounts.get_mut(account.slot as usize) else { return false };
        let could_be = !shared.open && shared.generation == account.generation;
        *shared = Shared { generation: account.generation, open: true, group, balance: total };
        could_be
    }

    pub(super) fn set_account_total(&mut self, account: Account, total: u32) -> Result<(), Refusal> {
        let slot = self.account(account)?;
        let before = self.total(slot);
        if total > before {
            self.account_fits(self.accounts[slot].group, before, total - before, 0)?;
            self.accounts[slot].balance += total - before;
        } else if total < before {
            let (lower, balance) = (before - total, self.accounts[slot].balance);
            if lower > balance {
                return Err(Refusal::OverPromise { short_by: lower - balance });
            }
            self.accounts[slot].balance -= lower;
            self.returned = true;
        }
        Ok(())
    }

    pub(super) fn close_account(&mut self, account: Account) -> Result<(), Refusal> {
        let slot = self.account(account)?;
        if self.drawn(slot) > 0 {
            return Err(Refusal::Busy);
        }
        let shared = &mut self.accounts[slot];
        self.returned |= shared.balance > 0;
        *shared = Shared { generation: shared.generation + 1, ..Shared::default() };
        Ok(())
    }

    pub(super) fn set_safety(&mut self, blocks: u32) -> Result<(), Refusal> {
        if blocks >= self.config.blocks {
            return Err(invalid(Argument::Safety));
        }
        let short_by = self.pool_short(blocks.saturating_sub(self.safety), 0);
        if blocks > self.safety && short_by > 0 {
            return Err(self.refusal(short_by, Scope::Pool, Group(0)));
        }
        self.returned |= blocks < self.safety;
        self.safety = blocks;
        Ok(())
    }

    pub(super) fn set_quota(&mut self, group: Group, quota: u32) -> Result<(), Refusal> {
        let group = self.group(group)?;
        let before = core::mem::replace(&mut self.quotas[group.0 as usize], quota);
        self.returned |= quota > before;
        Ok(())
    }

    pub(super) fn submit(&mut self, stream: Stream) -> Result<Epoch, Refusal> {
        self.time.submit(stream)
    }

    pub(super) fn complete(&mut self, stream: Stream, epoch: Epoch, failed: bool) -> Result<Epoch, Refusal> {
        self.time.complete(stream, epoch, failed)?;
        self.reclaim();
        Ok(self.time.frontier())
    }

    pub(super) fn abandon(&mut self, stream: Stream) -> Result<Epoch, Refusal> {
        self.time.abandon(stream)?;
        self.reclaim();
        Ok(self.time.frontier())
    }

    fn reclaim(&mut self) {
        for id in 1..=self.config.blocks {
            if let Block::Retiring { epoch, streams, credit, .. } = self.blocks[id as usize]
                && self.time.is_over(epoch, streams)
            {
                self.free(id, credit);
            }
        }
    }

    pub(super) fn launch_row(&mut self, sequence: Sequence, epoch: Epoch) -> Result<(), Refusal> {
        if epoch == Epoch::NONE || epoch > self.time.newest() {
            return Err(invalid(Argument::Epoch));
        }
        let slot = self.drive(sequence, true)?;
        let seq = &mut self.sequences[slot];
        let (newest, streams) = &mut seq.in_flight[seq.turn];
        *newest = epoch.max(*newest);
        *streams = streams.with(seq.streams);
        Ok(())
    }

    /// The row that an admission writes to.
    fn free_turn(&self, slot: usize) -> Result<usize, Refusal> {
        let seq = &self.sequences[slot];
        if self.config.rows == 1 {
            return Ok(seq.turn);
        }
        let over = |&turn: &usize| self.time.is_over(seq.in_flight[turn].0, seq.in_flight[turn].1);
        [seq.turn, 1 - seq.turn].into_iter().find(over).ok_or(Refusal::Busy)
    }

    fn find(&self, sequence: Sequence) -> Result<usize, Refusal> {
        let slot = sequence.slot as usize;
        match self.sequences.get(slot) {
            Some(seq) if seq.open && seq.generation == sequence.generation && sequence.pool == self.config.number => {
                Ok(slot)
            }
            _ => Err(Refusal::Stale),
        }
    }

    /// For a call that needs an admitted sequence, or one that is not admitted yet.
    pub(super) fn drive(&self, sequence: Sequence, admitted: bool) -> Result<usize, Refusal> {
        let slot = self.find(sequence)?;
        let seq = &self.sequences[slot];
        if seq.cancelled {
            return Err(Refusal::Cancelled);
        }
        if seq.admitted != admitted {
            return Err(invalid(Argument::Sequence));
        }
        Ok(slot)
    }

    fn drive_own(&self, sequence: Sequence, blocks: u32) -> Result<usize, Refusal> {
        if blocks == 0 {
            return Err(invalid(Argument::Count));
        }
        let slot = self.drive(sequence, true)?;
        if self.sequences[slot].shared.is_some() { Err(invalid(Argument::Account)) } else { Ok(slot) }
    }

    fn account(&self, account: Account) -> Result<usize, Refusal> {
        let slot = account.slot as usize;
        match self.accounts.get(slot) {
            Some(shared)
                if shared.open && shared.generation == account.generation && account.pool == self.config.number =>
            {
                Ok(slot)
            }
            _ => Err(Refusal::Stale),
        }
    }

    fn group(&self, group: Group) -> Result<Group, Refusal> {
        if group.0 < self.config.groups { Ok(group) } else { Err(invalid(Argument::Group)) }
    }
}
