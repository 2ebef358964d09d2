//! One region of the longest length for each sequence, beside blocks for what is there.

use crate::report::{Columns, prose};
use kvledger_core::Refusal;
use kvledger_core::plan::{contiguous, paged};
use serde::Serialize;

/// The figures of a few sequences.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Contiguous {
    /// Tokens of a region.
    pub tokens_max: u32,
    /// B.
    pub block_tokens: u32,
    /// Slots of the pool.
    pub pool_slots: u64,
    /// Slots that are reserved: a region each.
    pub reserved: u64,
    /// Slots with a token.
    pub used: u64,
    /// Reserved slots without one: nobody else's to use.
    pub idle: u64,
    /// Regions that fit beside them.
    pub more_regions: u64,
    /// Slots of the blocks that paging gives them.
    pub paged: u64,
    /// Of these, without a token.
    pub slack: u64,
    /// Tokens that may still come to each.
    pub more_tokens: u32,
    /// Each sequence.
    pub sequences: Vec<Sequence>,
}

/// One sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Sequence {
    /// Its tokens.
    pub tokens: u32,
    /// Its blocks.
    pub blocks: u64,
    /// Their slots without a token.
    pub slack: u64,
    /// Blocks that it needs besides for `more_tokens`.
    pub growth: u64,
}

impl Contiguous {
    /// Sequences of these `lengths`, in regions of `tokens_max` and in blocks of `block_tokens`. Errors: those of
    /// `kvledger_core::plan`; no lengths are `INVALID(Tokens)`.
    pub fn new(
        lengths: &[u32],
        tokens_max: u32,
        pool_slots: u64,
        block_tokens: u32,
        more_tokens: u32,
    ) -> Result<Contiguous, Refusal> {
        let waste = contiguous::waste_fraction(lengths, tokens_max)?;
        let slack = paged::slack(lengths, block_tokens)?;
        let sequence = |&tokens: &u32| {
            let blocks = paged::blocks_for(u64::from(tokens), block_tokens)?;
            let slack = paged::paged_slots(&[tokens], block_tokens)? - u64::from(tokens);
            let growth = paged::growth_blocks(u64::from(tokens), u64::from(more_tokens), block_tokens)?;
            Ok(Sequence { tokens, blocks, slack, growth })
        };
        Ok(Contiguous {
            tokens_max,
            block_tokens,
            pool_slots,
            reserved: waste.denominator,
            used: contiguous::used_slots(lengths, tokens_max)?,
            idle: waste.numerator,
            more_regions: contiguous::extra_reservations(pool_slots, tokens_max, lengths.len() as u64)?,
            paged: slack.denominator,
            slack: slack.numerator,
            more_tokens,
            sequences: lengths.iter().map(sequence).collect::<Result<_, Refusal>>()?,
        })
    }

    /// In words, on lines of `width` characters.
    pub fn text(&self, width: usize) -> String {
        let Contiguous { tokens_max, block_tokens, reserved, used, idle, paged, slack, .. } = self;
        let shares = |part: u64, whole: u64| format!("{part}/{whole} = {:.2} %", 100.0 * part as f64 / whole as f64);
        let line = |text: String| prose(&text, width, 4);
        let mut text = line(format!("a region of {tokens_max} token slots each"));
        text += &line(format!("  {reserved} reserved, {used} used, {idle} idle"));
        text += &line(format!("  {} of what is reserved, which no other sequence can use", shares(*idle, *reserved)));
        text += &line(format!("  a pool of {} slots takes {} more regions", self.pool_slots, self.more_regions));
        text.push('\n');
        text += &line(format!("blocks of {block_tokens} tokens"));
        text += &line(format!("  {paged} slots in {} blocks, {used} used", paged / u64::from(*block_tokens)));
        let denominator = "of this allocation: not of the pool, nor of the device's memory";
        text += &line(format!("  slack {slack}: {} {denominator}", shares(*slack, *paged)));
        text.push('\n');
        let column = |of: fn(&Sequence) -> u64| self.sequences.iter().map(move |row| of(row).to_string());
        text += &Columns::new((1..=self.sequences.len()).map(|number| format!("sequence {number}")))
            .column("tokens", column(|row| u64::from(row.tokens)))
            .column("blocks", column(|row| row.blocks))
            .column("slack", column(|row| row.slack))
            .column(&format!("with {} more tokens", self.more_tokens), column(|row| row.blocks + row.growth))
            .render(width);
        text + &line(
            "A sequence that shares the block it writes to needs one block more, and the end of its copy.".to_string(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the contract.
    #[test]
    fn three_regions_one_allocation_one_growth() {
        let regions = Contiguous::new(&[20, 35, 10], 100, 400, 16, 10).expect("valid");
        assert_eq!((regions.reserved, regions.used, regions.idle, regions.more_regions), (300, 65, 235, 1));
        assert!(regions.text(80).contains("235/300"), "{}", regions.text(80));
        let allocation = Contiguous::new(&[33], 100, 400, 16, 1).expect("valid");
        let one = allocation.sequences[0];
        assert_eq!((one.blocks, allocation.paged, one.slack), (3, 48, 15));
        assert!(allocation.text(80).contains("15/48 = 31.25 %"), "{}", allocation.text(80));
        let growing = Contiguous::new(&[17], 100, 400, 8, 10).expect("valid").sequences[0];
        assert_eq!((growing.blocks, growing.growth), (3, 1), "3 become 4");
    }

    #[test]
    fn what_the_plan_refuses_is_refused() {
        assert!(Contiguous::new(&[101], 100, 400, 16, 0).is_err());
        assert!(Contiguous::new(&[], 100, 400, 16, 0).is_err());
        assert!(Contiguous::new(&[1], 100, 400, 0, 0).is_err());
        assert!(Contiguous::new(&[0], 100, 400, 16, 0).is_err(), "nothing is allocated, so there is no share");
    }
}
