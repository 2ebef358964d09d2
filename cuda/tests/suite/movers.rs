//! Work over whole blocks: what is copied, filled and summed, and that nothing else is.

use crate::common::{by_hand, bytes, dense, late, open, paces, pattern, pool};
use kvledger_cuda::cpu::{Options, Order, Pace};
use kvledger_cuda::launch::{Refusal, Wrong};
use kvledger_cuda::mover::{Compaction, DMA_BYTES_MIN, Table};
use kvledger_cuda::raw::{KVK_FAULT_BLOCK, kvk_copy_pair, kvk_shape};
use kvledger_cuda::{BlockPool, Memory, Mover, Reason, Report, Space, Status};

fn pair(source: u32, destination: u32, tokens: u32) -> kvk_copy_pair {
    kvk_copy_pair { source, destination, tokens, reserved: 0 }
}

/// The same copies by hand: the first tokens of each piece, all read before any is written.
fn copied(from: &[u8], from_shape: &kvk_shape, to: &[u8], to_shape: &kvk_shape, pairs: &[kvk_copy_pair]) -> Vec<u8> {
    let mut after = to.to_vec();
    for pair in pairs {
        let length = (from_shape.token_bytes * u64::from(pair.tokens)) as usize;
        for piece in 0..i64::from(from_shape.pieces) {
            let at = |shape: &kvk_shape, block: u32| {
                (i64::from(block) * shape.block_stride + piece * shape.piece_stride) as usize
            };
            let (from_at, to_at) = (at(from_shape, pair.source), at(to_shape, pair.destination));
            after[to_at..to_at + length].copy_from_slice(&from[from_at..from_at + length]);
        }
    }
    after
}

/// Layers apart: a block is in 4 pieces, each in a layer of its own, with a gap between blocks.
fn scattered(blocks: i64) -> kvk_shape {
    kvk_shape { block_stride: 160, piece_stride: 160 * (blocks + 1), token_bytes: 32, pieces: 4, block_tokens: 4 }
}

#[test]
fn blocks_get_what_their_sources_held_before_in_any_layout() {
    let pairs =
        [pair(1, 2, 4), pair(2, 3, 3), pair(4, 5, 1), pair(5, 4, 4), pair(2, 7, 4), pair(6, 6, 4), pair(8, 9, 0)];
    for options in paces() {
        for shape in [dense(48, 4), scattered(10)] {
            let (device, stream) = open(options);
            let blocks = pool(&stream, Space::Device, shape, 10, 1);
            let before = bytes(&stream, &blocks);
            let mut mover = Mover::new(&device, 16).unwrap();
            mover.copy(&stream, &blocks, &blocks, &pairs, Some(10)).unwrap();
            let mut expected = copied(&before, &shape, &before, &shape, &pairs);
            // 4 and 5 form a cycle, one of which was kept in the spare block.
            let after = bytes(&stream, &blocks);
            let spare = |bytes: &mut [u8]| {
                for piece in 0..i64::from(shape.pieces) {
                    let at = (10 * shape.block_stride + piece * shape.piece_stride) as usize;
                    bytes[at..at + (shape.token_bytes * 4) as usize].fill(0);
                }
            };
            let mut found = after.clone();
            spare(&mut found);
            spare(&mut expected);
            assert!(found == expected, "{options:?} {shape:?}");
        }
    }
}

#[test]
fn two_pools_may_differ_in_their_strides() {
    let (device, stream) = open(late(3));
    let (from_shape, to_shape) = (scattered(6), kvk_shape { block_stride: 512, piece_stride: 128, ..scattered(6) });
    let (from, to) = (pool(&stream, Space::Device, from_shape, 6, 1), pool(&stream, Space::Pinned, to_shape, 9, 2));
    let (from_bytes, to_bytes) = (bytes(&stream, &from), bytes(&stream, &to));
    let pairs = [pair(1, 9, 4), pair(1, 1, 2), pair(6, 2, 4)];
    let mut mover = Mover::new(&device, 8).unwrap();
    mover.copy(&stream, &from, &to, &pairs, None).unwrap();
    assert!(bytes(&stream, &to) == copied(&from_bytes, &from_shape, &to_bytes, &to_shape, &pairs));
    assert!(bytes(&stream, &from) == from_bytes);
}

