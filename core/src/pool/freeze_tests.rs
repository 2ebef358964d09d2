//! A thread that is stopped in the middle of an operation, for ever, stops nobody else: at each named point of the
//! source in turn, one thread is frozen while another goes on doing everything.

use crate::answer::Refusal;
use crate::arena::Line;
use crate::calls::{Admission, Prefix, Step, Window};
use crate::config::PoolConfig;
use crate::identity::Identity;
use crate::ids::{Account, Group, Stream, StreamSet};
use crate::pool::{Pool, entries, lines};
use crate::sync::freeze;
use crate::transfers::Access;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::string::{String, ToString};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use std::vec;
use std::vec::Vec;

const MINE: Stream = Stream(0);
const ITS: Stream = Stream(1);
const BLOCKS: u32 = 64;
/// More than 64 words of slots, so that the summary of the vacant ones has two levels.
const ACCOUNTS: u32 = 4160;
/// The most that the frozen thread ever has: blocks, promises and margin together.
const ITS_BLOCKS: u32 = 20;

fn pool() -> Pool<'static> {
    let config =
        PoolConfig { streams: 2, accounts: ACCOUNTS, groups: 2, rows: 2, ..PoolConfig::new(BLOCKS, 1, 8, BLOCKS) };
    let memory = vec![Line::ZERO; lines(&config)].leak();
    let table = vec![0; entries(&config)].leak();
    let pool = Pool::init(memory, table, &config).expect("a good configuration");
    // One ring for all: the frozen thread has it, and the others go on without.
    pool.recording(vec![Line::ZERO; 64].leak()).expect("room")
}

/// A pool in which everything is shared that can be.
fn sharing_pool() -> Pool<'static> {
    let config = PoolConfig {
        streams: 2,
        groups: 2,
        transfers: 2,
        events: 4,
        ..PoolConfig::new(BLOCKS, 2, 8, BLOCKS).sharing()
    };
    let memory = vec![Line::ZERO; lines(&config)].leak();
    let table = vec![0; entries(&config)].leak();
    Pool::init(memory, table, &config).expect("a good configuration")
}

/// Every point that the source names.
fn points() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the source is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap_or_default();
                // Split, so that this line is not found.
                let marks = text.split(concat!("point", "(\"")).skip(1);
                names.extend(marks.filter_map(|rest| rest.split('"').next()).map(ToString::to_string));
            }
        }
    }
    names
}

/// One round of everything by the thread that will be frozen. Its answers do not matter.
fn its_round(pool: &Pool<'_>) -> Result<(), Refusal> {
    let admission = Admission { streams: StreamSet::one(ITS), group: Group(1), ..Admission::full(3, 3) };
    let (first, second) = (pool.open()?, pool.open()?);
    pool.admit(first, &admission)?;
    let (mut answers, mut changed) = ([0], [0]);
    let batch = pool.advance_many(&[Step { sequence: first, tokens: 3 }], &mut answers, &mut changed)?;
    assert_eq!(batch.advanced, 1);
    pool.advance_growing(first, 4, 0)?;
    pool.set_safety(2)?;
    pool.draw_safety(first, 1)?;
    pool.set_safety(0)?;
    pool.extend(first, 2, 0)?;
    pool.shrink(first, 1)?;
    pool.use_streams(first, StreamSet::one(ITS))?;
    let epoch = pool.submit(ITS)?;
    pool.launch_row(first, epoch)?;
    pool.preempt(first)?;
    pool.complete(ITS, epoch, false)?;
    let account = pool.open_account(Group(1), 4, 0)?;
    pool.set_account_total(account, 5)?;
    pool.set_account_total(account, 3)?;
    pool.admit(second, &Admission { account, output_tokens_max: 0, ..admission })?;
    pool.advance(second, 3)?;
    let epoch = pool.submit(ITS)?;
    pool.end(second)?;
    pool.complete(ITS, epoch, false)?;
    pool.close_account(account)?;
    // All of them, and two more: these look for a slot where none is, and tidy first words, then a zone.
    let empty: Vec<_> = (0..ACCOUNTS).map(|_| pool.open_account(Group(1), 0, 0)).collect();
    assert_eq!(pool.open_account(Group(1), 0, 0), Err(Refusal::Full));
    assert_eq!(pool.open_account(Group(1), 0, 0), Err(Refusal::Full));
    empty.into_iter().try_for_each(|account| pool.close_account(account?))?;
    pool.admit(first, &Admission { account: Account::NONE, ..admission })?;
    pool.cancel(first)?;
    pool.end(first).map(drop)
}

/// Two names that nobody else uses.
fn names(chain: u64) -> [Identity; 2] {
    [1, 2].map(|low| Identity { low, high: chain })
}

