//! Work of a fixed size, for who counts instructions (`harness/counts.py`, under callgrind). The same in each run: one
//! thread, a seed, no clock. Only what runs inside `counted_region` is counted, and it is divided by the operations that the case says.

use super::step::{Server, config};
use kvledger_core::model::Random;
use kvledger_core::{
    Admission, BlockId, FreeBlocks, FreeCursor, Hint, Line, Pool, PoolConfig, Sequence, Stream, entries, lines,
};

/// A kind of work.
pub struct Case {
    /// On the command line, and in the file of limits.
    pub name: &'static str,
    /// What one operation is.
    pub what: &'static str,
    run: fn() -> u64,
}

/// All kinds.
pub const CASES: [Case; 11] = [
    Case { name: "take-give-1", what: "1 block taken and given back, 95 % held", run: || take_give(1) },
    Case { name: "take-give-17", what: "17 blocks taken and given back, 95 % held", run: || take_give(17) },
    Case { name: "take-give-145", what: "145 blocks taken and given back, 95 % held", run: || take_give(145) },
    Case { name: "admit-end", what: "a sequence opened, admitted with 145 blocks, ended", run: admit_end },
    Case { name: "advance", what: "a token that needs no block", run: || advance(1) },
    Case { name: "advance-block", what: "a token that needs a block", run: || advance(BLOCK_TOKENS) },
    Case { name: "step-1024", what: "`advance_many` over 1,024 sequences, 64 of which need a block", run: step },
    Case { name: "step-1024-recorded", what: "the same through a handle that records", run: step_recorded },
    Case { name: "export-row", what: "a row of 80 blocks copied out", run: export_row },
    Case { name: "export-csr-1024", what: "the rows of 1,024 sequences packed", run: export_csr },
    Case { name: "complete-reclaim", what: "145 blocks whose work is over", run: complete_reclaim },
];

const BLOCKS: u32 = 65_536;
const BLOCK_TOKENS: u32 = 16;
const BATCH: u32 = 145;
const OPERATIONS: u32 = 4_000;

/// Does the work of a case. Operations that were counted; `None` if there is no such case.
pub fn run(name: &str) -> Option<u64> {
    CASES.iter().find(|case| case.name == name).map(|case| (case.run)())
}

/// What is counted. Never inlined: its name is how the counter finds it.
#[inline(never)]
fn counted_region(work: &mut dyn FnMut()) {
    work();
}

/// Calls `turn` so many times under the counter.
fn counted(times: u32, mut turn: impl FnMut(u32)) -> u64 {
    counted_region(&mut || (0..times).for_each(&mut turn));
    u64::from(times)
}

fn take_give(batch: usize) -> u64 {
    let mut memory = vec![Line::ZERO; FreeBlocks::bytes(BLOCKS).div_ceil(size_of::<Line>())];
    let list = FreeBlocks::init(&mut memory, BLOCKS).expect("the memory is as long as the list says");
    let (mut cursor, mut random) = (FreeCursor::default(), Random::new(1));
    let batches = BLOCKS as usize * 95 / 100 / batch;
    let mut ids = vec![BlockId::NULL; batches * batch];
    for ids in ids.chunks_mut(batch) {
        assert!(list.take(&mut cursor, Hint::Any, ids), "there is room for 95 %");
    }
    let mut turn = |_| {
        let ids = &mut ids[random.below(batches as u32) as usize * batch..][..batch];
        list.give(&mut cursor, ids).expect("a batch is given back once");
        assert!(list.take(&mut cursor, Hint::Any, ids), "there is room for 95 %");
    };
    (0..2 * batches as u32).for_each(&mut turn);
    counted(OPERATIONS, turn)
}

