//! Every interleaving and every reordering that loom knows, on two words. Each race is named; each test is run once as
//! the code is and once with a mistake planted, which must be found, so that the test is known to look.

use super::cursor::Position;
use super::placement::Search;
use super::{Bitmap, Cursor, FreeList, Hint};
use crate::arena::{Arena, Carve, LINE_BYTES, Line};
use crate::race::holds_and_notices;
use crate::sync::{AcqRel, Acquire, AtomicU64, Plant, Release};
use loom::thread;
use std::boxed::Box;
use std::sync::Arc;
use std::vec;

fn memory(carve: &Carve) -> &'static mut [Line] {
    Box::leak(vec![Line::ZERO; carve.bytes().div_ceil(LINE_BYTES)].into_boxed_slice())
}

/// An empty map.
fn map(bits: usize) -> Bitmap<'static> {
    let mut carve = Carve::new();
    let layout = Bitmap::layout(&mut carve, bits);
    Bitmap::view(&mut Arena::fresh(memory(&carve)), &layout).expect("the memory is as long as stated")
}

/// A block in the first of two words, and one in the second.
const FIRST: u32 = 1;
const SECOND: u32 = 64;

/// A list of two words with these blocks free.
fn list(free: &[u32]) -> FreeList<'static> {
    let mut carve = Carve::new();
    let layout = FreeList::layout(&mut carve, SECOND);
    let list = FreeList::view(&mut Arena::fresh(memory(&carve)), &layout).expect("the memory is as long as stated");
    free.iter().for_each(|&id| assert_eq!(give(&list, id), 0));
    list
}

/// Give back one block. How many were refused.
fn give(list: &FreeList, id: u32) -> u32 {
    list.put_mask(id as usize / 64, 1 << (id % 64)).count_ones()
}

/// Take one block, wherever it is.
fn take(list: &FreeList) -> Option<u32> {
    let cell = AtomicU64::new(0);
    let mut found = None;
    list.take(1, Hint::Any, &Cursor::new(&cell), &mut |run| found = Some(run.start));
    found
}

/// O12: one takes the last bit of a word and puts it back, the other finds the word empty and hides it.
#[test]
fn hiding_a_word_against_putting_into_it() {
    holds_and_notices(None, &[Plant::NoStoreLoadFence], || {
        let map = map(128);
        map.put(1, 1);
        let putter = thread::spawn(move || {
            if map.take(1, |bits| bits) != 0 {
                assert_eq!(map.put(1, 1), 0);
            }
        });
        let hider = thread::spawn(move || {
            if map.load(1) == 0 {
                map.tidy(1);
            }
        });
        putter.join().unwrap();
        hider.join().unwrap();
        assert_eq!(map.next(0), Some(1), "a set bit is hidden for good");
    });
}

/// O13: the same one level up. A searcher finds the summary word of a zone empty while a word of that zone is shown.
#[test]
fn hiding_a_zone_against_showing_a_word_in_it() {
    const FAR: usize = 64;
    holds_and_notices(None, &[Plant::NoStoreLoadFence], || {
        let map = map(4096 + 64);
        // Leaves the zone shown and its summary word empty.
        map.put(FAR, 1);
        map.take(FAR, |bits| bits);
        map.tidy(FAR);
        let putter = thread::spawn(move || {
            map.put(FAR, 1);
        });
        let searcher = thread::spawn(move || {
            map.next(0);
        });
        putter.join().unwrap();
        searcher.join().unwrap();
        assert_eq!(map.next(0), Some(FAR), "a set bit is hidden for good");
    });
}

/// One block is left and two want it.
#[test]
fn take_against_take_on_the_last_block() {
    holds_and_notices(None, &[Plant::ClaimInTwoSteps], || {
        let list = list(&[SECOND]);
        let takers = [thread::spawn(move || take(&list)), thread::spawn(move || take(&list))];
        let [one, two] = takers.map(|taker| taker.join().unwrap());
        assert!(one.is_some() != two.is_some(), "the block went to {one:?} and {two:?}");
        assert_eq!(list.count(), 0);
    });
}

/// A block that is free is given back once more while another thread takes it. Whatever the order, the answer says
/// whether it was counted: blocks free and blocks out add up.
#[test]
fn double_free_against_take() {
    holds_and_notices(None, &[Plant::DoubleFreeUnseen], || {
        let list = list(&[SECOND]);
        let taker = thread::spawn(move || take(&list));
        let giver = thread::spawn(move || give(&list, SECOND));
        let out = u64::from(taker.join().unwrap().is_some());
        let refused = giver.join().unwrap();
        let given = u64::from(1 - refused);
        assert_eq!(list.count() + out, 1 + given, "refused {refused}");
    });
}

/// Two give back the same block: one of them is told, and there is one block.
#[test]
fn double_free_against_double_free() {
    holds_and_notices(None, &[Plant::DoubleFreeUnseen], || {
        let list = list(&[]);
        let givers = [thread::spawn(move || give(&list, FIRST)), thread::spawn(move || give(&list, FIRST))];
        assert_eq!(givers.map(|giver| giver.join().unwrap()).iter().sum::<u32>(), 1);
        assert_eq!(list.count(), 1);
        assert_eq!(take(&list), Some(FIRST), "a set bit is hidden for good");
    });
}

/// One pass over the words, nothing else.
fn found_in_one_pass(list: &FreeList) -> bool {
    Search::new(list, 1, Position::at(0), &mut |_| {}).everywhere()
}

/// O10, O11: one block is free and promised, one is on its way back, bits first and then the promise. A thread that gets
/// the second promise may take the first block; whoever has the first promise then finds the second block, although it
/// never met the thread that gave it back: it sees the first word emptied, and so what the one who emptied it had seen.
#[test]
fn a_promised_block_is_found_in_one_pass() {
    holds_and_notices(None, &[Plant::RelaxedScan], || {
        let list = list(&[FIRST]);
        let headroom = Arc::new(AtomicU64::new(0));
        let raised = headroom.clone();
        let giver = thread::spawn(move || {
            assert_eq!(give(&list, SECOND), 0);
            raised.fetch_add(1, Release);
        });
        let second = thread::spawn(move || {
            if headroom.compare_exchange(1, 0, AcqRel, Acquire).is_ok() {
                assert!(found_in_one_pass(&list), "promised, but not found");
            }
        });
        let first = thread::spawn(move || assert!(found_in_one_pass(&list), "promised, but not found"));
        for racer in [giver, second, first] {
            racer.join().unwrap();
        }
    });
}

/// O10: who takes a block sees what its last holder wrote, although they never met.
#[test]
fn what_the_last_holder_wrote_is_seen() {
    holds_and_notices(None, &[Plant::RelaxedScan], || {
        let list = list(&[]);
        let content = Arc::new(loom::cell::UnsafeCell::new(0));
        let written = content.clone();
        let holder = thread::spawn(move || {
            // SAFETY: the block is held by this thread; loom checks exactly that.
            written.with_mut(|content| unsafe { *content = 7 });
            give(&list, FIRST);
        });
        let next = thread::spawn(move || {
            if take(&list).is_some() {
                // SAFETY: as above.
                assert_eq!(content.with_mut(|content| unsafe { *content }), 7);
            }
        });
        holder.join().unwrap();
        next.join().unwrap();
    });
}