/// Large pieces by the copy engine and small ones by the kernel, there and back.
#[test]
fn blocks_come_back_from_pinned_memory_as_they_were() {
    let large = DMA_BYTES_MIN / 4;
    for (options, shape) in [
        (Options::default(), dense(large, 4)),
        (late(1), dense(large / 2, 4)),
        (late(2), dense(16, 4)),
        (by_hand(), kvk_shape { piece_stride: large as i64 * 4, pieces: 2, ..dense(large, 4) }),
    ] {
        let shape = kvk_shape { block_stride: shape.block_stride * i64::from(shape.pieces), ..shape };
        let (device, stream) = open(options);
        let (blocks, away) = (pool(&stream, Space::Device, shape, 6, 1), pool(&stream, Space::Pinned, shape, 4, 2));
        let before = bytes(&stream, &blocks);
        let mut mover = Mover::new(&device, 16).unwrap();
        let out = [pair(3, 1, 4), pair(4, 2, 4), pair(6, 4, 3)];
        mover.swap(&stream, &blocks, &away, &out).unwrap();
        mover.fill(&stream, &blocks, &[3, 4, 6], 0).unwrap();
        let back = [pair(1, 3, 4), pair(2, 4, 4), pair(4, 6, 3)];
        mover.swap(&stream, &away, &blocks, &back).unwrap();
        let mut expected = before.clone();
        let end = before.len();
        for piece in 0..u64::from(shape.pieces) {
            let last_token = end - (shape.block_stride as usize) + ((piece * 4 + 3) * shape.token_bytes) as usize;
            expected[last_token..last_token + shape.token_bytes as usize].fill(0);
        }
        assert!(bytes(&stream, &blocks) == expected, "{shape:?}");
    }
}

#[test]
fn a_list_is_not_overwritten_while_earlier_work_reads_it() {
    // Nothing is done before the end, but what has to make room for a list.
    let (device, stream) = open(by_hand());
    let blocks = pool(&stream, Space::Device, dense(16, 1), 100, 0);
    let before = bytes(&stream, &blocks);
    let mut mover = Mover::new(&device, 1).unwrap();
    for block in 1..=20 {
        mover.copy(&stream, &blocks, &blocks, &[pair(block, block + 50, 1)], None).unwrap();
    }
    let pairs: Vec<_> = (1..=20).map(|block| pair(block, block + 50, 1)).collect();
    let shape = dense(16, 1);
    assert!(bytes(&stream, &blocks) == copied(&before, &shape, &before, &shape, &pairs));
}

#[test]
fn empty_lists_are_no_work() {
    for options in paces() {
        let (device, stream) = open(options);
        let (blocks, away) =
            (pool(&stream, Space::Device, dense(16, 4), 5, 0), pool(&stream, Space::Pinned, dense(16, 4), 5, 0));
        let (mut mover, status) = (Mover::new(&device, 0).unwrap(), Status::new(&stream).unwrap());
        let sums = Memory::allocate(&device, Space::Device, 0).unwrap();
        mover.copy(&stream, &blocks, &blocks, &[], None).unwrap();
        mover.swap(&stream, &blocks, &away, &[]).unwrap();
        mover.fill(&stream, &blocks, &[], 0).unwrap();
        mover.checksum(&stream, &blocks, &[], &sums).unwrap();
        let mut mover = Mover::new(&device, 2).unwrap();
        let table = Table { memory: &sums, rows: 0, columns: 0, row_stride: 0 };
        mover.compact(&stream, &blocks, &Compaction::of(&[false; 6]), table, &status).unwrap();
        assert!(bytes(&stream, &blocks) == pattern(6 * 64, 0));
        assert_eq!(status.take(&stream).unwrap(), None);
    }
}

#[test]
fn fills_and_sums_are_of_the_blocks_that_are_named() {
    for options in paces() {
        let (device, stream) = open(options);
        let blocks = pool(&stream, Space::Device, dense(16, 4), 8, 5);
        let (mut mover, sums) =
            (Mover::new(&device, 8).unwrap(), Memory::allocate(&device, Space::Device, 64).unwrap());
        let all: Vec<u32> = (1..=8).collect();
        let sums_now = |mover: &mut Mover| -> Vec<u64> {
            mover.checksum(&stream, &blocks, &all, &sums).unwrap();
            sums.values(&stream, 0, 8).unwrap()
        };
        let before = sums_now(&mut mover);
        mover.fill(&stream, &blocks, &[0, 8, 3], 0xFFFF_FFFF).unwrap();
        let mut expected = pattern(9 * 64, 5);
        for block in [0, 8, 3] {
            expected[block * 64..][..64].fill(0xFF);
        }
        assert!(bytes(&stream, &blocks) == expected, "{options:?}");
        let after = sums_now(&mut mover);
        let changed: Vec<u32> =
            (1..=8).filter(|block| before[*block as usize - 1] != after[*block as usize - 1]).collect();
        assert_eq!(changed, [3, 8]);
        assert_eq!(after[2], after[7], "the same words in the same places");
    }
}

