//! What there is to serve: requests, what they need, and the pool that is too small for all of them.

use super::super::failure::Failure;
use super::super::names::Names;
use super::super::settings::{Policy, PoolSize, Settings as Rules, Sharing};
use super::desk::pool_bytes;
use super::lanes::{LANE_SEQUENCES, LANES};
use super::settings::Settings;
use crate::trace::Trace;
use kvledger_core::PoolConfig;
use std::ops::Range;

/// Most bytes of keys and values: they are in memory twice, and what asks for more is a slip.
const POOL_BYTES_MAX: u64 = 1 << 34;

/// Requests and what they are called.
pub struct Work<'a> {
    /// Of these.
    pub trace: &'a Trace,
    /// Of their prefixes.
    pub names: Names,
    /// How they are served.
    pub settings: Settings,
}

impl<'a> Work<'a> {
    /// Errors: names that cannot be made of this trace.
    pub fn of(trace: &'a Trace, settings: &Settings) -> Result<Work<'a>, Failure> {
        let rules = Rules {
            block_tokens: settings.block_tokens,
            ..Rules::new(Policy::Full, PoolSize::Blocks(settings.blocks), 0, 0)
        };
        let names = Names::of(trace, &rules.sharing(settings.sharing, settings.group))?;
        Ok(Work { trace, names, settings: *settings })
    }

    /// Tokens of its prompt.
    pub fn prompt(&self, request: u32) -> u32 {
        self.trace.requests[request as usize].prompt
    }

    /// And of what it makes.
    pub fn tokens_in_all(&self, request: u32) -> u32 {
        let output = self.trace.requests[request as usize].output;
        self.prompt(request).saturating_add(output.min(self.settings.output_most))
    }

    /// Of all its tokens.
    pub fn blocks(&self, request: u32) -> u64 {
        u64::from(self.tokens_in_all(request)).div_ceil(self.settings.block_tokens.into())
    }

    /// By their places in the trace.
    pub fn requests(&self) -> Range<u32> {
        0..self.trace.requests.len() as u32
    }

    /// A third of the blocks that all need, and no less than the largest needs: so that blocks go from hand to hand.
    /// Errors: no request fits; the pool would be too large.
    pub fn pool_config(&self) -> Result<PoolConfig, Failure> {
        let settings = &self.settings;
        let needs = || self.requests().map(|request| self.blocks(request));
        let (largest, all) = (needs().max().unwrap_or(1), needs().sum::<u64>());
        let blocks = (all / 3).max(largest).clamp(1, settings.blocks.into()) as u32;
        let fits = needs().filter(|need| *need <= u64::from(blocks)).max();
        let Some(width) = fits else {
            return Err(Failure::Settings(format!("--pool {blocks}: no request fits; the smallest needs more")));
        };
        let bytes = pool_bytes(blocks, settings.block_tokens);
        if bytes > POOL_BYTES_MAX {
            return Err(Failure::Settings(format!(
                "--block-tokens {}: {blocks} blocks would take {bytes} bytes, and at most {POOL_BYTES_MAX} are served: \
                 give less, or a smaller --pool",
                settings.block_tokens
            )));
        }
        let pool = PoolConfig {
            streams: LANES,
            groups: self.names.groups(),
            ..PoolConfig::new(blocks, settings.block_tokens, LANES * LANE_SEQUENCES + 1, width as u32)
        };
        Ok(if settings.sharing == Sharing::Off { pool } else { pool.sharing() })
    }
}
