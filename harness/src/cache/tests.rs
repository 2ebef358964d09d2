//! Each order of eviction against an obvious one, and Belady against all others and all ways there are.

mod obvious;

use super::*;
use kvledger_core::model::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Random requests over a tree of prefixes: block names are those of paths, so that children follow parents.
fn random(seed: u64) -> Accesses {
    let mut random = Random::new(seed);
    let mut tree: BTreeMap<(Name, u32), Name> = Default::default();
    let (mut blocks, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..120 {
        let mut parent = Name::MAX;
        for _ in 0..random.below(6) {
            let next = tree.len() as Name;
            parent = *tree.entry((parent, random.below(3))).or_insert(next);
            blocks.push(parent);
        }
        ends.push(blocks.len());
    }
    Accesses::of(blocks, ends)
}

fn all(accesses: &Accesses, capacity: usize) -> Vec<(&'static str, Hits)> {
    let names = accesses.names();
    let policies: [Box<dyn Policy>; 4] = [
        Box::new(Belady::new(accesses)),
        Box::new(Lru::new(names)),
        Box::new(Sieve::new(names)),
        Box::new(S3Fifo::new(names)),
    ];
    policies.into_iter().map(|mut policy| (policy.name(), hits(&mut *policy, accesses, capacity))).collect()
}

/// Hits, insertions and evictions are those of a policy whose every step searches a list.
#[test]
fn each_order_is_the_obvious_one() {
    let mut evicted = 0;
    for seed in 0..200 {
        let accesses = random(seed);
        let names = accesses.names();
        for capacity in [0, 1, 3, 10, 15, 23, 40, 1000] {
            let pairs: [(Box<dyn Policy>, Box<dyn Policy>); 3] = [
                (Box::new(Lru::new(names)), Box::new(obvious::Lru::default())),
                (Box::new(Sieve::new(names)), Box::new(obvious::Sieve::default())),
                (Box::new(S3Fifo::new(names)), Box::new(obvious::S3Fifo::default())),
            ];
            for (mut policy, mut obvious) in pairs {
                let found = hits(&mut *policy, &accesses, capacity);
                let name = policy.name();
                assert_eq!(found, hits(&mut *obvious, &accesses, capacity), "{name}, seed {seed}, capacity {capacity}");
                let has =
                    |policy: &dyn Policy| (0..names as Name).filter(|&block| policy.has(block)).collect::<Vec<_>>();
                assert_eq!(has(&*policy), has(&*obvious), "{name}, seed {seed}, capacity {capacity}");
                evicted += found.evictions;
            }
        }
    }
    assert!(evicted > 10_000, "{evicted}");
}

#[test]
fn nobody_hits_more_than_who_knows_the_future() {
    let mut better = 0;
    for seed in 0..200 {
        let accesses = random(seed);
        for capacity in [1, 3, 10, 40] {
            let figures = all(&accesses, capacity);
            let (_, belady) = figures[0];
            for (name, figures) in &figures[1..] {
                assert!(figures.hits <= belady.hits, "seed {seed}, capacity {capacity}: {name}");
                better += u32::from(figures.hits < belady.hits);
            }
        }
    }
    assert!(better > 1000, "{better}");
}

/// The most that can be hit, by trying every set of blocks that can be kept after each request.
#[test]
fn belady_is_the_best_of_all_ways_to_evict() {
    for seed in 0..12 {
        let (blocks, ends): (Vec<Vec<Name>>, Vec<usize>) = random(seed)
            .requests()
            .take(9)
            .scan(0, |end, blocks| {
                *end += blocks.len();
                Some((blocks.to_vec(), *end))
            })
            .unzip();
        let accesses = Accesses::of(blocks.concat(), ends);
        let found = hits(&mut Belady::new(&accesses), &accesses, 3).hits;
        // The most hits so far, by what is kept.
        let mut ways: BTreeMap<BTreeSet<Name>, u64> = [(BTreeSet::new(), 0)].into();
        for blocks in accesses.requests() {
            let mut next = BTreeMap::new();
            for (kept, so_far) in &ways {
                let hits = so_far + blocks.iter().take_while(|block| kept.contains(block)).count() as u64;
                let there: Vec<Name> =
                    kept.iter().chain(blocks).copied().collect::<BTreeSet<_>>().into_iter().collect();
                for way in (0..1u32 << there.len()).filter(|way| way.count_ones() <= 3) {
                    let keep =
                        (0..).zip(&there).filter(|(bit, _)| way >> bit & 1 == 1).map(|(_, &name)| name).collect();
                    let best: &mut u64 = next.entry(keep).or_default();
                    *best = hits.max(*best);
                }
            }
            ways = next;
        }
        assert_eq!(Some(&found), ways.values().max(), "seed {seed}");
    }
}

/// Figures that hold for every order: what is put in and not taken out is there.
#[test]
fn blocks_are_put_in_and_taken_out_once() {
    for seed in 0..100 {
        let accesses = random(seed);
        for capacity in [1, 7, 30] {
            for (name, figures) in all(&accesses, capacity) {
                let left = figures.insertions - figures.evictions;
                let distinct = hits(&mut Lru::new(accesses.names()), &accesses, 0).insertions;
                assert_eq!(left, distinct.min(capacity as u64), "{name}, seed {seed}, capacity {capacity}");
                assert!(figures.hits + figures.insertions <= figures.lookups, "{name}");
            }
        }
        let unlimited: Vec<u64> = all(&accesses, 0).iter().map(|(_, figures)| figures.hits).collect();
        assert!(unlimited.windows(2).all(|pair| pair[0] == pair[1]), "{unlimited:?}");
    }
}

/// By hand, from the papers: what each does that LRU does not.
#[test]
fn a_scan_does_not_wash_out_what_is_used() {
    // Blocks 0 and 1 by turns, then twenty others once each, then 0 and 1 again: each request is one block.
    let mut blocks: Vec<Name> = vec![0, 1, 0, 1, 0, 1];
    blocks.extend(2..22);
    blocks.extend([0, 1]);
    let accesses = Accesses::of(blocks.clone(), (1..=blocks.len()).collect());
    let figures: BTreeMap<_, _> = all(&accesses, 4).into_iter().collect();
    assert_eq!(figures["LRU"].hits, 4, "the scan has taken everything out");
    assert_eq!(figures["S3-FIFO"].hits, 6, "0 and 1 are in the main queue");
    assert_eq!(figures["SIEVE"].hits, 6, "its hand takes out newcomers that nobody used");
    assert_eq!(figures["Belady"].hits, 6);
}
