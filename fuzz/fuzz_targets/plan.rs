//! The planning arithmetic never panics, and agrees with the same formulas in 128 bits, where nothing that it answers
//! can wrap: what does not fit in 64 bits is refused, and nothing else is.
#![no_main]

use arbitrary::Arbitrary;
use kvledger_core::plan::{Budget, Element, Geometry, Grain, Region, Scales, contiguous, paged};
use kvledger_core::{Argument, BLOCKS_MAX, Refusal};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    geometry: [u32; 6],
    element: u8,
    scales: (u8, u32, u32),
    bytes: u64,
    lengths: Vec<u32>,
    tokens_max: u32,
    counts: [u64; 3],
    budget: Vec<(u8, u8, u64)>,
}

fuzz_target!(|input: Input| {
    geometry(&input);
    lengths(&input);
    groups(&input);
    budget(&input);
});

/// What a formula answers when it is right: the value if it fits, else a refusal that says so.
fn expect(answer: Result<u64, Refusal>, value: Option<u128>, what: &str) {
    match value.map(u64::try_from) {
        Some(Ok(value)) => assert_eq!(answer, Ok(value), "{what}"),
        _ => assert_eq!(answer, Err(Refusal::Invalid { argument: Argument::Overflow }), "{what}"),
    }
}

/// Factors of 32 bits: five of them do not fit in 128 bits either.
fn product(factors: &[u128]) -> Option<u128> {
    factors.iter().try_fold(1u128, |product, factor| product.checked_mul(*factor))
}

fn geometry(input: &Input) {
    let [layers, kv_heads, key_dim, value_dim, block_tokens, align] = input.geometry;
    let (grain, bytes, group) = input.scales;
    let element = Element::from_number(u32::from(input.element % 7)).expect("seven of them");
    let grain = Grain::from_number(u32::from(grain % 7)).expect("seven of them");
    let block_align_bytes = 1 << (align % 32);
    let scales = Scales { grain, bytes, group };
    let geometry = Geometry { layers, kv_heads, key_dim, value_dim, block_tokens, block_align_bytes, element, scales };
    if geometry.check().is_err() {
        assert_eq!(geometry.block_bytes(), Err(Refusal::Invalid { argument: Argument::Geometry }));
        return;
    }
    let block = model(&geometry);
    expect(geometry.token_bytes(), block.token, "bytes of a token");
    expect(geometry.block_bytes(), block.bytes, "bytes of a block");
    if let Ok(block) = geometry.block_bytes() {
        let blocks = input.bytes / block;
        let fits = (1..=u64::from(BLOCKS_MAX)).contains(&blocks);
        assert_eq!(geometry.pool_blocks(input.bytes).ok(), fits.then_some(blocks as u32));
    }
}

struct Block {
    token: Option<u128>,
    bytes: Option<u128>,
}

fn model(geometry: &Geometry) -> Block {
    let [layers, heads] = [geometry.layers, geometry.kv_heads].map(u128::from);
    let [key, value] = [geometry.key_dim, geometry.value_dim].map(u128::from);
    let bits = u128::from(geometry.element.bits());
    let elements = heads * ((key * bits).div_ceil(8) + (value * bits).div_ceil(8));
    let vectors = if value == 0 { 1 } else { 2 };
    let group = u128::from(geometry.scales.group.max(1));
    let (of_token, of_block) = match geometry.scales.grain {
        Grain::Token => (vectors, 0),
        Grain::TokenHead => (heads * vectors, 0),
        Grain::ElementGroup => (heads * (key.div_ceil(group) + value.div_ceil(group)), 0),
        Grain::Block => (0, vectors),
        Grain::BlockHead => (0, heads * vectors),
        Grain::BlockChannel => (0, heads * (key + value)),
        _ => (0, 0),
    };
    let scale = u128::from(geometry.scales.bytes);
    let token = product(&[layers, elements + scale * of_token]);
    let align = u128::from(geometry.block_align_bytes);
    let scales = product(&[layers, scale, of_block]);
    let bytes = token
        .and_then(|token| token.checked_mul(u128::from(geometry.block_tokens)))
        .and_then(|tokens| tokens.checked_add(scales?))
        .and_then(|bytes| bytes.div_ceil(align).checked_mul(align));
    Block { token, bytes }
}

