//! What the integration tests share: a pool in memory that lives as long as the test program.

use kvledger_core::{Admission, Line, Pool, PoolConfig, Sequence, Stream, entries, lines};

/// A pool of this configuration.
pub fn pool(config: &PoolConfig) -> Pool<'static> {
    let memory = vec![Line::ZERO; lines(config)].leak();
    let table = vec![0; entries(config)].leak();
    Pool::init(memory, table, config).expect("the configuration is good")
}

/// `blocks` blocks of `block_tokens` tokens, 64 sequences as wide as the pool, 4 streams, 4 groups, 4 accounts.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn small(blocks: u32, block_tokens: u32) -> PoolConfig {
    PoolConfig { streams: 4, groups: 4, accounts: 4, ..PoolConfig::new(blocks, block_tokens, 64, blocks) }
}

/// A, R and S.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn ars(pool: &Pool<'_>) -> (u32, u32, u32) {
    pool.validate().expect("the audit");
    let snapshot = pool.snapshot();
    assert!(snapshot.holds(), "{snapshot:?}");
    assert_eq!(snapshot.exact, 1);
    (snapshot.committed, snapshot.promised, snapshot.safety)
}

/// Open, admit in full, and put the prompt in.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn run(pool: &Pool<'_>, prompt: u32, output: u32) -> Sequence {
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(prompt, output)).expect("it fits");
    pool.advance(sequence, prompt).expect("it is promised");
    sequence
}

/// The block ids of a sequence.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn ids(pool: &Pool<'_>, sequence: Sequence) -> Vec<u32> {
    let mut out = vec![0; pool.config().table_width as usize];
    let held = pool.export_row(sequence, &mut out).expect("its driver asks");
    out.truncate(held as usize);
    out
}

/// The one stream that most tests use.
#[allow(dead_code, reason = "not every test program needs it")]
pub const STREAM: Stream = Stream(0);