/// One round of everything that is shared, by the thread that will be frozen.
fn its_sharing_round(pool: &Pool<'_>) -> Result<(), Refusal> {
    let admission = Admission { streams: StreamSet::one(ITS), group: Group(1), ..Admission::full(5, 4) };
    let names = names(1);
    let prefix = Prefix { unfinished: true, ..Prefix::of(&names) };
    let [first, second, child, windowed] = [pool.open()?, pool.open()?, pool.open()?, pool.open()?];
    let admitted = pool.admit_prefix(first, &admission, &prefix)?;
    pool.advance(first, 5 - admitted.cached_tokens)?;
    let epoch = pool.submit(ITS)?;
    pool.publish(first, 0, &prefix, epoch, true, &mut [])?;
    pool.admit_prefix(second, &admission, &prefix)?;
    pool.fork(first, &[child], 3, 0)?;
    pool.advance(child, 1)?;
    pool.copy_submitted(child, epoch)?;
    let transfer = pool.hold(first, 0, 2, Access::Read)?;
    pool.speculate(first, 3)?;
    pool.accept(first, 1, true)?;
    let window = Window { tokens: 2, steps_in_flight: 0, chunk_tokens: 2 };
    pool.admit(windowed, &Admission { window, ..admission })?;
    (0..3).try_for_each(|_| pool.advance(windowed, 2).map(drop))?;
    [first, windowed, second, child].into_iter().try_for_each(|sequence| pool.end(sequence).map(drop))?;
    pool.complete_transfer(transfer)?;
    pool.complete(ITS, epoch, true)?;
    let last = pool.open()?;
    pool.admit(last, &admission)?;
    pool.advance(last, 5)?;
    let epoch = pool.submit(ITS)?;
    pool.publish(last, 0, &prefix, epoch, true, &mut [])?;
    pool.complete(ITS, epoch, false)?;
    pool.end(last)?;
    pool.evict(1)?;
    pool.reset(Group(1))
}

/// One round of everything that is shared by somebody else. Nothing of it may be refused, and blocks have to be evicted.
fn my_sharing_round(pool: &Pool<'_>) -> Result<(), Refusal> {
    let rest = 2 * (BLOCKS - ITS_BLOCKS);
    let admission = Admission { streams: StreamSet::one(MINE), ..Admission::full(rest, 0) };
    let names = names(2);
    let (first, second) = (pool.open()?, pool.open()?);
    let admitted = pool.admit_prefix(first, &admission, &Prefix::of(&names))?;
    pool.advance(first, rest - admitted.cached_tokens)?;
    let epoch = pool.submit(MINE)?;
    pool.publish(first, 0, &Prefix::of(&names), epoch, true, &mut [])?;
    let shared = Prefix { unfinished: true, ..Prefix::of(&names) };
    let found = pool.admit_prefix(second, &Admission { prompt_tokens: 4, ..admission }, &shared)?;
    assert_eq!(found.hits, 2, "whoever else is in the middle of what");
    pool.complete(MINE, epoch, false)?;
    pool.end(first)?;
    pool.end(second).map(drop)
}

/// One round of everything by somebody else. Nothing of it may be refused.
fn my_round(pool: &Pool<'_>) -> Result<(), Refusal> {
    let rest = BLOCKS - ITS_BLOCKS;
    let admission = Admission { streams: StreamSet::one(MINE), ..Admission::full(rest / 2, rest / 2) };
    let sequence = pool.open()?;
    pool.admit(sequence, &admission)?;
    pool.advance(sequence, rest / 2)?;
    for _ in 0..rest / 2 {
        let (mut answers, mut changed) = ([0], [0]);
        let batch = pool.advance_many(&[Step { sequence, tokens: 1 }], &mut answers, &mut changed)?;
        assert_eq!(batch.taken, 1, "whoever else is in the middle of a batch");
    }
    let epoch = pool.submit(MINE)?;
    pool.launch_row(sequence, epoch)?;
    pool.end(sequence)?;
    pool.complete(MINE, epoch, false)?;
    // The frozen one may have all accounts.
    match pool.open_account(Group(0), rest, 0) {
        Err(Refusal::Full) => {}
        account => pool.close_account(account?)?,
    }
    pool.set_safety(1)?;
    pool.set_safety(0)
}

fn freeze_at(name: &'static str) {
    let (pool, sharing) = (pool(), sharing_pool());
    let frozen = thread::spawn(move || {
        freeze::stop_this_thread_at(name);
        loop {
            its_round(&pool).expect("there is room for both");
            its_sharing_round(&sharing).expect("there is room for both");
        }
    });
    let frozen = frozen.thread().id();
    let (done, wait) = mpsc::channel();
    thread::spawn(move || {
        while !freeze::is_frozen(frozen) {
            thread::yield_now();
        }
        for _ in 0..200 {
            my_round(&pool).unwrap_or_else(|refusal| panic!("frozen at {name:?}: {refusal}"));
            my_sharing_round(&sharing).unwrap_or_else(|refusal| panic!("frozen at {name:?}, sharing: {refusal}"));
        }
        assert!(pool.snapshot().committed <= ITS_BLOCKS, "mine came back");
        assert!(sharing.snapshot().committed <= ITS_BLOCKS, "mine came back or is idle");
        done.send(()).expect("somebody waits");
    });
    // Not a matter of speed: what hangs, hangs for ever.
    let outcome = wait.recv_timeout(Duration::from_secs(60));
    assert!(outcome.is_ok(), "frozen at {name:?} (reached: {}), the other did not go on", freeze::is_frozen(frozen));
}

#[test]
fn i3_a_frozen_thread_stops_nobody() {
    let names = points();
    assert!(names.len() > 20, "the points were found: {names:?}");
    for name in names {
        freeze_at(name.leak());
    }
}
