//! Wrong arguments, dead handles, other people's memory: a clear answer each, and nothing happens.

mod common;
use common::{STREAM, pool, run, small};
use kvledger_core::{
    Account, Admission, Argument, Epoch, Group, Line, Place, Pool, PoolConfig, Promise, Refusal, Sequence, Step,
    Stream, StreamSet, entries, lines,
};

fn invalid<T>(argument: Argument) -> Result<T, Refusal> {
    Err(Refusal::Invalid { argument })
}

#[test]
fn every_field_of_a_configuration_is_checked() {
    let good = PoolConfig::new(8, 4, 2, 8);
    let wrong = [
        (PoolConfig { blocks: 0, ..good }, Argument::Blocks),
        (PoolConfig { blocks: u32::MAX, ..good }, Argument::Blocks),
        (PoolConfig { blocks: (1 << 31) - 1, ..good }, Argument::Blocks),
        (PoolConfig { safety: 8, ..good }, Argument::Safety),
        (PoolConfig { block_tokens: 0, ..good }, Argument::BlockTokens),
        (PoolConfig { sequences: 0, ..good }, Argument::Sequences),
        (PoolConfig { sequences: (1 << 20) + 1, ..good }, Argument::Sequences),
        (PoolConfig { table_width: 0, ..good }, Argument::TableWidth),
        (PoolConfig { table_width: u32::MAX, ..good }, Argument::TableWidth),
        (PoolConfig { rows: 0, ..good }, Argument::Rows),
        (PoolConfig { rows: 3, ..good }, Argument::Rows),
        (PoolConfig { accounts: (1 << 20) + 1, ..good }, Argument::Accounts),
        (PoolConfig { groups: 0, ..good }, Argument::Groups),
        (PoolConfig { groups: (1 << 20) + 1, ..good }, Argument::Groups),
        (PoolConfig { streams: 0, ..good }, Argument::Streams),
        (PoolConfig { streams: 65, ..good }, Argument::Streams),
        (PoolConfig { epochs: 0, ..good }, Argument::Epochs),
        (PoolConfig { epochs: (1 << 16) + 1, ..good }, Argument::Epochs),
    ];
    assert_eq!(good.check(), Ok(()));
    for (config, argument) in wrong {
        assert_eq!(config.check(), invalid(argument), "{config:?}");
        assert_eq!(config.bytes(), invalid(argument));
        assert_eq!(config.table_entries(), invalid(argument));
        assert_eq!((lines(&config), entries(&config)), (0, 0));
    }
}

/// The largest pool: its size is a number, not an overflow; a table that no memory could hold is refused.
#[test]
fn the_largest_pool_has_a_size() {
    let blocks = (1u32 << 31) - 2;
    let largest = PoolConfig::new(blocks, 16, 1 << 20, blocks);
    let bytes = largest.bytes().expect("it fits in the address space");
    let each = bytes as f64 / f64::from(blocks);
    assert!((36.0..38.0).contains(&each), "{each} bytes a block");
    assert_eq!(largest.table_entries(), Ok((1 << 20) * blocks as usize));
}

#[test]
fn short_memory_and_short_tables_are_refused() {
    let config = PoolConfig::new(8, 4, 2, 8);
    let mut memory = vec![Line::ZERO; lines(&config)];
    let mut table = vec![0; entries(&config)];
    let few = lines(&config) - 1;
    assert_eq!(Pool::init(&mut memory[..few], &mut table, &config).map(drop), invalid(Argument::Memory));
    assert_eq!(Pool::init(&mut memory, &mut table[..15], &config).map(drop), invalid(Argument::Table));
    assert_eq!(Pool::init(&mut [], &mut table, &config).map(drop), invalid(Argument::Memory));
    assert_eq!(Pool::init(&mut memory, &mut [], &config).map(drop), invalid(Argument::Table));
}

