//! The index against a map of names.

use super::support::{Rng, SIZES, arena};
use crate::arena::Carve;
use crate::cache::Index;
use crate::cache::hash::hash;
use crate::identity::Identity;
use std::collections::BTreeMap;
use std::vec::Vec;

fn index(blocks: u32) -> Index<'static> {
    let mut carve = Carve::new();
    let layout = Index::layout(&mut carve, blocks);
    Index::view(&mut arena(&carve), &layout).expect("the memory is as long as stated")
}

/// A caller's counter as a name.
fn counter(number: u64) -> Identity {
    Identity { low: number, high: 0 }
}

/// Block by block: the name that it should be found under.
type Names = BTreeMap<u32, Identity>;

fn check(index: &Index<'_>, names: &Names) {
    for (&id, &name) in names {
        assert_eq!(index.find(name, |found| names.get(&found) == Some(&name)), Some(id), "{name:?}");
        let mut all = Vec::new();
        index.each(name, |found| all.push(found));
        assert!(all.contains(&id));
    }
    let (_, second, counted) = index.census();
    assert_eq!(second, counted, "entries in second buckets, and what is counted");
}

/// Every block gets a name, loses it and gets another one, thousands of times; names are counters or random.
#[test]
fn every_name_is_found_and_no_other() {
    for blocks in SIZES {
        for random in [false, true] {
            let (index, mut rng, mut names, mut next) = (index(blocks), Rng::new(u64::from(blocks)), Names::new(), 0);
            for step in 0..20_000 {
                let id = 1 + rng.below(blocks);
                if let Some(name) = names.remove(&id) {
                    assert!(index.remove(name, id));
                    assert!(!index.remove(name, id), "it is there no more");
                    assert_eq!(index.find(name, |found| names.get(&found) == Some(&name)), None);
                } else {
                    next += 1;
                    let name = if random { Identity { low: rng.next(), high: rng.next() } } else { counter(next) };
                    assert!(index.insert(name, id, |other| names.get(&other).copied()), "{blocks} blocks, step {step}");
                    names.insert(id, name);
                }
                if step % (1 + blocks) == 0 {
                    check(&index, &names);
                }
            }
            names.iter().for_each(|(&id, &name)| assert!(index.remove(name, id)));
            assert_eq!(index.census(), (0, 0, 0));
        }
    }
}

/// Two blocks of one name, and one found at a time.
#[test]
fn a_name_may_lead_to_several_blocks() {
    let (index, name) = (index(100), counter(7));
    for id in [3, 5, 9] {
        assert!(index.insert(name, id, |_| Some(name)));
    }
    let mut all = Vec::new();
    index.each(name, |id| all.push(id));
    all.sort_unstable();
    assert_eq!(all, [3, 5, 9]);
    assert_eq!(index.find(name, |id| id == 5), Some(5));
    assert!(index.remove(name, 5));
    assert_eq!(index.find(name, |id| id == 5), None);
    assert_eq!(index.find(counter(8), |_| true), None, "another name has another fingerprint");
}

/// Fourteen blocks of one name fill both buckets. The fifteenth has no room while all are good, and takes the place of one
/// whose block has no name or another one. The count follows.
#[test]
fn entries_that_are_no_good_give_way() {
    let (index, name, other) = (index(100), counter(7), counter(8));
    for id in 1..=14 {
        assert!(index.insert(name, id, |_| Some(name)));
    }
    assert_eq!(index.census(), (7, 7, 7));
    assert!(!index.insert(name, 15, |_| Some(name)));
    assert_eq!(index.census(), (7, 7, 7));
    // Its block was forgotten; it was in the second bucket, so is the new one.
    assert!(index.insert(name, 15, |id| (id != 12).then_some(name)));
    assert_eq!(index.find(name, |id| id == 12), None);
    assert_eq!(index.census(), (7, 7, 7));
    // Its block has another name by now; it was in the first bucket.
    assert!(index.insert(name, 16, |id| Some(if id == 3 { other } else { name })));
    assert_eq!(index.find(name, |id| id == 3), None);
    for id in [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16] {
        assert!(index.remove(name, id), "{id}");
    }
    assert_eq!(index.census(), (0, 0, 0));
}

/// The same with only two buckets, where the block's new name often has the same first bucket as the old one.
#[test]
fn an_entry_of_an_older_name_gives_way() {
    for number in 8..40 {
        let (index, name, other) = (index(1), counter(7), counter(number));
        (1..=14).for_each(|id| assert!(index.insert(name, id, |_| Some(name))));
        let name_of = |id| Some(if id == 3 || id == 12 { other } else { name });
        assert!(index.insert(name, 15, name_of) && index.insert(name, 16, name_of), "{other:?}");
        assert!(!index.insert(name, 17, name_of));
        assert_eq!(index.find(name, |id| id == 3 || id == 12), None);
        assert_eq!(index.census(), (7, 7, 7));
    }
}

