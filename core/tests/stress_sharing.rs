//! Many threads share, fork, publish, evict, transfer and reset the same few prefixes at once, as callers should not and as
//! callers do. Answers do not matter; what is left afterwards does: every count agrees with every other, and when all is
//! ended every block is free or idle.

mod common;
use common::{pool, small};
use kvledger_core::identity::Identity;
use kvledger_core::model::Random;
use kvledger_core::{
    Access, Admission, BlockId, Epoch, Event, EventCursor, Group, Pool, PoolConfig, Prefix, Sequence, Stream,
    StreamSet, Transfer, Window,
};
use std::sync::Mutex;
use std::thread;

const THREADS: u64 = 4;
const ROUNDS: u32 = 40_000;
const BLOCKS: u32 = 60;
const B: u32 = 2;

/// Handles that everybody uses.
#[derive(Default)]
struct Shared {
    sequences: Mutex<Vec<Sequence>>,
    transfers: Mutex<Vec<Transfer>>,
    epochs: Mutex<Vec<(Stream, Epoch)>>,
}

fn pick<T: Copy + Default>(list: &Mutex<Vec<T>>, random: &mut Random) -> T {
    let list = list.lock().expect("no thread panics");
    if list.is_empty() { T::default() } else { list[random.below(list.len() as u32) as usize] }
}

/// At its place: the handle before it is late, and mostly gone.
fn remember<T: Copy + Default>(list: &Mutex<Vec<T>>, place: u32, item: T) {
    let mut list = list.lock().expect("no thread panics");
    let len = list.len().max(place as usize + 1);
    list.resize(len, T::default());
    list[place as usize] = item;
}

/// One of a few chains, so that everybody hits what others have published.
fn names(random: &mut Random) -> Vec<Identity> {
    let chain = u64::from(random.below(3));
    (0..1 + u64::from(random.below(5))).map(|low| Identity { low: low + 1, high: chain }).collect()
}

fn window(few: u32) -> Window {
    match few {
        0 => Window { tokens: 3, steps_in_flight: 1, chunk_tokens: 2 },
        _ => Window::FULL,
    }
}

