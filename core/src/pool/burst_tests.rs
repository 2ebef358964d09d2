//! Short bursts of several threads on a tiny pool, each the driver of its own sequences, and an audit at rest after each: what
//! is wrong for a moment only is seen too. A shadow of the device says which blocks work in flight may touch: none of them is
//! free or idle (I5).

use crate::answer::Refusal;
use crate::arena::Line;
use crate::block::Kind;
use crate::calls::{Admission, Prefix, Window};
use crate::config::PoolConfig;
use crate::identity::Identity;
use crate::ids::{Account, BlockId, Epoch, Group, Sequence, Stream, StreamSet, Transfer};
use crate::model::Random;
use crate::pool::{Pool, entries, lines};
use crate::transfers::Access;
use std::sync::{Barrier, Mutex};
use std::vec::Vec;
use std::{format, thread, vec};

const THREADS: u32 = 3;

fn pool(config: &PoolConfig) -> Pool<'static> {
    let memory = vec![Line::ZERO; lines(config)].leak();
    let table = vec![0; entries(config)].leak();
    Pool::init(memory, table, config).expect("a good configuration")
}

#[derive(Default)]
struct Shared {
    /// Work that is not over: epoch, stream, blocks.
    device: Mutex<Vec<(Epoch, Stream, Vec<u32>)>>,
    transfers: Mutex<Vec<(Transfer, Vec<u32>)>>,
    all: Mutex<Vec<Sequence>>,
    accounts: Mutex<Vec<Account>>,
}

struct Mine {
    sequences: Vec<Sequence>,
    copies: Vec<Sequence>,
    epochs: Vec<(Stream, Epoch)>,
    random: Random,
}

fn names(random: &mut Random) -> Vec<Identity> {
    let chain = u64::from(random.below(2));
    (0..1 + u64::from(random.below(3))).map(|low| Identity { low: low + 1, high: chain }).collect()
}

fn note(answer: Result<(), Refusal>) {
    assert!(!matches!(answer, Err(Refusal::Corrupt { .. })), "{answer:?}");
}

fn held(pool: &Pool<'_>, sequence: Sequence) -> Vec<u32> {
    let mut row = vec![0; pool.config.table_width as usize];
    let Ok(held) = pool.export_row(sequence, &mut row) else { return vec![] };
    let recycled = pool.sequences.record(sequence.slot).holes().recycled as usize;
    row.iter().copied().take(held as usize).skip(recycled).filter(|&id| id != 0).collect()
}

fn launch(pool: &Pool<'_>, shared: &Shared, mine: &mut Mine, sequence: Sequence) {
    let stream = Stream(mine.random.below(2));
    if pool.sequences.find(sequence).is_ok_and(|record| record.streams().0 & 1 << stream.0 == 0) {
        return;
    }
    // Nobody completes it before it is in the shadow: the shadow is locked.
    let mut device = shared.device.lock().expect("no panic");
    let Ok(epoch) = pool.submit(stream) else { return };
    // (Who only pins launches nothing, or does not unpin.)
    let ids = if pool.launch_row(sequence, epoch).is_ok() { held(pool, sequence) } else { vec![] };
    device.push((epoch, stream, ids));
    drop(device);
    mine.epochs.push((stream, epoch));
    if mine.random.below(2) == 0
        && let Ok(Some(order)) = pool.copy_order(sequence)
    {
        let mut device = shared.device.lock().expect("no panic");
        // Only if it is not over by now.
        if device.iter().any(|(other, ..)| *other == epoch) {
            device.push((epoch, stream, vec![order.source.0, order.destination.0]));
            note(pool.copy_submitted(sequence, epoch));
        }
    }
}

fn complete(pool: &Pool<'_>, shared: &Shared, stream: Stream, epoch: Epoch, failed: bool) {
    let mut device = shared.device.lock().expect("no panic");
    device.retain(|(other, its, _)| *its != stream || *other > epoch);
    drop(device);
    note(pool.complete(stream, epoch, failed).map(drop));
}

