//! Everything that can be asked of a pool, asked of the pool and of the model.

use super::chains::{CHAINS, chain_words};
use super::compare::{Comparison, same};
use super::pool::{Life, Seq};
use crate::answer::Refusal;
use crate::events::{Event, EventKind, EventsRead};
use crate::identity::Identity;
use crate::ids::{Account, BlockId, Group, Sequence};
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

/// Whether its driver may read its row.
fn runs(seq: &Seq) -> bool {
    seq.open && seq.life == Life::Admitted && !seq.cancelled
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
        self.observe_packed()?;
        self.observe_names()?;
        // Not after each call: some events are overwritten before they are read.
        if self.calls.is_multiple_of(5) { self.observe_events() } else { Ok(()) }
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
        let ids: Vec<u32> = seq.row.iter().map(|entry| entry.id).collect();
        if seq.life == Life::Admitted && !seq.cancelled {
            same("row view", self.pool.row(sequence), Ok(RowView { version, ..view }))?;
            same("entries of a row", self.pool.export_row(sequence, &mut self.row), Ok(view.entries))?;
            same("row", &self.row[..ids.len()], ids.as_slice())?;
            same("copy order", self.pool.copy_order(sequence), Ok(self.model.copy_order(slot)))?;
        }
        let now = Seen { row: view.row, ids, version };
        let before = self.rows_seen[slot].replace(now.clone());
        let moved = before.is_some_and(|before| before.version == now.version && before.ids != now.ids);
        same("a row that changed under an old version", moved, false)
    }

    /// The rows of all sequences that run, packed.
    fn observe_packed(&mut self) -> Result<(), String> {
        let running = self.model.sequences.iter().enumerate().filter(|(_, seq)| runs(seq));
        let (slots, seqs): (Vec<_>, Vec<_>) = running.unzip();
        let (mut indptr, mut indices, mut last) = (vec![0], Vec::new(), Vec::new());
        for seq in seqs {
            let block_tokens = self.model.config.block_tokens;
            let blocks = seq.tokens.div_ceil(block_tokens);
            indices.extend(seq.row[..blocks as usize].iter().map(|entry| entry.id));
            indptr.push(indices.len() as u32);
            last.push(seq.tokens - blocks.saturating_sub(1) * block_tokens);
        }
        let handles: Vec<_> = slots.into_iter().map(|slot| self.handle(slot)).collect();
        let mut pool = (vec![9; indptr.len()], vec![9; indices.len()], vec![9; last.len()]);
        let used = self.pool.export_csr(&handles, &mut pool.0, &mut pool.1, &mut pool.2);
        same("packed rows", used, Ok(indices.len() as u32))?;
        same("packed rows", pool, (indptr, indices, last))
    }

    /// What would be found of every prefix, by every group.
    fn observe_names(&self) -> Result<(), String> {
        let config = self.model.config;
        for group in (0..config.groups).map(Group) {
            for chain in 0..CHAINS {
                for (unfinished, window, named) in [(false, 0, true), (true, 0, false), (true, 1 + 2 * chain, true)] {
                    let words = chain_words(&config, chain, 0, config.table_width, unfinished, named);
                    let pool = self.pool.lookup(group, &words.prefix(), window);
                    same("lookup", pool, self.model.lookup(group, &words, window))?;
                }
            }
        }
        Ok(())
    }

    fn observe_events(&mut self) -> Result<(), String> {
        let nothing = Event {
            number: 0,
            kind: EventKind::Cleared,
            block: BlockId::NULL,
            group: Group(0),
            identity: Identity::NONE,
        };
        let (dropped, events) = self.model.log.since(self.events_seen);
        let mut read = vec![nothing; events.len() + 1];
        let answer = self.pool.events(&mut self.cursor, &mut read);
        same("events", answer, EventsRead { count: events.len() as u32, dropped })?;
        same("events", &read[..events.len()], events)?;
        self.events_seen = self.model.log.all.len();
        Ok(())
    }

    fn handle(&self, slot: usize) -> Sequence {
        let generation = self.model.sequences[slot].generation;
        Sequence { slot: slot as u32, pool: self.model.config.number, generation }
    }
}
