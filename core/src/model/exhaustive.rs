//! All short histories of very small pools: breadth first over the calls of a small alphabet, each state once, the pool
//! against the model after each call. What random operations meet by chance, this meets for certain.
//!
//! A history is a list of letters. A letter is read against what is there ("end of the sequence in slot 1"), so that every
//! letter can follow every history. Two histories that lead to models which say the same of everything lead on alike, and
//! only the first one is followed. Pools cannot be copied, so each history is made again from its beginning.

use super::compare::Comparison;
use super::pool::{Entry, Life, Model};
use super::{chains::chain_words, make::Words};
use crate::arena::Line;
use crate::calls::{Admission, Window};
use crate::config::PoolConfig;
use crate::ids::{BlockId, Epoch, Group, Sequence, Stream, StreamSet, Transfer};
use crate::pool::{Pool, entries, lines};
use crate::recorder::{Call, Handles, Named, Numbers};
use crate::transfers::Access;
use std::collections::BTreeSet;
use std::format;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::string::String;
use std::vec;
use std::vec::Vec;

/// One call, of the sequence in slot `of`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Letter {
    /// Open it if need be, and admit it with these names found, by a group that may find them.
    Admit {
        of: u32,
        window: bool,
    },
    /// The same by a group that may not.
    AdmitStranger {
        of: u32,
    },
    Pin {
        of: u32,
    },
    Advance {
        of: u32,
        tokens: u32,
    },
    Publish {
        of: u32,
        keep: bool,
    },
    Fork {
        of: u32,
        child: u32,
    },
    CopySubmitted {
        of: u32,
    },
    Speculate {
        of: u32,
    },
    Reject {
        of: u32,
    },
    ReleaseFirst {
        of: u32,
    },
    Cancel {
        of: u32,
    },
    /// End it, or let it go of what it has pinned.
    End {
        of: u32,
    },
    Submit,
    Complete {
        failed: bool,
    },
    /// The transfer grips the first block of the sequence.
    Hold {
        of: u32,
        access: Access,
    },
    /// The transfer grips the first block that is idle, or retires and others know.
    HoldCached,
    CompleteTransfer,
    Revoke,
    Quarantine,
    Evict,
    Reset,
}

/// A walk.
struct Walk {
    config: PoolConfig,
    alphabet: Vec<Letter>,
    depth: usize,
}

const STREAM: Stream = Stream(0);

impl Letter {
    /// The calls that it stands for, one after the other, until one is refused or there are no more.
    fn apply(self, both: &mut Comparison<'_>) -> Result<(), String> {
        let config = both.model.config;
        let prompt = chain_words(&config, 0, 0, 2, true, false);
        let call = match self {
            Letter::Admit { of, .. } | Letter::AdmitStranger { of } | Letter::Pin { of } => {
                if !both.model.sequences[of as usize].open && !Self::open_up_to(both, of)? {
                    return Ok(());
                }
                self.admission(handle(&both.model, of), &prompt, config.block_tokens)
            }
            Letter::Fork { of, child } => {
                if !both.model.sequences[child as usize].open && !Self::open_up_to(both, child)? {
                    return Ok(());
                }
                let children = [handle(&both.model, child)];
                let parent = handle(&both.model, of);
                return made(
                    both,
                    &Call::Fork { parent, children: Handles::of(&children), output_tokens_max: 1, watermark: 0 },
                );
            }
            Letter::Publish { of, keep } => {
                let slot = &both.model.sequences[of as usize];
                let full = slot.accepted() / config.block_tokens;
                let words = chain_words(
                    &config,
                    0,
                    slot.recycled as u32,
                    full.saturating_sub(slot.recycled as u32),
                    true,
                    false,
                );
                let (first, epoch) = (slot.recycled as u32, both.model.time.newest());
                let (sequence, prefix) = (handle(&both.model, of), Named::of(&words.prefix()));
                return made(both, &Call::Publish { sequence, first, prefix, epoch, keep });
            }
            Letter::HoldCached => {
                let cached = both.model.ids().find(|&id| both.model.holders(id) == 0 && both.model.block(id).known);
                let ids = [BlockId(cached.unwrap_or(0))];
                return made(both, &Call::HoldBlocks { ids: Numbers::of(&ids), access: Access::Read });
            }
            _ => self.simple(&both.model),
        };
        made(both, &call)
    }

    /// Open sequences until slot `of` is open: the pool gives the lowest vacant one. False: it is another's turn.
    fn open_up_to(both: &mut Comparison<'_>, of: u32) -> Result<bool, String> {
        // (Only when all slots below it are open, so that histories stay short.)
        if (0..of).any(|slot| !both.model.sequences[slot as usize].open) {
            return Ok(false);
        }
        made(both, &Call::Open)?;
        Ok(both.model.sequences[of as usize].open)
    }

