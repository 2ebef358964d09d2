//! The audit: after P2, P3 and P4 of every step, the pool against itself and against the replay's own integers.
//!
//! `Pool::validate` compares what memory shows of I1, I2, I4 and I8. The other invariants are about moments between
//! calls or about refusals; a replay notices a breach of I3 or I13 as an answer that it must not get (`Failure::Answer`).

use super::engine::Mirror;
use super::names::Names;
use super::roster::Roster;
use kvledger_core::Pool;

/// The replay's side of an audit.
#[derive(Clone, Copy)]
pub(super) struct Books<'a> {
    pub(super) names: &'a Names,
    pub(super) mirror: Mirror,
    /// The ledger's S.
    pub(super) safety: u32,
    /// N of the pool.
    pub(super) blocks: u64,
    /// Sequences that have a handle.
    pub(super) open: u64,
}

/// What an audit remembers between steps: room for its own work.
#[derive(Debug, Default)]
pub(super) struct Audit {
    row: Vec<u32>,
    /// One bit a block id: it is in a row.
    seen: Vec<u64>,
    /// The same: it is in a row as a named block.
    shared: Vec<u64>,
    /// The same: it is in the row that is looked at.
    own: Vec<u64>,
}

impl Audit {
    pub(super) fn new() -> Audit {
        Audit::default()
    }

    /// Everything that must hold between two phases of a step, when nothing is in progress. Errors: what does not hold.
    pub(super) fn check(&mut self, pool: &Pool<'_>, roster: &Roster, books: Books<'_>) -> Result<(), String> {
        let Books { names, mirror, safety, blocks, open } = books;
        pool.validate().map_err(|fault| format!("{fault}"))?;
        let snapshot = pool.snapshot();
        if snapshot.exact != 1 || !snapshot.holds() {
            return Err(format!("I1 or I2 does not hold: {snapshot:?}"));
        }
        same("A", snapshot.committed, mirror.held)?;
        same("E", snapshot.idle, mirror.cached)?;
        same("A + E + F", u64::from(snapshot.committed) + u64::from(snapshot.idle) + u64::from(snapshot.free), blocks)?;
        same("R", snapshot.promised, mirror.promised)?;
        same("S", snapshot.safety, safety)?;
        same("tokens", snapshot.tokens, mirror.tokens)?;
        same("open sequences", snapshot.sequences, open)?;
        same("retiring blocks between steps", snapshot.retiring, 0u32)?;
        same("quarantined blocks", snapshot.quarantined, 0u32)?;
        let counts = pool.counts();
        same("A of the word", counts.committed, mirror.held)?;
        same("R + S of the word", counts.promised_and_safety, mirror.promised + u64::from(safety))?;
        let different = self.rows(pool, roster, names, snapshot.blocks)?;
        same("A of the rows", different, mirror.held)
    }

    /// Every row has as many blocks as its sequence holds, all of the pool and none twice; only named ones are in several
    /// rows. How many different ones there are.
    fn rows(&mut self, pool: &Pool<'_>, roster: &Roster, names: &Names, blocks: u32) -> Result<u64, String> {
        let mut different = 0;
        for bits in [&mut self.seen, &mut self.shared, &mut self.own] {
            bits.clear();
            bits.resize(blocks as usize / 64 + 1, 0);
        }
        for run in roster.iter() {
            self.row.clear();
            self.row.resize(run.held as usize, 0);
            let held = pool
                .export_row(run.sequence, &mut self.row)
                .map_err(|refusal| format!("export_row answered {refusal}"))?;
            same("blocks of a row", held, run.held)?;
            let named = names.count(run.request) as usize;
            for (place, &id) in self.row.iter().enumerate() {
                let (word, bit) = (id as usize / 64, 1u64 << (id % 64));
                let is_shared = place < named && self.shared.get(word).is_some_and(|bits| bits & bit != 0);
                let is_new = self.seen.get(word).is_some_and(|bits| bits & bit == 0);
                if id == 0 || id > blocks || !(is_new || is_shared) || self.own[word] & bit != 0 {
                    return Err(format!("block {id} in the row of slot {} is not one of its own", run.sequence.slot));
                }
                different += u64::from(is_new);
                self.seen[word] |= bit;
                self.own[word] |= bit;
                if place < named {
                    self.shared[word] |= bit;
                }
            }
            self.row.iter().for_each(|&id| self.own[id as usize / 64] &= !(1u64 << (id % 64)));
        }
        Ok(different)
    }
}

fn same(what: &str, in_pool: impl Into<u64>, in_replay: impl Into<u64>) -> Result<(), String> {
    let (in_pool, in_replay) = (in_pool.into(), in_replay.into());
    if in_pool == in_replay { Ok(()) } else { Err(format!("{what}: {in_pool} in the pool, {in_replay} in the replay")) }
}

#[cfg(test)]
mod tests {
    use super::super::roster::Run;
    use super::*;
    use kvledger_core::{Admission, Line, PoolConfig, entries, lines};

    /// The net catches: a sequence of 5 tokens in blocks of 4, as it is, and with each of the replay's integers wrong.
    #[test]
    fn what_the_replay_counts_must_be_what_the_pool_counts() {
        let config = PoolConfig { safety: 2, ..PoolConfig::new(12, 4, 3, 6) };
        let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
        let pool = Pool::init(&mut memory, &mut table, &config).expect("a pool");
        let sequence = pool.open().expect("a slot");
        pool.admit(sequence, &Admission::full(5, 10)).expect("room");
        pool.advance(sequence, 5).expect("within the promise");
        let run = Run::new(sequence, 0, 5, 10, 0).with_blocks(2, 4);
        let right = Mirror { held: 2, promised: 2, tokens: 5, cached: 0 };
        let names = Names::default();
        let check = |run: Run, mirror: Mirror, safety: u32, open: u64| {
            let mut roster = Roster::new(config.sequences);
            roster.admit(run);
            Audit::new().check(&pool, &roster, Books { names: &names, mirror, safety, blocks: 12, open })
        };
        assert_eq!(check(run, right, 2, 1), Ok(()));
        for (what, found) in [
            ("A: ", check(run, Mirror { held: 3, ..right }, 2, 1)),
            ("E: ", check(run, Mirror { cached: 1, ..right }, 2, 1)),
            ("R: ", check(run, Mirror { promised: 1, ..right }, 2, 1)),
            ("S: ", check(run, right, 1, 1)),
            ("tokens: ", check(run, Mirror { tokens: 6, ..right }, 2, 1)),
            ("open sequences: ", check(run, right, 2, 2)),
            ("export_row ", check(run.with_blocks(1, 4), right, 2, 1)),
            ("blocks of a row: ", check(run.with_blocks(3, 4), right, 2, 1)),
        ] {
            assert!(found.as_ref().is_err_and(|message| message.starts_with(what)), "{what}{found:?}");
        }
    }
}
