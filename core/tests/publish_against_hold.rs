//! Small pools, few blocks, narrow mixes of calls: races that the wide mix of `stress_sharing.rs` seldom meets.

mod common;
use common::{pool, small};
use kvledger_core::identity::Identity;
use kvledger_core::{Access, Admission, BlockId, PoolConfig, Prefix, Stream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const NAME: [Identity; 1] = [Identity { low: 1, high: 1 }];

/// A block that was shared once, and has one holder now, gets a name while somebody takes hold of it by its id.
#[test]
fn i5_a_hold_is_not_lost_to_a_publication() {
    let config = PoolConfig { transfers: 4, ..small(4, 1) };
    let pool = pool(&config.sharing());
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(1, 0)).expect("it fits");
    pool.advance(sequence, 1).expect("promised");
    let epoch = pool.submit(Stream(0)).expect("room");
    pool.publish(sequence, 0, &Prefix::of(&NAME), epoch, true, &mut []).expect("a full block");
    let id = BlockId(common::ids(&pool, sequence)[0]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                pool.withdraw(sequence, 0, 1).expect("its own");
                pool.publish(sequence, 0, &Prefix::of(&NAME), epoch, true, &mut []).expect("a full block");
            }
        });
        let mut lost = 0;
        for _ in 0..300_000 {
            let first = pool.hold_blocks(&[id], Access::Write).expect("held, and others may know it");
            for _ in 0..4 {
                if let Ok(second) = pool.hold_blocks(&[id], Access::Write) {
                    lost += 1;
                    let _ = pool.complete_transfer(second);
                }
            }
            let _ = pool.complete_transfer(first);
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(lost, 0, "two transfers write one block: the grip of the first is lost");
    });
}
