//! Telemetry: what the pool says about itself. None of these changes what is counted; `snapshot` computes the frontier
//! anew, and the pool remembers it.

use super::{Counter, Pool};
use crate::answer::Refusal;
use crate::balance;
use crate::block::{Flag, Kind};
use crate::calls::Counts;
use crate::events::{Event as CacheEvent, EventCursor, EventsRead};
use crate::ids::{Account, Group, Sequence};
use crate::sequence::State;
use crate::snapshot::{AccountSnapshot, GroupSnapshot, SequenceSnapshot, Snapshot};
use crate::sync::{Acquire, Relaxed};

/// How often a snapshot is read again before it is given out as torn.
const READS_MAX: u32 = 4;

impl Pool<'_> {
    /// The ledger word: one load, always consistent. Never fails. Wait-free. Cost: O(1).
    pub fn counts(&self) -> Counts {
        let word = self.ledger.load();
        let blocks = self.ledger.blocks();
        Counts {
            blocks,
            committed: word.committed,
            promised_and_safety: word.spoken,
            headroom: u64::from(blocks).saturating_sub(word.used()) as u32,
        }
    }

    /// Changes whenever blocks or promises came back: who was answered `WOULD_BLOCK` asks again when it differs from
    /// what it was before he asked. Never fails. Wait-free.
    pub fn release_number(&self) -> u64 {
        // O9 acquire, pairs with O9 release in `returned`.
        self.counter(Counter::Returns).load(Acquire)
    }

    /// Everything. It is read again, a few times, until nothing changed meanwhile; else it says that it is torn.
    /// Never fails. Threads: any. Lock-free. Cost: O(sequences), and O(N) once anything has been shared, windowed or held;
    /// two to five times that.
    pub fn snapshot(&self) -> Snapshot {
        let mut before = self.read_once();
        for _ in 0..READS_MAX {
            let again = self.read_once();
            if again == before {
                let parts = before.held as u64 + before.retiring as u64 + before.quarantined as u64;
                // A call in progress has charged what it has not taken, or given what it has not counted.
                let at_rest = parts == before.committed as u64;
                return Snapshot { exact: u32::from(at_rest), ..before };
            }
            before = again;
        }
        before
    }

    /// One trust group: what it holds, is promised, and has cached. `used` and `quota` are one load; the parts are counted, and
    /// torn if calls are in progress. Errors: `INVALID(Group)`. Threads: any. Cost: O(sequences + accounts), and O(N) once
    /// blocks have been shared.
    pub fn group_snapshot(&self, group: Group) -> Result<GroupSnapshot, Refusal> {
        self.check_group(group)?;
        let now = self.group_word(group).load();
        let (behind_blocks, idle) = self.shared_of(group);
        let promised = self.balances_of(group) + behind_blocks;
        Ok(GroupSnapshot {
            used: now.used,
            quota: now.quota,
            committed: now.used.saturating_sub(promised),
            promised: promised.min(now.used),
            idle,
        })
    }

    /// What the sequences and accounts of a group are promised.
    fn balances_of(&self, group: Group) -> u32 {
        let own = (0..self.sequences.count())
            .map(|slot| self.sequences.record(slot))
            .filter(|record| record.look().1 != State::Vacant && record.group() == Some(group))
            .map(|record| record.balance().blocks());
        let shared = (0..self.accounts.count())
            .filter(|&slot| self.accounts.opened(slot).is_some() && self.accounts.group(slot) == group)
            .map(|slot| self.accounts.balance(slot).blocks());
        own.chain(shared).fold(0, u32::saturating_add)
    }

    /// Promises behind the blocks of a group, and its idle blocks.
    fn shared_of(&self, group: Group) -> (u32, u32) {
        if self.counter(Counter::Shared).load(Acquire) == 0 {
            return (0, 0);
        }
        let (mut promises, mut idle) = (0u32, 0);
        for id in 1..=self.ledger.blocks() {
            let word = self.blocks.word(id);
            if word.has(Flag::Shared) && self.blocks.group(id) == group {
                promises = promises.saturating_add(word.promises());
                idle += u32::from(word.is(Kind::Idle) && word.has(Flag::Named));
            }
        }
        (promises, idle)
    }

    /// One shared account. Errors: `STALE`. Threads: any. Cost: O(1).
    pub fn account_snapshot(&self, account: Account) -> Result<AccountSnapshot, Refusal> {
        let sequences = self.accounts.drawn(account)?;
        let balance = self.accounts.balance(account.slot).blocks();
        Ok(AccountSnapshot { total: self.accounts.total(account.slot), balance, sequences })
    }

    /// One sequence; torn if its driver is at work. Errors: `STALE`. Threads: any. Cost: O(1).
    pub fn sequence_snapshot(&self, sequence: Sequence) -> Result<SequenceSnapshot, Refusal> {
        let record = self.sequences.find(sequence)?;
        let balance = record.balance().load(sequence.generation);
        let extent = record.extent();
        let snapshot = SequenceSnapshot {
            tokens: extent.tokens,
            held: record.blocks_held(),
            entries: extent.held,
            promised: if let balance::State::Open(balance) = balance { balance } else { 0 },
            group: record.group().map_or(0, |group| group.0),
            row: self.table.row_number(sequence.slot, record.turn()),
            row_version: record.row_version(),
            admitted: u32::from(record.look().1 == State::Admitted),
            cancelled: u32::from(balance == balance::State::Closed),
        };
        // Still the same one?
        self.sequences.find(sequence)?;
        Ok(snapshot)
    }

    /// Where a reader begins that does not care for what has happened so far. Never fails. Wait-free.
    pub fn events_now(&self) -> EventCursor {
        self.events.now()
    }

    /// The events from a reader's cursor on, as many as are there and `out` has room for: what is cached now that was not
    /// (`Stored`: the first copy of an identity), what no more (`Removed`: the last copy), and `Cleared`. Numbers increase by
    /// one; what was overwritten before it was read is counted. Any number of readers, each with its own cursor.
    ///
    /// Never fails; nothing comes if the pool has no ring. Threads: any. Wait-free. Cost: O(events read).
    pub fn events(&self, cursor: &mut EventCursor, out: &mut [CacheEvent]) -> EventsRead {
        self.events.read(cursor, out)
    }

    fn read_once(&self) -> Snapshot {
        let word = self.ledger.load();
        let safety = self.safety();
        let doubted = self.count_of(Counter::Doubted) as u32;
        let retiring = self.retiring.count() as u32 + self.count_of(Counter::Gripped) as u32;
        let idle = self.idle();
        let mut snapshot = Snapshot {
            blocks: self.ledger.blocks(),
            committed: word.committed,
            retiring,
            quarantined: self.count_of(Counter::Quarantined) as u32 + doubted,
            idle,
            free: self.ledger.blocks().saturating_sub(word.committed).saturating_sub(idle),
            promised: word.spoken.saturating_sub(safety),
            safety: safety.min(word.spoken),
            newest_epoch: self.streams.newest(),
            frontier: self.streams.frontier(),
            failed_epochs: self.counter(Counter::Failed).load(Relaxed),
            release_number: self.release_number(),
            ..Snapshot::default()
        };
        self.add_sequences(&mut snapshot);
        self.add_held(&mut snapshot);
        snapshot
    }

    pub(super) fn count_of(&self, which: Counter) -> u64 {
        // Who counts a block out may come before who counts it in (a hit on a block that has just come to rest): never
        // shown below 0.
        (self.counter(which).load(Acquire) as i64).max(0) as u64
    }

    /// Distinct blocks that sequences hold. While nothing was ever shared these are the entries of the rows.
    fn add_held(&self, snapshot: &mut Snapshot) {
        if self.counter(Counter::Shared).load(Acquire) == 0 {
            return;
        }
        let held = (1..=self.ledger.blocks()).filter(|&id| self.blocks.word(id).is(Kind::Held)).count();
        snapshot.held = held as u32;
    }

    fn add_sequences(&self, snapshot: &mut Snapshot) {
        for slot in 0..self.sequences.count() {
            let record = self.sequences.record(slot);
            let (generation, state) = record.look();
            if state == State::Vacant {
                continue;
            }
            let extent = record.extent();
            // What has left the row was full.
            let slots = u64::from(extent.held) * u64::from(self.block_tokens.get());
            snapshot.sequences += 1;
            snapshot.cancelled += u32::from(record.balance().load(generation) == balance::State::Closed);
            snapshot.held += record.blocks_held();
            snapshot.entries += u64::from(record.blocks_held());
            snapshot.tokens += u64::from(extent.tokens);
            snapshot.padding_tokens += slots.saturating_sub(u64::from(extent.tokens));
        }
    }
}
