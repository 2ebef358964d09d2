//! Random small traces, through the engine (both the one that skips steps and the one that audits every step) and through
//! the reference: all counters, all records and the digests must be equal.

use super::reference::{Request, simulate};
use kvledger_core::model::{BlackBox, Random};
use kvledger_harness::replay::{Exceed, Policy, PoolSize, Prepared, Replayed, Settings, digests};
use kvledger_harness::trace::{Format, Normalise, Rows, Trace};
use std::sync::atomic::AtomicU64;

/// `from ..= to`, of numbers below 2^31.
fn range(random: &mut Random, from: u64, to: u64) -> u64 {
    from + u64::from(random.below((to - from + 1) as u32))
}

fn one_of<T: Copy>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len() as u32) as usize]
}

fn requests(random: &mut Random) -> Vec<Request> {
    let count = range(random, 1, 40);
    let (longest_prompt, longest_output) = (range(random, 1, 80), one_of(random, &[1, 5, 40, 200]));
    let span = one_of(random, &[0, 50, 2_000, 100_000]);
    let mut requests: Vec<Request> = (0..count)
        .map(|_| {
            (range(random, 0, span), range(random, 1, longest_prompt) as u32, range(random, 1, longest_output) as u32)
        })
        .collect();
    requests.sort_by_key(|request| request.0);
    requests
}

fn settings(random: &mut Random, requests: &[Request]) -> Settings {
    let block_tokens = one_of(random, &[1, 2, 3, 4, 7, 16, 64]);
    let longest = requests.iter().map(|&(_, prompt, output)| u64::from(prompt + output)).max().unwrap_or(1);
    let max_context = longest + range(random, 0, 20) - range(random, 0, longest / 2);
    let (longest_promise, spare) = (one_of(random, &[0, 3, 50, 300]), one_of(random, &[1, 10, 100]));
    let policy = match range(random, 0, 9) {
        0 => Policy::Contig,
        1 | 2 => Policy::Full,
        3..=5 => Policy::Incremental,
        _ => Policy::Percentile {
            q_tokens: range(random, 0, longest_promise) as u32,
            exceed: one_of(random, &[Exceed::PreemptSelf, Exceed::PreemptYoungest, Exceed::Truncate]),
        },
    };
    // From barely enough for the longest request to enough for several.
    let pool = longest.div_ceil(block_tokens) + range(random, 0, spare);
    let pool = if range(random, 0, 7) == 0 { PoolSize::Unlimited } else { PoolSize::Blocks(pool as u32) };
    let safety = match pool {
        PoolSize::Blocks(blocks) => range(random, 0, u64::from(blocks - 1).min(6)) as u32,
        PoolSize::Unlimited => 0,
    };
    let may_be_0 = |random: &mut Random, value| if range(random, 0, 2) == 0 { 0 } else { value };
    let max_context = if policy == Policy::Contig { max_context.max(1) } else { may_be_0(random, max_context) };
    let (cap, step_us) = (range(random, 1, 6), one_of(random, &[1, 10, 1_000]));
    Settings {
        block_tokens: block_tokens as u32,
        max_running: may_be_0(random, cap) as u32,
        step_us,
        ..Settings::new(policy, pool, safety, max_context as u32)
    }
}

fn trace(requests: &[Request]) -> Trace {
    let mut rows = Rows::default();
    for &(arrival_us, prompt, output) in requests {
        rows.push(arrival_us, prompt, output, 0, &[]);
    }
    rows.into_trace("random", Format::GenericCsv, 1, Normalise::default()).expect("a trace")
}

fn replay(requests: &[Request], settings: &Settings) -> Replayed {
    let mut prepared = Prepared::new(&trace(requests), settings).expect("a pool");
    let mut black_box = BlackBox::new("random-trace", 1024);
    let outcome = prepared.run_recorded(&AtomicU64::new(0), black_box.ring());
    outcome.unwrap_or_else(|failure| panic!("{failure}\n{settings:?}\n{requests:?}"))
}

