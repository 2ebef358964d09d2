//! Requests with a common beginning: what they hold by trust group, and which of them fit.

use crate::planning::Bytes;
use crate::report::{Columns, grouped, prose};
use kvledger_core::Refusal;
use kvledger_core::plan::{Geometry, paged};
use serde::Serialize;

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// Requests, in order of arrival; request i is of group i mod `groups`.
    pub requests: u32,
    /// Tokens that all begin with.
    pub prefix: u32,
    /// Tokens of a prompt, the prefix included.
    pub prompt: u32,
    /// Most tokens that a request generates: all of them are promised.
    pub output: u32,
    /// Trust groups, at least 1.
    pub groups: u32,
    /// N.
    pub pool_blocks: u64,
    /// B.
    pub block_tokens: u32,
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Prefix {
    /// Blocks of one request alone.
    pub request_blocks: u64,
    /// Of these, for its prompt.
    pub prompt_blocks: u64,
    /// Whole blocks of the prefix: shared in a group.
    pub shared_blocks: u64,
    /// Blocks that each request has to itself.
    pub private_blocks: u64,
    /// N.
    pub pool_blocks: u64,
    /// Blocks of all requests if nothing is shared.
    pub unshared_blocks: u64,
    /// Blocks of all requests with these groups.
    pub physical_blocks: u64,
    /// Requests that are admitted.
    pub admitted: u32,
    /// Blocks that are then left.
    pub left_blocks: u64,
    /// Each request.
    pub steps: Vec<Arrival>,
    /// The same for one group, for these groups, and for a group each.
    pub by_groups: Vec<ByGroups>,
}

/// One request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Arrival {
    /// Its group.
    pub group: u32,
    /// Blocks that it would add.
    pub adds: u64,
    /// Blocks then promised or held, if it fits.
    pub total: u64,
    /// Whether it does.
    pub fits: bool,
}

/// What a number of groups comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ByGroups {
    /// Groups.
    pub groups: u32,
    /// Blocks of all requests.
    pub physical_blocks: u64,
    /// Requests that are admitted.
    pub admitted: u32,
}

impl Prefix {
    /// Errors: those of `kvledger_core::plan`.
    pub fn new(question: &Question) -> Result<Prefix, Refusal> {
        let Question { requests, prefix, prompt, output, block_tokens, pool_blocks, groups } = *question;
        let longest = u64::from(prompt) + u64::from(output);
        let one = |prefix| paged::group_blocks(1, u64::from(prefix), longest, block_tokens);
        let request_blocks = one(0)?;
        let two = paged::group_blocks(2, u64::from(prefix), longest, block_tokens)?;
        let private_blocks = two - one(prefix)?;
        let steps = arrivals(question, request_blocks, private_blocks);
        let of_groups = |groups: u32| {
            let question = Question { groups, ..*question };
            let admitted = arrivals(&question, request_blocks, private_blocks).iter().filter(|step| step.fits).count();
            Ok(ByGroups { groups, physical_blocks: physical(&question)?, admitted: admitted as u32 })
        };
        let mut kinds = vec![1, groups, requests.max(1)];
        kinds.sort_unstable();
        kinds.dedup();
        Ok(Prefix {
            request_blocks,
            prompt_blocks: paged::blocks_for(u64::from(prompt), block_tokens)?,
            shared_blocks: request_blocks - private_blocks,
            private_blocks,
            pool_blocks,
            unshared_blocks: paged::group_blocks(u64::from(requests), 0, longest, block_tokens)?,
            physical_blocks: physical(question)?,
            admitted: steps.iter().filter(|step| step.fits).count() as u32,
            left_blocks: pool_blocks - steps.iter().filter(|step| step.fits).map(|step| step.adds).sum::<u64>(),
            steps,
            by_groups: kinds.into_iter().map(of_groups).collect::<Result<_, Refusal>>()?,
        })
    }

    /// In words, on lines of `width` characters.
    pub fn text(&self, question: &Question, geometry: &Geometry, width: usize) -> Result<String, Refusal> {
        let Prefix { request_blocks, prompt_blocks, shared_blocks, private_blocks, pool_blocks, .. } = self;
        let (token, block) = (geometry.token_bytes()?, geometry.block_bytes()?);
        let line = |text: String| prose(&text, width, 4);
        let shape = format!("{} layers x {} KV heads x {}", geometry.layers, geometry.kv_heads, geometry.key_dim);
        let block_tokens = question.block_tokens;
        let mut text = line(format!("{shape} x K and V in bf16: {} bytes a token,", grouped(token)));
        text += &line(format!("  {} a block of {block_tokens} tokens", Bytes(block)));
        let pool = Bytes(block.saturating_mul(*pool_blocks));
        text += &line(format!("the pool has {} blocks, {pool}", grouped(*pool_blocks)));
        let tokens = format!("{} + {} tokens", question.prompt, question.output);
        text += &line(format!(
            "a request has {request_blocks} blocks for {tokens}, {prompt_blocks} of them for the prompt"
        ));
        text += &line(format!(
            "  {shared_blocks} are shared in a group: the whole ones of {} common tokens",
            question.prefix
        ));
        text += &line(format!("  {private_blocks} are its own"));
        text.push('\n');
        let steps = || self.steps.iter();
        text += &Columns::new((1..=self.steps.len()).map(|number| format!("request {number}")))
            .column("group", steps().map(|step| step.group.to_string()))
            .column("adds", steps().map(|step| step.adds.to_string()))
            .column("in all", steps().map(|step| step.total.to_string()))
            .texts("", steps().map(|step| if step.fits { "fits" } else { "refused" }.to_string()))
            .render(width);
        let left = self.left_blocks;
        text += &line(format!("{} of {} are admitted, {left} blocks are left", self.admitted, question.requests));
        text.push('\n');
        let kinds = || self.by_groups.iter();
        text += &Columns::new(
            kinds().map(|kind| format!("{} trust group{}", kind.groups, if kind.groups == 1 { "" } else { "s" })),
        )
        .column("blocks of all", kinds().map(|kind| grouped(kind.physical_blocks)))
        .column("admitted", kinds().map(|kind| kind.admitted.to_string()))
        .render(width);
        Ok(text + &format!("nothing shared: {} blocks\n", grouped(self.unshared_blocks)))
    }
}

