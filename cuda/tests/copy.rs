//! Block copies on the CPU device: what is copied, what is left alone, and what is refused.

use kvledger_core::BlockId;
use kvledger_cuda::{Copier, CopyPair, CopyRefusal, LANE_BYTES, Lane};

fn pair(source: u32, destination: u32) -> CopyPair {
    CopyPair { source: BlockId(source), destination: BlockId(destination) }
}

/// A pool whose every byte tells its place, so that a byte that came from elsewhere is seen.
fn pool(blocks: u32, block_bytes: usize) -> Vec<Lane> {
    let lanes = (blocks as usize + 1) * block_bytes / LANE_BYTES;
    (0..lanes).map(|lane| Lane(std::array::from_fn(|byte| (lane * 31 + byte * 7 + lane / 251) as u8))).collect()
}

/// The same copies, by hand, from the memory as it was.
fn expected(before: &[Lane], block_bytes: usize, pairs: &[CopyPair]) -> Vec<Lane> {
    let lanes = block_bytes / LANE_BYTES;
    let range = |block: BlockId| block.0 as usize * lanes..(block.0 as usize + 1) * lanes;
    let mut after = before.to_vec();
    for pair in pairs {
        after[range(pair.destination)].copy_from_slice(&before[range(pair.source)]);
    }
    after
}

fn copies(blocks: u32, block_bytes: usize, pairs: &[CopyPair]) {
    let before = pool(blocks, block_bytes);
    let mut memory = before.clone();
    let mut copier = Copier::new(blocks, block_bytes as u64).unwrap();
    assert_eq!(copier.copy(&mut memory, pairs), Ok(()));
    assert!(memory == expected(&before, block_bytes, pairs), "{blocks} blocks of {block_bytes} bytes, {pairs:?}");
    assert!(pairs.is_empty() || memory != before, "a copy that changes nothing tests nothing");
}

#[test]
fn whole_blocks_are_copied_and_nothing_else() {
    // One lane; less than one thread block; not a multiple of one; more than all slices of a pair hold at once.
    for block_bytes in [16, 48, 16 * 255, 16 * 257, 16 * (64 * 256 + 3)] {
        copies(5, block_bytes, &[pair(1, 2)]);
        copies(5, block_bytes, &[pair(5, 1), pair(4, 2)]);
    }
}

#[test]
fn one_source_may_have_many_destinations() {
    copies(6, 64, &[pair(3, 1), pair(3, 2), pair(3, 6)]);
}

#[test]
fn more_pairs_than_one_grid_has_rows() {
    let pairs: Vec<CopyPair> = (1..=5_000).map(|block| pair(block, block + 5_000)).collect();
    copies(10_000, 16, &pairs);
}

#[test]
fn no_pairs_are_no_work() {
    copies(5, 16, &[]);
}

/// Refused with this answer, and not a byte changed; and the next batch does not remember it.
fn refused(pairs: &[CopyPair], refusal: CopyRefusal) {
    let before = pool(100, 32);
    let mut memory = before.clone();
    let mut copier = Copier::new(100, 32).unwrap();
    assert_eq!(copier.copy(&mut memory, pairs), Err(refusal), "{pairs:?}");
    assert!(memory == before, "{pairs:?}");
    let good = [pair(1, 2), pair(3, 4), pair(99, 100)];
    assert_eq!(copier.copy(&mut memory, &good), Ok(()));
    assert_eq!(copier.copy(&mut memory, &good), Ok(()), "marks of one batch do not reach the next");
}

#[test]
fn blocks_outside_of_the_pool_are_refused() {
    let at = |pair| CopyRefusal::OutOfRange { pair };
    refused(&[pair(0, 1)], at(0));
    refused(&[pair(1, 0)], at(0));
    refused(&[pair(1, 2), pair(101, 3)], at(1));
    refused(&[pair(1, 2), pair(3, 101)], at(1));
    refused(&[pair(u32::MAX, 2)], at(0));
}

#[test]
fn a_block_that_is_written_is_touched_by_one_pair_only() {
    let at = |pair| CopyRefusal::Overlap { pair };
    refused(&[pair(7, 7)], at(0));
    refused(&[pair(1, 2), pair(2, 3)], at(1));
    refused(&[pair(2, 3), pair(1, 2)], at(0));
    refused(&[pair(1, 3), pair(2, 3)], at(1));
    refused(&[pair(1, 2), pair(3, 65), pair(4, 1)], at(0));
}

#[test]
fn the_geometry_is_checked_once() {
    let refused = |blocks, bytes| Copier::new(blocks, bytes).err() == Some(CopyRefusal::BlockBytes);
    assert!(refused(1, 0));
    assert!(refused(1, 8));
    assert!(refused(1, 40));
    assert!(refused(u32::MAX, 1 << 40));
    assert!(refused(1, u64::MAX - 15));
    assert!(!refused(1, 16));
}

#[test]
fn the_memory_has_the_null_block_too() {
    let mut copier = Copier::new(4, 32).unwrap();
    let mut short = pool(3, 32);
    assert_eq!(copier.copy(&mut short, &[pair(1, 2)]), Err(CopyRefusal::Memory));
    let mut long = pool(5, 32);
    assert_eq!(copier.copy(&mut long, &[pair(1, 2)]), Err(CopyRefusal::Memory));
}

#[test]
fn a_refusal_says_how_to_mend_it() {
    let text = CopyRefusal::Overlap { pair: 3 }.to_string();
    assert!(text.contains("pair 3") && text.contains("two batches"), "{text}");
}

/// The kernels for CUDA are linked, not only compiled. A batch without pairs is checked and launches nothing, so this
/// needs no driver.
#[cfg(kvl_cuda)]
#[test]
fn the_cuda_device_is_linked() {
    let null = std::ptr::null_mut();
    let mut copier = Copier::new(4, 32).unwrap();
    // SAFETY: nothing is launched, so no address is used.
    let empty = unsafe { copier.copy_cuda(null, &[], null.cast(), null) };
    assert_eq!(empty, Ok(()));
    // SAFETY: as above: the batch is refused.
    let refused = unsafe { copier.copy_cuda(null, &[pair(1, 1)], null.cast(), null) };
    assert_eq!(refused, Err(CopyRefusal::Overlap { pair: 0 }));
}

/// A build that was told to have kernels for CUDA has them.
#[test]
fn cuda_is_there_when_it_is_required() {
    assert!(kvledger_cuda::HAS_CUDA || option_env!("KVL_REQUIRE_CUDA") != Some("1"));
}