#[test]
fn compaction_moves_blocks_and_the_table_follows() {
    let (device, stream) = open(late(4));
    let blocks = pool(&stream, Space::Device, dense(16, 2), 9, 0);
    let before = bytes(&stream, &blocks);
    // Two rows of three entries, four apart; the null block pads, and 77 is none.
    let rows = [2u32, 9, 0, 5, 8, 5, 77, 9];
    let (table, status) = (Memory::holding(&stream, &rows).unwrap(), Status::new(&stream).unwrap());
    let used: Vec<bool> = (0..=9).map(|block| [2, 5, 8, 9].contains(&block)).collect();
    let compaction = Compaction::of(&used);
    let mut mover = Mover::new(&device, 8).unwrap();
    let rows_of = Table { memory: &table, rows: 2, columns: 3, row_stride: 4 };
    mover.compact(&stream, &blocks, &compaction, rows_of, &status).unwrap();
    assert_eq!(
        table.values::<u32>(&stream, 0, 8).unwrap(),
        [2, 1, 0, 5, 3, 4, 77, 9],
        "the last of a row is not its own"
    );
    let report = Report { faults: KVK_FAULT_BLOCK, row: 1, index: 2 };
    assert_eq!(status.take(&stream).unwrap(), Some(report));
    assert_eq!(status.take(&stream).unwrap(), None);
    let pairs: Vec<_> = compaction.moves().iter().map(|(from, to)| pair(*from, *to, 2)).collect();
    assert!(bytes(&stream, &blocks) == copied(&before, &dense(16, 2), &before, &dense(16, 2), &pairs));
}

#[test]
fn lists_that_are_wrong_are_refused_and_nothing_is_done() {
    let (device, stream) = open(Options { pace: Pace::AtOnce, order: Order::Random(1), ..Options::default() });
    let (blocks, away) =
        (pool(&stream, Space::Device, dense(16, 4), 9, 0), pool(&stream, Space::Pinned, dense(16, 4), 5, 1));
    let other = pool(&stream, Space::Device, dense(32, 4), 9, 0);
    let mut mover = Mover::new(&device, 3).unwrap();
    let refused = |result: Result<(), kvledger_cuda::Error>| match result.unwrap_err().reason {
        Reason::Refused(refusal) => refusal,
        reason => panic!("{reason}"),
    };
    let pairs_wrong = |wrong| Refusal::new("pairs", wrong);
    let mut copy = |from: &BlockPool, to: &BlockPool, pairs: &[kvk_copy_pair], spare| {
        refused(mover.copy(&stream, from, to, pairs, spare))
    };
    let block = |entry, block, blocks| pairs_wrong(Wrong::Block { entry, block, blocks });
    assert_eq!(copy(&blocks, &blocks, &[pair(1, 2, 4), pair(0, 3, 4)], None), block(1, 0, 9));
    assert_eq!(copy(&blocks, &blocks, &[pair(1, 10, 4)], None), block(0, 10, 9));
    assert_eq!(copy(&blocks, &away, &[pair(1, 6, 4)], None), block(0, 6, 5));
    assert_eq!(copy(&blocks, &away, &[pair(1, 2, 5)], None), pairs_wrong(Wrong::Entry { entry: 0, value: 5, most: 4 }));
    let twice = pairs_wrong(Wrong::Twice { first: 0, second: 1 });
    assert_eq!(copy(&blocks, &blocks, &[pair(3, 7, 4), pair(5, 7, 4)], None), twice);
    assert_eq!(copy(&blocks, &away, &[pair(3, 1, 4), pair(5, 1, 4)], None), twice);
    let cycle = pairs_wrong(Wrong::Cycle { writer: 0, reader: 1 });
    assert_eq!(copy(&blocks, &blocks, &[pair(1, 2, 4), pair(2, 1, 4)], None), cycle);
    let spare = pairs_wrong(Wrong::Spare { entry: 0, block: 1 });
    assert_eq!(copy(&blocks, &blocks, &[pair(1, 2, 4)], Some(1)), spare);
    let beyond = Refusal::new("spare", Wrong::Above { value: 10, most: 9 });
    assert_eq!(copy(&blocks, &blocks, &[pair(1, 2, 4)], Some(10)), beyond);
    let long: Vec<_> = (1..=4).map(|block| pair(block, block + 4, 4)).collect();
    assert_eq!(copy(&blocks, &blocks, &long, None), pairs_wrong(Wrong::Room { room: 3, needed: 4 }));
    let shapes = Refusal::new("destination_shape.token_bytes", Wrong::Not { value: 32, must: 16 });
    assert_eq!(copy(&blocks, &other, &[pair(1, 2, 4)], None), shapes);

    let same = Refusal::new("to", Wrong::Shared("from"));
    assert_eq!(refused(mover.swap(&stream, &blocks, &blocks, &[pair(1, 2, 4)])), same);
    assert_eq!(refused(mover.swap(&stream, &blocks, &away, &[pair(3, 1, 4), pair(5, 1, 4)])), twice);
    assert_eq!(refused(mover.swap(&stream, &blocks, &away, &[pair(1, 6, 4)])), block(0, 6, 5));

    let ten = Refusal::new("blocks", Wrong::Block { entry: 1, block: 10, blocks: 9 });
    assert_eq!(refused(mover.fill(&stream, &blocks, &[1, 10], 0)), ten);
    let sums = Memory::allocate(&device, Space::Device, 8).unwrap();
    let short = Refusal::new("sums", Wrong::Short { needed: 16, available: 8 });
    assert_eq!(refused(mover.checksum(&stream, &blocks, &[1, 2], &sums)), short);
    let loose = pool(&stream, Space::Device, scattered(3), 3, 0);
    assert_eq!(refused(mover.fill(&stream, &loose, &[1], 0)), Refusal::new("pool", Wrong::Scattered));

    let status = Status::new(&stream).unwrap();
    let table = Table { memory: &sums, rows: 1, columns: 2, row_stride: 2 };
    let count = Refusal::new("moved", Wrong::Count { count: 9, must: 10 });
    let compaction = Compaction::of(&[true; 9]);
    assert_eq!(refused(mover.compact(&stream, &blocks, &compaction, table, &status)), count);
    let table = Table { columns: 3, row_stride: 3, ..table };
    let short = Refusal::new("entries", Wrong::Short { needed: 12, available: 8 });
    assert_eq!(refused(mover.compact(&stream, &blocks, &Compaction::of(&[true; 10]), table, &status)), short);

    assert!(bytes(&stream, &blocks) == pattern(10 * 64, 0));
    assert!(bytes(&stream, &away) == pattern(6 * 64, 1));
}