/// A pool in memory of its own, for `use_it`.
fn with_pool(config: &PoolConfig, use_it: impl FnOnce(Pool<'_>) -> u64) -> u64 {
    let (mut memory, mut table) = (vec![Line::ZERO; lines(config)], vec![0; entries(config)]);
    use_it(Pool::init(&mut memory, &mut table, config).expect("the memory is as long as the pool says"))
}

fn admit_end() -> u64 {
    with_pool(&PoolConfig::new(BLOCKS, BLOCK_TOKENS, 64, BATCH), |pool| {
        let admission = Admission::full(2048, 257);
        counted(OPERATIONS, |_| {
            let sequence = pool.open().expect("a slot is vacant");
            pool.admit(sequence, &admission).expect("there is room");
            pool.end(sequence).expect("it was opened here");
        })
    })
}

/// Sequences that were admitted in turn and hold `blocks` blocks each, full.
fn admitted(pool: &Pool<'_>, sequences: u32, blocks: u32) -> Vec<Sequence> {
    let mut start = |_| {
        let sequence = pool.open().expect("a slot is vacant");
        let prompt = blocks * BLOCK_TOKENS;
        pool.admit(sequence, &Admission::full(prompt, BATCH * BLOCK_TOKENS - prompt)).expect("there is room");
        pool.advance(sequence, prompt).expect("what was promised is there");
        sequence
    };
    (0..sequences).map(&mut start).collect()
}

/// `tokens` at a time, over 400 sequences that grow side by side. By single tokens, the last block has room for them.
fn advance(tokens: u32) -> u64 {
    const SEQUENCES: u32 = 400;
    with_pool(&PoolConfig::new(BLOCKS, BLOCK_TOKENS, SEQUENCES, BATCH), |pool| {
        let sequences = admitted(&pool, SEQUENCES, 80);
        if tokens < BLOCK_TOKENS {
            sequences.iter().for_each(|&sequence| assert!(pool.advance(sequence, tokens).is_ok()));
        }
        let each = OPERATIONS / SEQUENCES;
        assert!(tokens * each < BLOCK_TOKENS || tokens == BLOCK_TOKENS, "either all need a block or none");
        counted(OPERATIONS, |turn| {
            let advanced = pool.advance(sequences[(turn % SEQUENCES) as usize], tokens);
            assert_eq!(advanced.map(|advanced| advanced.taken), Ok(tokens / BLOCK_TOKENS));
        })
    })
}

/// Sequences at all ages, as a server has them.
fn step() -> u64 {
    with_pool(&config(1024), |pool| steps(&mut aged(pool)))
}

fn step_recorded() -> u64 {
    let config = config(1024);
    let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
    let mut ring = vec![Line::ZERO; 4096];
    let pool = Pool::init(&mut memory, &mut table, &config).expect("the memory is as long as the pool says");
    let mut server = aged(pool);
    server.record_in(&mut ring);
    steps(&mut server)
}

/// What is replaced between steps is not counted, so each is a region of its own.
fn steps(server: &mut Server<'_>) -> u64 {
    const STEPS: u64 = 200;
    for _ in 0..STEPS {
        counted(1, |_| {
            server.advance_recorded();
        });
        server.replace();
    }
    STEPS
}

fn aged(pool: Pool<'_>) -> Server<'_> {
    let mut server = Server::new(pool);
    for _ in 0..1024 {
        server.advance();
        server.replace();
    }
    server
}

fn export_row() -> u64 {
    with_pool(&PoolConfig::new(BLOCKS, BLOCK_TOKENS, 400, BATCH), |pool| {
        let sequences = admitted(&pool, 400, 80);
        let mut row = [0; BATCH as usize];
        counted(OPERATIONS, |turn| {
            assert_eq!(pool.export_row(sequences[(turn % 400) as usize], &mut row), Ok(80));
        })
    })
}

fn export_csr() -> u64 {
    with_pool(&config(1024), |pool| {
        let mut server = aged(pool);
        counted(20, |_| {
            server.export_csr();
        })
    })
}

/// A sequence ends while work that may touch it is in flight; then the work is over.
fn complete_reclaim() -> u64 {
    with_pool(&PoolConfig::new(BLOCKS, BLOCK_TOKENS, 400, BATCH), |pool| {
        let others = admitted(&pool, 300, BATCH);
        assert_eq!(others.len(), 300);
        for _ in 0..400 {
            let sequence = admitted(&pool, 1, BATCH)[0];
            let epoch = pool.submit(Stream(0)).expect("one epoch is outstanding at a time");
            let released = pool.end(sequence).expect("it is open");
            assert_eq!((released.free, released.retiring), (0, BATCH));
            counted(1, |_| {
                pool.complete(Stream(0), epoch, false).expect("it was submitted");
            });
        }
        assert_eq!(pool.counts().committed, 300 * BATCH);
        400
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_does_its_work() {
        for case in CASES {
            assert!(run(case.name).is_some_and(|operations| operations > 0), "{}", case.name);
        }
        assert_eq!(run("nothing"), None);
    }
}
