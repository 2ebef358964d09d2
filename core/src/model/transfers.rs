//! Transfers in the model: a list of blocks each.

use super::blocks::Place;
use super::pool::{Life, Model, invalid};
use crate::answer::{Argument, Refusal};
use crate::ids::{Sequence, Transfer};
use crate::transfers::Access;
use std::vec::Vec;

/// Grips that one block can have.
pub(super) const HOLDS_MAX: u32 = 15;

/// A transfer.
#[derive(Clone, Debug, Default)]
pub(super) struct Grip {
    pub(super) generation: u64,
    /// What it does with its blocks; `None`: it is nobody's.
    pub(super) access: Option<Access>,
    pub(super) quarantined: bool,
    pub(super) blocks: Vec<u32>,
}

impl Grip {
    pub(super) fn writes(&self) -> bool {
        self.access == Some(Access::Write)
    }
}

impl Model {
    /// The blocks that a transfer of these entries of a row grips.
    pub(super) fn may_hold(
        &mut self,
        sequence: Sequence,
        first: u32,
        count: u32,
        access: Access,
    ) -> Result<Vec<u32>, Refusal> {
        if count == 0 {
            return Err(invalid(Argument::Count));
        }
        let slot = self.drive(sequence, Life::Admitted)?;
        let ids = self.range(slot, first, count)?;
        self.may_grip(ids, access)
    }

    pub(super) fn may_hold_blocks(&mut self, ids: &[u32], access: Access) -> Result<Vec<u32>, Refusal> {
        if ids.is_empty() {
            return Err(invalid(Argument::Count));
        }
        let is_known = |&id: &u32| {
            self.exists(id) && self.block(id).known && self.block(id).place != Place::Free && !self.is_dead(id)
        };
        if !ids.iter().all(is_known) {
            return Err(invalid(Argument::Block));
        }
        self.may_grip(ids.to_vec(), access)
    }

    /// Whether each of them can be gripped once more, one after the other.
    fn may_grip(&mut self, ids: Vec<u32>, access: Access) -> Result<Vec<u32>, Refusal> {
        let before = self.clone();
        let Some(slot) = self.transfers.iter().position(|transfer| transfer.access.is_none()) else {
            return Err(Refusal::Full);
        };
        self.transfers[slot].access = Some(access);
        let gripped = ids.iter().try_for_each(|&id| self.grip(slot, id, access));
        // What was charged goes back when it is undone; the pool names the slot of what is not.
        let charged = self.committed() + self.promised() != before.committed() + before.promised();
        let blocks = core::mem::take(&mut self.transfers[slot].blocks);
        let undone = gripped.is_err() && charged;
        *self = before;
        self.returned |= undone;
        // Whoever has gripped a block for a moment may know it.
        blocks.iter().for_each(|&id| self.become_known(id));
        gripped.map(|()| blocks)
    }

    /// One more grip on a block.
    fn grip(&mut self, slot: usize, id: u32, access: Access) -> Result<(), Refusal> {
        if self.transfers[slot].blocks.contains(&id) {
            return Ok(());
        }
        let block = self.block(id);
        let writes = access == Access::Write;
        if self.holds(id) >= HOLDS_MAX || (writes && self.is_written(id)) {
            return Err(Refusal::Busy);
        }
        let price =
            u32::from(block.place == Place::Idle) + u32::from(block.owed && self.holders(id) + self.holds(id) > 0);
        if price > 0 {
            self.fits(block.group, price, 0, &[])?;
        }
        self.grips(slot, id);
        Ok(())
    }

    fn grips(&mut self, slot: usize, id: u32) {
        let block = self.block_mut(id);
        block.known = true;
        if block.place == Place::Idle {
            block.place = Place::Retiring;
        }
        self.transfers[slot].blocks.push(id);
    }

    /// The pool says that this transfer grips these blocks. (One that was refused had a slot for a moment.)
    pub(super) fn held_by(&mut self, transfer: Transfer, access: Access, ids: &[u32]) -> bool {
        let slot = transfer.slot as usize;
        let Some(grip) = self.transfers.get_mut(slot) else { return false };
        let could_be =
            grip.access.is_none() && transfer.generation >= grip.generation && transfer.pool == self.config.number;
        *grip = Grip { generation: transfer.generation, access: Some(access), ..Grip::default() };
        ids.iter().for_each(|&id| self.grips(slot, id));
        could_be
    }

    fn transfer(&self, transfer: Transfer) -> Result<usize, Refusal> {
        let slot = transfer.slot as usize;
        match self.transfers.get(slot) {
            Some(grip)
                if grip.access.is_some()
                    && grip.generation == transfer.generation
                    && transfer.pool == self.config.number =>
            {
                Ok(slot)
            }
            _ => Err(Refusal::Stale),
        }
    }

    /// The transfer is over. Revoked: what it was to write is not there.
    pub(super) fn end_transfer(&mut self, transfer: Transfer, revoked: bool) -> Result<u32, Refusal> {
        let slot = self.transfer(transfer)?;
        let lost = revoked && self.transfers[slot].writes();
        let mut blocks = self.transfers[slot].blocks.clone();
        blocks.sort_unstable();
        for &id in &blocks {
            if lost {
                self.unname(id);
            }
            self.transfers[slot].blocks.retain(|&other| other != id);
            self.let_go_of(id);
        }
        self.transfers[slot] = Grip { generation: transfer.generation + 1, ..Grip::default() };
        Ok(blocks.len() as u32)
    }

    pub(super) fn quarantine(&mut self, transfer: Transfer) -> Result<(), Refusal> {
        let slot = self.transfer(transfer)?;
        self.transfers[slot].quarantined = true;
        Ok(())
    }
}
