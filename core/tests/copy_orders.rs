//! A copy order that was not submitted, and the block that it is to write.

mod common;
use common::{STREAM, ids, pool, run, small};
use kvledger_core::{Admission, BlockId, Refusal, Window};

/// The block to copy to is given up before the copy is submitted: the copy would write to the null block.
#[test]
fn the_block_that_an_order_writes_is_not_released_before_the_copy() {
    let pool = pool(&small(12, 2).sharing());
    let (parent, child) = (run(&pool, 3, 4), pool.open().expect("a slot"));
    pool.fork(parent, &[child], 4, 0).expect("it fits");
    assert_eq!(pool.advance(child, 2).expect("promised").copies, 1);
    let order = pool.copy_order(child).expect("its driver asks").expect("its tail was shared");
    let destination = BlockId(ids(&pool, child)[1]);
    assert_eq!(order.destination, destination);
    assert_eq!(pool.release(child, &[destination]).map(drop), Err(Refusal::Busy), "an order is in the way");
    assert_eq!(pool.release_tokens(child, 2, 4).map(drop), Err(Refusal::Busy));
    assert_eq!(pool.copy_order(child), Ok(Some(order)));
    pool.release(child, &[BlockId(ids(&pool, child)[0])]).expect("not the one that the copy writes");
    let epoch = pool.submit(STREAM).expect("room");
    pool.copy_submitted(child, epoch).expect("there is one");
    pool.release(child, &[destination]).expect("a full block of its own");
    pool.validate().expect("the audit");
}

/// The block to copy to goes out of the window before the copy is submitted: nobody needs the copy any more.
#[test]
fn an_order_for_a_block_out_of_the_window_is_over() {
    let pool = pool(&small(24, 2).sharing());
    let (parent, child) = (pool.open().expect("a slot"), pool.open().expect("a slot"));
    let window = Window { tokens: 2, steps_in_flight: 1, chunk_tokens: 2 };
    pool.admit(parent, &Admission { window, ..Admission::full(3, 12) }).expect("it fits");
    pool.advance(parent, 2).expect("promised");
    pool.advance(parent, 1).expect("promised");
    pool.fork(parent, &[child], 12, 0).expect("it fits");
    let copies = pool.advance(child, 1).expect("promised").copies;
    assert_eq!(copies, 1);
    let order = pool.copy_order(child).expect("its driver asks").expect("its tail was shared");
    for _ in 0..4 {
        pool.advance(child, 2).expect("promised");
        pool.validate().expect("the audit");
    }
    let now = pool.copy_order(child).expect("its driver asks");
    assert_eq!(now, None, "block {:?} is not the child's any more", order.destination);
    [parent, child].into_iter().for_each(|sequence| {
        pool.end(sequence).expect("open");
    });
    pool.validate().expect("the audit");
    assert_eq!(pool.snapshot().committed, 0);
}
