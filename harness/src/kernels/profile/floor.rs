//! What work takes at least: every byte of keys and values once, queries and results, entries of the table, parts written
//! and read again; and two operations for each product.

use super::shapes::{Attention, Blocks, Shape, Work};

/// What a device can do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rates {
    /// Bytes a second, read and written together.
    pub bytes: f64,
    /// 16-bit operations a second.
    pub operations: f64,
}

impl Rates {
    /// One H200: assumed, 4.3 TB/s of copy and 790 TFLOP/s of bf16. Nothing of this project has run on one.
    pub const H200: Rates = Rates { bytes: 4.3e12, operations: 790e12 };

    /// Of a measured copy, with operations in the same proportion as above, because they are not measured.
    pub fn of_copy(bytes: f64) -> Rates {
        let rate = bytes / Rates::H200.bytes;
        Rates { bytes, operations: Rates::H200.operations * rate }
    }
}

/// From when a launch is begun in a graph until its kernel is at work; and what a second one adds.
const LAUNCH_SECONDS: f64 = 3e-6;
const SECOND_LAUNCH_SECONDS: f64 = 2e-6;

/// What some work takes at least.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Floor {
    /// Bytes that must be read.
    pub read: u64,
    /// Bytes that must be written.
    pub written: u64,
    /// Multiplications and additions.
    pub operations: u64,
    /// Whether a second kernel follows.
    pub joins: bool,
}

impl Floor {
    /// Read and written.
    pub fn bytes(&self) -> u64 {
        self.read + self.written
    }

    /// Seconds, on a device of these rates, less the launch.
    pub fn work_seconds(&self, rates: &Rates) -> f64 {
        (self.bytes() as f64 / rates.bytes).max(self.operations as f64 / rates.operations)
    }

    /// The same with it.
    pub fn seconds(&self, rates: &Rates) -> f64 {
        self.work_seconds(rates) + LAUNCH_SECONDS + if self.joins { SECOND_LAUNCH_SECONDS } else { 0.0 }
    }
}

/// What a shape takes at least; `parts` partial results are written and read again.
pub fn floor(shape: &Shape, parts: u32) -> Floor {
    let both = |tokens: u32, heads: u32, head_dim: u32| u64::from(tokens) * u64::from(heads) * u64::from(head_dim) * 2;
    let all = |blocks: &Blocks| u64::from(blocks.count) * blocks.bytes;
    let plain = |read, written| Floor { read, written, ..Floor::default() };
    match &shape.work {
        Work::Attend(attention) => attend(attention, parts),
        Work::Append { tokens, heads, head_dim, to } => {
            let elements = both(*tokens, *heads, *head_dim);
            plain(elements * 2, elements * to.bytes() as u64)
        }
        Work::Gather { tokens, heads, head_dim, from } => {
            let elements = both(*tokens, *heads, *head_dim);
            plain(elements * from.bytes() as u64, elements * 2)
        }
        Work::Copy(blocks) => plain(all(blocks), all(blocks)),
        Work::Fill(blocks) => plain(0, all(blocks)),
        Work::Checksum(blocks) => plain(all(blocks), 0),
    }
}

fn attend(attention: &Attention, parts: u32) -> Floor {
    let Attention { query_heads, heads, head_dim, block_tokens, .. } = *attention;
    let [query_heads, heads, head_dim] = [query_heads, heads, head_dim].map(u64::from);
    let (mut keys, mut entries, mut tokens, mut products) = (0u64, 0u64, 0u64, 0u64);
    for (length, queries) in attention.batch.sequences() {
        keys += u64::from(length);
        entries += u64::from(length.div_ceil(block_tokens));
        tokens += u64::from(queries);
        // The last token sees all keys, the one before it one less.
        let [length, queries] = [length, queries].map(u64::from);
        products += queries * length - queries * (queries - 1) / 2;
    }
    let cache = keys * heads * head_dim * 2 * attention.element.bytes() as u64;
    let rows = tokens * query_heads * head_dim * 2;
    let part = u64::from(parts) * (query_heads / heads) * (head_dim * 4 + 4);
    Floor {
        read: cache + rows + entries * 4 + part,
        written: rows + part,
        operations: products * query_heads * head_dim * 4,
        joins: parts > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::profile::shapes;

    fn of(name: &str) -> Floor {
        floor(&shapes().into_iter().find(|shape| shape.name == name).expect("a shape"), 0)
    }

    /// Figures of the same formulas, worked out elsewhere, in microseconds without the launch.
    #[test]
    fn floors_are_those_of_the_formulas() {
        for (name, microseconds) in [
            ("decode-1x8k", 8.0),
            ("decode-1x32k", 31.5),
            ("decode-8x4k", 31.5),
            ("decode-32x4k", 125.0),
            ("decode-64x4k", 250.0),
            ("decode-70b-tp8", 63.0),
            ("decode-mha", 250.0),
            ("decode-group7", 63.0),
            ("decode-fp8", 63.0),
            ("prefill-2k", 43.0),
            ("prefill-8k", 696.0),
            ("chunk-512-of-8k", 84.0),
            ("append-8k", 15.6),
            ("append-8k-fp8", 11.7),
            ("copy-64x32k", 1.0),
            ("copy-1024x32k", 15.6),
            ("copy-64x2m", 62.0),
        ] {
            let found = of(name).work_seconds(&Rates::H200) * 1e6;
            assert!((found / microseconds - 1.0).abs() < 0.03, "{name}: {found}, expected {microseconds}");
        }
    }

    #[test]
    fn parts_are_written_and_read_again() {
        let shape = shapes().into_iter().find(|shape| shape.name == "decode-1x8k").expect("a shape");
        let (none, some) = (floor(&shape, 0), floor(&shape, 10));
        assert_eq!(some.bytes() - none.bytes(), 2 * 10 * 4 * (128 * 4 + 4));
        assert!(some.joins && !none.joins && some.seconds(&Rates::H200) > none.seconds(&Rates::H200) + 1.9e-6);
    }
}
