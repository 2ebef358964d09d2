//! The document for programs.

use super::prefixes::Prefixes;
use crate::cache::Hits;
use crate::replay::{Counters, Policy, PoolSize, Replayed, Settings, Statics};
use serde::Serialize;
use std::collections::BTreeMap;

/// Figures of one trace.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The trace format.
    pub format: &'static str,
    /// Where the trace came from.
    pub path: String,
    /// Rows without prompt or output tokens.
    pub dropped_rows: usize,
    /// `num/den`.
    pub time_scale: String,
    /// Length of a step.
    pub tpot_us: u64,
    /// B.
    pub block: u32,
    /// M; 0: no limit.
    pub max_ctx: u32,
    /// Figures that need no replay.
    #[serde(rename = "static")]
    pub statics: Statics,
    /// What prompts share (K), by trust groups, and by larger blocks. None without ids.
    pub prefix: BTreeMap<String, Prefixes>,
    /// Hits of a cache (L), by capacity. None without ids.
    pub lru: Vec<Hits>,
    /// One entry a replay.
    pub sim: Vec<Case>,
}

/// One replay: its settings, its counters, its digests.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// Its name.
    pub label: String,
    /// How requests are divided into trust groups; null where nothing is shared.
    pub group: Option<String>,
    /// N; 0: unlimited.
    pub pool: u32,
    /// S.
    pub safety: u32,
    /// The policy.
    pub policy: &'static str,
    /// Q.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q_tokens: Option<u32>,
    /// What happens past the promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceed: Option<&'static str>,
    /// How blocks are shared.
    pub share: &'static str,
    /// The counters.
    #[serde(flatten)]
    pub counters: Counters,
    /// What happened to each request, as one digest.
    pub per_request_sha256: String,
    /// The same without hits.
    pub schedule_sha256: String,
}

impl Case {
    /// The entry of a replay.
    pub fn new(label: String, replayed: &Replayed) -> Case {
        let settings = replayed.settings;
        let Settings { policy, pool, safety, .. } = settings;
        let (pool, safety) = match pool {
            PoolSize::Blocks(blocks) => (blocks, safety),
            PoolSize::Unlimited => (0, 0),
        };
        let (q_tokens, exceed) = match policy {
            Policy::Percentile { q_tokens, exceed } => (Some(q_tokens), Some(exceed.name())),
            _ => (None, None),
        };
        Case {
            label,
            group: settings.shares().then(|| settings.group.to_string()),
            pool,
            safety,
            policy: policy.name(),
            q_tokens,
            exceed,
            share: settings.sharing.name(),
            counters: replayed.counters,
            per_request_sha256: replayed.digests.per_request.clone(),
            schedule_sha256: replayed.digests.schedule.clone(),
        }
    }
}
