//! The model: every operation in the obvious way. What it cannot know (which slot, which free ids) it is told afterwards,
//! and then checks that it could be so.

use super::blocks::{Block, Credit};
use super::events::Log;
use super::time::Time;
use super::transfers::Grip;
use crate::answer::{Argument, Refusal};
use crate::calls::Window;
use crate::config::PoolConfig;
use crate::ids::{Account, Epoch, Group, Sequence, StreamSet};
use std::vec;
use std::vec::Vec;

pub(super) const fn invalid(argument: Argument) -> Refusal {
    Refusal::Invalid { argument }
}

/// Where a sequence is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) enum Life {
    /// It has a handle, and neither promise nor blocks.
    #[default]
    Opened,
    Admitted,
    Pinned,
}

/// An entry of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Entry {
    /// What the row says; 0: the null block.
    pub(super) id: u32,
    /// False: it is out of the window, was never in it, or was released.
    pub(super) held: bool,
}

/// A copy that was ordered and not submitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Order {
    pub(super) source: u32,
    /// Where the block to write stands in the row.
    pub(super) place: usize,
    pub(super) slots: u32,
}

/// A sequence of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Seq {
    pub(super) generation: u64,
    pub(super) open: bool,
    pub(super) life: Life,
    pub(super) cancelled: bool,
    pub(super) balance: u32,
    pub(super) group: Option<Group>,
    pub(super) streams: StreamSet,
    pub(super) tokens: u32,
    /// Of these, proposed ones.
    pub(super) unaccepted: u32,
    pub(super) row: Vec<Entry>,
    pub(super) shared: Credit,
    pub(super) window: Window,
    /// Entries at the beginning of its row that are out of the window, and the newest epoch that may read one.
    pub(super) recycled: usize,
    pub(super) recycled_at: Epoch,
    pub(super) order: Option<Order>,
    /// The newest epoch under which what it shares may still be written.
    pub(super) waits_for: Epoch,
    /// There was a reset since it was admitted.
    pub(super) outdated: bool,
    /// Which row is in use, and until when each is read in place.
    pub(super) turn: usize,
    pub(super) in_flight: [(Epoch, StreamSet); 2],
}

impl Seq {
    /// Its blocks, in the order of the row.
    pub(super) fn held_ids(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.row.iter().filter(|entry| entry.held).map(|entry| entry.id)
    }

    /// Distinct blocks.
    pub(super) fn held(&self) -> u32 {
        self.held_ids().count() as u32
    }

    /// Entries of its row.
    pub(super) fn entries(&self) -> u32 {
        self.row.len() as u32
    }

    pub(super) fn is_windowed(&self) -> bool {
        self.window.tokens > 0
    }

    pub(super) fn accepted(&self) -> u32 {
        self.tokens - self.unaccepted
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
    /// Blocks with a name that is kept, in the order in which their last holder left: the first that is idle goes first.
    pub(super) order: Vec<u32>,
    pub(super) sequences: Vec<Seq>,
    pub(super) accounts: Vec<Shared>,
    pub(super) transfers: Vec<Grip>,
    pub(super) time: Time,
    pub(super) log: Log,
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
            blocks: vec![Block::default(); config.blocks as usize + 1],
            order: Vec::new(),
            sequences: vec![seq; config.sequences as usize],
            accounts: vec![account; config.accounts as usize],
            transfers: vec![Grip { generation: 1, ..Grip::default() }; config.transfers as usize],
            time: Time::new(config.streams, config.epochs),
            log: Log::new(config.events),
            returned: false,
        }
    }

    /// The group that an open sequence was admitted to.
    pub(super) fn group_of(&self, sequence: Sequence) -> Option<Group> {
        self.find(sequence).ok().and_then(|slot| self.sequences[slot].group)
    }

    /// The group of an admitted sequence.
    pub(super) fn group_at(&self, slot: usize) -> Group {
        self.sequences[slot].group.unwrap_or_default()
    }

    /// ⌈tokens / B⌉.
    pub(super) fn blocks_for(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.config.block_tokens)
    }

    pub(super) fn find(&self, sequence: Sequence) -> Result<usize, Refusal> {
        let slot = sequence.slot as usize;
        match self.sequences.get(slot) {
            Some(seq) if seq.open && seq.generation == sequence.generation && sequence.pool == self.config.number => {
                Ok(slot)
            }
            _ => Err(Refusal::Stale),
        }
    }

    /// For a call that needs a sequence at this point of its life.
    pub(super) fn drive(&self, sequence: Sequence, life: Life) -> Result<usize, Refusal> {
        let slot = self.find(sequence)?;
        let seq = &self.sequences[slot];
        if seq.cancelled {
            return Err(Refusal::Cancelled);
        }
        if seq.life != life {
            return Err(invalid(Argument::Sequence));
        }
        Ok(slot)
    }

    pub(super) fn drive_own(&self, sequence: Sequence, blocks: u32) -> Result<usize, Refusal> {
        if blocks == 0 {
            return Err(invalid(Argument::Count));
        }
        let slot = self.drive(sequence, Life::Admitted)?;
        if self.sequences[slot].shared.is_some() { Err(invalid(Argument::Account)) } else { Ok(slot) }
    }

    pub(super) fn account(&self, account: Account) -> Result<usize, Refusal> {
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

    pub(super) fn group(&self, group: Group) -> Result<Group, Refusal> {
        if group.0 < self.config.groups { Ok(group) } else { Err(invalid(Argument::Group)) }
    }
}
