//! Random batches of every shape: a plan covers each key that a row sees exactly once, keeps its bounds, is what the
//! obvious planner makes, and in the fixed mode does not depend on who else is in the batch.

#[path = "common/split.rs"]
#[allow(dead_code, reason = "not every test program needs all of it")]
mod common;

use common::{Arrays, Rng, planned, random};
use kvledger_core::split::{DECODE_ROWS, Split, SplitItem, SplitPlan, WHOLE};
use std::collections::BTreeMap;

const BATCHES: u64 = 4_000;

/// Where each query token is in its sequence, by the words of the parameters and not by arithmetic on tiles.
fn place(arrays: &Arrays, sequence: usize, token: usize) -> i64 {
    match arrays.query_positions.get(arrays.queries(sequence).start + token) {
        Some(place) => i64::from(*place),
        None => i64::from(arrays.lengths[sequence]) - arrays.queries(sequence).len() as i64 + token as i64,
    }
}

/// Whether a query at this place sees this key: one row, one key, one answer.
fn sees(split: &Split, arrays: &Arrays, sequence: usize, place: i64, key: u32) -> bool {
    let distance = place - i64::from(key);
    let in_window = split.window_left < 0 || distance <= i64::from(split.window_left);
    let begin = arrays.begins.get(sequence).copied().unwrap_or(0);
    let end = arrays.ends.get(sequence).copied().unwrap_or(u32::MAX).min(arrays.lengths[sequence]);
    distance >= 0 && in_window && (begin..end).contains(&key)
}

/// (sequence, head, first row) to its items, in order.
type ByTile = BTreeMap<(u32, u32, u32), Vec<SplitItem>>;

fn by_tile(items: impl Iterator<Item = SplitItem>) -> ByTile {
    let mut tiles = ByTile::new();
    for item in items {
        tiles.entry((item.sequence, item.head, item.first_row)).or_default().push(item);
    }
    tiles
}

/// Every row is in a tile, and every key that a row sees in exactly one item of its tile; an item has no key that no row of
/// its tile sees, but between two that some row does.
fn covers(split: &Split, arrays: &Arrays, tiles: &ByTile) {
    let mut left = tiles.clone();
    let group = (split.query_heads / split.heads) as usize;
    for sequence in 0..arrays.lengths.len() {
        let rows = arrays.queries(sequence).len() * group;
        for head in 0..split.heads {
            for first_row in (0..rows).step_by(split.tile_rows as usize) {
                let items = left.remove(&(sequence as u32, head, first_row as u32)).expect("every row is written");
                let rows = first_row..rows.min(first_row + split.tile_rows as usize);
                let places: Vec<_> = rows.map(|row| place(arrays, sequence, row / group)).collect();
                tile_covers(split, arrays, sequence, &places, &items);
            }
        }
    }
    assert!(left.is_empty(), "items of rows that there are not: {left:?}");
}

fn tile_covers(split: &Split, arrays: &Arrays, sequence: usize, places: &[i64], items: &[SplitItem]) {
    let seen = |key: u32| places.iter().any(|place| sees(split, arrays, sequence, *place, key));
    let keys: Vec<u32> = (0..arrays.lengths[sequence]).filter(|key| seen(*key)).collect();
    let span = keys.first().map_or(0..0, |first| *first..keys[keys.len() - 1] + 1);
    let covered: Vec<u32> = items.iter().flat_map(|item| item.first_key..item.end_key).collect();
    assert_eq!(covered, span.collect::<Vec<_>>(), "{split:?} {arrays:?} {items:?}");
    assert!(items.len() == 1 || items.iter().all(|item| item.first_key < item.end_key), "an empty part");
}

/// Whole tiles have no part; parts are numbered through, and every cut tile is one join.
fn joins_up(plan: &SplitPlan<'_>, tiles: &ByTile) {
    let mut next = 0;
    let mut joins = plan.joins();
    for (&(sequence, head, first_row), items) in tiles {
        if let [item] = items.as_slice() {
            assert_eq!(item.part, WHOLE);
            continue;
        }
        assert!(items.iter().zip(next..).all(|(item, part)| item.part == part), "{items:?}");
        let join = joins.next().expect("a join for each cut tile");
        assert_eq!((join.sequence, join.head, join.first_row), (sequence, head, first_row));
        assert_eq!((join.first_part, join.count as usize), (next, items.len()));
        next += join.count;
    }
    assert_eq!((joins.next(), plan.header().parts), (None, next));
}

