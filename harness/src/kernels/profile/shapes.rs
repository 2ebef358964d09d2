//! The work that is profiled: decode and prefill of models that are served, and copies of their blocks.

use crate::kernels::make::Kernel;
use crate::kernels::numbers::Element;

/// Some work, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// What `--shape` calls it.
    pub name: &'static str,
    /// What it is.
    pub work: Work,
}

/// What there is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Attention of one layer.
    Attend(Attention),
    /// New tokens of one layer.
    Append {
        /// How many.
        tokens: u32,
        /// Key-value heads.
        heads: u32,
        /// Of a head.
        head_dim: u32,
        /// What they become; they are bf16.
        to: Element,
    },
    /// Keys of one layer out of their blocks, as bf16.
    Gather {
        /// How many.
        tokens: u32,
        /// Key-value heads.
        heads: u32,
        /// Of a head.
        head_dim: u32,
        /// What they are.
        from: Element,
    },
    /// Blocks to blocks of one pool.
    Copy(Blocks),
    /// Blocks that become NaN.
    Fill(Blocks),
    /// Sums of blocks.
    Checksum(Blocks),
}

/// Whole blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    /// How many.
    pub count: u32,
    /// Bytes of one.
    pub bytes: u64,
}

/// A batch of attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attention {
    /// Query heads.
    pub query_heads: u32,
    /// Key-value heads.
    pub heads: u32,
    /// Elements of a head.
    pub head_dim: u32,
    /// The type of the cache; queries are bf16.
    pub element: Element,
    /// Tokens of a block.
    pub block_tokens: u32,
    /// The sequences.
    pub batch: Batch,
}

/// Sequences of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Batch {
    /// One query token each, all of one length.
    Even {
        /// How many.
        sequences: u32,
        /// Keys of each.
        length: u32,
    },
    /// One of them long.
    OneLong {
        /// How many in all.
        sequences: u32,
        /// Keys of the long one.
        long: u32,
        /// Keys of each other.
        length: u32,
    },
    /// One sequence whose last tokens are its queries.
    Chunk {
        /// Query tokens.
        tokens: u32,
        /// Keys, those of the tokens included.
        length: u32,
    },
}

impl Batch {
    /// Keys of each sequence, and query tokens of each.
    pub fn sequences(&self) -> Vec<(u32, u32)> {
        match *self {
            Batch::Even { sequences, length } => vec![(length, 1); sequences as usize],
            Batch::OneLong { sequences, long, length } => {
                let others = vec![(length, 1); sequences as usize - 1];
                [(long, 1)].into_iter().chain(others).collect()
            }
            Batch::Chunk { tokens, length } => vec![(length, tokens)],
        }
    }
}

impl Shape {
    /// Its kernel.
    pub const fn kernel(&self) -> Kernel {
        match self.work {
            Work::Attend(_) => Kernel::Attend,
            Work::Append { .. } => Kernel::Append,
            Work::Gather { .. } => Kernel::Gather,
            Work::Copy(_) => Kernel::CopyBlocks,
            Work::Fill(_) => Kernel::Fill,
            Work::Checksum(_) => Kernel::Checksum,
        }
    }

    /// The same work with little of everything, so that the CPU device does it in a moment: one key-value head of each
    /// group, few sequences, and keys that are still many tiles.
    pub fn small(&self) -> Shape {
        let few = |blocks: &Blocks| Blocks { count: blocks.count.min(4), bytes: blocks.bytes.min(64 << 10) };
        let work = match &self.work {
            Work::Attend(attention) => Work::Attend(attention.small()),
            Work::Append { tokens, heads, head_dim, to } => {
                Work::Append { tokens: (*tokens).min(64), heads: *heads, head_dim: *head_dim, to: *to }
            }
            Work::Gather { tokens, heads, head_dim, from } => {
                Work::Gather { tokens: (*tokens).min(64), heads: *heads, head_dim: *head_dim, from: *from }
            }
            Work::Copy(blocks) => Work::Copy(few(blocks)),
            Work::Fill(blocks) => Work::Fill(few(blocks)),
            Work::Checksum(blocks) => Work::Checksum(few(blocks)),
        };
        Shape { name: self.name, work }
    }
}

