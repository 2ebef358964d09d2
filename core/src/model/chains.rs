//! The prompts of the operations: a few, which begin alike, so that blocks are shared all the time.

use super::make::Words;
use crate::config::PoolConfig;
use crate::identity::Identity;

/// Prompts. Number c is as number 0 up to block c, and another from there on.
pub(super) const CHAINS: u32 = 3;

/// What the block at `place` of a prompt is called.
pub(super) fn chain_identity(chain: u32, place: u32) -> Identity {
    let branch = if place < chain { 0 } else { chain };
    Identity { low: u64::from(branch) + 1, high: u64::from(place) + 1 }
}

/// The names of `count` blocks of a prompt from `first` on, and with `named` their tokens.
pub(super) fn chain_words(
    config: &PoolConfig,
    chain: u32,
    first: u32,
    count: u32,
    unfinished: bool,
    named: bool,
) -> Words {
    let identities = (first..first.saturating_add(count)).map(|place| chain_identity(chain, place)).collect();
    let mut words = Words { identities, tokens: std::vec::Vec::new(), unfinished, blocks_max: u32::MAX };
    if named {
        let of_name = |name: &Identity| (name.low * 1000 + name.high * 10) as u32;
        words.tokens = words
            .identities
            .iter()
            .flat_map(|name| (0..config.block_tokens).map(move |at| of_name(name) + at))
            .collect();
    }
    words
}
