//! A case's pool in device memory.

use super::Wrong;
use super::bench::{Bench, pointer_or_null};
use crate::kernels::compare::{same, same_bits};
use crate::kernels::pool::{At, Layout, Pool, PoolShape, Scales};
use kvledger_cuda::raw::kvk_cache;
use kvledger_cuda::{Error, Memory, Space};

/// Larger pools are not put together on the host, and what was not named is looked at in samples.
const IMAGE_BYTES_MAX: u64 = 64 << 20;

/// Its memory.
pub struct DevicePool {
    memory: Memory,
    scales: Option<Memory>,
}

impl DevicePool {
    /// A pool as the case has it, and poison around.
    pub fn put(bench: &Bench, pool: &Pool) -> Result<DevicePool, Error> {
        let scales = bench.some(&pool.scale_image())?;
        if pool.shape.bytes() <= IMAGE_BYTES_MAX {
            return Ok(DevicePool { memory: bench.holding(&pool.image())?, scales });
        }
        let bytes = pool.shape.bytes() as usize;
        let memory = Memory::allocate(bench.device(), Space::Device, bytes)?;
        // The CPU device's memory is poison already, without a page of it being there.
        if bench.device().as_cpu().is_none() {
            bench.stream().set((&memory, 0), pool.shape.element.poison(), bytes)?;
        }
        for (at, pair) in &pool.contents {
            for (bits, element) in [&pair.key, &pair.value].into_iter().zip(pool.shape.elements(*at)) {
                let offset = element as usize * pool.shape.element.bytes();
                memory.write(bench.stream(), offset, &pool.row_bytes(bits))?;
            }
        }
        Ok(DevicePool { memory, scales })
    }

    /// The memory of its keys and values.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// All of its memory.
    pub fn into_memory(self) -> Vec<Memory> {
        [self.memory].into_iter().chain(self.scales).collect()
    }

    /// What kernels are given.
    pub fn cache(&self, shape: &PoolShape) -> kvk_cache {
        let at =
            |element: u64| self.memory.pointer::<u8>().wrapping_add(element as usize * shape.element.bytes()).cast();
        let (scales, each) = match shape.scales {
            Scales::One(scales) => (scales, Layout::default()),
            Scales::Each(layout) => ([1.0; 2], layout),
        };
        let scale_at = |float: u64| match &self.scales {
            None => pointer_or_null(&None),
            Some(memory) => memory.pointer::<f32>().wrapping_add(float as usize),
        };
        kvk_cache {
            keys: at(shape.layout.keys_at),
            values: at(shape.layout.values_at),
            block_stride: shape.layout.block_stride as i64,
            token_stride: shape.layout.token_stride as i64,
            head_stride: shape.layout.head_stride as i64,
            key_scales: scale_at(each.keys_at),
            value_scales: scale_at(each.values_at),
            scale_block_stride: each.block_stride as i64,
            scale_token_stride: each.token_stride as i64,
            scale_head_stride: each.head_stride as i64,
            key_scale: scales[0],
            value_scale: scales[1],
            blocks: shape.blocks,
            block_tokens: shape.block_tokens,
            heads: shape.heads,
            head_dim: shape.head_dim,
            type_: shape.element.number(),
            reserved: 0,
        }
    }

    /// Whether the memory is what a pool must be afterwards: its contents, and poison everywhere else. Elements that must be
    /// NaN may be any. Of a pool that is too large for that, its contents only.
    pub fn check(&self, bench: &Bench, pool: &Pool) -> Result<u64, Wrong> {
        let compared = match pool.shape.bytes() <= IMAGE_BYTES_MAX {
            true => self.check_all(bench, pool)?,
            false => self.check_contents(bench, pool)?,
        };
        if let Some(scales) = &self.scales {
            let expected = pool.scale_image();
            let found = bench.read::<f32>(scales, expected.len())?;
            let bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<u32>>();
            same("scales", &bits(&expected), &bits(&found), &|at| format!("float {at} of their memory"))?;
        }
        Ok(compared)
    }

    fn check_all(&self, bench: &Bench, pool: &Pool) -> Result<u64, Wrong> {
        let expected = pool.image();
        let found = bench.read::<u8>(&self.memory, expected.len())?;
        if found != expected {
            let elements = |bytes: &[u8]| elements_of(pool, bytes);
            let name = |element| name_of(&pool.shape, element as u64);
            same_bits("pool", pool.shape.element, &elements(&expected), &elements(&found), &name)?;
        }
        Ok(expected.len() as u64)
    }

    fn check_contents(&self, bench: &Bench, pool: &Pool) -> Result<u64, Wrong> {
        for (at, pair) in &pool.contents {
            for (bits, element) in [&pair.key, &pair.value].into_iter().zip(pool.shape.elements(*at)) {
                let found = self.row(bench, pool, element)?;
                let name = |place: usize| name_of(&pool.shape, element + place as u64);
                same_bits("pool", pool.shape.element, bits, &found, &name)?;
            }
        }
        Ok(pool.contents.len() as u64 * 2 * u64::from(pool.shape.head_dim))
    }

    /// Whether a whole block of a large pool is as it was before anything was written.
    pub fn check_untouched(&self, bench: &Bench, pool: &Pool, block: u32) -> Result<(), Wrong> {
        let poison = u16::from(pool.shape.element.poison()) * if pool.shape.element.is_wide() { 0x101 } else { 1 };
        let expected = vec![poison; pool.shape.head_dim as usize];
        for token in 0..pool.shape.block_tokens {
            for head in 0..pool.shape.heads {
                for element in pool.shape.elements(At { block, token, head }) {
                    let found = self.row(bench, pool, element)?;
                    same("untouched block", &expected, &found, &|_| name_of(&pool.shape, element))?;
                }
            }
        }
        Ok(())
    }

    fn row(&self, bench: &Bench, pool: &Pool, element: u64) -> Result<Vec<u16>, Error> {
        let bytes = pool.shape.element.bytes();
        let count = pool.shape.head_dim as usize * bytes;
        Ok(elements_of(pool, &self.memory.values(bench.stream(), element as usize * bytes, count)?))
    }
}

fn elements_of(pool: &Pool, bytes: &[u8]) -> Vec<u16> {
    match pool.shape.element.is_wide() {
        true => bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect(),
        false => bytes.iter().map(|byte| u16::from(*byte)).collect(),
    }
}

/// What an element of the memory is. Slow: only for what is wrong.
fn name_of(shape: &PoolShape, element: u64) -> String {
    for (side, start) in [("key", shape.layout.keys_at), ("value", shape.layout.values_at)] {
        let Some(offset) = element.checked_sub(start) else { continue };
        let block = offset / shape.layout.block_stride;
        if block > u64::from(shape.blocks) {
            continue;
        }
        for token in 0..shape.block_tokens {
            for head in 0..shape.heads {
                let at = u64::from(token) * shape.layout.token_stride + u64::from(head) * shape.layout.head_stride;
                let within = (offset % shape.layout.block_stride).checked_sub(at);
                if let Some(place) = within.filter(|place| *place < u64::from(shape.head_dim)) {
                    return format!("{side} of block {block}, token {token}, head {head}, element {place}");
                }
            }
        }
    }
    format!("element {element} of the memory, in no block")
}