/// Each request in turn: the first admitted one of a group brings the shared blocks. Who does not fit is refused, and the next is
/// asked all the same.
fn arrivals(question: &Question, request_blocks: u64, private_blocks: u64) -> Vec<Arrival> {
    let groups = question.groups.max(1);
    let mut there = vec![false; groups.min(question.requests) as usize];
    let mut held = 0;
    (0..question.requests)
        .map(|index| {
            let group = index % groups;
            let shares = there[group as usize];
            let adds = if shares { private_blocks } else { request_blocks };
            let total = held + adds;
            let fits = total <= question.pool_blocks;
            if fits {
                held = total;
                there[group as usize] = true;
            }
            Arrival { group, adds, total, fits }
        })
        .collect()
}

/// Blocks of all requests, if there were room: each group's shared ones once.
fn physical(question: &Question) -> Result<u64, Refusal> {
    let Question { requests, groups, prefix, prompt, output, block_tokens, .. } = *question;
    let longest = u64::from(prompt) + u64::from(output);
    let (each, more) = (requests / groups.max(1), requests % groups.max(1));
    let of = |members: u32| paged::group_blocks(u64::from(members), u64::from(prefix), longest, block_tokens);
    let overflow = Refusal::Invalid { argument: kvledger_core::Argument::Overflow };
    let all = |groups: u32, blocks: u64| u64::from(groups).checked_mul(blocks).ok_or(overflow);
    all(more, of(each + 1)?)?.checked_add(all(groups.max(1) - more, of(each)?)?).ok_or(overflow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvledger_core::plan::Element;

    const EIGHT: Question = Question {
        requests: 8,
        prefix: 2048,
        prompt: 2048,
        output: 257,
        groups: 1,
        pool_blocks: 256,
        block_tokens: 16,
    };

    /// The numbers of the contract.
    #[test]
    fn eight_requests_of_one_prefix() {
        let one = Prefix::new(&EIGHT).expect("valid");
        assert_eq!((one.request_blocks, one.prompt_blocks, one.shared_blocks, one.private_blocks), (145, 128, 128, 17));
        assert_eq!((one.physical_blocks, one.unshared_blocks), (264, 1160));
        assert_eq!((one.admitted, one.left_blocks, one.steps[6].total), (7, 9, 247));
        assert_eq!(one.steps[7], Arrival { group: 0, adds: 17, total: 264, fits: false });
        let solo = Prefix::new(&Question { groups: 8, ..EIGHT }).expect("valid");
        assert_eq!((solo.admitted, solo.physical_blocks), (1, 1160));
        let text = one.text(&EIGHT, &Geometry::new(32, 8, 128, 16, Element::Bf16), 80).expect("it fits in 64 bits");
        for part in
            ["131,072 bytes a token", "2 MiB a block", "256 blocks, 512 MiB", "145 blocks", "7 of 8 are admitted, 9"]
        {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    /// Groups with other members than one another, against a count of every block.
    #[test]
    fn groups_of_any_size_are_counted_block_by_block() {
        for (requests, groups, prefix) in [(0, 3, 32), (7, 3, 40), (5, 9, 64), (6, 2, 0), (9, 4, 70)] {
            let question =
                Question { requests, groups, prefix, prompt: 70, output: 11, pool_blocks: 1 << 40, block_tokens: 16 };
            let mut blocks = std::collections::BTreeSet::new();
            for request in 0..requests {
                for block in 0..81u32.div_ceil(16) {
                    let shared = (block + 1) * 16 <= prefix;
                    blocks.insert((request % groups, if shared { u32::MAX } else { request }, block));
                }
            }
            let prefix = Prefix::new(&question).expect("valid");
            assert_eq!(prefix.physical_blocks, blocks.len() as u64, "{question:?}");
            assert_eq!(prefix.steps.iter().map(|step| step.adds).sum::<u64>(), blocks.len() as u64, "{question:?}");
            assert_eq!(prefix.admitted, requests);
        }
    }

    #[test]
    fn what_the_plan_refuses_is_refused() {
        assert!(Prefix::new(&Question { prefix: 3000, ..EIGHT }).is_err(), "longer than the request");
        assert!(Prefix::new(&Question { block_tokens: 0, ..EIGHT }).is_err());
    }
}
