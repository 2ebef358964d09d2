//! Random small traces, through the engine (both the one that skips steps and the one that audits every step) and through
//! the reference: all counters, all records and the digests must be equal.

use super::reference::{Request, simulate};
use kvledger_core::model::{BlackBox, Random};
use kvledger_harness::prefix::GroupRule;
use kvledger_harness::replay::{Exceed, Policy, PoolSize, Prepared, Replayed, Settings, Sharing, digests};
use kvledger_harness::trace::{Format, Normalise, Rows, Trace};
use std::sync::atomic::AtomicU64;

/// `from ..= to`, of numbers below 2^31.
fn range(random: &mut Random, from: u64, to: u64) -> u64 {
    from + u64::from(random.below((to - from + 1) as u32))
}

fn one_of<T: Copy>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len() as u32) as usize]
}

/// Requests in order of arrival, and how many tokens an id of theirs names.
#[derive(Clone, Debug)]
struct Case {
    requests: Vec<Request>,
    id_tokens: u32,
    settings: Settings,
}

impl Case {
    fn random(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let id_tokens = one_of(&mut random, &[1, 2, 4, 5, 16]);
        let requests = requests(&mut random, id_tokens);
        let settings = settings(&mut random, &requests);
        Case { requests, id_tokens, settings }
    }
}

fn requests(random: &mut Random, id_tokens: u32) -> Vec<Request> {
    let count = range(random, 1, 40);
    let (longest_prompt, longest_output) = (range(random, 1, 80), one_of(random, &[1, 5, 40, 200]));
    let span = one_of(random, &[0, 50, 2_000, 100_000]);
    // A few conversations that many requests repeat, or go on with.
    let (conversations, tenants) = (one_of(random, &[1, 2, 5, 30]), one_of(random, &[1, 2, 3]));
    let mut requests: Vec<Request> = (0..count)
        .map(|number| {
            let (arrival_us, prompt) = (range(random, 0, span), range(random, 1, longest_prompt) as u32);
            let output = range(random, 1, longest_output) as u32;
            let (said, ids) = (range(random, 1, conversations), u64::from(prompt.div_ceil(id_tokens)));
            let (common, named) = (range(random, 0, ids), range(random, 0, ids).max(range(random, 0, ids)));
            let id = |place| if place < common { said << 32 | place } else { number << 40 | place };
            let (ids, tenant) = ((0..named).map(id).collect(), range(random, 1, tenants));
            Request { arrival_us, prompt, output, tenant, ids }
        })
        .collect();
    requests.sort_by_key(|request| request.arrival_us);
    requests
}

fn settings(random: &mut Random, requests: &[Request]) -> Settings {
    let block_tokens = one_of(random, &[1, 2, 3, 4, 7, 16, 64]);
    let longest = requests.iter().map(|request| u64::from(request.prompt + request.output)).max().unwrap_or(1);
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
    let k = range(random, 1, 3) as u32;
    let group = one_of(
        random,
        &[
            GroupRule::One,
            GroupRule::One,
            GroupRule::Solo,
            GroupRule::Tenant,
            GroupRule::Index(k),
            GroupRule::SecondSegment(k),
        ],
    );
    let sharing = one_of(random, &[Sharing::Off, Sharing::Live, Sharing::Retain, Sharing::Retain]);
    let settings = Settings {
        block_tokens: block_tokens as u32,
        max_running: may_be_0(random, cap) as u32,
        step_us,
        ..Settings::new(policy, pool, safety, max_context as u32)
    };
    settings.sharing(sharing, group)
}

fn trace(case: &Case) -> Trace {
    let mut rows = Rows::default();
    for request in &case.requests {
        rows.push(request.arrival_us, request.prompt, request.output, request.tenant, &request.ids);
    }
    rows.into_trace("random", Format::GenericCsv, case.id_tokens, Normalise::default()).expect("a trace")
}

fn replay(case: &Case) -> Replayed {
    let mut prepared = Prepared::new(&trace(case), &case.settings).expect("a pool");
    let mut black_box = BlackBox::new("random-trace", 1024);
    let outcome = prepared.run_recorded(&AtomicU64::new(0), black_box.ring());
    outcome.unwrap_or_else(|failure| panic!("{failure}\n{case:?}"))
}

