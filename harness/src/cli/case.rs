//! A trace and the settings of its replay, as flags: what `replay` and `record` have in common.

use super::values::{ExceedName, GroupRule, PolicyName, PromisedOutput, SharingName};
use super::values::{count_u32, count_u64, count_usize, pool, whole_u32};
use super::{Stop, input};
use crate::planning::usual_safety;
use crate::replay::{self, Policy, PoolSize, Ranked, Settings};
use crate::trace::{Format, Loading, Normalise, TimeScale, Trace};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// What is replayed, and in which pool.
#[derive(clap::Args, Debug)]
pub(super) struct CaseArgs {
    /// Trace files of one format, packed with gzip or not, `-` for standard input, or a folder of agent sessions; without
    /// any, a small sample that comes with kvledger
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// The format of the trace: mooncake, bailian, azure, burstgpt, lengths, tokens, weka, servegen or generic [default:
    /// found by what is in the file]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<Format>,

    /// N, blocks in the pool: a number or `unlimited`
    #[arg(long, value_name = "N", value_parser = pool, default_value = "8192")]
    pub(super) pool: PoolSize,

    /// S, blocks that admission leaves alone [default: a 64th of the pool]
    #[arg(long, value_parser = whole_u32, value_name = "S")]
    pub(super) safety: Option<u32>,

    /// B, tokens in a block
    #[arg(long, value_parser = count_u32, value_name = "B", default_value = "16")]
    pub(super) block_tokens: NonZeroU32,

    /// M, longest prompt and output together; 0 for none [default: the next power of two from the longest in the trace on]
    #[arg(long, value_parser = whole_u32, value_name = "M")]
    pub(super) max_context: Option<u32>,

    /// Length of a step in microseconds
    #[arg(long, value_parser = count_u64, value_name = "US", default_value = "20000")]
    pub(super) step_us: NonZeroU64,

    /// Multiply arrival times by this fraction: 1/8 makes the trace arrive eight times as fast
    #[arg(long, value_name = "NUM/DEN", default_value = "1/1")]
    pub(super) time_scale: TimeScale,

    /// Replay only the first N requests to arrive
    #[arg(long, value_parser = count_usize, value_name = "N")]
    pub(super) first: Option<NonZeroUsize>,

    /// Whether requests share the blocks of equal prefixes; separated by commas, side by side. `contig` never shares
    #[arg(long, value_enum, value_delimiter = ',', default_value = "off")]
    pub(super) sharing: Vec<SharingName>,

    /// Trust groups, inside which blocks are shared: `one`, `solo`, `tenant`, `idx:K` or `seg1:K`; separated by commas, side
    /// by side. Without sharing they have no effect
    #[arg(long, value_name = "RULE", value_delimiter = ',', default_value = "one")]
    pub(super) group: Vec<GroupRule>,

    /// Q, tokens of output that `percentile` promises: a number, or `p95` for that percentile of the trace's own outputs
    /// [default with `kvledger replay --policy all`: p95]
    #[arg(long, value_name = "Q")]
    pub(super) percentile_tokens: Option<PromisedOutput>,

    /// What `percentile` does when a promise is used up and no more can be promised
    #[arg(long, value_enum, default_value = "preempt_self")]
    pub(super) exceed: ExceedName,

    /// Most requests that run at once; 0 for no limit
    #[arg(long, value_parser = whole_u32, value_name = "N", default_value = "0")]
    pub(super) max_running: u32,

    /// Tokens that one id covers, where the file does not say so itself [default: as the format has it, 512 or 16 or 64]
    #[arg(long, alias = "id-tokens", value_parser = count_u32, value_name = "TOKENS")]
    pub(super) ids_block_tokens: Option<NonZeroU32>,

    /// After admission, growth and ends of every step, compare the pool's counts, words, rows and promises with one
    /// another (`Pool::validate`: I1, I2, I4, I8) and with the replay's own; skips no step, and is slow
    #[arg(long)]
    pub(super) audit: bool,
}

impl CaseArgs {
    /// Refuses what can be refused before the trace is read, `policies` included.
    pub(super) fn check(&self, policies: &[PolicyName]) -> Result<(), Stop> {
        let named = policies.contains(&PolicyName::Percentile) && !policies.contains(&PolicyName::All);
        if named && self.percentile_tokens.is_none() {
            return Err(Stop::Usage(
                "--policy percentile needs to know how much to promise: give --percentile-tokens Q in tokens, \
                 or as p95 for that percentile of the trace's own outputs"
                    .to_string(),
            ));
        }
        Ok(())
    }