fn one(pool: &Pool<'_>, host: &Pool<'_>, shared: &Shared, mine: &mut Mine, kinds: &[u32]) {
    let which = mine.random.below(kinds.len() as u32) as usize;
    let pick = |list: &[Sequence], random: &mut Random| {
        if list.is_empty() { Sequence::default() } else { list[random.below(list.len() as u32) as usize] }
    };
    let sequence = pick(&mine.sequences, &mut mine.random);
    let few = mine.random.below(6);
    let names = names(&mut mine.random);
    let prefix = Prefix { unfinished: few < 4, ..Prefix::of(&names) };
    let group = Group(u32::from(mine.random.below(4) == 0));
    let access = if mine.random.below(3) == 0 { Access::Write } else { Access::Read };
    match kinds[which] {
        // Open, admit, add the prompt.
        0 | 1 => {
            let Ok(sequence) = pool.open() else { return };
            mine.sequences.push(sequence);
            shared.all.lock().expect("no panic").push(sequence);
            let streams = StreamSet(u64::from(1 + mine.random.below(3)));
            let windowed = kinds[which] == 1;
            let window =
                if windowed { Window { tokens: 1 + few, steps_in_flight: 1, chunk_tokens: 4 } } else { Window::FULL };
            let prompt = 1 + mine.random.below(8);
            let mut admission = Admission { group, streams, window, ..Admission::full(prompt, few) };
            if !windowed && mine.random.below(5) == 0 {
                let accounts = shared.accounts.lock().expect("no panic");
                admission.account = accounts[group.0 as usize];
            }
            match pool.admit_prefix(sequence, &admission, &prefix) {
                Ok(admitted) => {
                    let rest = prompt - admitted.cached_tokens;
                    let answer = pool.advance(sequence, if windowed { rest.min(4) } else { rest });
                    let fails =
                        answer.is_err_and(|refusal| refusal != Refusal::Cancelled && !matches!(refusal, Refusal::Busy));
                    assert!(!fails || !admission.account.is_none() || windowed, "I3: {answer:?}, {admitted:?}");
                    note(answer.map(drop));
                }
                Err(refusal) => note(Err(refusal)),
            }
        }
        2 => note(pool.advance(sequence, 1 + few % 3).map(drop)),
        3 => {
            let epoch = mine.epochs.last().map_or(Epoch(1), |pair| pair.1);
            note(pool.publish(sequence, 0, &prefix, epoch, few != 0, &mut []).map(drop));
        }
        4 => note(pool.withdraw(sequence, few % 3, 1).map(drop)),
        5 => {
            let Ok(sequence) = pool.open() else { return };
            mine.sequences.push(sequence);
            note(pool.pin(sequence, group, StreamSet::ALL, &prefix, 0).map(drop));
        }
        6 => note(pool.unpin(sequence).map(drop)),
        7 => note(pool.evict(1 + few).map(drop)),
        8 => {
            let children: Vec<_> = (0..1 + few % 2).filter_map(|_| pool.open().ok()).collect();
            note(pool.fork(sequence, &children, few, 0).map(drop));
            mine.sequences.extend(children);
        }
        9 => note(pool.speculate(sequence, 1 + few).map(drop)),
        10 => note(pool.accept(sequence, few % 3, few.is_multiple_of(2)).map(drop)),
        11 => {
            let ids = held(pool, sequence);
            let Ok(record) = pool.sequences.find(sequence) else { return };
            let (first, entries) = (record.holes().recycled, record.extent().held);
            if let Ok(transfer) = pool.hold(sequence, first, entries.saturating_sub(first), access) {
                shared.transfers.lock().expect("no panic").push((transfer, ids));
            }
        }
        12 => {
            let ids: Vec<_> = (0..2).map(|_| 1 + mine.random.below(pool.config.blocks)).collect();
            let blocks: Vec<_> = ids.iter().map(|&id| BlockId(id)).collect();
            if let Ok(transfer) = pool.hold_blocks(&blocks, access) {
                shared.transfers.lock().expect("no panic").push((transfer, ids));
            }
        }
        13 => {
            let mut transfers = shared.transfers.lock().expect("no panic");
            let len = transfers.len() as u32;
            if len == 0 {
                return;
            }
            let place = mine.random.below(len) as usize;
            if few == 0 {
                note(pool.quarantine(transfers[place].0));
                return;
            }
            let (transfer, _) = transfers.swap_remove(place);
            drop(transfers);
            note(if few == 1 { pool.revoke(transfer).map(drop) } else { pool.complete_transfer(transfer).map(drop) });
        }
        14 => {
            let ids = held(pool, sequence);
            if let Some(&id) = ids.get(few as usize) {
                note(pool.release(sequence, &[BlockId(id)]).map(drop));
            }
        }
        15 => note(pool.trim(sequence, 2 * (few % 3)).map(drop)),
        16 => {
            if few < 2 {
                note(pool.reset(group));
            }
        }
        17 => {
            let other = pick(&shared.all.lock().expect("no panic").clone(), &mut mine.random);
            if few == 0 {
                note(pool.cancel(other));
            }
        }
        18..=20 => {
            if !mine.sequences.is_empty() {
                let place = mine.random.below(mine.sequences.len() as u32) as usize;
                let sequence = mine.sequences.swap_remove(place);
                note(pool.end(sequence).map(drop));
            }
        }
        21 | 22 => launch(pool, shared, mine, sequence),
        23 | 24 => {
            if !mine.epochs.is_empty() {
                let place = mine.random.below(mine.epochs.len() as u32) as usize;
                let (stream, epoch) = mine.epochs.swap_remove(place);
                complete(pool, shared, stream, epoch, few == 0);
            }
        }
        25 => {
            let Ok(copy) = host.open() else { return };
            mine.copies.push(copy);
            let mut pairs = vec![(BlockId(0), BlockId(0)); 16];
            let ids = held(pool, sequence);
            if let Ok(offloaded) = pool.offload(sequence, host, copy, &Admission::full(1, 0), &mut pairs) {
                shared.transfers.lock().expect("no panic").push((offloaded.transfer, ids));
            }
        }
        26 => {
            if let Some(copy) = mine.copies.pop() {
                note(host.end(copy).map(drop));
            }
        }
        27 => note(pool.preempt(sequence).map(drop)),
        _ => {
            pool.reclaim(1 + few);
        }
    }
}

