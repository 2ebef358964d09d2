//! What blocks are called: the identity of each published block, the epoch under which it is written, the reset number under
//! which it was published, and, where they are checked, its tokens.
//!
//! A name is written by the holder of a block that has none, before the transition that publishes it, and read by
//! anybody: read the word, read the name, and then change the word by a compare-exchange from what was read. A name that
//! was replaced meanwhile was taken away first, which changed the word's version, so the exchange fails (O24).

use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Cells, Span};
use crate::config::PoolConfig;
use crate::identity::Identity;
use crate::ids::Epoch;
use crate::sync::{AtomicU64, Relaxed};
use core::sync::atomic::AtomicU32 as Guarded32;

/// Cells of one name.
const CELLS: usize = 4;

/// A number that no vocabulary has.
const NO_TOKEN: u32 = u32::MAX;

/// Where the parts are.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    names: Span<AtomicU64>,
    tokens: Span<Guarded32>,
}

/// What a block is called, and since when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    pub(crate) identity: Identity,
    /// The epoch under which the block is written.
    pub(crate) written: Epoch,
    /// The reset number under which it was published.
    pub(crate) stamp: u64,
}

/// The names of all blocks; none if nothing can be published.
#[derive(Clone, Copy)]
pub(crate) struct Names<'m> {
    names: Cells<'m, AtomicU64>,
    tokens: Cells<'m, Guarded32>,
    /// Tokens kept for a block; 0: none.
    block_tokens: u32,
}

impl<'m> Names<'m> {
    pub(crate) const fn layout(carve: &mut Carve, config: &PoolConfig) -> Layout {
        let blocks = if config.cache == 0 { 0 } else { config.blocks as usize + 1 };
        let tokens = if config.token_check == 0 { 0 } else { config.block_tokens as usize };
        Layout { names: carve.region(blocks * CELLS), tokens: carve.region(blocks.saturating_mul(tokens)) }
    }

    pub(crate) fn view(arena: &mut Arena<'m>, layout: &Layout, config: &PoolConfig) -> Result<Self, Refusal> {
        let checks = config.token_check != 0 && config.cache != 0;
        Ok(Names {
            names: arena.cells(layout.names)?,
            tokens: arena.cells(layout.tokens)?,
            block_tokens: if checks { config.block_tokens } else { 0 },
        })
    }

    #[inline(always)]
    pub(crate) fn get(&self, id: u32) -> Name {
        let cell = |which| self.names.at(id as usize * CELLS + which).load(Relaxed);
        Name { identity: Identity { low: cell(0), high: cell(1) }, written: Epoch(cell(2)), stamp: cell(3) }
    }

    /// The reset number alone.
    #[inline(always)]
    pub(crate) fn stamp(&self, id: u32) -> u64 {
        self.names.at(id as usize * CELLS + 3).load(Relaxed)
    }

    #[inline(always)]
    pub(crate) fn set(&self, id: u32, name: &Name) {
        let Name { identity, written, stamp } = *name;
        for (which, value) in [identity.low, identity.high, written.0, stamp].into_iter().enumerate() {
            self.names.at(id as usize * CELLS + which).store(value, Relaxed);
        }
    }

    /// Keep the tokens of a block, if they are kept. Of a block that is published without them there are none, and not those
    /// of before: nobody who names tokens finds it.
    pub(crate) fn set_tokens(&self, id: u32, tokens: &[u32]) {
        if self.block_tokens > 0 {
            let cells = self.tokens.part(id as usize * self.block_tokens as usize, self.block_tokens as usize).all();
            let all = tokens.iter().copied().chain(core::iter::repeat(NO_TOKEN));
            cells.iter().zip(all).for_each(|(cell, token)| cell.store(token, Relaxed));
        }
    }

    /// Whether a block has these tokens; yes if none are kept or none are named.
    pub(crate) fn has_tokens(&self, id: u32, tokens: &[u32]) -> bool {
        if self.block_tokens == 0 || tokens.is_empty() {
            return true;
        }
        let cells = self.tokens.part(id as usize * self.block_tokens as usize, self.block_tokens as usize).all();
        cells.iter().zip(tokens).all(|(cell, token)| cell.load(Relaxed) == *token)
    }
}
