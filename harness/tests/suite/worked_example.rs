//! The worked example of the replay rules: four requests, block 4, longest context 24, and for each policy what happens to
//! each request and every counter, by hand.

use kvledger_harness::replay::{Counters, Exceed, Outcome, Policy, PoolSize, Prepared, Record, Settings};
use kvledger_harness::trace::{Normalise, Trace, load_text};
use std::sync::atomic::AtomicU64;

const TRACE: &str = "\
{\"timestamp\": 0, \"input_length\": 10, \"output_length\": 7, \"hash_ids\": [1, 2, 3]}
{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 9, \"hash_ids\": [1, 2, 4]}
{\"timestamp\": 10, \"input_length\": 5, \"output_length\": 3, \"hash_ids\": [1, 5]}
{\"timestamp\": 60, \"input_length\": 8, \"output_length\": 2, \"hash_ids\": [6, 7]}
";

fn trace() -> Trace {
    load_text("the worked example", TRACE, Some(4), Normalise::default()).expect("a trace")
}

/// First admission, end, preemptions, and whether it got all its tokens.
type Fate = (u64, u64, u32, Outcome);

fn check(policy: Policy, pool: u32, safety: u32, fates: [Fate; 4], counters: Counters) {
    for audit in [false, true] {
        let settings = Settings { block_tokens: 4, audit, ..Settings::new(policy, PoolSize::Blocks(pool), safety, 24) };
        let mut prepared = Prepared::new(&trace(), &settings).expect("a pool");
        let replayed = prepared.run(&AtomicU64::new(0)).expect("a replay");
        let fate = |record: &Record| (record.admit.unwrap(), record.finish.unwrap(), record.preempts, record.outcome);
        assert_eq!(replayed.records.iter().map(fate).collect::<Vec<_>>(), fates, "{policy:?}, audit {audit}");
        let completed = fates.iter().filter(|fate| fate.3 == Outcome::Completed).count() as u64;
        // The example says nothing about these.
        let Counters { max_wait, lost_tokens, .. } = replayed.counters;
        let expected = Counters { requests: 4, completed, max_wait, lost_tokens, ..counters };
        assert_eq!(replayed.counters, expected, "{policy:?}, audit {audit}");
    }
}

const fn completed(admit: u64, finish: u64, preempts: u32) -> Fate {
    (admit, finish, preempts, Outcome::Completed)
}

fn percentile(exceed: Exceed) -> Policy {
    Policy::Percentile { q_tokens: 1, exceed }
}

#[test]
fn contig() {
    let fates = [completed(0, 6, 0), completed(7, 15, 0), completed(16, 18, 0), completed(19, 20, 0)];
    let counters = Counters {
        admissions: 4,
        peak_used: 6,
        peak_committed: 6,
        peak_running: 1,
        peak_queue: 3,
        busy_steps: 21,
        end_step: 20,
        sum_used: 126,
        sum_committed: 126,
        sum_tokens: 264,
        sum_running: 21,
        sum_wait: 38,
        blocks_allocated: 24,
        ..Counters::default()
    };
    check(Policy::Contig, 12, 1, fates, counters);
}

#[test]
fn full() {
    let fates = [completed(0, 6, 0), completed(0, 8, 0), completed(7, 9, 0), completed(7, 8, 0)];
    let counters = Counters {
        admissions: 4,
        peak_used: 10,
        peak_committed: 10,
        peak_running: 3,
        peak_queue: 2,
        busy_steps: 10,
        end_step: 9,
        sum_used: 74,
        sum_committed: 92,
        sum_tokens: 264,
        sum_running: 21,
        sum_wait: 10,
        blocks_allocated: 15,
        ..Counters::default()
    };
    check(Policy::Full, 12, 1, fates, counters);
}

#[test]
fn incremental() {
    let fates = [completed(0, 6, 0), completed(0, 8, 0), completed(1, 3, 0), completed(3, 5, 1)];
    let counters = Counters {
        admissions: 5,
        preemptions: 1,
        peak_used: 11,
        peak_committed: 11,
        peak_running: 3,
        busy_steps: 9,
        end_step: 8,
        sum_used: 74,
        sum_committed: 74,
        sum_tokens: 264,
        sum_running: 21,
        blocks_allocated: 17,
        ..Counters::default()
    };
    check(Policy::Incremental, 12, 0, fates, counters);
}

#[test]
fn percentile_that_preempts_itself() {
    let fates = [completed(0, 6, 0), completed(0, 9, 1), completed(1, 3, 0), completed(7, 8, 0)];
    let counters = Counters {
        admissions: 5,
        preemptions: 1,
        exceed_requests: 2,
        exceed_blocks: 3,
        peak_used: 9,
        peak_committed: 9,
        peak_running: 3,
        peak_queue: 1,
        busy_steps: 10,
        end_step: 9,
        sum_used: 74,
        sum_committed: 74,
        sum_tokens: 264,
        sum_running: 21,
        sum_wait: 4,
        blocks_allocated: 18,
        ..Counters::default()
    };
    check(percentile(Exceed::PreemptSelf), 9, 0, fates, counters);
}

#[test]
fn percentile_that_preempts_the_youngest() {
    let fates = [completed(0, 6, 0), completed(0, 8, 0), completed(1, 7, 1), completed(7, 9, 1)];
    let counters = Counters {
        admissions: 6,
        preemptions: 2,
        exceed_requests: 2,
        exceed_blocks: 4,
        peak_used: 9,
        peak_committed: 9,
        peak_running: 3,
        peak_queue: 2,
        busy_steps: 10,
        end_step: 9,
        sum_used: 74,
        sum_committed: 74,
        sum_tokens: 264,
        sum_running: 21,
        sum_wait: 4,
        blocks_allocated: 19,
        ..Counters::default()
    };
    check(percentile(Exceed::PreemptYoungest), 9, 0, fates, counters);
}

#[test]
fn percentile_that_truncates() {
    let fates = [completed(0, 6, 0), (0, 3, 0, Outcome::Truncated), completed(1, 3, 0), completed(4, 5, 0)];
    let counters = Counters {
        admissions: 4,
        truncated: 1,
        exceed_requests: 2,
        exceed_blocks: 2,
        peak_used: 9,
        peak_committed: 9,
        peak_running: 3,
        peak_queue: 1,
        busy_steps: 7,
        end_step: 6,
        sum_used: 48,
        sum_committed: 48,
        sum_tokens: 171,
        sum_running: 15,
        sum_wait: 1,
        blocks_allocated: 13,
        ..Counters::default()
    };
    check(percentile(Exceed::Truncate), 9, 0, fates, counters);
}
