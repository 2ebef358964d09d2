use super::*;
use std::vec;
use std::vec::Vec;

fn held() -> Word {
    Word(0).take().expect("a zeroed word is free")
}

#[test]
fn i7_every_way_back_changes_the_version() {
    let held = held();
    assert!(held.is_private());
    assert_ne!(held.give_back().expect("private").version(), held.version());
    let retiring = held.retire().expect("private");
    assert_ne!(retiring.version(), held.version());
    assert_eq!(retiring.claim().and_then(Word::unclaim), Some(retiring));
    assert!(retiring.claim().and_then(Word::free).is_some_and(|word| word.is(Kind::Free)));
    let named = held.publish(true, false).expect("no name yet");
    for kind in [Kind::Retiring, Kind::Idle, Kind::Free] {
        assert_ne!(named.leave_last(kind).expect("one holder").version(), named.version(), "{kind:?}");
    }
    assert_eq!(named.rest_at_once(), named.leave_last(Kind::Idle), "the usual end is the same end");
    assert_ne!(named.join().and_then(Word::leave).expect("two holders"), named.with(Flag::Shared), "one of several");
    assert_ne!(named.hold(false).and_then(|word| word.unhold(false)).expect("a hold"), named, "a hold");
    let idle = named.leave_last(Kind::Idle).expect("a kept name");
    assert_ne!(idle.evict().expect("idle").version(), idle.version());
    assert_ne!(idle.unname().expect("named").version(), idle.version());
    assert_eq!(idle.unname().and_then(Word::unname), None);
}

/// Every word that a few transitions make, and what may be made of it.
#[test]
fn words_keep_their_rules_whatever_is_done_to_them() {
    let moves: Vec<fn(Word) -> Option<Word>> = vec![
        Word::take,
        Word::give_back,
        Word::retire,
        Word::join,
        Word::join_tail,
        Word::revive,
        Word::owe,
        Word::leave,
        Word::leave_copying,
        |word| word.leave_last(Kind::Retiring),
        |word| word.leave_last(Kind::Idle),
        |word| word.leave_last(Kind::Free),
        Word::rest_at_once,
        Word::evict,
        |word| word.publish(true, false),
        |word| word.publish(false, true),
        Word::unname,
        |word| word.hold(false),
        |word| word.hold(true),
        |word| word.unhold(false),
        Word::claim,
        Word::unclaim,
        Word::free,
        Word::rest,
    ];
    let (mut seen, mut next) = (std::collections::BTreeSet::new(), vec![Word(0)]);
    while let Some(word) = next.pop() {
        // The version is no part of what may be done.
        if !seen.insert(word.state()) || word.grips() > 3 {
            continue;
        }
        let kind = word.kind().expect("a kind that transitions make");
        let gripped = word.grips() > 0;
        match kind {
            Kind::Free => assert_eq!(word.state(), 0, "nobody's, and nothing is known of it: {word:?}"),
            Kind::Held => assert!(word.holders() > 0, "{word:?}"),
            Kind::Retiring => assert!(word.holders() == 0 && !word.has(Flag::Owed) && !word.is_tail(), "{word:?}"),
            Kind::Idle | Kind::Reclaiming => assert!(!gripped && !word.has(Flag::Owed), "{word:?}"),
            Kind::Quarantined => panic!("no transition makes it: {word:?}"),
        }
        assert!(!word.is_tail() || word.holders() > 1, "a tail is shared: {word:?}");
        assert!(word.promises() == 0 || word.grips() > 1, "{word:?}");
        next.extend(moves.iter().filter_map(|make| make(word)));
    }
    assert!(seen.len() > 100, "{} states", seen.len());
}

#[test]
fn a_promise_stands_behind_each_grip_beyond_the_first() {
    let owed = held().owe().expect("one holder");
    assert_eq!(owed.promises(), 0);
    let three = owed.join().and_then(Word::join).expect("room");
    assert_eq!(three.promises(), 2);
    assert_eq!(three.hold(false).expect("room").promises(), 3);
    let tail = held().join_tail().and_then(Word::join_tail).expect("room");
    assert_eq!((tail.promises(), tail.hold(false).expect("room").promises()), (2, 2), "holds do not write");
    let copying = tail.leave_copying().expect("three sharers");
    assert_eq!((copying.promises(), copying.holders(), copying.holds()), (1, 2, 1));
    let last = copying.leave_copying().expect("two sharers");
    assert!(!last.is_tail(), "who is left writes at once");
    // Both rules at once: what the copy spends, and the grip that its hold takes over.
    let both = owed.join_tail().expect("room");
    assert_eq!((both.promises(), both.leave_copying().expect("two sharers").promises()), (2, 1));
}

#[test]
fn what_is_written_is_not_published_and_what_is_published_is_not_written() {
    let tail = held().join_tail().expect("room");
    assert_eq!(tail.publish(true, false), None);
    assert_eq!(held().publish(true, false).and_then(Word::join_tail), None);
    assert!(!held().publish(true, false).and_then(|word| word.hold(true)).expect("room").may_be_hit());
    assert_eq!(held().hold(true).and_then(|word| word.hold(true)), None, "one writer");
}

#[test]
fn a_full_count_is_a_miss() {
    let mut word = held();
    for _ in 1..HOLDERS_MAX {
        word = word.join().expect("room");
    }
    assert_eq!((word.holders(), word.join()), (1023, None));
    for _ in 0..HOLDS_MAX {
        word = word.hold(false).expect("room");
    }
    assert_eq!((word.holds(), word.hold(false), word.is(Kind::Held)), (15, None, true));
}

#[test]
fn unknown_kinds_and_other_flags_are_nobodys() {
    assert_eq!(Word(7).kind(), None);
    assert_eq!(Word(Flag::Owed as u64).take(), None, "a flagged word is not a free one");
    let two_holders = Word((2 * ONE_HOLDER) | Kind::Held as u64);
    assert_eq!((two_holders.give_back(), two_holders.retire()), (None, None));
    assert!(held().quarantine().take().is_none());
}

#[test]
fn the_version_wraps_into_nothing_else() {
    let last = Word(VERSION_MASK | ONE_HOLDER | Kind::Held as u64);
    assert_eq!(last.give_back(), Some(Word(0)));
}
