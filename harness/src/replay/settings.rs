//! What a replay is told: the policy, the pool, and the service model's few numbers.

use crate::prefix::GroupRule;
use std::fmt;

/// What happens to a sequence that has used up its promise when no more can be promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceed {
    /// It gives its blocks back and is recomputed later.
    PreemptSelf,
    /// The most recently admitted ones do, until there is room; that may be itself.
    PreemptYoungest,
    /// It ends with the tokens it has.
    Truncate,
}

impl Exceed {
    /// The name in flags and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Exceed::PreemptSelf => "preempt_self",
            Exceed::PreemptYoungest => "preempt_youngest",
            Exceed::Truncate => "truncate",
        }
    }
}

/// How much is promised at admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// The longest context, taken at once: what a server without paging does.
    Contig,
    /// The whole output, at its true length: the best case of a declared limit.
    Full,
    /// The prompt; every further block is asked for when it is needed.
    Incremental,
    /// The prompt and `q_tokens` of output; beyond them blocks are asked for.
    Percentile {
        /// Tokens of output that are promised.
        q_tokens: u32,
        /// What happens when no more can be promised.
        exceed: Exceed,
    },
}

impl Policy {
    /// The name in flags and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Contig => "contig",
            Policy::Full => "full",
            Policy::Incremental => "incremental",
            Policy::Percentile { .. } => "percentile",
        }
    }

    /// What makes room when a sequence needs a block that it was not promised. `None`: it never does.
    pub(super) const fn exceed(self) -> Option<Exceed> {
        match self {
            Policy::Contig | Policy::Full => None,
            Policy::Incremental => Some(Exceed::PreemptYoungest),
            Policy::Percentile { exceed, .. } => Some(exceed),
        }
    }
}

/// Whether requests share the blocks of equal prefixes, and for how long a block is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Every request has its own blocks.
    Off,
    /// A block is known while somebody holds it.
    Live,
    /// And afterwards, until it is evicted.
    Retain,
}

impl Sharing {
    /// The name in flags and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Sharing::Off => "off",
            Sharing::Live => "live",
            Sharing::Retain => "retain",
        }
    }
}

/// N.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PoolSize {
    /// So many blocks.
    Blocks(u32),
    /// As many as this trace can hold at once.
    Unlimited,
}

impl fmt::Display for PoolSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolSize::Blocks(blocks) => write!(f, "{blocks}"),
            PoolSize::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// All settings of one replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The policy.
    pub policy: Policy,
    /// N.
    pub pool: PoolSize,
    /// S in blocks. Plays no role in an unlimited pool.
    pub safety: u32,
    /// B in tokens, at least 1.
    pub block_tokens: u32,
    /// M in tokens; 0: no limit, which `contig` does not allow.
    pub max_context: u32,
    /// Length of a step, at least 1.
    pub step_us: u64,
    /// Most sequences that run at once; 0: no limit.
    pub max_running: u32,
    /// Whether equal prefixes are shared. `contig` never shares.
    pub sharing: Sharing,
    /// The trust groups inside which they are.
    pub group: GroupRule,
    /// Check the pool against itself and against the replay after each phase of every step, and skip none.
    pub audit: bool,
}

impl Settings {
    /// Blocks of 16 tokens, steps of 20 ms, nothing shared, no limits and no audit.
    pub const fn new(policy: Policy, pool: PoolSize, safety: u32, max_context: u32) -> Settings {
        Settings {
            policy,
            pool,
            safety,
            block_tokens: 16,
            max_context,
            step_us: 20_000,
            max_running: 0,
            sharing: Sharing::Off,
            group: GroupRule::One,
            audit: false,
        }
    }

    /// The same with blocks shared inside the groups of a rule: off under `contig`, and then the rule does not matter.
    pub fn sharing(self, sharing: Sharing, group: GroupRule) -> Settings {
        let shared = Settings { sharing, group, ..self };
        if shared.shares() { shared } else { Settings { sharing: Sharing::Off, group: GroupRule::One, ..self } }
    }

    /// Whether any block has a name.
    pub fn shares(&self) -> bool {
        self.sharing != Sharing::Off && self.policy != Policy::Contig
    }

    /// N and S of the rules: `None` without a limit.
    pub(super) const fn limit(&self) -> Option<(u32, u32)> {
        match self.pool {
            PoolSize::Blocks(blocks) => Some((blocks, self.safety)),
            PoolSize::Unlimited => None,
        }
    }
}
