//! Memory that was changed under the pool: noticed, taken out of circulation, charged, never followed, never a hang.

use crate::answer::{Place, Refusal};
use crate::arena::Line;
use crate::calls::Admission;
use crate::config::PoolConfig;
use crate::ids::{Epoch, Sequence, Stream, StreamSet};
use crate::pool::{Pool, entries, lines};
use crate::sync::Relaxed;
use std::vec;

fn pool(safety: u32) -> Pool<'static> {
    let config = PoolConfig { safety, ..PoolConfig::new(8, 1, 4, 8) };
    let memory = vec![Line::ZERO; lines(&config)].leak();
    let table = vec![0; entries(&config)].leak();
    Pool::init(memory, table, &config).expect("a good configuration")
}

fn holding(pool: &Pool<'_>, blocks: u32) -> Sequence {
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(blocks, 0)).expect("it fits");
    pool.advance(sequence, blocks).expect("promised");
    sequence
}

fn first_block(pool: &Pool<'_>, sequence: Sequence) -> u32 {
    let mut row = [0; 8];
    pool.export_row(sequence, &mut row).expect("its driver asks");
    row[0]
}

/// The bit of a held block is set: whoever gets it puts it out of circulation, pays for it out of the headroom, and
/// takes another.
#[test]
fn a_held_block_in_the_free_list_is_quarantined() {
    let pool = pool(1);
    let owner = holding(&pool, 2);
    let id = first_block(&pool, owner);
    pool.free.put_mask(0, 1 << id);
    let other = holding(&pool, 4);
    let mut row = [0; 8];
    pool.export_row(other, &mut row).expect("its driver asks");
    assert!(!row.contains(&id), "the block of another");
    let snapshot = pool.snapshot();
    // 2 + 4 held, 1 charged for what cannot be trusted: the headroom's last one.
    assert_eq!((snapshot.committed, snapshot.quarantined, snapshot.safety), (7, 1, 1));
    // Its owner's row names a block that he no longer holds.
    assert_eq!(pool.end(owner), Err(Refusal::Corrupt { place: Place::Table }));
    assert_eq!(pool.snapshot().quarantined, 2, "one charged when it was found, one when its owner left");
}

/// Without headroom the margin pays.
#[test]
fn what_the_headroom_cannot_pay_the_margin_pays() {
    let pool = pool(1);
    let owner = holding(&pool, 2);
    let promised = pool.open().expect("a slot");
    pool.admit(promised, &Admission::full(5, 0)).expect("it fits");
    assert_eq!(pool.counts().headroom, 0);
    pool.free.put_mask(0, 1 << first_block(&pool, owner));
    pool.advance(promised, 5).expect("I3: what is promised to sequences is touched last");
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.safety, snapshot.quarantined, snapshot.promised), (0, 1, 0));
}

/// Bits are lost: an advance under a promise does not look for ever.
#[test]
fn lost_bits_end_in_corrupt_not_in_a_hang() {
    let pool = pool(0);
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(4, 4)).expect("it fits");
    assert_eq!(pool.free.count(), 8);
    while pool.free.count() > 3 {
        let cell = crate::sync::AtomicU64::new(0);
        pool.free.take(1, crate::freelist::Hint::Any, &crate::freelist::Cursor::new(&cell), &mut |_| {});
    }
    assert_eq!(pool.advance(sequence, 4), Err(Refusal::Corrupt { place: Place::FreeList }));
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.committed, snapshot.held, snapshot.quarantined, snapshot.promised), (4, 3, 1, 4));
    // What it has goes back; what was never found stays charged.
    pool.end(sequence).expect("its row is good");
    assert_eq!(pool.snapshot().committed, 1);
}

/// A stream that seems to have more epochs outstanding than there is room for: none of them is looked for for ever.
#[test]
fn no_walk_over_epochs_is_longer_than_the_ring() {
    let stream = Stream(0);
    for (tail, head) in [(0, u64::MAX >> 1), (7, u64::MAX >> 1), (u64::MAX >> 1, 0)] {
        let pool = pool(0);
        pool.streams.scramble(stream, tail, head);
        assert_eq!(pool.complete(stream, Epoch(1), true), Err(Refusal::Stale), "{tail} to {head}");
        let mut walked = 0;
        pool.streams.each_outstanding(stream, |_| walked += 1);
        assert!(walked <= pool.config().epochs, "{walked} from {tail} to {head}");
        pool.streams.tag(StreamSet::one(stream));
        pool.abandon(stream).expect("everything is over");
    }
}

/// The one change that cannot be told: an entry that names what others share is taken for the row's own. The sequence leaves
/// for one of them, whose own end then finds nothing to leave. `validate` says it from the change on.
#[test]
fn an_entry_that_names_what_others_share_is_seen_by_validate_only() {
    let pool = pool(0);
    let [parent, child, other] = [(); 3].map(|()| pool.open().expect("a slot"));
    pool.admit(parent, &Admission::full(2, 2)).expect("it fits");
    pool.advance(parent, 2).expect("promised");
    pool.fork(parent, &[child], 1, 0).expect("it fits");
    pool.admit(other, &Admission::full(1, 1)).expect("it fits");
    pool.advance(other, 1).expect("promised");
    assert_eq!(pool.validate(), Ok(()));
    let row = pool.row(other).expect("admitted").row;
    pool.table.row(row).at(0).store(first_block(&pool, parent), Relaxed);
    let said = || pool.validate().map_err(|fault| fault.invariant);
    assert_eq!(said(), Err(4));
    pool.end(other).expect("not noticed");
    assert_eq!(said(), Err(4));
    pool.end(child).expect("not noticed");
    assert_eq!(pool.end(parent), Err(Refusal::Corrupt { place: Place::Table }));
    assert_eq!((said(), pool.snapshot().committed), (Err(2), 1), "what the other had stays charged");
}
