//! Kernels that take blocks as bytes, on a device: every byte of the pool is compared.

use super::bench::Bench;
use super::{Right, Wrong};
use crate::kernels::case::{Blocks, Checksum, CopyBlocks, Fill, Pieces, Rewrite};
use crate::kernels::compare::same;
use crate::kernels::reference;
use kvledger_cuda::launch::{self, Launch};
use kvledger_cuda::raw::{
    kvk_checksum_params, kvk_copy_pair, kvk_copy_params, kvk_fill_params, kvk_rewrite_params, kvk_shape,
};
use kvledger_cuda::{Error, Memory, Space};

fn shape(pieces: &Pieces) -> kvk_shape {
    kvk_shape {
        block_stride: pieces.block_stride as i64,
        piece_stride: pieces.piece_stride as i64,
        token_bytes: pieces.token_bytes,
        pieces: pieces.pieces,
        block_tokens: pieces.block_tokens,
    }
}

fn put(bench: &Bench, blocks: &Blocks, pinned: bool) -> Result<Memory, Error> {
    let space = if pinned { Space::Pinned } else { Space::Device };
    let memory = Memory::allocate(bench.device(), space, blocks.bytes.len())?;
    memory.write(bench.stream(), 0, &blocks.bytes)?;
    Ok(memory)
}

fn place(pieces: &Pieces, byte: usize) -> String {
    let block = byte as u64 / pieces.block_stride;
    format!("byte {byte} of the pool, {} of block {block}", byte as u64 % pieces.block_stride)
}

/// Runs a case of blocks that are copied.
pub fn copy_blocks(case: &CopyBlocks, bench: &Bench) -> Result<Right, Wrong> {
    let source = put(bench, &case.source, case.pinned[0])?;
    let apart = case.destination.as_ref().map(|blocks| put(bench, blocks, case.pinned[1])).transpose()?;
    let (to, destination) = (apart.as_ref().unwrap_or(&source), case.destination.as_ref().unwrap_or(&case.source));
    let pair =
        |&(source, destination, tokens): &(u32, u32, u32)| kvk_copy_pair { source, destination, tokens, reserved: 0 };
    let pairs: Vec<_> = case.pairs.iter().map(pair).collect();
    let list = bench.holding(&pairs)?;
    let params = kvk_copy_params {
        source_shape: shape(&case.source.pieces),
        destination_shape: shape(&destination.pieces),
        source: source.pointer(),
        destination: to.pointer(),
        pairs: list.pointer(),
        pair_count: pairs.len() as u32,
        reserved: 0,
    };
    let (source_blocks, destination_blocks) = (case.source.count, destination.count);
    let launch = launch::CopyBlocks { params, source_blocks, destination_blocks };
    bench.launch(&Launch::CopyBlocks(launch))?;
    let expected = reference::copy_blocks(case);
    let name = |byte: usize| place(&destination.pieces, byte);
    bench.check_bytes("destination", to, &expected, &name)?;
    if apart.is_some() {
        bench.check_bytes("source", &source, &case.source.bytes, &|byte| place(&case.source.pieces, byte))?;
    }
    Ok(Right { share: 0.0, compared: expected.len() as u64 })
}

/// Runs a case of blocks that become one pattern.
pub fn fill(case: &Fill, bench: &Bench) -> Result<Right, Wrong> {
    let (pool, blocks) = (bench.holding(&case.bytes)?, bench.holding(&case.blocks)?);
    let params = kvk_fill_params {
        pool: pool.pointer(),
        blocks: blocks.pointer(),
        block_bytes: case.block_bytes,
        block_count: case.blocks.len() as u32,
        pattern: case.pattern,
    };
    bench.launch(&Launch::Fill(launch::Fill { params, blocks: case.count }))?;
    let expected = reference::fill(case);
    bench.check_bytes("pool", &pool, &expected, &|byte| format!("block {}", byte as u64 / case.block_bytes))?;
    Ok(Right { share: 0.0, compared: expected.len() as u64 })
}

/// Runs a case of sums.
pub fn checksum(case: &Checksum, bench: &Bench) -> Result<Right, Wrong> {
    let (pool, blocks) = (bench.holding(&case.bytes)?, bench.holding(&case.blocks)?);
    let sums = bench.poisoned(case.blocks.len() * 8, 0xFF)?;
    let params = kvk_checksum_params {
        pool: pool.pointer(),
        blocks: blocks.pointer(),
        sums: sums.pointer(),
        block_bytes: case.block_bytes,
        block_count: case.blocks.len() as u32,
        reserved: 0,
    };
    bench.launch(&Launch::Checksum(launch::Checksum { params, blocks: case.count }))?;
    let expected = reference::checksum(case);
    let found = bench.read::<u64>(&sums, expected.len())?;
    same("sums", &expected, &found, &|at| format!("block {}", case.blocks[at]))?;
    bench.check_bytes("pool", &pool, &case.bytes, &|byte| format!("block {}", byte as u64 / case.block_bytes))?;
    Ok(Right { share: 0.0, compared: expected.len() as u64 })
}

/// Runs a case of a table whose blocks have moved.
pub fn rewrite(case: &Rewrite, bench: &Bench) -> Result<Right, Wrong> {
    let (entries, moved) = (bench.holding(&case.table.entries())?, bench.holding(&case.moved)?);
    let status = bench.status()?;
    let params = kvk_rewrite_params {
        entries: entries.pointer(),
        moved: moved.pointer(),
        status: status.pointer(),
        row_stride: i64::from(case.table.row_stride),
        rows: case.table.rows.len() as u32,
        columns: case.table.columns,
        blocks: case.moved.len() as u32 - 1,
        reserved: 0,
    };
    bench.launch(&Launch::Rewrite(launch::Rewrite { params }))?;
    let (expected, report) = reference::rewrite(case);
    let found = bench.read::<u32>(&entries, expected.len())?;
    let stride = case.table.row_stride as usize;
    same("entries", &expected, &found, &|at| format!("row {}, column {}", at / stride, at % stride))?;
    bench.check_report(&status, &report)?;
    Ok(Right { share: 0.0, compared: expected.len() as u64 })
}