/// Items by thread block: together all, in order.
fn shares_out(split: &Split, plan: &SplitPlan<'_>) {
    let by_thread_block = (0..split.thread_blocks).flat_map(|thread_block| plan.items_of(thread_block));
    assert!(by_thread_block.eq(plan.items()));
}

#[test]
fn every_key_is_covered_exactly_once() {
    let mut items = 0;
    for seed in 0..BATCHES {
        let (split, mut arrays) = random(&mut Rng::new(seed), 7);
        // The brute force looks at every row and key: a few hundred of them.
        arrays.lengths.iter_mut().for_each(|length| *length = (*length).min(700));
        let words = planned(&split, &arrays);
        assert_eq!(split.validate(&arrays.batch(), &words), Ok(Ok(())), "seed {seed}: {split:?} {arrays:?}");
        let plan = split.read(&words).expect("it is one");
        let tiles = by_tile(plan.items());
        covers(&split, &arrays, &tiles);
        joins_up(&plan, &tiles);
        shares_out(&split, &plan);
        items += plan.header().items;
    }
    assert!(items > 100_000, "{items} items are few");
}

#[test]
fn the_bounds_hold_and_what_is_counted_is_written() {
    let (mut cut, mut most_parts) = (0, 0.0f64);
    for seed in 0..3 * BATCHES {
        let (split, arrays) = random(&mut Rng::new(seed), 40);
        let counts = split.count(&arrays.batch()).expect("a good batch");
        let header = *split.read(&planned(&split, &arrays)).map(|plan| plan.header()).as_ref().expect("a plan");
        assert_eq!((header.items, header.joins, header.parts), (counts.items, counts.joins, counts.parts));
        let layout = split.layout().expect("a good shape");
        assert!(counts.row_tiles <= layout.row_tiles_max);
        assert!(
            counts.items <= layout.items_max && counts.joins <= layout.joins_max && counts.parts <= layout.parts_max
        );
        if split.chunk_keys == 0 {
            let cuts = split.thread_blocks - 1;
            assert!(counts.items <= counts.row_tiles + cuts && counts.parts <= 2 * cuts, "{counts:?} {split:?}");
            cut += u32::from(counts.joins > 0);
            most_parts = most_parts.max(f64::from(counts.parts) / f64::from(2 * cuts.max(1)));
        }
    }
    assert!(cut > 1_000 && most_parts > 0.9, "{cut} batches were cut, with {most_parts} of the parts that can be");
}

/// No thread block costs more than an equal share, one overhead for each cut that it can have, and one key tile.
#[test]
fn balanced_shares_are_equal() {
    for seed in 0..3 * BATCHES {
        let (split, arrays) = random(&mut Rng::new(seed), 40);
        let counts = split.count(&arrays.batch()).expect("a good batch");
        let share = counts.cost.div_ceil(u64::from(split.thread_blocks));
        let chunk = u64::from(split.chunk_keys / split.tile_keys + 1);
        if split.chunk_keys == 0 {
            assert!(counts.cost_max <= share + u64::from(split.overhead_tiles), "{counts:?} {split:?} {arrays:?}");
        } else {
            // Cuts cost as many overheads as there are items too many.
            let overhead = u64::from(split.overhead_tiles);
            let all = counts.cost + (u64::from(counts.items) * (overhead + 1));
            let bound = all / u64::from(split.thread_blocks) + 2 * (chunk + overhead);
            assert!(counts.cost_max <= bound, "{counts:?} {split:?}");
        }
    }
}

