//! A small trace that is always at hand: made up, by [`make`], and compiled into the command.
//!
//! It imitates a chat service in its busiest minute: a few system prompts that many requests begin with, follow-ups that
//! repeat what was said before, short questions with long answers and long documents with short ones, and bursts. It is
//! not measured anywhere: figures from it show how the policies differ, not how good they are.

use kvledger_core::model::Random;

/// What messages call it.
pub const NAME: &str = "the sample";
/// The trace, as Mooncake-style JSONL.
pub const TEXT: &str = include_str!("../samples/chat.jsonl");
/// Tokens that one of its ids covers.
pub const ID_TOKENS: u32 = 64;
/// What the shipped sample was made with.
pub const SEED: u64 = 20_260_701;
/// How many requests it has.
pub const REQUESTS: usize = 480;

const SYSTEM_PROMPTS: [u64; 4] = [128, 320, 704, 1152];
const MILLISECONDS: u64 = 45_000;

fn below(random: &mut Random, bound: u64) -> u64 {
    random.next() % bound
}

/// A length with a long tail: `typical`, times 1 to 3, half of the time doubled, half of those again, five times at
/// most.
fn length(random: &mut Random, typical: u64) -> u64 {
    let doublings = random.next().trailing_ones().min(5);
    (typical + below(random, 2 * typical)) << doublings
}

/// A conversation: the ids of what has been said, and how many tokens that is.
struct Conversation {
    ids: Vec<u64>,
    tokens: u64,
}

/// Makes `requests` lines from `seed`.
pub fn make(seed: u64, requests: usize) -> String {
    let mut random = Random::new(seed);
    let mut fresh_id = 1_000;
    let mut conversations: Vec<Conversation> = Vec::new();
    let mut text = String::new();
    for timestamp in arrivals(&mut random, requests) {
        let follows = !conversations.is_empty() && below(&mut random, 3) > 0;
        let mut conversation = if follows {
            conversations.swap_remove(below(&mut random, conversations.len() as u64) as usize)
        } else {
            begin(&mut random)
        };
        let (question, answer) = if below(&mut random, 8) == 0 { (700, 20) } else { (20, 100) };
        let prompt = (conversation.tokens + length(&mut random, question)).min(6_000);
        let output = length(&mut random, answer).min(4_000);
        extend(&mut conversation, prompt, &mut fresh_id);
        text += &format!(
            "{{\"timestamp\": {timestamp}, \"input_length\": {prompt}, \"output_length\": {output}, \"hash_ids\": {:?}}}\n",
            conversation.ids
        );
        extend(&mut conversation, prompt + output, &mut fresh_id);
        if conversation.tokens < 2_000 {
            conversations.push(conversation);
        }
    }
    text
}

/// Two thirds at any time, one third in four bursts of a second.
fn arrivals(random: &mut Random, requests: usize) -> Vec<u64> {
    let mut times: Vec<u64> = (0..requests)
        .map(|_| match below(random, 3) {
            0 => below(random, 4) * 10_000 + 5_000 + below(random, 1_000),
            _ => below(random, MILLISECONDS),
        })
        .collect();
    times.sort_unstable();
    times
}

fn begin(random: &mut Random) -> Conversation {
    let which = below(random, SYSTEM_PROMPTS.len() as u64);
    let tokens = SYSTEM_PROMPTS[which as usize];
    let blocks = tokens / u64::from(ID_TOKENS);
    Conversation { ids: (0..blocks).map(|block| which * 100 + block).collect(), tokens }
}

/// Names all whole blocks of the first `tokens` tokens, and one that is begun.
fn extend(conversation: &mut Conversation, tokens: u64, fresh_id: &mut u64) {
    let whole_before = (conversation.tokens / u64::from(ID_TOKENS)) as usize;
    conversation.ids.truncate(whole_before);
    while (conversation.ids.len() as u64) < tokens.div_ceil(u64::from(ID_TOKENS)) {
        conversation.ids.push(*fresh_id);
        *fresh_id += 1;
    }
    conversation.tokens = tokens;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_sample_is_what_its_seed_makes() {
        assert!(make(SEED, REQUESTS) == TEXT, "run: cargo run --example make_sample > harness/samples/chat.jsonl");
    }
}
