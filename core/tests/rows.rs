//! What kernels read: rows, versions, two rows in turn, CSR.

mod common;
use common::{STREAM, ids, pool, run, small};
use kvledger_core::{Admission, Argument, Epoch, PoolConfig, Refusal, Stream};

fn invalid<T>(argument: Argument) -> Result<T, Refusal> {
    Err(Refusal::Invalid { argument })
}

/// `init` leaves null blocks; a row is its blocks and then null blocks; an ended one is all null blocks.
#[test]
fn rows_are_padded_with_the_null_block() {
    let config = PoolConfig::new(16, 2, 2, 4);
    let memory = vec![kvledger_core::Line::ZERO; kvledger_core::lines(&config)].leak();
    let table: &'static mut [u32] = vec![0xffff_ffff; 8].leak();
    let raw = table.as_ptr();
    let pool = kvledger_core::Pool::init(memory, table, &config).expect("good");
    // SAFETY: the table lives for ever, and nobody writes to it while this reads.
    let look = || unsafe { std::slice::from_raw_parts(raw, 8) }.to_vec();
    assert_eq!(look(), [0; 8]);
    let sequence = run(&pool, 3, 1);
    let view = pool.row(sequence).expect("its driver asks");
    let start = view.row as usize * 4;
    assert_eq!(look()[start..start + 2], ids(&pool, sequence));
    assert_eq!(look()[start + 2..start + 4], [0, 0]);
    pool.end(sequence).expect("it runs");
    assert_eq!(look(), [0; 8]);
}

#[test]
fn the_version_changes_with_the_row_and_only_then() {
    let pool = pool(&small(8, 4));
    let sequence = run(&pool, 3, 3);
    let first = pool.row(sequence).expect("its driver asks");
    pool.advance(sequence, 1).expect("a slot is left");
    assert_eq!(pool.row(sequence).expect("asks").version, first.version, "no entry changed");
    pool.advance(sequence, 1).expect("promised");
    assert_ne!(pool.row(sequence).expect("asks").version, first.version);
}

/// Epochs in flight keep a row as it is; the other row is written; when both are in flight, the answer is `BUSY`.
#[test]
fn i5_two_rows_are_used_in_turn() {
    let pool = pool(&PoolConfig { rows: 2, epochs: 8, ..PoolConfig::new(16, 1, 1, 4) });
    let sequence = pool.open().expect("a slot");
    let mut in_flight = Vec::new();
    let mut rows = Vec::new();
    for _ in 0..2 {
        pool.admit(sequence, &Admission::full(2, 2)).expect("a row is free");
        pool.advance(sequence, 2).expect("promised");
        let step = pool.submit(STREAM).expect("an epoch");
        rows.push(pool.launch_row(sequence, step).expect("its driver asks").row);
        // Appending does not disturb a step that does not read so far.
        pool.advance(sequence, 1).expect("promised");
        assert_eq!(pool.row(sequence).expect("asks").row, rows[rows.len() - 1]);
        pool.preempt(sequence).expect("it runs");
        in_flight.push(step);
    }
    assert_ne!(rows[0], rows[1]);
    assert_eq!(pool.admit(sequence, &Admission::full(2, 2)), Err(Refusal::Busy), "both rows are in flight");
    pool.complete(STREAM, in_flight[0], false).expect("outstanding");
    pool.admit(sequence, &Admission::full(2, 2)).expect("the first row is free again");
    assert_eq!(pool.row(sequence).expect("asks").row, rows[0]);
    pool.validate().expect("the audit");
}

#[test]
fn launch_row_takes_only_epochs_that_exist() {
    let pool = pool(&small(8, 4));
    let sequence = run(&pool, 3, 3);
    assert_eq!(pool.launch_row(sequence, Epoch::NONE), invalid(Argument::Epoch));
    assert_eq!(pool.launch_row(sequence, Epoch(1)), invalid(Argument::Epoch));
}

/// 3 tokens and 9 tokens in blocks of 4, and one whose blocks are ahead of its tokens.
#[test]
fn csr_packs_the_blocks_that_have_tokens() {
    let pool = pool(&small(16, 4));
    let all = [run(&pool, 3, 0), run(&pool, 8, 8), run(&pool, 4, 12)];
    pool.advance(all[1], 1).expect("promised");
    pool.materialize(all[2], 4).expect("promised");
    let (mut indptr, mut indices, mut last) = ([9; 4], [0; 16], [9; 3]);
    assert_eq!(pool.export_csr(&all, &mut indptr, &mut indices, &mut last), Ok(5));
    assert_eq!(indptr, [0, 1, 4, 5]);
    assert_eq!(last, [3, 1, 4]);
    assert_eq!(indices[0..1], ids(&pool, all[0]));
    assert_eq!(indices[1..4], ids(&pool, all[1]));
    assert_eq!(indices[4..5], ids(&pool, all[2])[..1]);
    let short = pool.export_csr(&all, &mut indptr, &mut indices[..4], &mut last);
    assert_eq!(short, invalid(Argument::Output));
    assert_eq!(pool.export_csr(&all, &mut indptr[..3], &mut indices, &mut last), invalid(Argument::Output));
    assert_eq!(pool.export_csr(&all, &mut indptr, &mut indices, &mut last[..2]), invalid(Argument::Output));
    assert_eq!(pool.export_row(all[1], &mut indices[..2]), invalid(Argument::Output));
}

/// A block waits only for the streams that its sequence used; `use_streams` adds one.
#[test]
fn i5_a_block_waits_only_for_its_streams() {
    let pool = pool(&small(8, 4));
    let (mine, other) = (Stream(1), Stream(2));
    let one = Admission { streams: kvledger_core::StreamSet::one(mine), ..Admission::full(4, 0) };
    let slow = pool.submit(other).expect("an epoch");
    let first = pool.open().expect("a slot");
    pool.admit(first, &one).expect("it fits");
    pool.advance(first, 4).expect("promised");
    assert_eq!(pool.end(first).expect("it runs").free, 1, "nothing of its own stream is in flight");

    let second = pool.open().expect("a slot");
    pool.admit(second, &one).expect("it fits");
    pool.advance(second, 4).expect("promised");
    pool.use_streams(second, kvledger_core::StreamSet::one(other)).expect("admitted");
    let released = pool.end(second).expect("it runs");
    assert_eq!((released.retiring, released.after), (1, slow));
    // Newer work of its stream does not keep it; the frontier stands still meanwhile.
    let newer = pool.submit(mine).expect("an epoch");
    assert_eq!(pool.complete(mine, newer, false), Ok(Epoch(0)));
    assert_eq!(pool.snapshot().retiring, 1);
    assert_eq!(pool.abandon(other), Ok(newer), "the device behind it is lost: nothing touches memory any more");
    assert_eq!((pool.snapshot().retiring, pool.snapshot().failed_epochs), (0, 1));
}