/// At rest: the audit, and no block that work in flight or a transfer may touch is free or idle.
fn look(pool: &Pool<'_>, host: &Pool<'_>, shared: &Shared, seed: u64, burst: u32) {
    pool.validate().unwrap_or_else(|fault| panic!("seed {seed}, burst {burst}: {fault}"));
    host.validate().unwrap_or_else(|fault| panic!("seed {seed}, burst {burst}, host: {fault}"));
    let check = |ids: &[u32], what: &str| {
        for &id in ids {
            let word = pool.blocks.word(id);
            assert!(
                !word.is(Kind::Free) && !word.is(Kind::Idle),
                "I5: seed {seed}, burst {burst}: block {id}, {word:?}, {what}"
            );
        }
    };
    shared.device.lock().expect("no panic").iter().for_each(|(epoch, _, ids)| check(ids, &format!("{epoch:?}")));
    shared.transfers.lock().expect("no panic").iter().for_each(|(transfer, ids)| check(ids, &format!("{transfer:?}")));
    assert_eq!(pool.snapshot().exact, 1);
}

fn bursts(config: &PoolConfig, seed: u64, bursts: u32, kinds: &[u32]) {
    let (pool, host) = (pool(config), pool(&PoolConfig { number: 1, ..*config }));
    let (shared, barrier) = (Shared::default(), Barrier::new(THREADS as usize));
    for group in [0, 1] {
        let account = pool.open_account(Group(group), 3, 0).expect("room");
        shared.accounts.lock().expect("no panic").push(account);
    }
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (shared, barrier) = (&shared, &barrier);
            scope.spawn(move || {
                let random = Random::new(seed * 1000 + u64::from(number));
                let mut mine = Mine { sequences: vec![], copies: vec![], epochs: vec![], random };
                for burst in 0..bursts {
                    for _ in 0..12 {
                        one(&pool, &host, shared, &mut mine, kinds);
                    }
                    if barrier.wait().is_leader() {
                        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                            look(&pool, &host, shared, seed, burst)
                        }));
                        if seen.is_err() {
                            // The others would wait for ever.
                            std::process::abort();
                        }
                        let mut all = shared.all.lock().expect("no panic");
                        let len = all.len();
                        all.drain(..len.saturating_sub(12));
                    }
                    barrier.wait();
                }
                mine.sequences.iter().for_each(|&sequence| note(pool.end(sequence).map(drop)));
                mine.copies.iter().for_each(|&copy| note(host.end(copy).map(drop)));
            });
        }
    });
    for (transfer, _) in shared.transfers.into_inner().expect("no panic") {
        let _ = pool.complete_transfer(transfer);
    }
    for stream in 0..config.streams {
        let _ = (pool.abandon(Stream(stream)), host.abandon(Stream(stream)));
    }
    for account in shared.accounts.into_inner().expect("no panic") {
        pool.close_account(account).expect("nobody draws");
    }
    pool.validate().unwrap_or_else(|fault| panic!("seed {seed}, at the end: {fault}"));
    let rest = pool.snapshot();
    assert_eq!((rest.committed, rest.promised, rest.idle + rest.free), (0, 0, config.blocks), "seed {seed}: {rest:?}");
    let rest = host.snapshot();
    assert_eq!((rest.committed, rest.promised), (0, 0), "seed {seed}, host: {rest:?}");
}

