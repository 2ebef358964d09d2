//! Every figure of the planning arithmetic that the specification states, as an equation. Ranges, overflow and the
//! forecast have files of their own: `plan_refusals.rs`, `plan_forecast.rs`.

use kvledger_core::plan::{Budget, Element, Geometry, Grain, Ratio, Region, Scales, contiguous, paged};
use kvledger_core::{Argument, BLOCKS_MAX, Refusal};

const MIB: u64 = 1 << 20;

/// 32 layers, 8 KV heads, 128 elements, 16 tokens a block.
const DECODER: Geometry = Geometry::new(32, 8, 128, 16, Element::Bf16);

/// The plan is usable where a constant is needed.
const DECODER_BLOCKS: u32 = match DECODER.pool_blocks(512 * MIB) {
    Ok(blocks) => blocks,
    Err(_) => 0,
};

fn invalid<T>(argument: Argument) -> Result<T, Refusal> {
    Err(Refusal::Invalid { argument })
}

#[test]
fn a_token_is_131072_bytes_and_a_block_two_mebibytes() {
    assert_eq!(DECODER.token_bytes(), Ok(131_072));
    assert_eq!(DECODER.block_bytes(), Ok(2 * MIB));
}

#[test]
fn a_pool_of_512_mebibytes_is_256_blocks() {
    assert_eq!(DECODER_BLOCKS, 256);
    assert_eq!(DECODER.pool_blocks(512 * MIB - 1), Ok(255));
    assert_eq!(DECODER.pool_bytes(256), Ok(514 * MIB), "the null block exists too");
}

#[test]
fn a_request_of_2048_and_257_tokens_is_145_blocks() {
    assert_eq!(DECODER.request_blocks(2_048, 257), Ok(145));
    assert_eq!(DECODER.request_blocks(2_048, 256), Ok(144), "one token less is one block less");
    assert_eq!(DECODER.request_blocks(2_048, 0), Ok(128));
    assert_eq!(paged::growth_blocks(2_048, 257, 16), Ok(17));
}

#[test]
fn eight_requests_that_share_a_prefix_are_264_blocks_and_seven_247() {
    assert_eq!(paged::group_blocks(8, 2_048, 2_305, 16), Ok(264));
    assert_eq!(paged::group_blocks(7, 2_048, 2_305, 16), Ok(247));
    assert_eq!(paged::group_blocks(8, 0, 2_305, 16), Ok(1_160), "unshared");
    assert_eq!(paged::group_requests(256, 2_048, 2_305, 16), Ok(7));
}

#[test]
fn one_request_of_a_group_of_its_own_fits() {
    let one = paged::group_blocks(1, 2_048, 2_305, 16);
    assert_eq!(one, Ok(145), "sharing with nobody saves nothing");
    assert_eq!(paged::group_requests(256, 0, 2_305, 16), Ok(1));
}

#[test]
fn a_prefix_is_shared_by_whole_blocks_only() {
    assert_eq!(paged::group_blocks(2, 31, 33, 16), Ok(1 + 2 * 2));
    assert_eq!(paged::group_blocks(2, 32, 33, 16), Ok(2 + 2));
    assert_eq!(paged::group_blocks(0, 32, 33, 16), Ok(0), "nobody holds the prefix");
    assert_eq!(paged::group_requests(2, 32, 32, 16), Ok(u64::MAX), "who shares all costs nothing more");
    assert_eq!(paged::group_requests(1, 32, 32, 16), Ok(0), "the prefix alone does not fit");
}

#[test]
fn ten_tokens_after_seventeen_are_one_block_of_eight() {
    assert_eq!(paged::blocks_for(17, 8), Ok(3));
    assert_eq!(paged::blocks_for(27, 8), Ok(4));
    assert_eq!(paged::growth_blocks(17, 10, 8), Ok(1));
    assert_eq!(paged::growth_blocks(17, 7, 8), Ok(0), "the third block holds 24");
    assert_eq!(paged::growth_blocks(0, 1, 8), Ok(1));
    assert_eq!(paged::growth_blocks(16, 0, 8), Ok(0));
}

