//! The races of the recorder, each with a mistake that must be noticed.

use super::{Answer, Call, Dump, Record};
use crate::arena::Line;
use crate::calls::{Admission, Advanced};
use crate::config::PoolConfig;
use crate::pool::{Pool, entries, lines};
use crate::race::holds_and_notices;
use crate::sync::Plant;
use loom::thread;
use std::boxed::Box;
use std::vec;
use std::vec::Vec;

fn pool(blocks: u32) -> Pool<'static> {
    let config = PoolConfig { epochs: 2, ..PoolConfig::new(blocks, 1, 2, blocks) };
    let memory = Box::leak(vec![Line::ZERO; lines(&config)].into_boxed_slice());
    let table = Box::leak(vec![0; entries(&config)].into_boxed_slice());
    Pool::init(memory, table, &config).expect("a good configuration")
}

fn recording(pool: &Pool<'static>) -> Pool<'static> {
    // Lines of a ring, and as many again: loom's cells are larger than words.
    pool.recording(Box::leak(vec![Line::ZERO; 64].into_boxed_slice())).expect("room")
}

/// What the handle's ring has, the oldest first.
fn records(handle: &Pool<'_>) -> Vec<Record<'static>> {
    let mut words = vec![0; handle.ring().dump_words as usize];
    handle.dump(&mut words).expect("nobody is in a call");
    let mut records: Vec<_> =
        Dump::read(words.leak()).expect("a dump").newest_first().collect::<Result<_, _>>().expect("whole records");
    records.reverse();
    records
}

/// O22: two threads use one handle. A call that is in the record is there with its own blocks.
#[test]
fn call_against_call_in_one_ring() {
    holds_and_notices(Some(2), &[Plant::RingInTwoSteps], || {
        let handle = recording(&pool(2));
        let [first, second] = [(); 2].map(|()| {
            let sequence = handle.open().expect("a slot");
            handle.admit(sequence, &Admission::full(1, 0)).expect("room");
            sequence
        });
        let other = thread::spawn(move || handle.advance(first, 1).expect("promised"));
        handle.advance(second, 1).expect("promised");
        other.join().expect("no panic");
        let records = records(&handle);
        assert_eq!(records.len() as u64 + handle.ring().lost, 6);
        for record in records.iter().skip(4) {
            let Call::Advance { sequence, .. } = record.call else { panic!("{record:?}") };
            let mut row = [0];
            handle.export_row(sequence, &mut row).expect("it fits");
            assert_eq!(record.outcome.answer, Ok(Answer::Advanced(Advanced { taken: 1, entries: 1, copies: 0 })));
            assert_eq!(record.outcome.first_block, row[0], "the block of the other call");
        }
    });
}

/// Who got a block that another call gave back comes after that call in the order of tickets.
#[test]
fn giving_back_against_taking_in_the_order_of_tickets() {
    holds_and_notices(Some(2), &[Plant::StampLate], || {
        let pool = pool(1);
        let [gives, takes] = [recording(&pool), recording(&pool)];
        let leaver = gives.open().expect("a slot");
        gives.admit(leaver, &Admission::full(1, 0)).expect("room");
        let asker = takes.open().expect("a slot");
        let other = thread::spawn(move || gives.end(leaver).expect("it is open"));
        let admitted = takes.admit(asker, &Admission::full(1, 0)).is_ok();
        other.join().expect("no panic");
        let ticket = |handle: &Pool<'_>| records(handle).last().expect("three calls").ticket;
        assert!(!admitted || ticket(&gives) < ticket(&takes), "made again in this order the admission is refused");
    });
}

/// The same of a limit that is lowered: what it set free was set free before it was taken.
#[test]
fn lowering_a_limit_against_taking_in_the_order_of_tickets() {
    holds_and_notices(Some(3), &[Plant::StampLate], || {
        let pool = pool(2);
        pool.set_safety(1).expect("room");
        let [gives, takes] = [recording(&pool), recording(&pool)];
        let asker = takes.open().expect("a slot");
        let taker = thread::spawn(move || takes.admit(asker, &Admission::full(2, 0)).is_ok());
        gives.set_safety(0).expect("lower");
        let admitted = taker.join().expect("no panic");
        let ticket = |handle: &Pool<'_>| records(handle).last().expect("a call").ticket;
        assert!(!admitted || ticket(&gives) < ticket(&takes), "made again in this order the admission is refused");
    });
}
