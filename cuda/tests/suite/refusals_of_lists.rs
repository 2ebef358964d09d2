//! Lists that go to device memory, checked where they come from; and pointers that do not point to what they should.

use crate::common::{open, paces};
use kvledger_cuda::cpu::Options;
use kvledger_cuda::launch::{Append, CopyBlocks, Fill, Gather, Launch, Refusal, Rewrite, Wrong};
use kvledger_cuda::raw::*;
use kvledger_cuda::{Error, Memory, Reason, Space, Stream};

fn list(field: &'static str, wrong: Wrong) -> Result<(), Refusal> {
    Err(Refusal::new(field, wrong))
}

#[test]
fn slots() {
    let slot = |block, token| kvk_slot { block, token };
    let cache = kvk_cache { blocks: 9, block_tokens: 4, ..kvk_cache::default() };
    let append = Append { params: kvk_append_params { cache, tokens: 4, ..kvk_append_params::default() } };
    let right = [slot(1, 0), slot(0, 77), slot(9, 3), slot(0, 77)];
    append.check_slots(&right).unwrap();
    let with = |at: usize, slot| {
        let mut slots = right;
        slots[at] = slot;
        append.check_slots(&slots)
    };
    assert_eq!(append.check_slots(&right[1..]), list("slots", Wrong::Count { count: 3, must: 4 }));
    assert_eq!(with(3, slot(10, 0)), list("slots", Wrong::Block { entry: 3, block: 10, blocks: 9 }));
    assert_eq!(with(1, slot(2, 4)), list("slots", Wrong::Entry { entry: 1, value: 4, most: 3 }));
    assert_eq!(with(3, slot(1, 0)), list("slots", Wrong::Twice { first: 0, second: 3 }));
}

#[test]
fn ranges_of_a_gather() {
    let params = kvk_gather_params { sequences: 3, total: 10, ..kvk_gather_params::default() };
    let gather = Gather { params, table_rows: 3, longest: 20 };
    gather.check_ranges(&[0, 17, 13], &[0, 0, 3, 10]).unwrap();
    assert_eq!(gather.check_ranges(&[0, 17], &[0, 0, 3, 10]), list("first_keys", Wrong::Count { count: 2, must: 3 }));
    assert_eq!(gather.check_ranges(&[0, 17, 13], &[0, 0, 10]), list("starts", Wrong::Count { count: 3, must: 4 }));
    assert_eq!(gather.check_ranges(&[0, 17, 13], &[0, 4, 3, 10]), list("starts", Wrong::Descending { entry: 2 }));
    assert_eq!(gather.check_ranges(&[0, 17, 13], &[0, 0, 3, 11]), list("starts", Wrong::Not { value: 11, must: 10 }));
    let beyond = gather.check_ranges(&[0, 18, 13], &[0, 0, 3, 10]);
    assert_eq!(beyond, list("first_keys", Wrong::Entry { entry: 1, value: 21, most: 20 }));
    let wraps = gather.check_ranges(&[0, u32::MAX, 13], &[0, 0, 3, 10]);
    assert_eq!(wraps, list("first_keys", Wrong::Entry { entry: 1, value: 0x1_0000_0002, most: 20 }));
}

#[test]
fn where_blocks_have_moved() {
    let rewrite = Rewrite { params: kvk_rewrite_params { blocks: 3, ..kvk_rewrite_params::default() } };
    rewrite.check_moved(&[0, 1, 1, 3]).unwrap();
    assert_eq!(rewrite.check_moved(&[0, 1, 2]), list("moved", Wrong::Count { count: 3, must: 4 }));
    let block = |entry, block| list("moved", Wrong::Block { entry, block, blocks: 3 });
    assert_eq!(rewrite.check_moved(&[1, 1, 2, 3]), block(0, 1));
    assert_eq!(rewrite.check_moved(&[0, 1, 0, 3]), block(2, 0));
    assert_eq!(rewrite.check_moved(&[0, 1, 2, 4]), block(3, 4));
}

