//! What a sequence asks for: `Admission`.

use crate::answer::{KvlRefusal, fill, invalid};
use crate::claim::{Out, OutSized};
use kvledger_core::{Account, Admission, Argument, Group, Promise, Refusal, StreamSet, Window};

/// The whole output is promised.
const PROMISE_FULL: u32 = 0;
/// `promise_blocks` are promised.
const PROMISE_BLOCKS: u32 = 1;

/// [`Admission`], with the promise as two numbers.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KvlAdmission {
    /// Tokens that are there already.
    pub prompt_tokens: u32,
    /// Most tokens that will be added.
    pub output_tokens_max: u32,
    /// Most tokens beyond these that are proposed at once.
    pub speculative_tokens: u32,
    /// How far back a token looks; zeros: to the beginning.
    pub window: Window,
    /// 0: the whole output; 1: `promise_blocks` in all.
    pub promise: u32,
    /// Blocks promised in all; 0 with a promise of the whole output.
    pub promise_blocks: u32,
    /// The trust group.
    pub group: u32,
    /// Blocks that must stay uncommitted besides S.
    pub watermark: u32,
    /// The streams whose work will touch the blocks, one bit each.
    pub streams: u64,
    /// The shared account, or zeros.
    pub account: Account,
}

impl KvlAdmission {
    /// `INVALID(Promise)` if the promise is neither kind.
    pub(crate) fn admission(&self) -> Result<Admission, Refusal> {
        let promise = match (self.promise, self.promise_blocks) {
            (PROMISE_FULL, 0) => Promise::Full,
            (PROMISE_BLOCKS, blocks) => Promise::Blocks(blocks),
            _ => return Err(invalid(Argument::Promise)),
        };
        Ok(Admission {
            prompt_tokens: self.prompt_tokens,
            output_tokens_max: self.output_tokens_max,
            speculative_tokens: self.speculative_tokens,
            window: self.window,
            promise,
            group: Group(self.group),
            streams: StreamSet(self.streams),
            watermark: self.watermark,
            account: self.account,
        })
    }
}

/// `Admission::full`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_admission_full(
    prompt_tokens: u32,
    output_tokens_max: u32,
    admission: OutSized<'_, KvlAdmission>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(admission, refusal, || {
        let full = Admission::full(prompt_tokens, output_tokens_max);
        Ok(KvlAdmission {
            prompt_tokens: full.prompt_tokens,
            output_tokens_max: full.output_tokens_max,
            speculative_tokens: full.speculative_tokens,
            window: full.window,
            promise: PROMISE_FULL,
            promise_blocks: 0,
            group: full.group.0,
            watermark: full.watermark,
            streams: full.streams.0,
            account: full.account,
        })
    })
}
