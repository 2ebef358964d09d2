//! Calls at the ends of their arguments: nothing overflows (I10), nothing panics (I11), and who is refused has changed nothing
//! (I9).

mod common;
use common::{pool, small};
use kvledger_core::identity::Identity;
use kvledger_core::model::Random;
use kvledger_core::{
    Access, Account, Admission, BlockId, Epoch, Event, EventCursor, Group, Pool, PoolConfig, Prefix, Promise, Sequence,
    Step, Stream, StreamSet, Transfer, Window,
};

const EDGES: [u32; 14] =
    [0, 1, 2, 3, 4, 5, 7, 8, 1 << 16, (1 << 31) - 2, 1 << 31, u32::MAX - 2, u32::MAX - 1, u32::MAX];

fn edge(random: &mut Random) -> u32 {
    // Mostly small ones: else nothing is ever admitted.
    let most = if random.below(4) == 0 { EDGES.len() as u32 } else { 6 };
    EDGES[random.below(most) as usize]
}

struct World {
    sequences: Vec<Sequence>,
    transfers: Vec<Transfer>,
    epochs: Vec<(Stream, Epoch)>,
    accounts: Vec<Account>,
}

fn any<T: Copy + Default>(list: &[T], random: &mut Random) -> T {
    if list.is_empty() { T::default() } else { list[random.below(list.len() as u32) as usize] }
}

fn names(random: &mut Random) -> Vec<Identity> {
    let (chain, count) = (u64::from(random.below(3)), u64::from(random.below(6)));
    let same = random.below(8) == 0;
    (0..count).map(|low| Identity { low: if same { 1 } else { low }, high: chain }).collect()
}

fn one(pool: &Pool<'_>, world: &mut World, random: &mut Random, cursor: &mut EventCursor, kind: &mut u32) -> bool {
    let sequence = any(&world.sequences, random);
    let names = names(random);
    let tokens: Vec<u32> = (0..random.below(8)).collect();
    let group = Group(edge(random) % if random.below(5) == 0 { u32::MAX } else { 2 });
    let prefix = Prefix {
        identities: &names,
        tokens: if random.below(6) == 0 { &tokens } else { &[] },
        unfinished: random.below(2) == 0,
        blocks_max: if random.below(2) == 0 { u32::MAX } else { edge(random) },
    };
    let access = if random.below(2) == 0 { Access::Read } else { Access::Write };
    let streams = StreamSet(if random.below(6) == 0 { 0 } else { 1 + u64::from(random.below(3)) });
    let stream = Stream(if random.below(9) == 0 { edge(random) } else { random.below(2) });
    *kind = random.below(40);
    match *kind {
        0..=2 => pool.open().map(|sequence| world.sequences.push(sequence)).is_ok(),
        3..=8 => {
            let window = if random.below(3) == 0 {
                Window { tokens: edge(random), steps_in_flight: edge(random), chunk_tokens: edge(random) }
            } else {
                Window::FULL
            };
            let admission = Admission {
                prompt_tokens: edge(random),
                output_tokens_max: edge(random),
                speculative_tokens: edge(random),
                window,
                promise: if random.below(3) == 0 { Promise::Blocks(edge(random)) } else { Promise::Full },
                group,
                streams,
                watermark: if random.below(4) == 0 { edge(random) } else { 0 },
                account: if random.below(4) == 0 { any(&world.accounts, random) } else { Account::NONE },
            };
            pool.admit_prefix(sequence, &admission, &prefix).is_ok()
        }
        9..=12 => pool.advance(sequence, edge(random)).is_ok(),
        13 => pool.advance_growing(sequence, edge(random), edge(random)).is_ok(),
        14 => pool.materialize(sequence, edge(random)).is_ok(),
        15..=17 => {
            let mut found = vec![BlockId(0); random.below(7) as usize];
            let epoch = if random.below(9) == 0 { Epoch(u64::MAX) } else { any(&world.epochs, random).1 };
            pool.publish(
                sequence,
                if random.below(3) > 0 { 0 } else { edge(random) },
                &prefix,
                epoch,
                random.below(3) > 0,
                &mut found,
            )
            .is_ok()
        }
        18 => pool.withdraw(sequence, edge(random), edge(random)).is_ok(),
        19 => pool.pin(sequence, group, streams, &prefix, if random.below(3) > 0 { 0 } else { edge(random) }).is_ok(),
        20 => pool.unpin(sequence).is_ok(),
        21 => pool.evict(edge(random)).is_ok(),
        22 | 23 => {
            let mut children: Vec<_> = (0..random.below(3)).filter_map(|_| pool.open().ok()).collect();
            world.sequences.extend(&children);
            if random.below(5) == 0 {
                children.push(any(&world.sequences, random));
            }
            pool.fork(sequence, &children, edge(random), if random.below(3) > 0 { 0 } else { edge(random) }).is_ok()
        }
        24 => pool.copy_submitted(sequence, any(&world.epochs, random).1).is_ok(),
        25 => pool.speculate(sequence, edge(random)).is_ok(),
        26 | 27 => pool.accept(sequence, edge(random), random.below(2) == 0).is_ok(),
        28 => pool.hold(sequence, edge(random), edge(random), access).map(|t| world.transfers.push(t)).is_ok(),
        29 => {
            let ids: Vec<_> = (0..random.below(4)).map(|_| BlockId(edge(random))).collect();
            pool.hold_blocks(&ids, access).map(|t| world.transfers.push(t)).is_ok()
        }
        30 => {
            let transfer = any(&world.transfers, random);
            match random.below(3) {
                0 => pool.quarantine(transfer).is_ok(),
                1 => pool.revoke(transfer).is_ok(),
                _ => pool.complete_transfer(transfer).is_ok(),
            }
        }
        31 => match random.below(3) {
            0 => pool.release_tokens(sequence, edge(random), edge(random)).is_ok(),
            1 => pool.trim(sequence, edge(random)).is_ok(),
            _ => {
                let ids: Vec<_> = (0..random.below(3)).map(|_| BlockId(edge(random))).collect();
                pool.release(sequence, &ids).is_ok()
            }
        },
        32 => {
            match random.below(12) {
                0 => pool.reset_all(),
                1 => drop(pool.reset(group)),
                _ => drop(pool.events(cursor, &mut [Event::NONE; 3])),
            }
            let _ = pool.lookup(group, &prefix, edge(random));
            true
        }
        33 => match random.below(4) {
            0 => pool.cancel(sequence).is_ok(),
            1 => pool.preempt(sequence).is_ok(),
            _ => pool.end(sequence).is_ok(),
        },
        34 => pool.submit(stream).map(|epoch| world.epochs.push((stream, epoch))).is_ok(),
        35 => {
            let (stream, epoch) = any(&world.epochs, random);
            pool.complete(stream, epoch, random.below(5) == 0).is_ok()
        }
        36 => match random.below(6) {
            0 => pool.extend(sequence, edge(random), edge(random)).is_ok(),
            1 => pool.shrink(sequence, edge(random)).is_ok(),
            2 => pool.draw_safety(sequence, edge(random)).is_ok(),
            3 => pool.set_safety(random.below(3)).is_ok(),
            4 => pool.set_quota(Group(0), if random.below(2) == 0 { u32::MAX } else { edge(random) }).is_ok(),
            _ => pool.use_streams(sequence, streams).is_ok(),
        },
        37 => match random.below(3) {
            0 => pool.open_account(group, edge(random), 0).map(|a| world.accounts.push(a)).is_ok(),
            1 => pool.close_account(any(&world.accounts, random)).is_ok(),
            _ => pool.set_account_total(any(&world.accounts, random), edge(random)).is_ok(),
        },
        38 => {
            let steps: Vec<_> = (0..random.below(4))
                .map(|_| Step { sequence: any(&world.sequences, random), tokens: edge(random) })
                .collect();
            let batch = pool.advance_many(&steps, &mut [0; 4], &mut [0; 4]);
            batch.is_ok_and(|batch| batch.advanced > 0)
        }
        _ => pool.launch_row(sequence, any(&world.epochs, random).1).is_ok() | pool.abandon(stream).is_ok(),
    }
}