/// TensorRT-LLM issue 9056 and vllm-ascend issue 16013: what a launch must not be given; `Mover::copy` puts it in order.
#[test]
fn pairs_of_one_launch() {
    let pair = |source, destination| kvk_copy_pair { source, destination, tokens: 4, reserved: 0 };
    let shape = kvk_shape { block_tokens: 4, ..kvk_shape::default() };
    let params = kvk_copy_params { source_shape: shape, pair_count: 2, ..kvk_copy_params::default() };
    let copy = CopyBlocks { params, source_blocks: 9, destination_blocks: 9 };
    copy.check_pairs(&[pair(1, 2), pair(1, 3)]).unwrap();
    assert_eq!(copy.check_pairs(&[pair(3, 7), pair(5, 7)]), list("pairs", Wrong::Twice { first: 0, second: 1 }));
    assert_eq!(copy.check_pairs(&[pair(1, 2), pair(2, 3)]), list("pairs", Wrong::Ordered { writer: 0, reader: 1 }));
    assert_eq!(copy.check_pairs(&[pair(1, 2), pair(2, 1)]), list("pairs", Wrong::Ordered { writer: 1, reader: 0 }));
    assert_eq!(copy.check_pairs(&[pair(1, 2)]), list("pairs", Wrong::Count { count: 1, must: 2 }));
    // Between two pools the same numbers are other blocks.
    let params = kvk_copy_params { source: 0x1000 as *const _, ..params };
    CopyBlocks { params, ..copy }.check_pairs(&[pair(1, 2), pair(2, 1)]).unwrap();
}

/// One that is right, but for what is changed.
fn fill(stream: &Stream, change: impl FnOnce(&mut Fill)) -> Result<(), Error> {
    let pool = Memory::allocate(stream.device(), Space::Device, 640).unwrap();
    let blocks = Memory::holding(stream, &[1u32, 9]).unwrap();
    let params =
        kvk_fill_params { pool: pool.pointer(), blocks: blocks.pointer(), block_bytes: 64, block_count: 2, pattern: 0 };
    let mut launch = Fill { params, blocks: 9 };
    change(&mut launch);
    // SAFETY: the list names blocks of the pool, whatever was changed.
    unsafe { stream.launch(&Launch::Fill(launch)) }
}

#[test]
fn pointers_are_looked_up() {
    for options in paces() {
        let (device, stream) = open(options);
        fill(&stream, |_| {}).unwrap();
        let refused = |change: &dyn Fn(&mut Fill)| match fill(&stream, |launch| change(launch)).unwrap_err() {
            Error { operation: "fill", reason: Reason::Refused(refusal) } => refusal,
            error => panic!("{error}"),
        };
        let host = [[0u32; 160]; 1];
        assert_eq!(refused(&|f| f.params.blocks = host[0].as_ptr()), Refusal::new("blocks", Wrong::Foreign));
        let gone = Memory::allocate(&device, Space::Device, 640).unwrap().pointer();
        assert_eq!(refused(&|f| f.params.pool = gone), Refusal::new("pool", Wrong::Foreign));
        let short = Wrong::Short { needed: 704, available: 640 };
        assert_eq!(refused(&|f| f.blocks = 10), Refusal::new("pool", short));
        let three = Wrong::Short { needed: 12, available: 8 };
        assert_eq!(refused(&|f| f.params.block_count = 3), Refusal::new("blocks", three));
        // Somewhere in the middle of an allocation.
        let large = Memory::allocate(&device, Space::Pinned, 640 + 64).unwrap();
        fill(&stream, |f| f.params.pool = large.pointer::<[u8; 64]>().wrapping_add(1).cast()).unwrap();
        let over = Wrong::Short { needed: 640, available: 576 };
        let late = |f: &mut Fill| f.params.pool = large.pointer::<[u8; 64]>().wrapping_add(2).cast();
        assert_eq!(refused(&late), Refusal::new("pool", over));
    }
}

#[test]
fn a_cache_in_pinned_memory_is_refused() {
    let (device, stream) = open(Options::default());
    let memory = |space| Memory::allocate(&device, space, 1 << 16).unwrap();
    let (own, pinned, slots) = (memory(Space::Device), memory(Space::Pinned), memory(Space::Pinned));
    slots.write(&stream, 0, &[0u32; 2]).unwrap();
    let cache = kvk_cache {
        keys: own.pointer(),
        values: pinned.pointer(),
        block_stride: 64,
        token_stride: 16,
        head_stride: 16,
        key_scale: 1.0,
        value_scale: 1.0,
        blocks: 9,
        block_tokens: 4,
        heads: 1,
        head_dim: 16,
        type_: KVK_F16,
        ..kvk_cache::default()
    };
    let params = kvk_append_params {
        cache,
        keys: own.pointer(),
        values: own.pointer(),
        token_stride: 16,
        head_stride: 16,
        slots: slots.pointer(),
        status: slots.pointer(),
        tokens: 1,
        type_: KVK_F16,
    };
    // SAFETY: the one slot is not written.
    let refused = unsafe { stream.launch(&Launch::Append(Append { params })) }.unwrap_err();
    assert_eq!(refused, Error::new("append", Reason::Refused(Refusal::new("cache.values", Wrong::Pinned))));
    let said = "append: cache.values points to pinned memory: this has to be in the device's own";
    assert_eq!(refused.to_string(), said);
}
