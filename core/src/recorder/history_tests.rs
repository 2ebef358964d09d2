//! Dumps put together to a history, and made again: what is missing is said, and names mean what they meant.

use super::tests::{CONFIG, Home, serve, words, words_of};
use super::{Answer, Call, Dump, Outcome, Record};
use crate::answer::Refusal;
use crate::calls::Admission;
use crate::config::PoolConfig;
use crate::ids::{Group, Stream};
use crate::model::{Broken, merge, rerun};
use crate::pool::Pool;
use std::vec::Vec;

#[test]
fn rings_of_one_pool_make_up_one_history() {
    let mut home = Home::new(CONFIG, 64);
    let handles = home.handles();
    for round in 0..8 {
        serve(&handles[round % 2]);
    }
    let mut dumps = home.rings.each_ref().map(|ring| words(ring));
    let [first, second] = dumps.each_mut().map(|words| Dump::read(words).expect("a dump"));
    let history = merge(&[first, second], false).expect("whole");
    assert_eq!(history.records.len(), 8 * 8);
    rerun(&history, false, |record, again| assert_eq!(record.outcome, again.outcome)).expect("valid");
    assert_eq!(merge(&[second], false).unwrap_err(), Broken::Missing { first: 0, count: 8 });
    assert_eq!(merge(&[first, second, first], false).unwrap_err(), Broken::Twice(0));
    assert_eq!(merge(&[], false).unwrap_err(), Broken::Nothing);
    let mut other = second;
    other.config.blocks = 41;
    assert_eq!(merge(&[first, other], false).unwrap_err(), Broken::OtherPool(1));
}

#[test]
fn a_ring_that_is_made_late_says_so_and_is_no_whole_history() {
    let used: [fn(&Pool<'_>); 5] = [
        |pool| assert!(pool.open().is_ok()),
        |pool| assert!(pool.set_safety(3).is_ok()),
        |pool| assert!(pool.set_quota(Group(0), 9).is_ok()),
        |pool| assert!(pool.submit(Stream(0)).is_ok()),
        |pool| assert!(pool.open().and_then(|sequence| pool.end(sequence)).is_ok()),
    ];
    let config = PoolConfig { safety: 2, ..CONFIG };
    for (number, used) in used.iter().enumerate() {
        let mut home = Home::new(config, 16);
        let pool = Pool::init(&mut home.memory, &mut home.table, &config).expect("valid");
        used(&pool);
        let [first, second] = home.rings.each_mut();
        let late = pool.recording(first).expect("room");
        let again = late.open().and_then(|_| pool.recording(second)).expect("room");
        let mut words = [words_of(&late), words_of(&again)];
        let [late, again] = words.each_mut().map(|words| Dump::read(words).expect("a dump"));
        // A slot that was given back leaves a generation behind, which is not looked for.
        assert_eq!(late.begun_late, number != 4, "{number}");
        assert!(!again.begun_late, "there are records from before: their ring says it");
        let whole = merge(&[late, again], false);
        assert_eq!(whole.err(), late.begun_late.then_some(Broken::Late(0)), "{number}");
    }
}

#[test]
fn a_history_may_be_asked_for_as_far_as_it_is_whole() {
    let mut home = Home::new(CONFIG, 64);
    let [first, second] = home.handles();
    serve(&first);
    serve(&second);
    serve(&first);
    let hold = second.recorder.ring().and_then(|ring| ring.take()).expect("nobody has it");
    let _lost = second.open();
    drop(hold);
    let mut words = [words_of(&first), words_of(&second)];
    let [first, second] = words.each_mut().map(|words| Dump::read(words).expect("a dump"));
    let history = merge(&[first], true).expect("as far as it goes");
    assert_eq!((history.records.len(), history.ends_at), (8, Some(Broken::Missing { first: 8, count: 8 })));
    assert_eq!(merge(&[first, second], false).err(), Some(Broken::Lost(1, 1)));
    let history = merge(&[first, second], true).expect("without the call that was lost");
    assert_eq!((history.records.len(), history.ends_at), (24, None));
}

/// Names that were not given out in the history, and frontiers, are not taken for somebody's handles and epochs.
#[test]
fn a_name_of_then_is_nobody_elses_now() {
    let mut home = Home::new(PoolConfig { streams: 2, ..CONFIG }, 64);
    let pool = Pool::init(&mut home.memory, &mut home.table, &home.config).expect("valid");
    let [first, second] = home.rings.each_mut().map(|ring| pool.recording(ring).expect("room"));
    let hold = second.recorder.ring().and_then(|ring| ring.take()).expect("nobody has it");
    let lost = second.open().expect("a slot");
    drop(hold);
    let sequence = first.open().expect("a slot");
    first.admit(lost, &Admission::full(4, 4)).expect("room");
    first.admit(sequence, &Admission::full(8, 8)).expect("room");
    let [early, late] = [Stream(0), Stream(1)].map(|stream| first.submit(stream).expect("room"));
    // The answers of calls that raced: the frontier that one saw is the other's.
    first.complete(Stream(0), early, false).expect("submitted");
    first.complete(Stream(1), late, false).expect("submitted");
    let mut words = [words_of(&first), words_of(&second)];
    let [first, second] = words.each_mut().map(|words| Dump::read(words).expect("a dump"));
    let mut history = merge(&[first, second], true).expect("in part");
    let raced = history.records.iter_mut().find(|record| matches!(record.call, Call::Complete { .. })).expect("one");
    raced.outcome.answer = Ok(Answer::Epoch(late));
    let mut answers = Vec::new();
    rerun(&history, false, |record, again| answers.push((record.call.name(), again.outcome.answer))).expect("valid");
    let stale = Err(Refusal::Stale);
    assert_eq!(answers.iter().filter(|answer| **answer == ("admit", stale)).count(), 1, "the lost one's: {answers:?}");
    let completed: Vec<_> = answers.iter().filter(|(name, _)| *name == "complete").map(|(_, answer)| *answer).collect();
    assert_eq!(completed, [Ok(Answer::Epoch(early)), Ok(Answer::Epoch(late))]);
}

/// A `BUSY` of several threads was another thread's doing, and is not asked for again.
#[test]
fn a_busy_call_of_several_threads_is_passed_over() {
    let mut home = Home::new(CONFIG, 32);
    serve(&home.handles()[0]);
    let mut words = words(&home.rings[0]);
    let mut history = merge(&[Dump::read(&mut words).expect("a dump")], false).expect("whole");
    let busy = Outcome { answer: Err(Refusal::Busy), digest: 0, first_block: 0 };
    let end = history.records.iter().position(|record| matches!(record.call, Call::Submit { .. })).expect("one");
    history.records.insert(end, Record { outcome: busy, ..history.records[end] });
    for rings in [1, 2] {
        history.rings = rings;
        let (mut passed_over, mut differing) = (0, 0);
        rerun(&history, false, |record, again| {
            passed_over += u32::from(again.passed_over);
            differing += u32::from(record.outcome != again.outcome);
        })
        .expect("valid");
        assert_eq!((passed_over, differing > 0), (rings as u32 - 1, rings == 1));
    }
}