fn compare(replayed: &Replayed, case: &Case, seed: u64) {
    let (counters, records) = simulate(&case.requests, case.id_tokens, &case.settings);
    assert_eq!(replayed.counters, counters, "seed {seed}, {case:?}");
    assert_eq!(replayed.records, records, "seed {seed}, {case:?}");
    assert_eq!(replayed.digests, digests(&records));
}

#[test]
fn the_engine_counts_what_the_rules_count() {
    let seeds = if cfg!(debug_assertions) { 3_000 } else { 20_000 };
    let mut happened = [0; 9];
    for seed in 1..=seeds {
        let case = Case::random(seed);
        let replayed = replay(&case);
        compare(&replayed, &case, seed);
        let counters = &replayed.counters;
        let sharing = case.settings.sharing;
        let now = [
            counters.preemptions > 0,
            counters.truncated > 0,
            counters.exceed_blocks > 0,
            counters.rejected_ctx + counters.rejected_pool > 0,
            counters.hit_first > 0 && sharing == Sharing::Live,
            counters.hit_first > 0 && sharing == Sharing::Retain,
            counters.hit_re > 0,
            counters.evictions > 0,
            counters.hit_first > 0 && case.settings.group != GroupRule::One,
        ];
        happened.iter_mut().zip(now).for_each(|(count, now)| *count += u64::from(now));
    }
    // The traces are worth their time only if everything happens in many of them.
    let names = ["preempted", "truncated", "exceeded", "rejected", "shared", "kept", "hit again", "evicted", "groups"];
    for (what, count) in names.into_iter().zip(happened) {
        assert!(count > seeds / 50, "only {count} of {seeds} traces: {what}");
    }
}

#[test]
fn the_audit_counts_the_same_and_finds_nothing() {
    for seed in 1..=if cfg!(debug_assertions) { 150 } else { 1_000 } {
        let mut case = Case::random(seed << 20);
        case.settings.audit = true;
        compare(&replay(&case), &case, seed);
    }
}

#[test]
fn a_run_can_be_repeated_in_the_same_memory() {
    let ids = |i: u64| (0..4 + i % 3).collect();
    let requests =
        (0..30).map(|i| Request { ids: ids(i), ..Request::plain(i * 7, 20 + i as u32, 30) }).collect::<Vec<_>>();
    let settings = Settings { block_tokens: 4, ..Settings::new(Policy::Incremental, PoolSize::Blocks(60), 2, 0) };
    for sharing in [Sharing::Off, Sharing::Live, Sharing::Retain] {
        let settings = settings.sharing(sharing, GroupRule::Index(2));
        let case = Case { requests: Vec::clone(&requests), id_tokens: 4, settings };
        let mut prepared = Prepared::new(&trace(&case), &settings).expect("a pool");
        let first = prepared.run(&AtomicU64::new(0)).expect("a run");
        let through = AtomicU64::new(0);
        let second = prepared.run(&through).expect("a run");
        assert!(first.counters.preemptions > 0, "the pool is small enough to matter");
        assert_eq!(first.counters.hit_first > 0, settings.shares());
        assert_eq!((first.counters, first.digests), (second.counters, second.digests));
        assert_eq!(through.into_inner(), 30);
    }
}

/// The net catches: settings that differ by one are told apart on some trace, for each setting that the rules know.
#[test]
fn a_wrong_setting_is_noticed() {
    let differs = |change: &dyn Fn(&mut Settings)| {
        (1..400).any(|seed| {
            let right = Case::random(seed);
            let mut wrong = right.settings;
            change(&mut wrong);
            wrong != right.settings && simulate(&right.requests, right.id_tokens, &wrong).0 != replay(&right).counters
        })
    };
    assert!(differs(&|settings| settings.safety = settings.safety.saturating_sub(1)));
    assert!(differs(&|settings| settings.block_tokens += 1));
    assert!(differs(&|settings| settings.max_running += u32::from(settings.max_running > 0)));
    assert!(differs(&|settings| settings.step_us += 1));
    assert!(differs(&|settings| settings.group = GroupRule::Solo));
    assert!(differs(&|settings| {
        if settings.sharing == Sharing::Retain {
            settings.sharing = Sharing::Live;
        }
    }));
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