#[test]
fn i2_i5_bursts() {
    let factor: u32 = std::env::var("BURSTS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let from: u64 = std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mixes: [&[u32]; 8] = [
        // Hits and ends with work in flight.
        &[0, 0, 2, 3, 3, 18, 19, 21, 22, 23, 24],
        // Tails.
        &[0, 2, 2, 2, 8, 8, 18, 19, 21, 22, 23, 24],
        // Holds.
        &[0, 0, 3, 3, 11, 12, 12, 13, 13, 13, 18, 19, 21, 23, 24],
        // Names.
        &[0, 0, 3, 3, 3, 4, 7, 16, 18, 19, 21, 23, 5, 6],
        // Windows with everything that grips.
        &[1, 1, 1, 2, 2, 2, 3, 3, 0, 11, 12, 13, 13, 18, 19, 21, 23, 24, 8],
        // Speculation and parts.
        &[0, 1, 2, 9, 10, 9, 10, 3, 14, 15, 18, 21, 23, 24, 8],
        // Offload.
        &[0, 0, 2, 3, 25, 25, 26, 13, 13, 18, 21, 23, 24, 27],
        // All.
        &[
            0, 0, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
            26, 27, 28,
        ],
    ];
    for seed in from..from + 32 {
        let config = PoolConfig {
            sequences: 8,
            table_width: 12,
            rows: 1 + (seed / 8) as u32 % 2,
            streams: 2,
            groups: 2,
            accounts: 2,
            epochs: 6,
            transfers: 3,
            events: 4,
            cache: 1 + seed as u32 % 3,
            ..PoolConfig::new(8 + 6 * (seed as u32 % 3), 2, 8, 12)
        };
        bursts(&config, seed, factor, mixes[seed as usize % mixes.len()]);
    }
}