/// The same memory through a second view, as another process would see it; and memory that is no pool.
#[test]
fn attach_sees_the_same_pool_and_refuses_other_memory() {
    let config = PoolConfig { number: 3, safety: 1, ..PoolConfig::new(8, 4, 2, 8) };
    let memory = vec![Line::ZERO; lines(&config) + 1].leak();
    let table = vec![0u32; entries(&config)].leak();
    let (base, count) = (memory.as_mut_ptr(), memory.len());
    let (rows, row_entries) = (table.as_mut_ptr(), table.len());
    // SAFETY: the memory lives for ever and is only used through pools.
    let attach = |lines, entries| unsafe { Pool::attach(base, lines, rows, entries) };
    assert_eq!(attach(count, row_entries).map(drop), invalid(Argument::Header), "not initialized");
    // SAFETY: the same memory, exclusively for the one call that initializes it.
    let lent = unsafe { std::slice::from_raw_parts_mut(base, count) };
    // SAFETY: as above.
    let lent_table = unsafe { std::slice::from_raw_parts_mut(rows, row_entries) };
    let first = Pool::init(lent, lent_table, &config).expect("good");
    let sequence = run(&first, 5, 3);
    let second = attach(count, row_entries).expect("initialized");
    assert_eq!(second.config(), config);
    assert_eq!(second.snapshot(), first.snapshot());
    second.advance(sequence, 3).expect("the handle is good in every view");
    second.end(sequence).expect("it runs");
    assert_eq!(first.end(sequence), Err(Refusal::Stale));
    assert_eq!(attach(lines(&config) - 1, row_entries).map(drop), invalid(Argument::Memory));
    assert_eq!(attach(0, row_entries).map(drop), invalid(Argument::Memory));
    assert_eq!(attach(count, row_entries - 1).map(drop), invalid(Argument::Table));
    let word = base.cast::<u64>();
    for (cell, damage, answer) in [
        (0, u64::from_le_bytes(*b"kvl_init"), Err(Refusal::Busy)),
        (0, 0, invalid(Argument::Header)),
        (1, 99, invalid(Argument::Header)),
        (2, 64, invalid(Argument::Header)),
        (3, 0, invalid(Argument::Header)),
        (6, 7, invalid(Argument::Header)),
    ] {
        // SAFETY: inside the memory; nobody else uses it now.
        let before = unsafe { word.wrapping_add(cell).replace(damage) };
        assert_eq!(attach(count, row_entries).map(drop), answer, "cell {cell}");
        // SAFETY: as above.
        unsafe { word.wrapping_add(cell).write(before) };
    }
    // SAFETY: NULL is refused before anything is read.
    let null = unsafe { Pool::attach(std::ptr::null_mut(), 1, rows, row_entries) };
    assert_eq!(null.map(drop), invalid(Argument::Memory));
    // SAFETY: as above.
    let null = unsafe { Pool::attach(base, count, std::ptr::null_mut(), row_entries) };
    assert_eq!(null.map(drop), invalid(Argument::Table));
}

/// No addresses inside: a copy of the bytes, somewhere else, is the same pool at the same moment, and goes its own way.
#[test]
fn the_memory_may_be_mapped_anywhere() {
    let config = PoolConfig { rows: 2, accounts: 2, streams: 2, groups: 2, ..PoolConfig::new(100, 4, 3, 20) };
    let memory = vec![Line::ZERO; lines(&config)].leak();
    let table = vec![0u32; entries(&config)].leak();
    let (base, rows) = (memory.as_ptr(), table.as_ptr());
    let (count, row_entries) = (memory.len(), table.len());
    let first = Pool::init(memory, table, &config).expect("good");
    let sequence = run(&first, 9, 7);
    let step = first.submit(STREAM).expect("an epoch");
    // SAFETY: the memory lives for ever, and nobody writes to it while it is copied.
    let copy = unsafe { std::slice::from_raw_parts(base, count) }.to_vec().leak();
    // SAFETY: as above.
    let rows_copy = unsafe { std::slice::from_raw_parts(rows, row_entries) }.to_vec().leak();
    assert_ne!(copy.as_ptr(), base);
    // SAFETY: the copy lives for ever and is only used through this pool.
    let second = unsafe { Pool::attach(copy.as_mut_ptr(), count, rows_copy.as_mut_ptr(), row_entries) };
    let second = second.expect("a good copy");
    assert_eq!(second.snapshot(), first.snapshot());
    assert_eq!(common::ids(&second, sequence), common::ids(&first, sequence));
    second.end(sequence).expect("it runs there too");
    second.complete(STREAM, step, false).expect("outstanding there too");
    assert_eq!((second.counts().headroom, first.counts().headroom), (100, 96));
    first.validate().expect("untouched");
    second.validate().expect("the audit");
}