    fn admission(self, sequence: Sequence, prompt: &Words, block_tokens: u32) -> Call<'_> {
        let window = Window { tokens: 2, steps_in_flight: 0, chunk_tokens: 1 };
        let (window, group) = match self {
            Letter::Admit { window: true, .. } => (window, Group(0)),
            Letter::AdmitStranger { .. } => (Window::FULL, Group(1)),
            _ => (Window::FULL, Group(0)),
        };
        let prefix = Named::of(&Words::prefix(prompt));
        if matches!(self, Letter::Pin { .. }) {
            return Call::Pin { sequence, group, streams: StreamSet::ALL, prefix, watermark: 0 };
        }
        let (prompt, output) = if window == Window::FULL { (2, block_tokens - 1) } else { (1, 2) };
        Call::Admit { sequence, admission: Admission { group, window, ..Admission::full(prompt, output) }, prefix }
    }

    fn simple<'a>(self, model: &Model) -> Call<'a> {
        let of = |slot: u32| handle(model, slot);
        let transfer = Transfer {
            slot: 0,
            pool: model.config.number,
            generation: model.transfers.first().map_or(0, |transfer| transfer.generation),
        };
        let oldest = model.time.outstanding(STREAM).first().copied().unwrap_or(Epoch::NONE);
        match self {
            Letter::Advance { of: slot, tokens } => Call::Advance { sequence: of(slot), tokens },
            Letter::CopySubmitted { of: slot } => {
                Call::CopySubmitted { sequence: of(slot), epoch: model.time.newest() }
            }
            Letter::Speculate { of: slot } => Call::Speculate { sequence: of(slot), tokens: 1 },
            Letter::Reject { of: slot } => Call::Accept { sequence: of(slot), tokens: 0, give_back: true },
            Letter::ReleaseFirst { of: slot } => {
                let size = model.config.block_tokens;
                Call::ReleaseTokens { sequence: of(slot), from: 0, to: size }
            }
            Letter::Cancel { of: slot } => Call::Cancel { sequence: of(slot) },
            Letter::End { of: slot } if model.sequences[slot as usize].life == Life::Pinned => {
                Call::Unpin { sequence: of(slot) }
            }
            Letter::End { of: slot } => Call::End { sequence: of(slot) },
            Letter::Submit => Call::Submit { stream: STREAM },
            Letter::Complete { failed } => Call::Complete { stream: STREAM, epoch: oldest, failed },
            Letter::Hold { of: slot, access } => Call::Hold { sequence: of(slot), first: 0, count: 1, access },
            Letter::CompleteTransfer => Call::CompleteTransfer { transfer },
            Letter::Revoke => Call::Revoke { transfer },
            Letter::Quarantine => Call::Quarantine { transfer },
            Letter::Reset => Call::Reset { group: Some(Group(0)) },
            _ => Call::Evict { blocks: 1 },
        }
    }
}

fn handle(model: &Model, slot: u32) -> Sequence {
    Sequence { slot, pool: model.config.number, generation: model.sequences[slot as usize].generation }
}

fn made(both: &mut Comparison<'_>, call: &Call<'_>) -> Result<(), String> {
    both.make_and_compare(call).1.map_or(Ok(()), Err)
}

impl Walk {
    /// How many states there are, and calls that were made to reach them. `Err`: a history after which pool and model do not
    /// say the same, and what.
    fn walk(&self) -> Result<(usize, u64), String> {
        let mut seen = BTreeSet::from([self.replay(&[])?]);
        let (mut level, mut calls) = (vec![Vec::new()], 0);
        for _ in 0..self.depth {
            let mut next = Vec::new();
            for history in &level {
                for &letter in &self.alphabet {
                    let history = [history.as_slice(), &[letter]].concat();
                    calls += history.len() as u64;
                    if seen.insert(self.replay(&history)?) {
                        next.push(history);
                    }
                }
            }
            level = next;
        }
        Ok((seen.len(), calls))
    }

    /// The digest of where a history leads.
    fn replay(&self, history: &[Letter]) -> Result<u64, String> {
        let config = &self.config;
        let (mut memory, mut table) = (vec![Line::ZERO; lines(config)], vec![0; entries(config)]);
        let pool = Pool::init(&mut memory, &mut table, config).map_err(|refusal| format!("{refusal}"))?;
        let mut both = Comparison::new(pool, Model::new(config));
        for letter in history {
            letter.apply(&mut both).map_err(|what| format!("{history:?}: {what}"))?;
        }
        Ok(digest(&both.model))
    }
}