/// The window formula, and that it is enough: a sequence that grows by a chunk at a time, whose blocks are freed as soon
/// as neither a step in flight nor the next one can look at them, never holds more.
#[test]
fn a_window_holds_what_steps_in_flight_can_still_see() {
    assert_eq!(paged::window_blocks(1, 0, 1, 16), Ok(2));
    assert_eq!(paged::window_blocks(4_096, 1, 1, 16), Ok(258));
    assert_eq!(paged::window_blocks(1_024, 1, 2_048, 16), Ok(321));
    for (window, in_flight, chunk, block) in [(1, 0, 1, 1), (5, 0, 1, 4), (8, 1, 3, 4), (16, 2, 5, 8), (7, 3, 1, 16)] {
        let (mut most, mut steps) = (0, 0u64);
        while steps < 200 {
            // The step being prepared writes up to `end`; the oldest one in flight began `in_flight` chunks earlier.
            let end = (steps + 1) * chunk;
            let oldest_query = (steps * chunk).saturating_sub(in_flight * chunk);
            let first = (oldest_query + 1).saturating_sub(window);
            most = most.max(end.div_ceil(block) - first / block);
            steps += 1;
        }
        let bound = paged::window_blocks(window as u32, in_flight as u32, chunk as u32, block as u32).unwrap();
        assert!(most <= bound, "{window} {in_flight} {chunk} {block}: {most} > {bound}");
        assert!(most + 2 > bound, "{window} {in_flight} {chunk} {block}: {bound} is far above {most}");
    }
}

#[test]
fn contiguous_regions_of_100_slots_waste_235_of_300() {
    let lengths = [20, 35, 10];
    assert_eq!(contiguous::reserved_slots(3, 100), Ok(300));
    assert_eq!(contiguous::used_slots(&lengths, 100), Ok(65));
    let waste = contiguous::waste_fraction(&lengths, 100);
    assert_eq!(waste, Ok(Ratio { numerator: 235, denominator: 300 }));
    assert_eq!(contiguous::extra_reservations(400, 100, 3), Ok(1));
    assert_eq!(contiguous::extra_reservations(399, 100, 3), Ok(0));
    assert_eq!(contiguous::extra_reservations(100, 100, 3), Ok(0), "a shrunk pool takes none, not minus two");
}

#[test]
fn a_length_above_the_maximum_is_an_error() {
    assert_eq!(contiguous::used_slots(&[20, 101], 100), invalid(Argument::Length));
    assert_eq!(contiguous::used_slots(&[20, 100], 100), Ok(120));
    assert_eq!(contiguous::waste_fraction(&[20, 101], 100), invalid(Argument::Length));
    assert_eq!(contiguous::used_slots(&[20, 101], u32::MAX), Ok(121), "no maximum");
}

#[test]
fn thirty_three_tokens_have_fifteen_slots_of_slack_in_48() {
    assert_eq!(paged::blocks_for(33, 16), Ok(3));
    assert_eq!(paged::paged_slots(&[33], 16), Ok(48));
    let slack = paged::slack(&[33], 16).unwrap();
    assert_eq!(slack, Ratio { numerator: 15, denominator: 48 });
    assert_eq!(slack.to_f64(), 0.3125);
}

#[test]
fn paging_the_contiguous_example_takes_96_slots() {
    assert_eq!(paged::paged_slots(&[20, 35, 10], 16), Ok(32 + 48 + 16));
    assert_eq!(paged::slack(&[20, 35, 10], 16), Ok(Ratio { numerator: 96 - 65, denominator: 96 }));
}

#[test]
fn bytes_follow_the_element() {
    let token = |element| Geometry::new(32, 8, 128, 16, element).token_bytes();
    assert_eq!(token(Element::F32), Ok(262_144));
    assert_eq!(token(Element::F16), Ok(131_072));
    assert_eq!(token(Element::E4m3), Ok(65_536));
    assert_eq!(token(Element::E5m2), Ok(65_536));
    assert_eq!(token(Element::Int8), Ok(65_536));
    assert_eq!(token(Element::Int4), Ok(32_768));
}

#[test]
fn an_odd_head_of_four_bits_starts_at_a_byte() {
    assert_eq!(Geometry::new(1, 2, 3, 1, Element::Int4).token_bytes(), Ok(2 * (2 + 2)));
}

#[test]
fn a_joint_latent_is_stored_once() {
    // 61 layers of one latent of 512 + 64 elements.
    let latent = Geometry { value_dim: 0, ..Geometry::new(61, 1, 576, 64, Element::Bf16) };
    assert_eq!(latent.token_bytes(), Ok(61 * 576 * 2));
}

