//! Many threads do everything to the same few sequences, accounts and streams at once, as callers should not and as
//! callers do. Answers do not matter; what is left afterwards does: every count agrees with every other, and when all is
//! ended every block is back.

mod common;
use common::{pool, small};
use kvledger_core::model::{BlackBox, Random};
use kvledger_core::{Account, Admission, Epoch, Group, Pool, PoolConfig, Promise, Sequence, Step, Stream, StreamSet};
use std::sync::Mutex;
use std::thread;

const THREADS: u64 = 4;
const ROUNDS: u32 = 60_000;
const BLOCKS: u32 = 150;

/// Handles that everybody uses.
#[derive(Default)]
struct Shared {
    sequences: Mutex<Vec<Sequence>>,
    accounts: Mutex<Vec<Account>>,
    epochs: Mutex<Vec<(Stream, Epoch)>>,
}

fn pick<T: Copy + Default>(list: &Mutex<Vec<T>>, random: &mut Random) -> T {
    let list = list.lock().expect("no thread panics");
    if list.is_empty() { T::default() } else { list[random.below(list.len() as u32) as usize] }
}

fn remember<T>(list: &Mutex<Vec<T>>, item: T) {
    let mut list = list.lock().expect("no thread panics");
    if list.len() == 24 {
        list.remove(0);
    }
    list.push(item);
}

fn one_operation(pool: &Pool<'_>, shared: &Shared, random: &mut Random) {
    let sequence = pick(&shared.sequences, random);
    let few = random.below(6);
    let group = Group(random.below(2));
    let stream = Stream(random.below(2));
    match random.below(26) {
        0 | 1 => {
            let _ = pool.open().map(|sequence| remember(&shared.sequences, sequence));
        }
        2..=4 => {
            let account = if few == 0 { pick(&shared.accounts, random) } else { Account::NONE };
            let promise = if few < 3 { Promise::Full } else { Promise::Blocks(few) };
            let streams = StreamSet(u64::from(1 + random.below(3)));
            let admission = Admission { group, account, promise, streams, ..Admission::full(1 + few, few * 3) };
            let _ = pool.admit(sequence, &admission);
        }
        5..=7 => {
            let _ = pool.advance(sequence, 1 + few);
        }
        8 => {
            let _ = pool.advance_growing(sequence, 1 + few, few);
        }
        9..=11 => {
            let steps: Vec<_> =
                (0..8).map(|_| Step { sequence: pick(&shared.sequences, random), tokens: 1 + few }).collect();
            let _ = pool.advance_many(&steps, &mut [0; 8], &mut [0; 8]);
        }
        12 => {
            let _ = pool.materialize(sequence, few);
        }
        13 => {
            let _ = pool.extend(sequence, few, 0);
        }
        14 => {
            let _ = pool.shrink(sequence, few);
        }
        15 => {
            let _ = pool.draw_safety(sequence, few);
        }
        16 => {
            let _ = pool.cancel(sequence);
        }
        17 | 18 => {
            let _ = pool.end(sequence);
        }
        19 => {
            let _ = pool.preempt(sequence);
        }
        20 => {
            let _ = pool.open_account(group, few * 2, 0).map(|account| remember(&shared.accounts, account));
        }
        21 => {
            let _ = pool.set_account_total(pick(&shared.accounts, random), few * 3);
        }
        22 => {
            let _ = pool.close_account(pick(&shared.accounts, random));
        }
        23 => {
            let _ = (pool.set_safety(few * 2), pool.set_quota(group, 40 + few * 20));
        }
        24 => {
            let _ = pool.submit(stream).map(|epoch| remember(&shared.epochs, (stream, epoch)));
        }
        _ => {
            let (stream, epoch) = pick(&shared.epochs, random);
            let _ = pool.complete(stream, epoch, false);
        }
    }
    let counts = pool.counts();
    assert!(counts.committed + counts.promised_and_safety <= BLOCKS, "I1: {counts:?}");
}

#[test]
fn i8_everything_at_once_leaves_nothing_behind() {
    for seed in 0..4 {
        let rows = 1 + seed as u32 % 2;
        let config = PoolConfig { sequences: 12, table_width: 24, rows, epochs: 4, ..small(BLOCKS, 2) };
        // Every other thread records: the last calls of each, and their order.
        let mut boxes: Vec<_> = (0..THREADS / 2).map(|n| BlackBox::new(&format!("stress-{n}"), 1024)).collect();
        let plain = pool(&config);
        let shared = Shared::default();
        let mut handles: Vec<_> =
            boxes.iter_mut().map(|black_box| plain.recording(black_box.ring()).expect("room")).collect();
        handles.resize(THREADS as usize, plain);
        let pool = plain;
        thread::scope(|scope| {
            for (number, pool) in (0..).zip(handles) {
                let shared = &shared;
                scope.spawn(move || {
                    let mut random = Random::new(seed * THREADS + number);
                    for _ in 0..ROUNDS {
                        one_operation(&pool, shared, &mut random);
                    }
                });
            }
        });
        pool.validate().unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        assert_eq!(pool.snapshot().quarantined, 0, "seed {seed}");
        (0..config.streams).for_each(|stream| {
            let _ = pool.abandon(Stream(stream));
        });
        for slot in 0..config.sequences {
            // Whoever it is: the generation is not known here, so all that it can be are tried.
            (1..=u64::from(ROUNDS) * THREADS)
                .rev()
                .any(|generation| pool.end(Sequence { slot, pool: 0, generation }).is_ok());
        }
        for account in shared.accounts.into_inner().expect("no thread panicked") {
            let _ = pool.close_account(account);
        }
        pool.validate().unwrap_or_else(|fault| panic!("seed {seed}, at the end: {fault}"));
        let left = pool.snapshot();
        assert_eq!((left.sequences, left.held, left.retiring), (0, 0, 0), "seed {seed}");
    }
}
