//! Everything that can be asked of a pool, asked of the pool and of the model.

use super::compare::{Comparison, same};
use crate::answer::Refusal;
use crate::ids::{Account, Group, Sequence};
use crate::pool::RowView;
use crate::snapshot::{SequenceSnapshot, Snapshot};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

/// A row as it was seen, and its version then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    row: u32,
    ids: Vec<u32>,
    version: u64,
}

impl Comparison<'_> {
    /// All observers, of both; rows as far as their drivers may read them.
    pub(super) fn observe(&mut self) -> Result<(), String> {
        self.pool.validate().map_err(|fault| format!("{fault}"))?;
        let snapshot = self.pool.snapshot();
        same("snapshot holds", snapshot.holds(), true)?;
        same("snapshot", Snapshot { release_number: 0, ..snapshot }, self.model.snapshot())?;
        let counts = self.pool.counts();
        same(
            "counts",
            (counts.committed, counts.promised_and_safety),
            (snapshot.committed, snapshot.promised + snapshot.safety),
        )?;
        for group in (0..self.pool.config().groups).map(Group) {
            same("group", self.pool.group_snapshot(group), Ok(self.model.group_snapshot(group)))?;
        }
        for slot in 0..self.model.accounts.len() {
            let shared = &self.model.accounts[slot];
            let pool = self.pool.config().number;
            let account = Account { slot: slot as u32, pool, generation: shared.generation };
            let model = if shared.open { Ok(self.model.account_snapshot(slot)) } else { Err(Refusal::Stale) };
            same("account", self.pool.account_snapshot(account), model)?;
        }
        (0..self.model.sequences.len()).try_for_each(|slot| self.observe_sequence(slot))?;
        self.observe_packed()
    }

    fn observe_sequence(&mut self, slot: usize) -> Result<(), String> {
        let seq = &self.model.sequences[slot];
        let sequence = self.handle(slot);
        let pool = self.pool.sequence_snapshot(sequence);
        if !seq.open {
            return same("an ended sequence", pool, Err(Refusal::Stale));
        }
        let version = pool.map_or(0, |snapshot| snapshot.row_version);
        let pool = pool.map(|snapshot| SequenceSnapshot { row_version: 0, ..snapshot });
        same("sequence", pool, Ok(self.model.sequence_snapshot(slot)))?;
        let view = self.model.row_view(slot);
        if seq.admitted && !seq.cancelled {
            same("row view", self.pool.row(sequence), Ok(RowView { version, ..view }))?;
            same("blocks held", self.pool.export_row(sequence, &mut self.row), Ok(view.blocks))?;
            same("row", &self.row[..seq.ids.len()], seq.ids.as_slice())?;
        }
        let now = Seen { row: view.row, ids: seq.ids.clone(), version };
        let before = self.rows_seen[slot].replace(now.clone());
        let moved = before.is_some_and(|before| before.version == now.version && before.ids != now.ids);
        same("a row that changed under an old version", moved, false)
    }

    /// The rows of all sequences that run, packed.
    fn observe_packed(&mut self) -> Result<(), String> {
        let running = self.model.sequences.iter().enumerate().filter(|(_, seq)| seq.admitted && !seq.cancelled);
        let (slots, seqs): (Vec<_>, Vec<_>) = running.unzip();
        let (mut indptr, mut indices, mut last) = (vec![0], Vec::new(), Vec::new());
        for seq in seqs {
            let block_tokens = self.model.config.block_tokens;
            let blocks = seq.tokens.div_ceil(block_tokens);
            indices.extend_from_slice(&seq.ids[..blocks as usize]);
            indptr.push(indices.len() as u32);
            last.push(seq.tokens - blocks.saturating_sub(1) * block_tokens);
        }
        let handles: Vec<_> = slots.into_iter().map(|slot| self.handle(slot)).collect();
        let mut pool = (vec![9; indptr.len()], vec![9; indices.len()], vec![9; last.len()]);
        let used = self.pool.export_csr(&handles, &mut pool.0, &mut pool.1, &mut pool.2);
        same("packed rows", used, Ok(indices.len() as u32))?;
        same("packed rows", pool, (indptr, indices, last))
    }

    fn handle(&self, slot: usize) -> Sequence {
        let generation = self.model.sequences[slot].generation;
        Sequence { slot: slot as u32, pool: self.model.config.number, generation }
    }
}
