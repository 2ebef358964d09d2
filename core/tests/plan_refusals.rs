//! What the planning arithmetic refuses: fields out of range, and every product and sum that would wrap.

use kvledger_core::plan::{Budget, Element, Geometry, Grain, Region, Scales, contiguous, paged};
use kvledger_core::{Argument, BLOCKS_MAX, Refusal};

const SMALL: Geometry = Geometry::new(1, 1, 8, 1, Element::Int8);

fn invalid<T>(argument: Argument) -> Result<T, Refusal> {
    Err(Refusal::Invalid { argument })
}

#[test]
fn every_field_of_a_geometry_has_a_range() {
    let scales = |grain, bytes, group| Geometry { scales: Scales { grain, bytes, group }, ..SMALL };
    let wrong = [
        Geometry { layers: 0, ..SMALL },
        Geometry { kv_heads: 0, ..SMALL },
        Geometry { key_dim: 0, ..SMALL },
        Geometry { block_tokens: 0, ..SMALL },
        Geometry { block_align_bytes: 0, ..SMALL },
        Geometry { block_align_bytes: 24, ..SMALL },
        scales(Grain::None, 2, 0),
        scales(Grain::None, 0, 2),
        scales(Grain::Token, 0, 0),
        scales(Grain::Token, 2, 2),
        scales(Grain::ElementGroup, 2, 0),
    ];
    for geometry in wrong {
        assert_eq!(geometry.check(), invalid(Argument::Geometry), "{geometry:?}");
        assert_eq!(geometry.token_bytes(), invalid(Argument::Geometry));
        assert_eq!(geometry.block_bytes(), invalid(Argument::Geometry));
        assert_eq!(geometry.pool_blocks(1 << 40), invalid(Argument::Geometry));
        assert_eq!(geometry.pool_bytes(1), invalid(Argument::Geometry));
        assert_eq!(geometry.request_blocks(1, 1), invalid(Argument::Geometry));
    }
    assert_eq!(SMALL.check(), Ok(()));
    assert_eq!(scales(Grain::ElementGroup, 2, 3).check(), Ok(()));
    assert_eq!(Geometry { value_dim: 0, ..SMALL }.check(), Ok(()));
}

#[test]
fn a_geometry_beyond_64_bits_is_an_overflow() {
    let huge = Geometry::new(u32::MAX, u32::MAX, u32::MAX, 1, Element::F32);
    assert_eq!(huge.token_bytes(), invalid(Argument::Overflow));

    // One token fits, the block does not.
    let token = Geometry::new(1 << 20, 1 << 20, 1 << 10, u32::MAX, Element::Int8);
    assert_eq!(token.token_bytes(), Ok(1 << 51));
    assert_eq!(token.block_bytes(), invalid(Argument::Overflow));

    // 2^64 − 1 = 641 · (2^32 − 1) · 6,700,417 bytes fit; rounded up to an even number they do not.
    let odd = Geometry { value_dim: 0, ..Geometry::new(641, u32::MAX, 6_700_417, 1, Element::Int8) };
    assert_eq!(Geometry { block_align_bytes: 1, ..odd }.block_bytes(), Ok(u64::MAX));
    assert_eq!(Geometry { block_align_bytes: 2, ..odd }.block_bytes(), invalid(Argument::Overflow));
}

#[test]
fn scales_beyond_64_bits_are_an_overflow() {
    let grains = [Grain::Token, Grain::TokenHead, Grain::Block, Grain::BlockHead, Grain::BlockChannel];
    for grain in grains {
        let geometry = Geometry {
            scales: Scales { grain, bytes: u32::MAX, group: 0 },
            ..Geometry::new(u32::MAX, 1, 1, 1, Element::Int4)
        };
        assert_eq!(geometry.block_bytes(), invalid(Argument::Overflow), "{grain:?}");
    }
}

#[test]
fn a_pool_has_between_one_block_and_the_most() {
    assert_eq!(SMALL.block_bytes(), Ok(16));
    assert_eq!(SMALL.pool_blocks(15), invalid(Argument::Blocks));
    assert_eq!(SMALL.pool_blocks(16), Ok(1));
    let most = u64::from(BLOCKS_MAX);
    assert_eq!(SMALL.pool_blocks(most * 16), Ok(BLOCKS_MAX));
    assert_eq!(SMALL.pool_blocks((most + 1) * 16), invalid(Argument::Blocks));
    assert_eq!(SMALL.pool_bytes(0), invalid(Argument::Blocks));
    assert_eq!(SMALL.pool_bytes(BLOCKS_MAX), Ok((most + 1) * 16));
    assert_eq!(SMALL.pool_bytes(BLOCKS_MAX + 1), invalid(Argument::Blocks));
    let wide = Geometry::new(1 << 10, 1 << 10, 1 << 14, 1, Element::Int8);
    assert_eq!(wide.pool_bytes(BLOCKS_MAX), invalid(Argument::Overflow));
}