#[test]
fn scales_of_tokens_are_in_the_token_and_scales_of_blocks_in_the_block() {
    let with = |grain, group| Geometry {
        scales: Scales { grain, bytes: 4, group },
        block_align_bytes: 1,
        ..Geometry::new(3, 2, 10, 8, Element::Int8)
    };
    let elements = 3 * 2 * (10 + 10);
    // (grain, group, scales of a token, scales of a block), over all 3 layers.
    let cases = [
        (Grain::Token, 0, 3 * 2, 0),
        (Grain::TokenHead, 0, 3 * 2 * 2, 0),
        (Grain::ElementGroup, 4, 3 * 2 * (3 + 3), 0),
        (Grain::Block, 0, 0, 3 * 2),
        (Grain::BlockHead, 0, 0, 3 * 2 * 2),
        (Grain::BlockChannel, 0, 0, 3 * 2 * (10 + 10)),
    ];
    for (grain, group, token, block) in cases {
        let geometry = with(grain, group);
        assert_eq!(geometry.token_bytes(), Ok(elements + 4 * token), "{grain:?}");
        assert_eq!(geometry.block_bytes(), Ok(8 * (elements + 4 * token) + 4 * block), "{grain:?}");
    }
}

#[test]
fn a_block_is_rounded_up_to_its_alignment() {
    let odd = Geometry { block_align_bytes: 1, ..Geometry::new(1, 1, 3, 3, Element::Int8) };
    assert_eq!(odd.block_bytes(), Ok(18));
    assert_eq!(Geometry { block_align_bytes: 16, ..odd }.block_bytes(), Ok(32));
    assert_eq!(Geometry { block_align_bytes: 2, ..odd }.block_bytes(), Ok(18));
}

#[test]
fn the_numbers_of_the_c_abi_name_what_they_named() {
    for (number, region) in Region::ALL.into_iter().enumerate() {
        assert_eq!(region as usize, number);
        assert_eq!(Region::from_number(number as u32), Some(region));
    }
    assert_eq!(Region::from_number(7), None);
    for number in 0..7 {
        assert_eq!(Element::from_number(number).map(|element| element as u32), Some(number));
        assert_eq!(Grain::from_number(number).map(|grain| grain as u32), Some(number));
    }
    assert_eq!(Element::from_number(7), None);
    assert_eq!(Grain::from_number(7), None);
}

#[test]
fn the_bounds_of_a_budget_fit_before_anything_is_allocated() {
    let mut budget = Budget::new(1_000);
    for region in Region::ALL {
        assert_eq!(budget.set_bound(region, 100), Ok(()));
    }
    assert_eq!(budget.spare_bytes(), 300);
    assert_eq!(budget.set_bound(Region::KvPool, 401), invalid(Argument::Budget));
    assert_eq!(budget.usage(Region::KvPool).bound, 100, "a refused bound leaves the old one");
    assert_eq!(budget.set_bound(Region::KvPool, 400), Ok(()));
    assert_eq!(budget.spare_bytes(), 0);
    assert_eq!(budget.device_bytes(), 1_000);
}

#[test]
fn a_region_takes_no_more_than_its_bound_and_keeps_its_peak() {
    let mut budget = Budget::new(1_000);
    budget.set_bound(Region::Workspace, 100).unwrap();
    assert_eq!(budget.take(Region::Workspace, 70), Ok(()));
    assert_eq!(budget.take(Region::Workspace, 31), invalid(Argument::Budget));
    assert_eq!(budget.take(Region::Weights, 1), invalid(Argument::Budget), "a region without a bound has none");
    assert_eq!(budget.give_back(Region::Workspace, 60), Ok(()));
    assert_eq!(budget.give_back(Region::Workspace, 11), invalid(Argument::Budget));
    let usage = budget.usage(Region::Workspace);
    assert_eq!((usage.current, usage.peak), (10, 70));
    assert_eq!(budget.set_bound(Region::Workspace, 9), invalid(Argument::Budget), "below what it uses");
    assert_eq!(budget.set_bound(Region::Workspace, 10), Ok(()));
}

#[test]
fn a_measured_use_is_a_fact_even_above_the_bound() {
    let mut budget = Budget::new(1_000);
    budget.set_bound(Region::Outside, 100).unwrap();
    assert_eq!(budget.observe(Region::Outside, 130), 30);
    assert_eq!(budget.observe(Region::Outside, 90), 0);
    let usage = budget.usage(Region::Outside);
    assert_eq!((usage.bound, usage.current, usage.peak), (100, 90, 130));
}

#[test]
fn a_pool_is_sized_with_what_the_other_regions_leave() {
    let mut budget = Budget::new(1_024 * MIB);
    budget.set_bound(Region::Weights, 400 * MIB).unwrap();
    budget.set_bound(Region::Outside, 111 * MIB).unwrap();
    let blocks = DECODER.pool_blocks(budget.spare_bytes()).unwrap() - 1;
    let bytes = DECODER.pool_bytes(blocks).unwrap();
    assert_eq!((blocks, bytes), (255, 512 * MIB), "513 MiB are 256 blocks, one of them the null block");
    assert_eq!(budget.set_bound(Region::KvPool, bytes), Ok(()));
    assert!(blocks < BLOCKS_MAX);
}