/// Of all that decides what comes next; of epochs only how they stand to one another, of generations nothing.
fn digest(model: &Model) -> u64 {
    let mut hasher = DefaultHasher::new();
    let frontier = model.time.frontier();
    let age = |epoch: Epoch| epoch.0.saturating_sub(frontier.0);
    for id in model.ids() {
        let block = model.block(id);
        let name = block.name.as_ref().map(|name| (name.identity, age(name.written), name.keep, name.spare));
        (block.place, block.group, age(block.epoch), block.known, block.owed, block.tail, name).hash(&mut hasher);
        (model.is_open(block.credit), format!("{:?}", block.credit.filter(|&credit| model.is_open(Some(credit)))))
            .hash(&mut hasher);
    }
    for seq in &model.sequences {
        let row: Vec<(u32, bool)> = seq.row.iter().map(|&Entry { id, held }| (id, held)).collect();
        (seq.open, seq.life, seq.cancelled, seq.balance, seq.group, seq.tokens, seq.unaccepted, row).hash(&mut hasher);
        (seq.window.tokens, seq.recycled, age(seq.recycled_at), seq.order, age(seq.waits_for), seq.outdated)
            .hash(&mut hasher);
    }
    for transfer in &model.transfers {
        (transfer.access.map(|access| access as u32), transfer.quarantined, &transfer.blocks).hash(&mut hasher);
    }
    let failed: Vec<u64> = model.time.failed_epochs.iter().map(|&epoch| age(epoch)).filter(|&age| age > 0).collect();
    let outstanding: Vec<u64> = model.time.outstanding(STREAM).into_iter().map(age).collect();
    let newest_failed = model.time.failed_epochs.contains(&model.time.newest());
    (&model.order, outstanding, age(model.time.newest()), failed, newest_failed).hash(&mut hasher);
    hasher.finish()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use Letter::{
        Admit, AdmitStranger, Advance, Cancel, Complete, CompleteTransfer, CopySubmitted, End, Evict, Fork, Hold,
        HoldCached, Pin, Publish, Quarantine, Reject, ReleaseFirst, Reset, Revoke, Speculate, Submit,
    };

    fn small(blocks: u32, block_tokens: u32, sequences: u32) -> PoolConfig {
        PoolConfig {
            groups: 2,
            transfers: 1,
            events: 2,
            epochs: 2,
            ..PoolConfig::new(blocks, block_tokens, sequences, 6).sharing()
        }
    }

    fn walk(what: &str, config: PoolConfig, alphabet: &[Letter], depth: usize, at_least: usize) {
        // Without optimization as far as it takes a few seconds.
        let (depth, at_least) = if cfg!(debug_assertions) { (depth - 5, 100) } else { (depth, at_least) };
        let (states, calls) =
            Walk { config, alphabet: alphabet.to_vec(), depth }.walk().unwrap_or_else(|what| panic!("{what}"));
        std::println!("{what}: {states} states, {calls} calls");
        assert!(states >= at_least, "{what}: only {states} states");
    }

    /// Two sequences, a stranger, and the cache.
    #[test]
    fn all_short_histories_of_a_cache() {
        let alphabet = [
            Admit { of: 0, window: false },
            Admit { of: 1, window: false },
            AdmitStranger { of: 1 },
            Pin { of: 1 },
            Advance { of: 0, tokens: 2 },
            Advance { of: 1, tokens: 1 },
            Publish { of: 0, keep: true },
            Publish { of: 1, keep: false },
            End { of: 0 },
            End { of: 1 },
            Submit,
            Complete { failed: false },
            Complete { failed: true },
            Evict,
            Reset,
        ];
        walk("cache", small(4, 1, 2), &alphabet, 11, 10_000);
    }

    /// A windowed sequence, another one, a transfer.
    #[test]
    fn all_short_histories_of_a_window_and_a_transfer() {
        let alphabet = [
            Admit { of: 0, window: true },
            Admit { of: 1, window: false },
            Advance { of: 0, tokens: 1 },
            Advance { of: 1, tokens: 1 },
            Publish { of: 0, keep: true },
            Publish { of: 1, keep: true },
            Hold { of: 0, access: Access::Read },
            Hold { of: 1, access: Access::Write },
            HoldCached,
            CompleteTransfer,
            Revoke,
            Quarantine,
            End { of: 0 },
            End { of: 1 },
            Cancel { of: 0 },
            Submit,
            Complete { failed: false },
        ];
        walk("window and transfer", small(5, 1, 2), &alphabet, 10, 10_000);
    }

    /// Forks, copies, proposed tokens.
    #[test]
    fn all_short_histories_of_forks() {
        let alphabet = [
            Admit { of: 0, window: false },
            Admit { of: 0, window: true },
            Advance { of: 0, tokens: 1 },
            Advance { of: 1, tokens: 1 },
            Fork { of: 0, child: 1 },
            Fork { of: 1, child: 2 },
            Fork { of: 0, child: 2 },
            CopySubmitted { of: 0 },
            CopySubmitted { of: 1 },
            Speculate { of: 0 },
            Reject { of: 0 },
            ReleaseFirst { of: 1 },
            Hold { of: 0, access: Access::Read },
            CompleteTransfer,
            End { of: 0 },
            End { of: 1 },
            End { of: 2 },
            Submit,
            Complete { failed: false },
        ];
        walk("forks", small(5, 2, 3), &alphabet, 9, 30_000);
    }
}
