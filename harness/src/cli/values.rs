//! Values of flags, and what is wrong with a bad one.

pub use crate::prefix::GroupRule;
use crate::replay::{Exceed, PoolSize, Sharing};
use crate::trace::TOKENS_MAX;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::str::FromStr;

/// `--policy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PolicyName {
    /// The longest context, taken at once: what a server without paging does
    Contig,
    /// The whole output, at its true length: the best case of a declared limit
    Full,
    /// The prompt; growth asks for each further block, and preempts the youngest when there is none
    Incremental,
    /// The prompt and --percentile-tokens of output; beyond them --exceed says what happens
    Percentile,
    /// All four
    All,
}

/// `--policy` where only one can be meant.
pub fn one_policy() -> impl TypedValueParser<Value = PolicyName> {
    let each = PolicyName::value_variants().iter().filter(|policy| **policy != PolicyName::All);
    let names: Vec<_> = each.filter_map(PolicyName::to_possible_value).collect();
    PossibleValuesParser::new(names).try_map(|name| PolicyName::from_str(&name, false))
}

/// `--exceed`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ExceedName {
    /// The sequence that needs a block gives its blocks back and is recomputed later
    PreemptSelf,
    /// The most recently admitted ones do, until there is room
    PreemptYoungest,
    /// The sequence ends with the tokens it has
    Truncate,
}

impl From<ExceedName> for Exceed {
    fn from(name: ExceedName) -> Exceed {
        match name {
            ExceedName::PreemptSelf => Exceed::PreemptSelf,
            ExceedName::PreemptYoungest => Exceed::PreemptYoungest,
            ExceedName::Truncate => Exceed::Truncate,
        }
    }
}

/// `--sharing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SharingName {
    /// Every request has its own blocks
    Off,
    /// Requests share the blocks of equal prefixes while somebody holds them
    Live,
    /// And afterwards, until a block is evicted: the least recently released one first
    Retain,
}

impl From<SharingName> for Sharing {
    fn from(name: SharingName) -> Sharing {
        match name {
            SharingName::Off => Sharing::Off,
            SharingName::Live => Sharing::Live,
            SharingName::Retain => Sharing::Retain,
        }
    }
}

/// A whole number from 1 to `T`'s largest.
fn counted<T: FromStr>(text: &str, most: u64) -> Result<T, String> {
    text.parse().map_err(|_| format!("give a whole number from 1 to {most}"))
}

/// A count that must not be 0.
pub fn count_u32(text: &str) -> Result<NonZeroU32, String> {
    counted(text, u64::from(u32::MAX))
}

/// The same, wider.
pub fn count_u64(text: &str) -> Result<NonZeroU64, String> {
    counted(text, u64::MAX)
}

/// The same, of things in memory.
pub fn count_usize(text: &str) -> Result<NonZeroUsize, String> {
    counted(text, usize::MAX as u64)
}

/// A number of things in memory that may be 0.
pub fn whole_usize(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", usize::MAX))
}

/// A number that may be 0.
pub fn whole_u32(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u32::MAX))
}

/// The same, wider.
pub fn whole_u64(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// `--pool`.
pub fn pool(text: &str) -> Result<PoolSize, String> {
    if text == "unlimited" {
        return Ok(PoolSize::Unlimited);
    }
    let blocks = text.parse().ok().filter(|blocks| (1..=kvledger_core::BLOCKS_MAX).contains(blocks));
    let want =
        || format!("give 1 to {} blocks, or `unlimited` for as many as the trace can use", kvledger_core::BLOCKS_MAX);
    blocks.map(PoolSize::Blocks).ok_or_else(want)
}

/// `--percentile-tokens`: Q.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromisedOutput {
    /// So many tokens.
    Tokens(u32),
    /// The trace's own percentile of outputs.
    OfTrace(u32),
}

impl FromStr for PromisedOutput {
    type Err = String;

    fn from_str(text: &str) -> Result<PromisedOutput, String> {
        let (tokens, percent) = match text.strip_prefix('p') {
            Some(percent) => (None, percent.parse().ok().filter(|percent| (1..=100).contains(percent))),
            None => (text.parse().ok().filter(|&tokens: &u32| u64::from(tokens) <= TOKENS_MAX), None),
        };
        let want =
            || format!("give 0 to {TOKENS_MAX} tokens, or p1 to p100 for that percentile of the trace's own outputs");
        tokens.map(PromisedOutput::Tokens).or(percent.map(PromisedOutput::OfTrace)).ok_or_else(want)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_have_a_block_or_no_limit() {
        assert_eq!(pool("12"), Ok(PoolSize::Blocks(12)));
        assert_eq!(pool("unlimited"), Ok(PoolSize::Unlimited));
        for bad in ["0", "-1", "2147483647", "", "many", "1.5"] {
            assert!(pool(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn percentiles_say_what_they_take() {
        assert_eq!("p95".parse(), Ok(PromisedOutput::OfTrace(95)));
        assert_eq!("0".parse(), Ok(PromisedOutput::Tokens(0)));
        for bad in ["p0", "p101", "95%", "2147483648", "-1", "p"] {
            assert!(bad.parse::<PromisedOutput>().is_err(), "{bad}");
        }
    }
}
