//! What serving shows, and that it would show what is wrong.

use super::server::{Mistake, serve_with};
use super::*;
use crate::prefix::GroupRule;
use crate::replay::Sharing;
use crate::trace::{Normalise, Trace, load_text};
use kvledger_cuda::cpu::{Options, Pace, Pauses, Trouble};
use kvledger_cuda::{Cpu, Device};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

const SETTINGS: Settings = Settings {
    blocks: 1 << 20,
    block_tokens: 8,
    output_most: 12,
    sharing: Sharing::Off,
    group: GroupRule::One,
    thread_blocks: 3,
};

/// A device whose streams go at their own, different pace.
fn device(seed: u64) -> Arc<dyn Device> {
    let pauses = Pauses { seed, one_in: 6, most: Duration::from_millis(2) };
    Cpu::open(Options { pace: Pace::Threads(pauses), ..Options::default() })
}

/// Requests of some hundred tokens, every second one beginning like the first.
fn trace(requests: u32) -> Trace {
    let mut text = "arrival_us,prompt_tokens,output_tokens,ids\n".to_string();
    for request in 0..requests {
        let (prompt, output) = (40 + request * 37 % 300, 3 + request % 11);
        let ids: Vec<String> =
            (0..prompt / 16).map(|id| if request % 2 == 0 { id } else { request * 100 + id }.to_string()).collect();
        text += &format!("{request},{prompt},{output},{}\n", ids.join(" "));
    }
    load_text("t", text.leak(), Some(16), Normalise::default()).expect("a trace")
}

fn served(settings: &Settings, seed: u64, mistake: Mistake) -> Result<Served, crate::replay::Failure> {
    serve_with(&trace(24), settings, &device(seed), &AtomicU64::new(0), mistake)
}

#[test]
fn every_row_of_every_step_is_right_and_blocks_go_from_hand_to_hand() {
    let served = served(&SETTINGS, 1, Mistake::None).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((served.requests, served.rejected, served.cached), (24, 0, 0));
    assert!(served.rows > 3 * 150 && served.share > 0.0 && served.share < 1.0, "{served:?}");
    assert!(served.taken > 2 * served.distinct && served.retired > 100, "{served:?}");
    let tokens = |request: u32| 40 + request * 37 % 300 + (3 + request % 11).min(SETTINGS.output_most);
    assert_eq!(served.written, u64::from((0..24).map(tokens).sum::<u32>()));
}

#[test]
fn shared_prefixes_have_the_same_contents() {
    for sharing in [Sharing::Live, Sharing::Retain] {
        let served = served(&Settings { sharing, ..SETTINGS }, 2, Mistake::None).unwrap_or_else(|why| panic!("{why}"));
        assert!(served.requests == 24 && served.cached > 0, "{sharing:?}: {served:?}");
    }
}

/// The net catches: epochs that are over before their work is let a block be written while it is read.
#[test]
fn epochs_that_are_over_too_early_are_seen() {
    let seen = (0..20).any(|seed| match served(&SETTINGS, seed, Mistake::CompleteEarly) {
        Ok(_) => false,
        Err(crate::replay::Failure::Audit { what, .. }) => what.contains("output") || what.contains("LSE"),
        Err(other) => panic!("{other}"),
    });
    assert!(seen, "no result differs in twenty tries");
}

/// A plan that is written over an earlier one before that was copied.
#[test]
fn a_plan_buffer_that_is_reused_too_early_is_seen() {
    // One request a lane, so that every plan fits every step.
    let text = "arrival_us,prompt_tokens,output_tokens\n0,20,12\n0,20,12\n";
    let trace = load_text("t", text, None, Normalise::default()).expect("a trace");
    let seen = (0..20).any(|seed| {
        match serve_with(&trace, &SETTINGS, &device(seed), &AtomicU64::new(0), Mistake::ReusePlan) {
            Ok(_) => false,
            Err(crate::replay::Failure::Audit { what, .. }) => what.contains("the device has worked through plan"),
            Err(other) => panic!("{other}"),
        }
    });
    assert!(seen, "every step had its own plan in twenty tries");
}

#[test]
fn a_device_that_is_lost_is_told_with_its_step() {
    let trouble = Trouble { seed: 3, lose: 200, ..Trouble::default() };
    let device: Arc<dyn Device> = Cpu::open(Options { trouble, ..Options::default() });
    let answer = serve(&trace(24), &SETTINGS, &device, &AtomicU64::new(0));
    let Err(crate::replay::Failure::Device { what, .. }) = answer else { panic!("{answer:?}") };
    assert!(what.contains("the device is lost"), "{what}");
}

#[test]
fn a_pool_that_nobody_fits_into_is_refused() {
    let answer = served(&Settings { blocks: 3, ..SETTINGS }, 1, Mistake::None);
    assert!(matches!(&answer, Err(failure) if failure.is_usage()), "{answer:?}");
}

#[test]
fn a_pool_beyond_memory_is_refused_with_the_flag() {
    let answer = served(&Settings { block_tokens: u32::MAX, ..SETTINGS }, 1, Mistake::None);
    let Err(failure) = answer else { panic!("{answer:?}") };
    assert!(failure.is_usage() && failure.to_string().starts_with("--block-tokens 4294967295: "), "{failure}");
}
