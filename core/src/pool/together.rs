//! One request in several pools: target and draft model, full and windowed layers. All or nothing.

use super::Pool;
use crate::answer::{Argument, Refusal};
use crate::calls::{Admission, Admitted, Prefix};
use crate::ids::Sequence;

/// A request in one of the pools.
#[derive(Clone, Copy)]
pub struct Joint<'a, 'm> {
    /// The pool. No two of one request have the same number.
    pub pool: &'a Pool<'m>,
    /// An opened sequence of it.
    pub sequence: Sequence,
    /// What it asks for there.
    pub admission: Admission,
    /// The names of the prompt's blocks there.
    pub prefix: Prefix<'a>,
}

/// How often hits may be lost to others between two looks before the request goes on without hits.
const LOOKS: u32 = 4;

/// Admit a request to all pools or to none, in the order of their numbers (so that two such calls do not refuse each
/// other for good). With prefixes, each pool gives as many cached tokens as the one that has the fewest: `admitted[i]`
/// (as long as `joints`) says what pool i gave; after a refusal what is in it means nothing. The order of the list is the
/// caller's.
///
/// Errors: those of `admit_prefix`, of the first pool that refuses, with its index; then no pool has changed.
/// `INVALID`: `Count` for none, `Output` if `admitted` is shorter, `Number` for two pools of one number. Threads: the driver of
/// all of them. Lock-free. Cost: a few times the sum (at most 5 looks and admissions, if hits are lost to others), and
/// O(pools²).
pub fn admit_together(joints: &[Joint<'_, '_>], admitted: &mut [Admitted]) -> Result<(), (usize, Refusal)> {
    let invalid = |index, argument| Err((index, Refusal::invalid(argument)));
    if joints.is_empty() {
        return invalid(0, Argument::Count);
    }
    if admitted.len() < joints.len() {
        return invalid(0, Argument::Output);
    }
    for (index, joint) in joints.iter().enumerate() {
        if joints.iter().take(index).any(|other| other.pool.config.number == joint.pool.config.number) {
            return invalid(index, Argument::Number);
        }
    }
    for look in 0..=LOOKS {
        let tokens_max = if look == LOOKS { 0 } else { common_tokens(joints)? };
        for (index, joint) in in_order(joints) {
            joint
                .pool
                .would_admit(joint.sequence, &joint.admission, &capped(joint, tokens_max))
                .map_err(|refusal| (index, refusal))?;
        }
        if let Some(result) = admit_all(joints, tokens_max, admitted) {
            return result;
        }
    }
    // Not reached: without hits there are none to lose, so the last look has its answer.
    invalid(0, Argument::Count)
}

/// `None`: somebody took hits away meanwhile, and nothing is admitted.
fn admit_all(
    joints: &[Joint<'_, '_>],
    tokens_max: u32,
    admitted: &mut [Admitted],
) -> Option<Result<(), (usize, Refusal)>> {
    let mut made = 0;
    for (index, joint) in in_order(joints) {
        let got = match joint.pool.admit_prefix(joint.sequence, &joint.admission, &capped(joint, tokens_max)) {
            Ok(got) => got,
            Err(refusal) => {
                undo(joints, made);
                return Some(Err((index, refusal)));
            }
        };
        made += 1;
        if let Some(place) = admitted.get_mut(index) {
            *place = got;
        }
        if got.cached_tokens < tokens_max.min(joint.admission.prompt_tokens - 1) {
            undo(joints, made);
            return None;
        }
    }
    Some(Ok(()))
}

/// The first `made` of them give everything back: nothing was launched.
fn undo(joints: &[Joint<'_, '_>], made: usize) {
    for (_, joint) in in_order(joints).take(made) {
        // An admitted sequence that nobody else drives: only a cancellation can refuse it, and then `end` does the same.
        let _ = joint.pool.withdraw_admission(joint.sequence);
    }
}

/// As many blocks as hold `tokens`.
fn capped<'a>(joint: &Joint<'a, '_>, tokens: u32) -> Prefix<'a> {
    let blocks = tokens / joint.pool.block_tokens;
    Prefix { blocks_max: joint.prefix.blocks_max.min(blocks), ..joint.prefix }
}

/// The most tokens that each pool has a prefix of.
fn common_tokens(joints: &[Joint<'_, '_>]) -> Result<u32, (usize, Refusal)> {
    let mut tokens = u32::MAX;
    loop {
        let before = tokens;
        for (index, joint) in joints.iter().enumerate() {
            let Admission { group, prompt_tokens, window, .. } = joint.admission;
            let block = joint.pool.block_tokens;
            let blocks_max = joint.prefix.blocks_max.min(prompt_tokens.min(tokens) / block);
            let prefix = Prefix { blocks_max, ..joint.prefix };
            let found = joint.pool.lookup(group, &prefix, window.tokens).map_err(|refusal| (index, refusal))?;
            tokens = tokens.min(found.blocks.saturating_mul(block.get()));
        }
        if tokens == before {
            return Ok(tokens);
        }
    }
}

/// The requests by the numbers of their pools, with their places.
fn in_order<'a, 'b, 'm>(joints: &'a [Joint<'b, 'm>]) -> impl Iterator<Item = (usize, &'a Joint<'b, 'm>)> {
    let mut last = None;
    core::iter::from_fn(move || {
        let number = |joint: &Joint<'_, '_>| joint.pool.config.number;
        let left = joints.iter().enumerate().filter(|(_, joint)| last.is_none_or(|last| number(joint) > last));
        let next = left.min_by_key(|(_, joint)| number(joint))?;
        last = Some(number(next.1));
        Some(next)
    })
}