#[test]
fn a_pool_needs_memory_for_all_its_blocks() {
    let (device, _stream) = open(Options::default());
    let memory = || Memory::allocate(&device, Space::Device, 640).unwrap();
    let refused = |shape, blocks| BlockPool::new(memory(), shape, blocks).unwrap_err();
    assert!(BlockPool::new(memory(), dense(16, 4), 9).is_ok());
    let short = Refusal::new("memory", Wrong::Short { needed: 704, available: 640 });
    assert_eq!(refused(dense(16, 4), 10), short);
    assert_eq!(refused(dense(16, 4), 0), Refusal::new("blocks", Wrong::Zero));
    assert_eq!(refused(dense(24, 4), 1), Refusal::new("shape.token_bytes", Wrong::Misaligned(16)));
    assert_eq!(refused(dense(0, 4), 1), Refusal::new("shape.token_bytes", Wrong::Zero));
    assert_eq!(refused(dense(16, 0), 1), Refusal::new("shape.block_tokens", Wrong::Zero));
    assert_eq!(refused(kvk_shape { pieces: 0, ..dense(16, 4) }, 1), Refusal::new("shape.pieces", Wrong::Zero));
    let overlapping = Wrong::Overlapping { stride: 48, extent: 64 };
    let tight = kvk_shape { block_stride: 48, ..dense(16, 4) };
    assert_eq!(refused(tight, 1), Refusal::new("shape.block_stride", overlapping));
    let far = kvk_shape { block_stride: i64::MAX & !15, ..dense(16, 4) };
    assert_eq!(refused(far, 9), Refusal::new("shape.block_stride", Wrong::Overflow));
    let uneven = kvk_shape { block_stride: 72, ..dense(16, 4) };
    assert_eq!(refused(uneven, 1), Refusal::new("shape.block_stride", Wrong::Stride { stride: 72, multiple: 16 }));
    let negative = kvk_shape { piece_stride: -64, pieces: 2, ..dense(16, 4) };
    assert_eq!(refused(negative, 1), Refusal::new("shape.piece_stride", Wrong::Negative(-64)));
}

/// The launch refuses it, and that is what is told: not that its list could not be marked in that stream either.
#[test]
fn a_stream_of_another_device_does_not_know_the_list() {
    let ((device, _), (_, other)) = (open(by_hand()), open(by_hand()));
    let blocks = pool(&other, Space::Device, dense(16, 4), 9, 0);
    let mut mover = Mover::new(&device, 4).unwrap();
    let refused = mover.copy(&other, &blocks, &blocks, &[pair(1, 2, 4)], None).unwrap_err();
    assert_eq!(refused.reason, Reason::Refused(Refusal::new("pairs", Wrong::Foreign)));
}