impl Attention {
    fn small(&self) -> Attention {
        let group = self.query_heads / self.heads;
        let batch = match self.batch {
            Batch::Even { sequences, length } => Batch::Even { sequences: sequences.min(2), length: length.min(2_048) },
            Batch::OneLong { sequences, long, length } => {
                Batch::OneLong { sequences: sequences.min(4), long: long.min(4_096), length: length.min(512) }
            }
            Batch::Chunk { tokens, length } => Batch::Chunk { tokens: tokens.min(128), length: length.min(1_024) },
        };
        Attention { heads: 1, query_heads: group, batch, ..*self }
    }
}

const fn even(sequences: u32, length: u32) -> Batch {
    Batch::Even { sequences, length }
}

/// 32 query heads over 8, of 128 elements, bf16, blocks of 16.
const PLAIN: Attention = Attention {
    query_heads: 32,
    heads: 8,
    head_dim: 128,
    element: Element::Bf16,
    block_tokens: 16,
    batch: even(1, 1_024),
};

const fn attend(name: &'static str, batch: Batch) -> Shape {
    like(name, Attention { batch, ..PLAIN })
}

const fn like(name: &'static str, attention: Attention) -> Shape {
    Shape { name, work: Work::Attend(attention) }
}

/// All of them, in order of value: a run that is cut off loses the tail.
pub fn shapes() -> Vec<Shape> {
    let busy = even(32, 4_096);
    let blocks = |count, bytes| Blocks { count, bytes };
    let fp8 = Attention { element: Element::E4m3, ..PLAIN };
    vec![
        attend("decode-32x4k", busy),
        attend("decode-1x1k", even(1, 1_024)),
        attend("decode-1x8k", even(1, 8_192)),
        attend("decode-1x32k", even(1, 32_768)),
        attend("decode-8x4k", even(8, 4_096)),
        attend("decode-ragged", Batch::OneLong { sequences: 32, long: 131_072, length: 512 }),
        attend("decode-64x4k", even(64, 4_096)),
        like("decode-70b-tp8", Attention { query_heads: 8, heads: 1, batch: even(64, 8_192), ..PLAIN }),
        like("decode-mha", Attention { heads: 32, batch: even(16, 4_096), ..PLAIN }),
        like("decode-group7", Attention { query_heads: 28, heads: 4, batch: busy, ..PLAIN }),
        like("decode-fp8", Attention { batch: busy, ..fp8 }),
        like("decode-blocks-of-1", Attention { block_tokens: 1, batch: busy, ..PLAIN }),
        like("decode-blocks-of-64", Attention { block_tokens: 64, batch: busy, ..PLAIN }),
        like("decode-dim64", Attention { head_dim: 64, batch: busy, ..PLAIN }),
        like("decode-dim256", Attention { query_heads: 16, heads: 8, head_dim: 256, batch: busy, ..PLAIN }),
        attend("prefill-2k", Batch::Chunk { tokens: 2_048, length: 2_048 }),
        attend("prefill-8k", Batch::Chunk { tokens: 8_192, length: 8_192 }),
        attend("chunk-512-of-8k", Batch::Chunk { tokens: 512, length: 8_192 }),
        Shape { name: "append-64", work: Work::Append { tokens: 64, heads: 8, head_dim: 128, to: Element::Bf16 } },
        Shape { name: "append-8k", work: Work::Append { tokens: 8_192, heads: 8, head_dim: 128, to: Element::Bf16 } },
        Shape {
            name: "append-8k-fp8",
            work: Work::Append { tokens: 8_192, heads: 8, head_dim: 128, to: Element::E4m3 },
        },
        Shape { name: "copy-64x32k", work: Work::Copy(blocks(64, 32 << 10)) },
        Shape { name: "copy-1024x32k", work: Work::Copy(blocks(1_024, 32 << 10)) },
        Shape { name: "copy-64x2m", work: Work::Copy(blocks(64, 2 << 20)) },
        Shape { name: "gather-8k", work: Work::Gather { tokens: 8_192, heads: 8, head_dim: 128, from: Element::Bf16 } },
        Shape { name: "fill-256x2m", work: Work::Fill(blocks(256, 2 << 20)) },
        Shape { name: "checksum-256x2m", work: Work::Checksum(blocks(256, 2 << 20)) },
    ]
}
