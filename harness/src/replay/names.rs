//! What the blocks of prompts are called in the pool (rules G and K), where they are shared.

use super::failure::Failure;
use super::settings::Settings;
use crate::cache::Accesses;
use crate::prefix::GroupRule;
use crate::trace::Trace;
use kvledger_core::{Group, SLOTS_MAX, identity::Identity};
use std::collections::HashMap;
use std::num::NonZeroU32;

/// The names of all requests; none where nothing is shared. Four bytes a block.
#[derive(Clone, Debug, Default)]
pub struct Names {
    blocks: Option<Accesses>,
    /// The trust group of each request, in order of appearance.
    groups: Vec<u32>,
    /// Different ones, as far as a pool can have them.
    groups_in_pool: u32,
}

impl Names {
    /// Names the blocks of `trace`, if `settings` share any. Errors: there are too many; the user's to mend.
    pub fn of(trace: &Trace, settings: &Settings) -> Result<Names, Failure> {
        if !settings.shares() {
            return Ok(Names::default());
        }
        let block_tokens = NonZeroU32::new(settings.block_tokens).unwrap_or(NonZeroU32::MIN);
        let blocks = Accesses::new(trace, block_tokens, settings.group);
        let blocks = blocks.map_err(|many| Failure::Settings(many.to_string()))?;
        let (groups, count) = dense_groups(trace, settings.group);
        Ok(Names { blocks: Some(blocks), groups, groups_in_pool: count.min(SLOTS_MAX) })
    }

    /// The named blocks of a request, from block 0 on.
    pub fn blocks(&self, request: u32) -> &[u32] {
        self.blocks.as_ref().map_or(&[], |blocks| blocks.request(request as usize))
    }

    /// How many blocks of a request have names.
    pub fn count(&self, request: u32) -> u32 {
        // A prompt has fewer than 2^32 tokens.
        self.blocks(request).len() as u32
    }

    /// Different blocks.
    pub fn distinct(&self) -> u64 {
        self.blocks.as_ref().map_or(0, |blocks| blocks.names() as u64)
    }

    /// Groups that the pool must have, at least 1.
    pub fn groups(&self) -> u32 {
        self.groups_in_pool.max(1)
    }

    /// The group of a request in the pool. Two trust groups share one of the pool's only if there are more than a pool can
    /// have; their names differ all the same.
    pub fn group(&self, request: u32) -> Group {
        Group(self.groups.get(request as usize).map_or(0, |group| group % self.groups()))
    }

    /// Puts the identities of a request's blocks into `identities`, in place of what is there. Names are exact, so they need
    /// not be hashed: equal numbers, equal prefixes.
    pub fn identities(&self, request: u32, identities: &mut Vec<Identity>) {
        let high = self.groups.get(request as usize).map_or(0, |&group| u64::from(group)) + 1;
        identities.clear();
        identities.extend(self.blocks(request).iter().map(|&name| Identity { low: u64::from(name), high }));
    }
}

/// The group of each request as a number from 0 on, without gaps, and how many there are.
fn dense_groups(trace: &Trace, rule: GroupRule) -> (Vec<u32>, u32) {
    let mut numbers = HashMap::new();
    let number = |index| {
        let next = numbers.len() as u32;
        *numbers.entry(rule.group(trace, index)).or_insert(next)
    };
    let groups = (0..trace.requests.len()).map(number).collect();
    (groups, numbers.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Policy, PoolSize, Sharing};
    use super::*;
    use crate::trace::{Normalise, load_text};

    #[test]
    fn names_differ_where_groups_or_prefixes_do() {
        let text =
            "arrival_us,prompt_tokens,output_tokens,ids,tenant\n0,9,1,1 2,7\n1,8,1,1 3,9\n2,8,1,1 2,7\n3,4,1,,9\n";
        let trace = load_text("t", text, Some(4), Normalise::default()).expect("a trace");
        let settings = Settings { block_tokens: 4, ..Settings::new(Policy::Full, PoolSize::Blocks(9), 0, 0) };
        let of = |sharing, rule| Names::of(&trace, &settings.sharing(sharing, rule)).expect("few blocks");
        let off = of(Sharing::Off, GroupRule::One);
        assert_eq!((off.count(0), off.distinct(), off.groups(), off.group(3)), (0, 0, 1, Group(0)));
        let tenants = of(Sharing::Live, GroupRule::Tenant);
        assert_eq!([0, 1, 2, 3].map(|request| tenants.group(request).0), [0, 1, 0, 1]);
        assert_eq!([0, 1, 2, 3].map(|request| tenants.count(request)), [2, 2, 2, 0]);
        let identities = |request| {
            let mut identities = vec![Identity { low: 77, high: 77 }];
            tenants.identities(request, &mut identities);
            identities
        };
        assert_eq!(identities(0), identities(2));
        assert!(identities(1).iter().all(|identity| !identities(0).contains(identity)));
        assert_eq!((tenants.distinct(), tenants.groups()), (4, 2));
        assert_eq!(of(Sharing::Live, GroupRule::One).distinct(), 3);
    }
}