fn lengths(input: &Input) {
    let Input { lengths, tokens_max, .. } = input;
    let used: u128 = lengths.iter().copied().map(u128::from).sum();
    let within = lengths.iter().all(|length| length <= tokens_max);
    let answer = contiguous::used_slots(lengths, *tokens_max);
    if within {
        expect(answer, Some(used), "used slots");
    } else {
        assert_eq!(answer, Err(Refusal::Invalid { argument: Argument::Length }));
    }
    if let Ok(waste) = contiguous::waste_fraction(lengths, *tokens_max) {
        assert_eq!(u128::from(waste.denominator - waste.numerator), used);
        assert!((0.0..=1.0).contains(&waste.to_f64()));
    }
    let block_tokens = input.geometry[4];
    if block_tokens == 0 {
        return;
    }
    let block = u128::from(block_tokens);
    let slots = lengths.iter().map(|length| u128::from(*length).div_ceil(block) * block).sum();
    expect(paged::paged_slots(lengths, block_tokens), Some(slots), "paged slots");
    if let Ok(slack) = paged::slack(lengths, block_tokens) {
        assert_eq!(u128::from(slack.denominator - slack.numerator), used);
        // Less than one block a sequence.
        assert!(u128::from(slack.numerator) < block * lengths.len() as u128);
    }
}

fn groups(input: &Input) {
    let [requests, prefix, tokens] = input.counts;
    let block_tokens = input.geometry[4];
    if block_tokens == 0 || prefix > tokens {
        assert!(paged::group_blocks(requests, prefix, tokens, block_tokens).is_err());
        return;
    }
    let block = u128::from(block_tokens);
    let shared = u128::from(prefix) / block;
    let private = u128::from(tokens).div_ceil(block) - shared;
    let all = if requests == 0 { 0 } else { shared + private * u128::from(requests) };
    expect(paged::group_blocks(requests, prefix, tokens, block_tokens), Some(all), "blocks of a group");
    // The answer fits, and one more does not.
    let most = paged::group_requests(input.bytes, prefix, tokens, block_tokens).expect("checked above");
    let blocks = |requests: u64| shared + private * u128::from(requests);
    assert!(most == 0 || blocks(most) <= u128::from(input.bytes));
    assert!(most == u64::MAX || blocks(most + 1) > u128::from(input.bytes));
    let growth = u128::from(prefix) + u128::from(requests);
    let wide = growth.div_ceil(block) - u128::from(prefix).div_ceil(block);
    let fits = growth <= u128::from(u64::MAX);
    expect(paged::growth_blocks(prefix, requests, block_tokens), fits.then_some(wide), "growth");
    windows(prefix as u32, requests as u32, tokens as u32, block_tokens);
}

/// A window of at least one token, with every block size above 0.
fn windows(window: u32, steps_in_flight: u32, step_tokens: u32, block_tokens: u32) {
    let steps = (u128::from(steps_in_flight) + 1) * u128::from(step_tokens);
    let blocks = |before: u32| (u128::from(before) + steps).div_ceil(u128::from(block_tokens)) + 1;
    let answer = paged::window_blocks(window, steps_in_flight, step_tokens, block_tokens);
    match window.checked_sub(1) {
        Some(before) => expect(answer, Some(blocks(before)), "blocks of a window"),
        None => assert_eq!(answer, Err(Refusal::Invalid { argument: Argument::Tokens })),
    }
}

/// Whatever is asked, the bounds fit the device and nothing that was taken is above its bound.
fn budget(input: &Input) {
    let mut budget = Budget::new(input.bytes);
    for (call, region, bytes) in &input.budget {
        let region = Region::ALL[usize::from(*region) % Region::ALL.len()];
        let before = budget;
        let refused = match call % 3 {
            0 => budget.set_bound(region, *bytes).is_err(),
            1 => budget.take(region, *bytes).is_err(),
            _ => budget.give_back(region, *bytes).is_err(),
        };
        assert!(!refused || budget == before, "a refused call changes nothing");
        let bounds: u128 = Region::ALL.iter().map(|region| u128::from(budget.usage(*region).bound)).sum();
        assert_eq!(bounds + u128::from(budget.spare_bytes()), u128::from(input.bytes));
        for region in Region::ALL {
            let usage = budget.usage(region);
            assert!(usage.current <= usage.bound && usage.current <= usage.peak, "{usage:?}");
        }
    }
}