    /// Refuses more than one case where only one can be meant.
    pub(super) fn check_single(&self) -> Result<(), Stop> {
        let is_one = self.sharing.len() == 1 && self.group.len() == 1;
        let message = "--sharing and --group can have one value each here: one replay is recorded";
        if is_one { Ok(()) } else { Err(Stop::Usage(message.to_string())) }
    }

    /// The trace.
    pub(super) fn read(&self) -> Result<Trace, Stop> {
        let normalise = Normalise { first: self.first.map(NonZeroUsize::get), time_scale: self.time_scale };
        let id_tokens = self.ids_block_tokens.map(NonZeroU32::get);
        input::read_as(&self.paths, &Loading { format: self.format, id_tokens, normalise })
    }

    /// The settings of each case, in the order in which the policies are named, then the ways to share, then the groups.
    pub(super) fn cases(&self, policies: &[PolicyName], trace: &Trace, outputs: &Ranked) -> Vec<Settings> {
        let safety = self.safety.unwrap_or(match self.pool {
            PoolSize::Blocks(blocks) => usual_safety(blocks),
            PoolSize::Unlimited => 0,
        });
        let of_policy = |policy| Settings {
            policy,
            pool: self.pool,
            safety,
            block_tokens: self.block_tokens.get(),
            max_context: self.max_context.unwrap_or_else(|| replay::usual_context(trace)),
            step_us: self.step_us.get(),
            max_running: self.max_running,
            audit: self.audit,
            ..Settings::new(policy, self.pool, safety, 0)
        };
        let q_tokens = match self.percentile_tokens.unwrap_or(PromisedOutput::OfTrace(95)) {
            PromisedOutput::Tokens(tokens) => tokens,
            PromisedOutput::OfTrace(percent) => outputs.percentile(percent),
        };
        let percentile = Policy::Percentile { q_tokens, exceed: self.exceed.into() };
        let mut cases: Vec<Settings> = Vec::new();
        for name in policies {
            let policies = match name {
                PolicyName::Contig => &[Policy::Contig][..],
                PolicyName::Full => &[Policy::Full],
                PolicyName::Incremental => &[Policy::Incremental],
                PolicyName::Percentile => &[percentile],
                PolicyName::All => &[Policy::Contig, Policy::Full, Policy::Incremental, percentile],
            };
            for &policy in policies {
                for case in self.shared(of_policy(policy)) {
                    if !cases.contains(&case) {
                        cases.push(case);
                    }
                }
            }
        }
        cases
    }

    /// A case with each way to share in each of the groups.
    fn shared(&self, case: Settings) -> impl Iterator<Item = Settings> {
        let ways = self.sharing.iter().flat_map(|&way| self.group.iter().map(move |&rule| (way, rule)));
        ways.map(move |(way, rule)| case.sharing(way.into(), rule))
    }
}

/// Refuses settings under which nothing could ever be admitted, in any of the cases.
pub(super) fn check_possible(trace: &Trace, cases: &[Settings]) -> Result<(), Stop> {
    let requests = trace.requests.len() as u64;
    let mut first_message = None;
    for settings in cases {
        let (context, pool) = replay::rejections(trace, settings)?;
        if context + pool < requests {
            return Ok(());
        }
        first_message.get_or_insert_with(|| impossible(settings, pool > 0));
    }
    Err(Stop::Usage(first_message.unwrap_or_default()))
}

fn impossible(settings: &Settings, for_pool: bool) -> String {
    let policy = settings.policy.name();
    if !for_pool {
        return format!(
            "--max-context {}: every request is longer; raise it, or give 0 for no limit",
            settings.max_context
        );
    }
    format!(
        "--policy {policy} promises every request more than the {} blocks that --pool {} leaves above --safety {}; raise \
         --pool, or lower --safety{}",
        match settings.pool {
            PoolSize::Blocks(blocks) => blocks - settings.safety,
            PoolSize::Unlimited => 0,
        },
        settings.pool,
        settings.safety,
        match settings.policy {
            Policy::Contig => format!(" or --max-context {}", settings.max_context),
            Policy::Percentile { q_tokens, .. } => format!(" or --percentile-tokens {q_tokens}"),
            Policy::Full | Policy::Incremental => String::new(),
        }
    )
}
