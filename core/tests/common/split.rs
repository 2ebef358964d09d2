//! Batches for the tests of split plans, and plans in memory of the right size.

use kvledger_core::split::{Split, SplitBatch};

/// A pseudo-random sequence (xorshift64*).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// 0 ..= bound - 1.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) * u64::from(bound)) >> 32) as u32
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    pub fn chance(&mut self, one_in: u32) -> bool {
        self.below(one_in) == 0
    }
}

/// The arrays of a batch.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    pub lengths: Vec<u32>,
    pub query_starts: Vec<u32>,
    pub query_positions: Vec<u32>,
    pub begins: Vec<u32>,
    pub ends: Vec<u32>,
}

impl Arrays {
    pub fn of_lengths(lengths: &[u32]) -> Arrays {
        Arrays { lengths: lengths.to_vec(), ..Arrays::default() }
    }

    pub fn batch(&self) -> SplitBatch<'_> {
        let Arrays { lengths, query_starts, query_positions, begins, ends } = self;
        SplitBatch { lengths, query_starts, query_positions, begins, ends }
    }

    /// The query tokens of a sequence, as places in the arrays.
    pub fn queries(&self, sequence: usize) -> std::ops::Range<usize> {
        match self.query_starts.as_slice() {
            [] => sequence..sequence + 1,
            starts => starts[sequence] as usize..starts[sequence + 1] as usize,
        }
    }
}

/// A shape and a batch that goes with it, of up to `sequences` sequences: everything that a plan can have, many of them
/// empty.
pub fn random(rng: &mut Rng, sequences: u32) -> (Split, Arrays) {
    let (heads, group) = (1 + rng.below(3), rng.one_of(&[1, 2, 3, 4, 7, 8, 16, 17, 40]));
    let keys_max = rng.one_of(&[1, 70, 600, 5_000]);
    let mut arrays = Arrays::default();
    let count = rng.below(sequences + 1);
    let one_each = rng.chance(2);
    let mut start = if one_each { 0 } else { rng.below(3) };
    let first = start;
    for _ in 0..count {
        arrays.lengths.push(if rng.chance(3) { 0 } else { rng.below(keys_max + 1) });
        arrays.query_starts.push(start);
        start += if rng.chance(4) { 0 } else { rng.one_of(&[1, 2, 5, 33, 150]) };
    }
    arrays.query_starts.push(start);
    if one_each {
        arrays.query_starts.clear();
        (start, arrays.query_starts) = (count, Vec::new());
    }
    if rng.chance(4) {
        arrays.query_positions = (0..start).map(|_| rng.below(keys_max + 3)).collect();
    }
    let mut some = |arrays: &[u32]| arrays.iter().map(|length| rng.below(length + 2)).collect::<Vec<_>>();
    let (begins, ends) = (some(&arrays.lengths), some(&arrays.lengths));
    arrays.begins = if rng.chance(4) { begins } else { Vec::new() };
    arrays.ends = if rng.chance(4) { ends } else { Vec::new() };

    let tile_keys = rng.one_of(&[16, 32, 64, 128]);
    let split = Split {
        tile_rows: rng.one_of(&[16, 64]),
        tile_keys,
        window_left: rng.one_of(&[-1, -1, 0, 1, 63, 1_000]),
        chunk_keys: if rng.chance(2) { 0 } else { tile_keys * rng.one_of(&[1, 2, 5, 100]) },
        overhead_tiles: rng.below(4),
        query_tokens_max: (start - first).max(1) + rng.below(3),
        ..Split::decode(heads, heads * group, 1 + rng.below(rng_groups(count)), count.max(1) + rng.below(2), keys_max)
    };
    (split, arrays)
}

fn rng_groups(sequences: u32) -> u32 {
    3 * sequences + 4
}

/// Words for any plan of this shape, full of what must not be read.
pub fn words(split: &Split) -> Vec<u32> {
    vec![0xDEAD_BEEF; split.layout().expect("a good shape").bytes as usize / 4]
}

/// The words of a plan of this batch.
pub fn planned(split: &Split, arrays: &Arrays) -> Vec<u32> {
    let mut words = words(split);
    split.plan(&arrays.batch(), 7, &mut words).unwrap_or_else(|why| panic!("{why}: {split:?} {arrays:?}"));
    words
}
