//! What `kvledger plan` counts, against the obvious way: admitting requests one by one, and asking again with what was said
//! to be enough.

use kvledger_core::model::Random;
use kvledger_core::plan::{Element, Scales};
use kvledger_harness::model_config::ModelConfig;
use kvledger_harness::planning::{Cache, Load, Policy, Pools, Request, Storage, fit, needed};

/// With kinds that differ as well: what full-output reservation is said to need is enough, and a block less is not.
#[test]
fn what_is_needed_is_enough_for_every_kind() {
    let mut short = 0;
    for seed in 1..=400 {
        let mut random = Random::new(seed);
        let kinds = random.below(3);
        let config = format!(
            r#"{{"num_hidden_layers": {}, "hidden_size": 8, "num_attention_heads": 2, "dtype": "float16"{}}}"#,
            2 * (1 + random.below(20)),
            ["", r#", "sliding_window": 40, "sliding_window_pattern": 2"#, r#", "full_attention_interval": 2"#]
                [kinds as usize]
        );
        let model = ModelConfig::parse("m", &config, &[]).expect("a config");
        let storage = Storage {
            element: Element::F16,
            scales: Scales::NONE,
            block_tokens: 1 + random.below(20),
            ranks: 1,
            steps_in_flight: 1,
            step_tokens: 1 + random.below(20),
            keeps_windows: false,
        };
        let state = if kinds == 2 { Some(u64::from(random.below(5_000))) } else { None };
        let cache = Cache::new(&model, &storage, state.or(Some(0))).expect("a cache");
        let requests =
            (0..=random.below(4)).map(|_| Request { prompt: 1 + random.below(200), output: random.below(200) });
        let load = Load::new(requests.collect(), None).expect("requests");
        let safety = [None, Some(0), Some(random.below(9))][random.below(3) as usize];
        let wanted = 1 + u64::from(random.below(300));
        let bytes = needed(&cache, &load, Policy::Full, wanted, safety, 0).expect("it can be had").pool_bytes;
        let fitting = |bytes: u64| {
            let pools = Pools::new(&cache, bytes, &load, safety).expect("pools");
            assert!(pools.pools.iter().all(|pool| pool.safety < pool.blocks));
            fit(&load, &pools, Policy::Full, 0).requests
        };
        assert_eq!(fitting(bytes), wanted, "seed {seed}");
        if wanted > 1 {
            assert!(fitting(bytes - 1) < wanted, "seed {seed}: less would do");
            short += 1;
        }
    }
    assert!(short > 300, "{short}");
}

/// Counting by rounds gives what admitting one by one gives, in pools of every kind.
#[test]
fn counting_is_admitting_one_by_one() {
    let configs = [
        r#"{"num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2, "dtype": "float16"}"#,
        r#"{"num_hidden_layers": 4, "hidden_size": 8, "num_attention_heads": 2, "dtype": "float16", "sliding_window": 16,
            "sliding_window_pattern": 2}"#,
        r#"{"num_hidden_layers": 4, "hidden_size": 8, "num_attention_heads": 2, "dtype": "float16",
            "full_attention_interval": 2, "mamba_d_state": 4, "mamba_d_conv": 4, "mamba_expand": 2}"#,
    ];
    let (mut fitting, mut none) = (0, 0);
    for seed in 1..=2_000 {
        let mut random = Random::new(seed);
        let storage = Storage {
            element: Element::F16,
            scales: Scales::NONE,
            block_tokens: 1 + random.below(20),
            ranks: 1,
            steps_in_flight: random.below(3),
            step_tokens: 1 + random.below(20),
            keeps_windows: false,
        };
        let config = configs[random.below(3) as usize];
        let model = ModelConfig::parse("m", config, &[]).expect("a config");
        let cache = Cache::new(&model, &storage, None).expect("a cache");
        let requests: Vec<Request> =
            (0..=random.below(6)).map(|_| Request { prompt: 1 + random.below(90), output: random.below(60) }).collect();
        let load = Load::new(requests, None).expect("requests");
        let safety = Some(random.below(3));
        let Ok(pools) = Pools::new(&cache, 4_096 + u64::from(random.below(1 << 17)), &load, safety) else { continue };
        let context = load.longest() + random.below(30);
        let watermark = random.below(4);
        for policy in [
            Policy::Full,
            Policy::Incremental,
            Policy::Contig { context },
            Policy::Percentile { tokens: random.below(60), context: Some(context) },
        ] {
            let counted = fit(&load, &pools, policy, watermark);
            let admitted = one_by_one(&load, &pools, policy, watermark);
            assert_eq!(counted.requests, admitted, "seed {seed}, {policy:?}, {load:?}");
            fitting += u32::from(admitted > 10);
            none += u32::from(admitted == 0);
        }
    }
    assert!(fitting > 500 && none > 20, "{fitting} loads fit, {none} do not");
}

fn one_by_one(load: &Load, pools: &Pools, policy: Policy, watermark: u32) -> u64 {
    let kept = if policy == Policy::Incremental { watermark } else { 0 };
    let mut free: Vec<i64> =
        pools.pools.iter().map(|pool| i64::from(pool.blocks) - i64::from(pool.safety) - i64::from(kept)).collect();
    let mut states = pools.sequences;
    for (admitted, request) in (0u64..).zip(load.requests.iter().cycle()) {
        for (free, pool) in free.iter_mut().zip(&pools.pools) {
            *free -= pool.kind.blocks(policy.promised(*request)) as i64;
        }
        if free.iter().any(|&free| free < 0) || states == Some(0) {
            return admitted;
        }
        states = states.map(|states| states - 1);
    }
    unreachable!("pools end")
}