fn compare(replayed: &Replayed, requests: &[Request], settings: &Settings, seed: u64) {
    let (counters, records) = simulate(requests, settings);
    assert_eq!(replayed.counters, counters, "seed {seed}, {settings:?}, {requests:?}");
    assert_eq!(replayed.records, records, "seed {seed}, {settings:?}, {requests:?}");
    assert_eq!(replayed.digests, digests(&records));
}

#[test]
fn the_engine_counts_what_the_rules_count() {
    let seeds = if cfg!(debug_assertions) { 3_000 } else { 20_000 };
    let (mut preempted, mut truncated, mut rejected, mut exceeded) = (0, 0, 0, 0);
    for seed in 1..=seeds {
        let mut random = Random::new(seed);
        let requests = requests(&mut random);
        let settings = settings(&mut random, &requests);
        let replayed = replay(&requests, &settings);
        compare(&replayed, &requests, &settings, seed);
        preempted += u64::from(replayed.counters.preemptions > 0);
        truncated += u64::from(replayed.counters.truncated > 0);
        exceeded += u64::from(replayed.counters.exceed_blocks > 0);
        rejected += u64::from(replayed.counters.rejected_ctx + replayed.counters.rejected_pool > 0);
    }
    // The traces are worth their time only if everything happens in many of them.
    for (what, count) in
        [("preempted", preempted), ("truncated", truncated), ("rejected", rejected), ("exceeded", exceeded)]
    {
        assert!(count > seeds / 50, "only {count} of {seeds} traces {what}");
    }
}

#[test]
fn the_audit_counts_the_same_and_finds_nothing() {
    for seed in 1..=if cfg!(debug_assertions) { 150 } else { 1_000 } {
        let mut random = Random::new(seed << 20);
        let requests = requests(&mut random);
        let settings = Settings { audit: true, ..settings(&mut random, &requests) };
        compare(&replay(&requests, &settings), &requests, &settings, seed);
    }
}

#[test]
fn a_run_can_be_repeated_in_the_same_memory() {
    let requests: Vec<Request> = (0..30).map(|i| (i * 7, 20 + i as u32, 30)).collect();
    let settings = Settings { block_tokens: 4, ..Settings::new(Policy::Incremental, PoolSize::Blocks(60), 2, 0) };
    let mut prepared = Prepared::new(&trace(&requests), &settings).expect("a pool");
    let first = prepared.run(&AtomicU64::new(0)).expect("a run");
    let through = AtomicU64::new(0);
    let second = prepared.run(&through).expect("a run");
    assert!(first.counters.preemptions > 0, "the pool is small enough to matter");
    assert_eq!((first.counters, first.digests), (second.counters, second.digests));
    assert_eq!(through.into_inner(), 30);
}

/// The net catches: settings that differ by one are told apart on some trace, for each setting that the rules know.
#[test]
fn a_wrong_setting_is_noticed() {
    let differs = |change: &dyn Fn(&mut Settings)| {
        (1..400).any(|seed| {
            let mut random = Random::new(seed);
            let requests = requests(&mut random);
            let right = settings(&mut random, &requests);
            let mut wrong = right;
            change(&mut wrong);
            wrong != right && simulate(&requests, &wrong).0 != replay(&requests, &right).counters
        })
    };
    assert!(differs(&|settings| settings.safety = settings.safety.saturating_sub(1)));
    assert!(differs(&|settings| settings.block_tokens += 1));
    assert!(differs(&|settings| settings.max_running += u32::from(settings.max_running > 0)));
    assert!(differs(&|settings| settings.step_us += 1));
    assert!(differs(&|settings| {
        if let Policy::Percentile { q_tokens, .. } = &mut settings.policy {
            *q_tokens += 1;
        }
    }));
    assert!(differs(&|settings| {
        if let PoolSize::Blocks(blocks) = &mut settings.pool {
            *blocks += 1;
        }
    }));
}
