//! New keys and values into their blocks.

use super::check::{self, Checked, refuse};
use super::pointers::{See, Where, see, see_cache};
use super::refusal::Wrong;
use crate::raw::{kvk_append_params, kvk_slot, kvk_status};
use std::collections::HashMap;

/// A launch of `append`.
///
/// In device memory: `slots`, which [`check_slots`](Append::check_slots) takes before they are copied there.
#[derive(Clone, Copy, Debug)]
pub struct Append {
    /// What the kernel is given.
    pub params: kvk_append_params,
}

impl Append {
    /// Whether the kernel can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        check::cache(&p.cache)?;
        check::wide_type("type", p.type_)?;
        check::status(p.status)?;
        if p.tokens == 0 {
            return Ok(());
        }
        check::counted("tokens", p.tokens.into(), u64::from(p.cache.heads) * 2, check::WORK_MAX)?;
        check::rows("keys", p.keys)?;
        check::rows("values", p.values)?;
        check::needed("slots", p.slots)?;
        self.tokens().check()
    }

    /// Whether slots are in the cache, and no two are the same. `INVALID` ones are reported by the kernel too, but two
    /// that are the same are not. Cost: O(tokens).
    pub fn check_slots(&self, slots: &[kvk_slot]) -> Checked {
        let p = &self.params;
        if slots.len() as u64 != u64::from(p.tokens) {
            return refuse("slots", Wrong::Count { count: slots.len() as u64, must: p.tokens.into() });
        }
        let mut seen = HashMap::with_capacity(slots.len());
        for (entry, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.block != 0) {
            if slot.block > p.cache.blocks {
                return refuse("slots", Wrong::Block { entry, block: slot.block, blocks: p.cache.blocks });
            }
            if slot.token >= p.cache.block_tokens {
                let most = u64::from(p.cache.block_tokens.saturating_sub(1));
                return refuse("slots", Wrong::Entry { entry, value: slot.token.into(), most });
            }
            if let Some(first) = seen.insert((slot.block, slot.token), entry) {
                return refuse("slots", Wrong::Twice { first, second: entry });
            }
        }
        Ok(())
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        let bytes = self.tokens().extent().saturating_mul(2);
        let p = &mut self.params;
        see_cache(look, &mut p.cache)?;
        see(look, "keys", Where::Device, bytes, &mut p.keys)?;
        see(look, "values", Where::Device, bytes, &mut p.values)?;
        see(look, "slots", Where::Either, u64::from(p.tokens) * size_of::<kvk_slot>() as u64, &mut p.slots)?;
        see(look, "status", Where::Either, size_of::<kvk_status>() as u64, &mut p.status)
    }

    fn tokens(&self) -> check::Shape<2> {
        let p = &self.params;
        let strides = [p.token_stride, p.head_stride];
        check::token_shape(["token_stride", "head_stride"], [p.tokens, p.cache.heads], strides, p.cache.head_dim)
    }
}
