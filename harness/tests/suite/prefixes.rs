//! Identities of blocks (G, K): the worked example by hand, and random traces against the rule written the obvious way, by
//! comparing whole prefixes.

use super::worked_example::fenced;
use kvledger_core::model::Random;
use kvledger_harness::census::Sharing;
use kvledger_harness::prefix::{GroupRule, Identities};
use kvledger_harness::trace::{Format, Normalise, Rows, Trace, load_text};
use std::collections::HashSet;
use std::num::NonZeroU32;

fn not_0(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("not 0")
}

/// `(requests hit at the start, identified, distinct, longest)`.
fn figures(trace: &Trace, block_tokens: u32, rule: GroupRule) -> (u64, u64, u64, u32) {
    let sharing = Sharing::of(trace, not_0(block_tokens), rule).expect("few blocks");
    assert_eq!(sharing.hits_unlimited, sharing.identified_blocks - sharing.distinct_blocks);
    let by_depth = |of: fn(&kvledger_harness::census::Depth) -> u64| sharing.by_depth.iter().map(of).sum::<u64>();
    assert_eq!(by_depth(|depth| depth.hits), sharing.hits_unlimited);
    assert_eq!(by_depth(|depth| depth.identified_blocks), sharing.identified_blocks);
    (sharing.requests_with_hits, sharing.identified_blocks, sharing.distinct_blocks, sharing.longest)
}

/// Whole blocks of its prompts: 1 2, 1 2, 1, 6 7.
#[test]
fn the_worked_example_has_four_prefixes() {
    let trace = load_text("the worked example", fenced("jsonl"), Some(4), Normalise::default()).expect("a trace");
    assert_eq!(figures(&trace, 4, GroupRule::One), (2, 7, 4, 2));
    assert_eq!(figures(&trace, 4, GroupRule::Tenant), (2, 7, 4, 2));
    assert_eq!(figures(&trace, 4, GroupRule::Solo), (0, 7, 7, 2));
    // Request 1 is alone among the odd ones; 0 and 2 are together.
    assert_eq!(figures(&trace, 4, GroupRule::Index(2)), (1, 7, 6, 2));
    // Second ids 2, 2, 5, 7: by halves 0, 0, 1, 1.
    assert_eq!(figures(&trace, 4, GroupRule::SecondSegment(2)), (1, 7, 5, 2));
    // Blocks of 2 halve each id; the last two tokens of prompt 0 are a block now.
    assert_eq!(figures(&trace, 2, GroupRule::One), (2, 5 + 4 + 2 + 4, 9, 5));
    // Blocks of 3 and of 8 go across ids.
    assert_eq!(figures(&trace, 3, GroupRule::One), (2, 3 + 3 + 1 + 2, 6, 3));
    assert_eq!(figures(&trace, 8, GroupRule::One), (1, 3, 2, 1));
}

/// The tokens of a prompt as far as ids name them: (id, offset in it) each.
fn tokens(trace: &Trace, index: usize) -> Vec<(u64, u32)> {
    let request = &trace.requests[index];
    let named = trace.ids(request).iter().flat_map(|&id| (0..trace.id_tokens).map(move |offset| (id, offset)));
    named.take(request.prompt as usize).collect()
}

fn random_trace(random: &mut Random) -> Trace {
    let mut below = |bound: u32| random.below(bound);
    let (id_tokens, ids_of, tenants) = (1 + below(6), 1 + u64::from(below(4)), 1 + below(3));
    let mut rows = Rows::default();
    for time in 0..1 + below(12) {
        // Few ids and short lists, so that many prefixes are equal, and ids come again after others.
        let ids: Vec<u64> = (0..below(7)).map(|_| u64::from(below(ids_of as u32)) << 33).collect();
        rows.push(u64::from(time), 1 + below(30), 1, below(tenants).into(), &ids);
    }
    rows.into_trace("random", Format::GenericCsv, id_tokens, Normalise::default()).expect("a trace")
}

#[test]
fn names_are_equal_exactly_when_whole_prefixes_are() {
    let mut shared = 0;
    for seed in 0..700 {
        let mut random = Random::new(seed);
        let trace = random_trace(&mut random);
        let block_tokens = 1 + random.below(9);
        let k = 1 + random.below(3);
        for rule in
            [GroupRule::One, GroupRule::Solo, GroupRule::Tenant, GroupRule::Index(k), GroupRule::SecondSegment(k)]
        {
            shared += compare(&trace, block_tokens, rule, seed);
        }
    }
    assert!(shared > 5_000, "there is something to share: {shared}");
}

/// Compares all names of a trace with whole prefixes; says how many blocks were shared.
fn compare(trace: &Trace, block_tokens: u32, rule: GroupRule, seed: u64) -> u64 {
    let mut identities = Identities::new(not_0(block_tokens), not_0(trace.id_tokens));
    let mut prefixes: HashSet<(u64, Vec<(u64, u32)>)> = HashSet::new();
    let mut by_name = std::collections::HashMap::new();
    let mut shared = 0;
    for (index, request) in trace.requests.iter().enumerate() {
        let (group, tokens) = (rule.group(trace, index), tokens(trace, index));
        let mut names = Vec::new();
        let named = identities.name(group, request.prompt, trace.ids(request), &mut names).expect("few blocks");
        let whole = tokens.len() as u32 / block_tokens;
        assert_eq!((named.blocks, names.len()), (whole, whole as usize), "seed {seed}");
        let mut known = 0;
        for (block, name) in names.into_iter().enumerate() {
            let prefix = (group, tokens[..(block + 1) * block_tokens as usize].to_vec());
            assert_eq!(*by_name.entry(name).or_insert_with(|| prefix.clone()), prefix, "seed {seed}: a false hit");
            known += u32::from(!prefixes.insert(prefix));
        }
        assert_eq!(named.known, known, "seed {seed}");
        shared += u64::from(known);
    }
    assert_eq!(identities.distinct(), prefixes.len() as u64, "seed {seed}: {rule}, block {block_tokens}");
    shared
}