#[test]
fn a_request_of_the_most_tokens_does_not_wrap() {
    assert_eq!(SMALL.request_blocks(u32::MAX, u32::MAX), Ok(2 * u64::from(u32::MAX)));
}

#[test]
fn blocks_of_no_tokens_are_refused() {
    assert_eq!(paged::blocks_for(1, 0), invalid(Argument::BlockTokens));
    assert_eq!(paged::growth_blocks(1, 1, 0), invalid(Argument::BlockTokens));
    assert_eq!(paged::paged_slots(&[1], 0), invalid(Argument::BlockTokens));
    assert_eq!(paged::window_blocks(1, 1, 1, 0), invalid(Argument::BlockTokens));
    assert_eq!(paged::window_blocks(0, 1, 1, 16), invalid(Argument::Tokens));
    assert_eq!(paged::slack(&[1], 0), invalid(Argument::BlockTokens));
    assert_eq!(paged::group_blocks(1, 1, 1, 0), invalid(Argument::BlockTokens));
    assert_eq!(paged::group_requests(1, 1, 1, 0), invalid(Argument::BlockTokens));
}

#[test]
fn paged_sums_at_the_edge_of_64_bits() {
    assert_eq!(paged::blocks_for(u64::MAX, 1), Ok(u64::MAX));
    assert_eq!(paged::window_blocks(1, u32::MAX, u32::MAX, 1), Ok((1 << 32) * u64::from(u32::MAX) + 1));
    assert_eq!(paged::window_blocks(u32::MAX, u32::MAX, u32::MAX, 1), Ok(u64::MAX));
    assert_eq!(paged::blocks_for(u64::MAX, 16), Ok(1 << 60));
    assert_eq!(paged::growth_blocks(u64::MAX - 1, 1, 1), Ok(1));
    assert_eq!(paged::growth_blocks(u64::MAX, 1, 1), invalid(Argument::Overflow));
    assert_eq!(paged::group_blocks(u64::MAX, 0, 2, 1), invalid(Argument::Overflow));
    assert_eq!(paged::group_blocks(u64::MAX, 1, 2, 1), invalid(Argument::Overflow));
    assert_eq!(paged::group_blocks(u64::MAX, 1, 1, 1), Ok(1));
    assert_eq!(paged::group_blocks(1, 3, 2, 1), invalid(Argument::Length));
    assert_eq!(paged::group_requests(1, 3, 2, 1), invalid(Argument::Length));
}

#[test]
fn a_share_of_nothing_is_refused() {
    assert_eq!(contiguous::waste_fraction(&[], 100), invalid(Argument::Tokens));
    assert_eq!(contiguous::waste_fraction(&[0, 0], 0), invalid(Argument::Tokens));
    assert_eq!(paged::slack(&[], 16), invalid(Argument::Tokens));
    assert_eq!(paged::slack(&[0], 16), invalid(Argument::Tokens));
    assert_eq!(contiguous::extra_reservations(400, 0, 0), invalid(Argument::Tokens));
}

#[test]
fn contiguous_sums_at_the_edge_of_64_bits() {
    assert_eq!(contiguous::reserved_slots(1 << 32, u32::MAX), Ok(u64::MAX - u64::from(u32::MAX)));
    assert_eq!(contiguous::reserved_slots((1 << 32) + 2, u32::MAX), invalid(Argument::Overflow));
    assert_eq!(contiguous::used_slots(&[u32::MAX; 5], u32::MAX), Ok(5 * u64::from(u32::MAX)));
    assert_eq!(contiguous::extra_reservations(u64::MAX, 1, u64::MAX), Ok(0));
}

#[test]
fn a_budget_at_the_edge_of_64_bits() {
    let mut budget = Budget::new(u64::MAX);
    assert_eq!(budget.set_bound(Region::Weights, u64::MAX), Ok(()));
    assert_eq!(budget.set_bound(Region::KvPool, 1), invalid(Argument::Overflow));
    assert_eq!(budget.take(Region::Weights, u64::MAX), Ok(()));
    assert_eq!(budget.take(Region::Weights, 1), invalid(Argument::Budget), "no wrap to 0");
    assert_eq!(budget.give_back(Region::KvPool, 1), invalid(Argument::Budget));
    assert_eq!(budget.spare_bytes(), 0);
}