/// The obvious planner of the balanced mode: a row tile is a list of key tiles, and thread blocks take from the front of it.
fn obvious(split: &Split, tiles: &ByTile) -> Vec<Vec<SplitItem>> {
    let keys = |items: &[SplitItem]| (items[0].first_key, items[items.len() - 1].end_key);
    let overhead = split.overhead_tiles as usize;
    let steps = |first: u32, end: u32| (first..end).step_by(split.tile_keys as usize).collect::<Vec<u32>>();
    let rows: Vec<_> =
        tiles.iter().map(|(tile, items)| (*tile, steps(keys(items).0, keys(items).1), keys(items).1)).collect();
    let all: usize = rows.iter().map(|(_, steps, _)| steps.len() + overhead).sum();
    let payload = all.div_ceil(split.thread_blocks as usize) + overhead;
    let (mut shares, mut room, mut part) = (vec![Vec::new()], payload, 0);
    for ((sequence, head, first_row), mut steps, end) in rows {
        let mut pieces = Vec::new();
        loop {
            let is_last = shares.len() == split.thread_blocks as usize;
            if is_last || steps.len() + overhead <= room {
                pieces.push((shares.len() - 1, steps.first().copied().unwrap_or(end), end));
                room = room.saturating_sub(steps.len() + overhead);
                break;
            }
            if room > overhead {
                let rest = steps.split_off(room - overhead);
                pieces.push((shares.len() - 1, steps[0], rest[0]));
                steps = rest;
            }
            shares.push(Vec::new());
            room = payload;
        }
        let is_cut = pieces.len() > 1;
        for (thread_block, first_key, end_key) in pieces {
            let of_item = if is_cut { part } else { WHOLE };
            part += u32::from(is_cut);
            shares[thread_block].push(SplitItem { sequence, head, first_row, first_key, end_key, part: of_item });
        }
    }
    shares.resize(split.thread_blocks as usize, Vec::new());
    shares
}

#[test]
fn a_balanced_plan_is_what_the_obvious_planner_makes() {
    for seed in 0..BATCHES {
        let (split, arrays) = random(&mut Rng::new(seed), 20);
        let split = Split { chunk_keys: 0, ..split };
        let words = planned(&split, &arrays);
        let plan = split.read(&words).expect("it is one");
        for (thread_block, share) in obvious(&split, &by_tile(plan.items())).into_iter().enumerate() {
            assert!(
                plan.items_of(thread_block as u32).eq(share),
                "seed {seed}, thread block {thread_block}: {split:?}"
            );
        }
    }
}

/// What is summed up together in the fixed mode, and in which order: the same alone as among others, on any device.
#[test]
fn a_fixed_plan_of_a_sequence_does_not_depend_on_its_batch() {
    let mut checked = 0;
    for seed in 0..BATCHES {
        let mut rng = Rng::new(seed);
        let (split, arrays) = random(&mut rng, 7);
        let split = Split { chunk_keys: split.tile_keys * rng.one_of(&[1, 2, 5, 100]), ..split };
        let together = by_tile(split.read(&planned(&split, &arrays)).expect("it is one").items());
        for sequence in 0..arrays.lengths.len() {
            let alone = only(&arrays, sequence);
            let elsewhere = Split { thread_blocks: 1 + rng.below(50), ..split };
            let tiles = by_tile(elsewhere.read(&planned(&elsewhere, &alone)).expect("it is one").items());
            for ((_, head, first_row), items) in tiles {
                let keys =
                    |items: &[SplitItem]| items.iter().map(|item| item.first_key..item.end_key).collect::<Vec<_>>();
                assert_eq!(keys(&items), keys(&together[&(sequence as u32, head, first_row)]));
                checked += 1;
            }
        }
    }
    assert!(checked > 50_000, "{checked} row tiles are few");
}

/// The batch of one of the sequences.
fn only(arrays: &Arrays, sequence: usize) -> Arrays {
    let one = |array: &[u32]| array.get(sequence).into_iter().copied().collect::<Vec<u32>>();
    let queries = arrays.queries(sequence);
    Arrays {
        lengths: one(&arrays.lengths),
        query_starts: vec![0, queries.len() as u32],
        query_positions: arrays.query_positions.get(queries).unwrap_or(&[]).to_vec(),
        begins: one(&arrays.begins),
        ends: one(&arrays.ends),
    }
}

/// Decode with as many query tokens as sequences needs no room for more row tiles than there are.
#[test]
fn decode_has_no_row_tile_too_many() {
    for group in 1..=40 {
        let split = Split::decode(8, 8 * group, 132, 64, 1_000);
        assert_eq!(split.layout().map(|layout| layout.row_tiles_max), Ok(64 * 8 * group.div_ceil(DECODE_ROWS)));
    }
}