fn one_operation(pool: &Pool<'_>, shared: &Shared, random: &mut Random, cursor: &mut EventCursor) {
    let sequence = pick(&shared.sequences, random);
    let (few, names) = (random.below(6), names(random));
    let group = Group(random.below(2));
    let stream = Stream(random.below(2));
    let prefix = Prefix { unfinished: few < 3, ..Prefix::of(&names) };
    let access = if few < 4 { Access::Read } else { Access::Write };
    match random.below(30) {
        0..=2 => {
            let _ = pool.open().map(|sequence| remember(&shared.sequences, sequence.slot, sequence));
        }
        3..=7 => {
            let streams = StreamSet(u64::from(1 + random.below(3)));
            let full = Admission::full(1 + random.below(10), few);
            let admission = Admission { group, streams, window: window(few), speculative_tokens: few, ..full };
            let _ = pool.admit_prefix(sequence, &admission, &prefix);
        }
        8..=11 => {
            let _ = pool.advance(sequence, 1 + few);
        }
        12..=14 => {
            let epoch = pick(&shared.epochs, random).1;
            let _ = pool.publish(sequence, 0, &prefix, epoch, few != 0, &mut []);
        }
        15 => {
            let _ = pool.withdraw(sequence, few, 1);
        }
        16 => {
            let _ = if few < 3 {
                pool.pin(sequence, group, StreamSet::ALL, &prefix, 0).map(drop)
            } else {
                pool.unpin(sequence).map(drop)
            };
        }
        17 => {
            let _ = pool.evict(few);
        }
        18 => {
            let children: Vec<_> = (0..1 + few % 3).filter_map(|_| pool.open().ok()).collect();
            let _ = pool.fork(sequence, &children, few, 0);
            children.iter().for_each(|child| remember(&shared.sequences, child.slot, *child));
        }
        19 => {
            let epoch = pick(&shared.epochs, random).1;
            let _ = pool.copy_submitted(sequence, epoch);
        }
        20 => {
            let _ = pool.speculate(sequence, 1 + few);
        }
        21 => {
            let _ = pool.accept(sequence, few, few % 2 == 0);
        }
        22 => {
            let _ = pool
                .hold(sequence, few / 2, 1 + few, access)
                .map(|transfer| remember(&shared.transfers, transfer.slot, transfer));
            let ids: Vec<_> = (0..3).map(|_| BlockId(1 + random.below(BLOCKS))).collect();
            let _ = pool.hold_blocks(&ids, access).map(|transfer| remember(&shared.transfers, transfer.slot, transfer));
        }
        23 => {
            let transfer = pick(&shared.transfers, random);
            let _ = match few {
                0 => pool.quarantine(transfer),
                1 => pool.revoke(transfer).map(drop),
                _ => pool.complete_transfer(transfer).map(drop),
            };
        }
        24 => {
            let _ = pool.release_tokens(sequence, B * (few / 2), B * (few / 2 + 1));
            let _ = pool.trim(sequence, B * few);
        }
        25 => {
            if random.below(8) == 0 {
                if few == 0 {
                    pool.reset_all();
                } else {
                    pool.reset(group).expect("a good group");
                }
            }
            let _ = pool.events(cursor, &mut [Event::NONE; 4]);
        }
        26 => {
            let _ = if few == 0 { pool.cancel(sequence) } else { pool.end(sequence).map(drop) };
        }
        27 | 28 => {
            let _ = pool.submit(stream).map(|epoch| remember(&shared.epochs, stream.0, (stream, epoch)));
        }
        _ => {
            let (stream, epoch) = pick(&shared.epochs, random);
            let _ = pool.complete(stream, epoch, few == 0);
            if random.below(50) == 0 {
                let _ = pool.abandon(stream);
            }
        }
    }
    let counts = pool.counts();
    assert!(counts.committed + counts.promised_and_safety <= BLOCKS, "I1: {counts:?}");
}

#[test]
fn i8_everything_shared_at_once_leaves_nothing_behind() {
    for seed in 0..6 {
        let config = PoolConfig {
            sequences: 10,
            table_width: 20,
            rows: 1 + seed as u32 % 2,
            epochs: 4,
            transfers: 4,
            events: 8,
            cache: 1 + seed as u32 % 3,
            ..small(BLOCKS, B)
        };
        let (pool, shared) = (pool(&config), Shared::default());
        thread::scope(|scope| {
            for number in 0..THREADS {
                let shared = &shared;
                scope.spawn(move || {
                    let (mut random, mut cursor) = (Random::new(seed * THREADS + number), EventCursor::START);
                    for _ in 0..ROUNDS {
                        one_operation(&pool, shared, &mut random, &mut cursor);
                    }
                });
            }
        });
        pool.validate().unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        (0..config.streams).for_each(|stream| {
            let _ = pool.abandon(Stream(stream));
        });
        for slot in 0..config.sequences {
            // Whoever it is: the generation is not known here, so all that it can be are tried.
            (1..=u64::from(ROUNDS) * THREADS)
                .map(|generation| pool.end(Sequence { slot, pool: config.number, generation }))
                .find(Result::is_ok);
        }
        for slot in 0..config.transfers {
            (1..=u64::from(ROUNDS) * THREADS)
                .map(|generation| pool.complete_transfer(Transfer { slot, pool: config.number, generation }))
                .find(Result::is_ok);
        }
        pool.validate().unwrap_or_else(|fault| panic!("seed {seed}, at the end: {fault}"));
        let rest = pool.snapshot();
        assert_eq!((rest.committed, rest.promised, rest.quarantined), (0, 0, 0), "seed {seed}: {rest:?}");
        assert_eq!(rest.idle + rest.free, BLOCKS, "seed {seed}");
    }
}
