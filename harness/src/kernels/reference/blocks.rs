//! Kernels that take blocks as bytes: what every byte is afterwards.

use super::Report;
use crate::kernels::case::{Checksum, CopyBlocks, Fill, Rewrite};
use kvledger_cuda::raw::KVK_FAULT_BLOCK;

/// The bytes of the destination after the copies, all of which read what was there before.
pub fn copy_blocks(case: &CopyBlocks) -> Vec<u8> {
    let destination = case.destination.as_ref().unwrap_or(&case.source);
    let mut bytes = destination.bytes.clone();
    for &(from, to, tokens) in &case.pairs {
        for piece in 0..case.source.pieces.pieces {
            let length = (u64::from(tokens) * case.source.pieces.token_bytes) as usize;
            let from = case.source.pieces.at(from, piece, 0);
            let to = destination.pieces.at(to, piece, 0);
            bytes[to..to + length].copy_from_slice(&case.source.bytes[from..from + length]);
        }
    }
    bytes
}

/// The bytes of the pool after it.
pub fn fill(case: &Fill) -> Vec<u8> {
    let mut bytes = case.bytes.clone();
    for &block in &case.blocks {
        let at = block as usize * case.block_bytes as usize;
        for word in bytes[at..at + case.block_bytes as usize].chunks_exact_mut(4) {
            word.copy_from_slice(&case.pattern.to_le_bytes());
        }
    }
    bytes
}

/// The entries of the table after it, gaps included, and what is reported.
pub fn rewrite(case: &Rewrite) -> (Vec<u32>, Report) {
    let (mut entries, mut report) = (case.table.entries(), Report::NOTHING);
    for row in 0..case.table.rows.len() {
        for column in 0..case.table.columns as usize {
            let entry = &mut entries[row * case.table.row_stride as usize + column];
            match case.moved.get(*entry as usize) {
                Some(now) => *entry = *now,
                None => report.add(KVK_FAULT_BLOCK, row as u32, column as u32),
            }
        }
    }
    (entries, report)
}

/// Sums of blocks, modulo 2^64: of each 64-bit word, itself and the product of the halves of it and its place's key.
pub fn checksum(case: &Checksum) -> Vec<u64> {
    let sum = |block: &u32| {
        let at = *block as usize * case.block_bytes as usize;
        let words = case.bytes[at..at + case.block_bytes as usize].chunks_exact(8).zip(1u64..);
        words.fold(0u64, |sum, (word, place)| {
            let word = word.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
            let keyed = word ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let product = (keyed & 0xFFFF_FFFF) * (keyed >> 32);
            sum.wrapping_add(word).wrapping_add(product)
        })
    };
    case.blocks.iter().map(sum).collect()
}