#[test]
fn i12_dead_and_foreign_handles_are_stale() {
    let (pool, other) = (pool(&small(8, 4)), pool(&PoolConfig { number: 9, ..small(8, 4) }));
    let dead = run(&pool, 4, 0);
    pool.end(dead).expect("it runs");
    let reused = pool.open().expect("a slot");
    assert_eq!((reused.slot, reused.generation), (dead.slot, dead.generation + 1));
    let foreign = other.open().expect("a slot");
    let beyond = Sequence { slot: 64, ..reused };
    let vacant = Sequence { slot: 5, ..Sequence { generation: 1, ..reused } };
    for handle in [dead, foreign, beyond, vacant, Sequence::default()] {
        let stale = Err(Refusal::Stale);
        assert_eq!(pool.admit(handle, &Admission::full(1, 0)).map(drop), stale, "{handle:?}");
        assert_eq!(pool.advance(handle, 1).map(drop), stale);
        assert_eq!(pool.advance_growing(handle, 1, 0).map(drop), stale);
        assert_eq!(pool.materialize(handle, 1).map(drop), stale);
        assert_eq!(pool.extend(handle, 1, 0), stale);
        assert_eq!(pool.shrink(handle, 1).map(drop), stale);
        assert_eq!(pool.draw_safety(handle, 1), stale);
        assert_eq!(pool.cancel(handle), stale);
        assert_eq!(pool.end(handle).map(drop), stale);
        assert_eq!(pool.preempt(handle).map(drop), stale);
        assert_eq!(pool.use_streams(handle, StreamSet::ALL), stale);
        assert_eq!(pool.row(handle).map(drop), stale);
        assert_eq!(pool.sequence_snapshot(handle).map(drop), stale);
    }
    assert_eq!(pool.snapshot().sequences, 1);
    let account = pool.open_account(Group(0), 2, 0).expect("it fits");
    pool.close_account(account).expect("nobody draws on it");
    for handle in [account, Account { slot: 99, ..account }, Account { pool: 9, ..account }, Account::NONE] {
        assert_eq!(pool.close_account(handle), Err(Refusal::Stale));
        assert_eq!(pool.set_account_total(handle, 1), Err(Refusal::Stale));
        assert_eq!(pool.account_snapshot(handle).map(drop), Err(Refusal::Stale));
    }
    let admission = Admission { account, ..Admission::full(1, 0) };
    assert_eq!(pool.admit(reused, &admission).map(drop), Err(Refusal::Stale));
    pool.validate().expect("the audit");
}

#[test]
fn wrong_arguments_are_named() {
    let pool = pool(&small(8, 4));
    let opened = pool.open().expect("a slot");
    let good = Admission::full(4, 4);
    for (admission, argument) in [
        (Admission { prompt_tokens: 0, ..good }, Argument::Tokens),
        (Admission { output_tokens_max: u32::MAX, ..good }, Argument::Tokens),
        (Admission { promise: Promise::Blocks(0), ..good }, Argument::Promise),
        (Admission { group: Group(4), ..good }, Argument::Group),
        (Admission { streams: StreamSet(0), ..good }, Argument::Stream),
        (Admission { streams: StreamSet(1 << 60), ..good }, Argument::Stream),
    ] {
        assert_eq!(pool.admit(opened, &admission).map(drop), invalid(argument));
    }
    assert_eq!(pool.advance(opened, 1).map(drop), invalid(Argument::Sequence), "not admitted yet");
    assert_eq!(pool.preempt(opened).map(drop), invalid(Argument::Sequence));
    pool.admit(opened, &good).expect("it fits");
    assert_eq!(pool.admit(opened, &good).map(drop), invalid(Argument::Sequence), "admitted already");
    assert_eq!(pool.advance(opened, 0).map(drop), invalid(Argument::Tokens));
    assert_eq!(pool.materialize(opened, 0).map(drop), invalid(Argument::Count));
    assert_eq!(pool.extend(opened, 0, 0), invalid(Argument::Count));
    assert_eq!(pool.shrink(opened, 0).map(drop), invalid(Argument::Count));
    assert_eq!(pool.draw_safety(opened, 0), invalid(Argument::Count));
    pool.advance(opened, 4).expect("promised");
    assert_eq!(pool.advance(opened, u32::MAX).map(drop), invalid(Argument::Tokens), "more than 2^32 − 1 in all");
    pool.preempt(opened).expect("it runs");
    let moved = Admission { group: Group(1), ..good };
    assert_eq!(pool.admit(opened, &moved).map(drop), invalid(Argument::Group), "a sequence stays in its group");
    assert_eq!(pool.set_safety(8), invalid(Argument::Safety));
    assert_eq!(pool.set_quota(Group(4), 1), invalid(Argument::Group));
    assert_eq!(pool.group_snapshot(Group(4)).map(drop), invalid(Argument::Group));
    assert_eq!(pool.open_account(Group(4), 1, 0).map(drop), invalid(Argument::Group));
    assert_eq!(pool.submit(Stream(4)).map(drop), invalid(Argument::Stream));
    assert_eq!(pool.complete(Stream(4), Epoch(1), false).map(drop), invalid(Argument::Stream));
    assert_eq!(pool.abandon(Stream(4)).map(drop), invalid(Argument::Stream));
    assert_eq!(pool.use_streams(opened, StreamSet(0)), invalid(Argument::Stream));
    let steps = [Step { sequence: opened, tokens: 1 }];
    assert_eq!(pool.advance_many(&steps, &mut [], &mut [0]).map(drop), invalid(Argument::Output));
    assert_eq!(pool.advance_many(&steps, &mut [0], &mut []).map(drop), invalid(Argument::Output));
}