fn rounds(config: &PoolConfig, seed: u64, rounds: u32) {
    let pool = pool(config);
    let mut random = Random::new(seed);
    let mut world = World { sequences: vec![], transfers: vec![], epochs: vec![], accounts: vec![] };
    let mut cursor = EventCursor::START;
    for round in 0..rounds {
        let before = pool.snapshot();
        let mut kind = 0;
        let ok = one(&pool, &mut world, &mut random, &mut cursor, &mut kind);
        pool.validate().unwrap_or_else(|fault| panic!("seed {seed}, round {round}, {config:?}: {fault}; call {kind}"));
        let after = pool.snapshot();
        // Who adds tokens to a window recycles first, whatever comes of the tokens.
        if !ok && !matches!(kind, 9..=13 | 25 | 38) {
            // Reclaiming what is over is no change of A + E + F; R and the rest stay.
            assert_eq!(
                (before.promised, before.held, before.quarantined),
                (after.promised, after.held, after.quarantined),
                "I9: seed {seed}, round {round}, call {kind}: {config:?}"
            );
        }
        if world.sequences.len() > 12 {
            world.sequences.remove(0);
        }
        if random.below(40) == 0 {
            for s in world.sequences.drain(..) {
                let _ = pool.end(s);
            }
        }
        if world.transfers.len() > 6 {
            for t in world.transfers.drain(..) {
                let _ = pool.complete_transfer(t);
            }
        }
        if world.epochs.len() > 8 {
            world.epochs.remove(0);
        }
    }
}

#[test]
fn i10_i11_the_ends_of_arguments() {
    let mut seed = 0;
    for block_tokens in [1, 2, 4, u32::MAX] {
        for width in [1, 5, 8, 40] {
            for cache in 0..4 {
                for rows in [1, 2] {
                    let config = PoolConfig {
                        rows,
                        cache,
                        transfers: 3,
                        events: 4,
                        groups: 2,
                        streams: 2,
                        epochs: 4,
                        accounts: 2,
                        sequences: 8,
                        table_width: width,
                        token_check: cache % 2,
                        ..small(8, block_tokens)
                    };
                    if block_tokens == u32::MAX && cache % 2 == 1 {
                        continue;
                    }
                    seed += 1;
                    rounds(&config, seed, 2000);
                }
            }
        }
    }
}
