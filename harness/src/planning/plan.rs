//! A question about a model and a device, and everything that there is to say to it.

use super::cache::{Cache, Storage};
use super::demand::{Load, Policy};
use super::device::Regions;
use super::fit::{Fit, fit};
use super::needed::{Needed, needed};
use super::pool::Pools;
use super::problem::Problem;
use super::weights::{Said, Weights};
use crate::model_config::ModelConfig;
use kvledger_core::plan::{Budget, Ratio, Region, contiguous, paged};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// How the cache is kept.
    pub storage: Storage,
    /// Bytes of a sequence's state, if they were given.
    pub state_bytes: Option<u64>,
    /// Bytes of the device, if they were given.
    pub device_bytes: Option<u64>,
    /// The regions, weights apart.
    pub regions: Regions,
    /// What was given about weights.
    pub weights: Said,
    /// S, if it was given.
    pub safety: Option<u32>,
    /// Blocks that incremental admission leaves, besides S.
    pub watermark: u32,
    /// M, if there is one.
    pub context: Option<u32>,
    /// The requests, if they were given.
    pub load: Option<Load>,
    /// Q, if there is one.
    pub promised_output: Option<u32>,
    /// Tokens that all requests of one trust group begin with.
    pub shared_prefix: u32,
    /// So many requests are to fit.
    pub requests: Option<u64>,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cache.
    pub cache: Cache,
    /// The weights.
    pub weights: Weights,
    /// The device's regions.
    pub budget: Option<Budget>,
    /// The pools.
    pub pools: Option<Pools>,
    /// What fits, policy by policy.
    pub fits: Vec<Fit>,
    /// Requests of one trust group that fit when they share the prefix, under full-output reservation.
    pub sharing: Option<u64>,
    /// Slots that hold no token, of those that blocks of the requests have, one of each.
    pub slack: Option<Ratio>,
    /// The same of contiguous regions of M.
    pub waste: Option<Ratio>,
    /// Memory for the number of requests that was asked for.
    pub needed: Vec<(Needed, u64)>,
}

impl Plan {
    /// Answers `question` about `model`.
    pub fn new(model: &ModelConfig, question: &Question) -> Result<Plan, Problem> {
        let storage = &question.storage;
        let cache = Cache::new(model, storage, question.state_bytes)?;
        let weights = Weights::new(model, &question.weights, storage.ranks)?;
        let mut regions = question.regions;
        regions.set(Region::Weights, weights.amount());
        let budget = question.device_bytes.map(|bytes| regions.budget(bytes)).transpose()?;
        let reference = reference(question)?;
        let divide =
            |budget: &Budget| Pools::new(&cache, budget.usage(Region::KvPool).bound, &reference, question.safety);
        let pools = budget.as_ref().map(divide).transpose()?;
        let mut plan = Plan {
            cache,
            weights,
            budget,
            pools,
            fits: Vec::new(),
            sharing: None,
            slack: None,
            waste: None,
            needed: Vec::new(),
        };
        if let Some(load) = &question.load {
            plan.answer_load(question, load, &regions)?;
        }
        Ok(plan)
    }

    fn answer_load(&mut self, question: &Question, load: &Load, regions: &Regions) -> Result<(), Problem> {
        let lengths: Vec<u32> = load.requests.iter().map(|request| request.longest()).collect();
        self.slack = Some(paged::slack(&lengths, question.storage.block_tokens).map_err(Problem::refused)?);
        if let Some(context) = question.context {
            self.waste = Some(contiguous::waste_fraction(&lengths, context).map_err(Problem::refused)?);
        }
        let policies = policies(question);
        if let Some(pools) = &self.pools {
            self.fits = policies.iter().map(|&policy| fit(load, pools, policy, question.watermark)).collect();
            self.sharing = sharing(question, load, pools)?;
        }
        if let Some(requests) = question.requests {
            for &policy in &policies {
                let needed = needed(&self.cache, load, policy, requests, question.safety, question.watermark)?;
                let device = regions.device_for(needed.pool_bytes)?;
                self.needed.push((needed, device));
            }
        }
        Ok(())
    }

    /// Whether the requests that were asked for fit under full-output reservation; the refusal to tell if not.
    pub fn check(&self, question: &Question) -> Result<(), Problem> {
        let full = self.fits.iter().find(|fit| fit.policy == Policy::Full);
        let Some((requests, full)) = question.requests.zip(full) else { return Ok(()) };
        if full.requests >= requests {
            return Ok(());
        }
        let device = self.needed.iter().find(|(needed, _)| needed.policy == Policy::Full).map(|&(_, device)| device);
        Err(Problem::DoesNotFit(format!(
            "--requests {requests}: only {} fit when all output is reserved; give --gpu-memory {} or more, or fewer requests",
            full.requests,
            device.unwrap_or(u64::MAX)
        )))
    }
}

/// The policies that can be asked about: `contig` needs M, `percentile` Q.
fn policies(question: &Question) -> Vec<Policy> {
    let context = question.context;
    let contig = context.map(|context| Policy::Contig { context });
    let percentile = question.promised_output.map(|tokens| Policy::Percentile { tokens, context });
    contig.into_iter().chain([Policy::Full, Policy::Incremental]).chain(percentile).collect()
}

/// The requests by which the pool is divided: those that were given, else one as long as the context.
fn reference(question: &Question) -> Result<Load, Problem> {
    match &question.load {
        Some(load) => Ok(load.clone()),
        None => {
            let longest = question.context.unwrap_or(1);
            Load::new(vec![super::Request { prompt: longest, output: 0 }], None)
        }
    }
}

fn sharing(question: &Question, load: &Load, pools: &Pools) -> Result<Option<u64>, Problem> {
    let prefix = question.shared_prefix;
    if prefix == 0 {
        return Ok(None);
    }
    let ([pool], [request], None) = (pools.pools.as_slice(), load.requests.as_slice(), pools.sequences) else {
        return Err(Problem::usage(
            "--shared-prefix: works for one request length and a model whose layers all keep every token; leave it out",
        ));
    };
    if prefix > request.prompt {
        return Err(Problem::usage(format!(
            "--shared-prefix {prefix}: the prompt has {} tokens; give fewer",
            request.prompt
        )));
    }
    let room = u64::from(pool.blocks.saturating_sub(pool.safety));
    let longest = u64::from(request.longest());
    paged::group_requests(room, u64::from(prefix), longest, question.storage.block_tokens)
        .map(Some)
        .map_err(Problem::refused)
}