#[test]
fn epochs_complete_once_and_only_on_their_stream() {
    let pool = pool(&PoolConfig { epochs: 2, ..small(8, 4) });
    let [first, second] = [(); 2].map(|()| pool.submit(STREAM).expect("room for two"));
    assert_eq!(pool.submit(STREAM), Err(Refusal::Full));
    assert_eq!(pool.complete(Stream(1), first, false), Err(Refusal::Stale), "another stream's");
    assert_eq!(pool.complete(STREAM, Epoch(99), false), Err(Refusal::Stale));
    assert_eq!(pool.complete(STREAM, Epoch::NONE, false), Err(Refusal::Stale));
    assert_eq!(pool.complete(STREAM, second, true), Ok(second), "older ones with it");
    assert_eq!(pool.complete(STREAM, first, false), Err(Refusal::Stale));
    assert_eq!(pool.complete(STREAM, second, false), Err(Refusal::Stale));
    assert_eq!(pool.snapshot().failed_epochs, 1);
}

/// When several answers apply: INVALID, STALE or CANCELLED, FULL, NEVER_FITS, group, pool.
#[test]
fn answers_come_in_order() {
    let pool = pool(&small(8, 1));
    let sequence = pool.open().expect("a slot");
    run(&pool, 8, 0);
    pool.set_quota(Group(0), 4).expect("a group");
    let refused = |admission: &Admission| pool.admit(sequence, admission).expect_err("full");
    assert_eq!(refused(&Admission::full(9, 0)).code(), 3, "NEVER_FITS before the group");
    assert!(matches!(
        refused(&Admission::full(1, 0)),
        Refusal::WouldBlock { short_by: 5, scope: kvledger_core::Scope::Group }
    ));
    pool.cancel(sequence).expect("open");
    assert_eq!(refused(&Admission::full(9, 0)), Refusal::Cancelled);
    assert_eq!(refused(&Admission::full(0, 0)), Refusal::Invalid { argument: Argument::Tokens });
}

/// Somebody writes to the table: the sequence ends all the same, nothing is given away twice, and the audit and the
/// snapshot say what is missing.
#[test]
fn a_damaged_row_is_quarantined_not_followed() {
    let config = PoolConfig::new(16, 1, 2, 8);
    let memory = vec![Line::ZERO; lines(&config)].leak();
    let table: &'static mut [u32] = vec![0; entries(&config)].leak();
    let raw = table.as_mut_ptr();
    let pool = Pool::init(memory, table, &config).expect("good");
    for damage in [0, 17, u32::MAX] {
        let before = pool.snapshot();
        let sequence = run(&pool, 3, 0);
        let entry = pool.row(sequence).expect("asks").row as usize * 8 + 1;
        // SAFETY: inside the table; nobody else is at work.
        unsafe { raw.wrapping_add(entry).write(damage) };
        assert!(pool.validate().is_err(), "the audit sees it");
        assert_eq!(pool.end(sequence), Err(Refusal::Corrupt { place: Place::Table }));
        assert_eq!(pool.end(sequence), Err(Refusal::Stale), "it has ended");
        let after = pool.snapshot();
        assert_eq!(after.quarantined, before.quarantined + 1);
        assert_eq!(after.committed, before.committed + 1, "what the entry stood for stays charged");
    }
    // A block twice in a row is given back once.
    let sequence = run(&pool, 2, 0);
    let entry = pool.row(sequence).expect("asks").row as usize * 8;
    // SAFETY: as above.
    let first = unsafe { raw.wrapping_add(entry).read() };
    // SAFETY: as above.
    unsafe { raw.wrapping_add(entry + 1).write(first) };
    assert_eq!(pool.end(sequence), Err(Refusal::Corrupt { place: Place::Table }));
    assert_eq!(pool.snapshot().quarantined, 4);
    let rest = run(&pool, 8, 0);
    let mut ids = common::ids(&pool, rest);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 8, "no id twice");
}