/// More names than the index is made for: some find no room, and nothing happens to those that are there.
#[test]
fn a_crowded_index_loses_nothing() {
    let (index, mut names, mut rng, mut refused) = (index(32), Names::new(), Rng::new(11), 0);
    for _ in 0..30_000 {
        let id = 1 + rng.below(80);
        match names.remove(&id) {
            Some(name) if rng.below(3) == 0 => assert!(index.remove(name, id)),
            Some(name) => drop(names.insert(id, name)),
            None => {
                let name = Identity { low: rng.next(), high: 0 };
                if index.insert(name, id, |other| names.get(&other).copied()) {
                    names.insert(id, name);
                } else {
                    refused += 1;
                }
            }
        }
        check(&index, &names);
    }
    assert!(refused > 1000 && names.len() > 48, "{refused} refused, {} names", names.len());
}

/// A name whose first bucket is full of names that are in their second one: they give way to it, and their counts fall.
#[test]
fn an_entry_that_gives_way_is_counted_where_it_came_from() {
    let index = index(8);
    let names: Vec<Identity> = (0..12).map(counter).collect();
    let mut kept = Names::new();
    for (id, &name) in (1..).zip(&names) {
        if index.insert(name, id, |other| kept.get(&other).copied()) {
            kept.insert(id, name);
        }
    }
    check(&index, &kept);
    // Everything is forgotten without being removed; the same again with other names, several times over.
    for round in 1..50 {
        let mut now = Names::new();
        for id in 1..=8 {
            let name = counter(100 * round + u64::from(id));
            assert!(index.insert(name, id, |other| now.get(&other).copied()), "round {round}");
            now.insert(id, name);
        }
        check(&index, &now);
    }
}

/// The figure that the module states: N names in the fewest buckets that N blocks can get.
#[test]
fn few_names_are_in_their_second_bucket() {
    const BLOCKS: u32 = 1 << 16;
    let index = index(BLOCKS);
    let named = |id: u32| Some(counter(u64::from(id)));
    for id in 1..=BLOCKS {
        assert!(index.insert(counter(u64::from(id)), id, named), "no room for {id}");
    }
    assert!((1..=BLOCKS).all(|id| index.find(counter(u64::from(id)), |found| found == id).is_some()));
    let (first, second, counted) = index.census();
    assert_eq!((first + second, counted), (u64::from(BLOCKS), second));
    std::println!("{second} of {BLOCKS} names are in their second bucket");
    assert!(second * 35 <= u64::from(BLOCKS), "{second} of {BLOCKS}");
    assert!((1..=BLOCKS).all(|id| index.remove(counter(u64::from(id)), id)));
    assert_eq!(index.census(), (0, 0, 0));
}

/// Counters in either half, steps of powers of two: every bit of the hash is set about as often as not, and none is twice.
#[test]
fn counters_are_mixed() {
    for shift in [0, 1, 8, 16, 31, 32, 47] {
        for high in [false, true] {
            let number = |n: u64| n << shift;
            let name =
                |n| if high { Identity { low: 1, high: number(n) } } else { Identity { low: number(n), high: 1 } };
            let hashes: Vec<u64> = (0..4096).map(|n| hash(name(n))).collect();
            for bit in 0..64 {
                let set = hashes.iter().filter(|&&hash| hash >> bit & 1 != 0).count();
                assert!((1800..=2300).contains(&set), "bit {bit} is set {set} times in 4096, step 2^{shift}");
            }
            let mut sorted = hashes;
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 4096);
        }
    }
}

/// Threads with names of their own in one crowded index. Whatever they lose or leave behind, the count of a bucket never
/// hides an entry, and once all is quiet the index is as good as a fresh one.
#[test]
fn threads_leave_nothing_that_hides() {
    const BLOCKS: u32 = 64;
    for round in 0..20 {
        let index = index(BLOCKS);
        let name_of = |id: u32| counter(u64::from(id));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let index = &index;
                scope.spawn(move || {
                    let (mut rng, mut mine) = (Rng::new(4 * round + thread), BTreeMap::new());
                    for _ in 0..2000 {
                        let id = 1 + thread as u32 + 4 * rng.below(BLOCKS / 4);
                        if mine.remove(&id).is_some() {
                            index.remove(name_of(id), id);
                        } else {
                            index.insert(name_of(id), id, |other| Some(name_of(other)));
                            mine.insert(id, ());
                        }
                        // Never another thread's: a candidate has the fingerprint, and here a name has one block.
                        assert!(index.find(name_of(id), |_| true).is_none_or(|found| found == id));
                    }
                });
            }
        });
        let (_, second, counted) = index.census();
        assert!(counted >= second, "{second} entries in second buckets, {counted} counted");
        // Nobody has a name any more, so that all that is there gives way.
        let mut named = Names::new();
        for id in 1..=BLOCKS {
            let name = counter(1000 + u64::from(id));
            assert!(index.insert(name, id, |other| named.get(&other).copied()));
            named.insert(id, name);
        }
        assert!(named.iter().all(|(&id, &name)| index.find(name, |found| found == id) == Some(id)));
    }
}
