//! Copies that all happen at once, as launches whose pairs may run in any order.
//!
//! A list of copies within one pool means: every destination gets what its source held before. A kernel that works on all
//! pairs at the same time does not do that where one writes what another reads:
//!
//! ```text
//!   1 → 2, 2 → 3        3 must get the old 2: launch 2 → 3, then 1 → 2
//!   1 → 2, 2 → 1        a cycle: launch 1 → spare, then 2 → 1, then spare → 2
//! ```
//!
//! Every block is written by one pair at most, so a pair waits for those that read its destination, and for nothing else.
//! What is left when no pair can go first is made of cycles; one block of each is kept in the spare.

use crate::launch::{Refusal, Wrong};
use crate::raw::kvk_copy_pair;
use std::collections::HashMap;

/// Pairs in the order of launches.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Launches {
    /// All pairs: those of the first launch first.
    pub pairs: Vec<kvk_copy_pair>,
    /// Where each launch ends in them.
    pub ends: Vec<usize>,
}

impl Launches {
    /// The pairs of each launch.
    pub fn each(&self) -> impl Iterator<Item = &[kvk_copy_pair]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.pairs[*start..*end])
    }
}

/// Puts pairs of one pool in order. A pair of a block with itself does nothing, and is left out. `spare` is a block that
/// nobody uses: without one, cycles are refused.
///
/// Errors, of `pairs`: `Twice` if two write to the same block; `Cycle` for one without a spare block; `Spare` if the spare
/// block is among them. Cost: O(pairs).
pub fn in_order(pairs: &[kvk_copy_pair], spare: Option<u32>) -> Result<Launches, Refusal> {
    if let Some(block) = spare {
        let names_spare = |pair: &kvk_copy_pair| pair.source == block || pair.destination == block;
        if let Some(entry) = pairs.iter().position(names_spare) {
            return Err(Refusal::new("pairs", Wrong::Spare { entry, block }));
        }
    }
    let mut graph = Graph::of(pairs)?;
    let mut launches = Launches::default();
    graph.launch_chains(&mut launches);
    graph.launch_cycles(spare, &mut launches)?;
    Ok(launches)
}

/// Pairs that are not launched yet, and which of them waits for which.
struct Graph<'a> {
    pairs: &'a [kvk_copy_pair],
    is_left: Vec<bool>,
    /// By block: how many pairs that are left read it.
    readers: HashMap<u32, usize>,
    /// By block: the pair that writes it.
    writers: HashMap<u32, usize>,
}

impl<'a> Graph<'a> {
    fn of(pairs: &'a [kvk_copy_pair]) -> Result<Graph<'a>, Refusal> {
        let writers = crate::launch::writers(pairs)?;
        let is_left: Vec<bool> = pairs.iter().map(|pair| pair.source != pair.destination).collect();
        let mut readers = HashMap::new();
        for (pair, _) in pairs.iter().zip(&is_left).filter(|(_, is_left)| **is_left) {
            *readers.entry(pair.source).or_insert(0) += 1;
        }
        Ok(Graph { pairs, is_left, readers, writers })
    }

    /// Everything that is not in a cycle: first what nobody waits for, then what waited for that, and so on.
    fn launch_chains(&mut self, launches: &mut Launches) {
        let is_ready = |at: &usize| self.is_left[*at] && !self.readers.contains_key(&self.pairs[*at].destination);
        let mut ready: Vec<usize> = (0..self.pairs.len()).filter(is_ready).collect();
        while !ready.is_empty() {
            launches.pairs.extend(ready.iter().map(|at| self.pairs[*at]));
            launches.ends.push(launches.pairs.len());
            ready.iter().for_each(|at| self.is_left[*at] = false);
            ready = ready.into_iter().filter_map(|at| self.has_read(self.pairs[at].source)).collect();
        }
    }

    /// One reader of a block less. With the last one, the pair that writes it may go: that is the answer.
    fn has_read(&mut self, block: u32) -> Option<usize> {
        let count = self.readers.get_mut(&block)?;
        *count -= 1;
        if *count > 0 {
            return None;
        }
        self.readers.remove(&block);
        self.writers.get(&block).copied().filter(|writer| self.is_left[*writer])
    }

    /// Whatever is left. Each destination there is read by one other pair, so it is cycles and nothing else.
    fn launch_cycles(&mut self, spare: Option<u32>, launches: &mut Launches) -> Result<(), Refusal> {
        let left = (0..self.pairs.len()).filter(|at| self.is_left[*at]);
        let reader_of: HashMap<u32, usize> = left.map(|at| (self.pairs[at].source, at)).collect();
        for first in 0..self.pairs.len() {
            if !self.is_left[first] {
                continue;
            }
            // It reads what `first` overwrites, and goes last.
            let kept = self.pairs[first].destination;
            let Some(&last) = reader_of.get(&kept) else { continue };
            let Some(spare) = spare else {
                return Err(Refusal::new("pairs", Wrong::Cycle { writer: first, reader: last }));
            };
            let mut alone = |source, destination, tokens| {
                launches.pairs.push(kvk_copy_pair { source, destination, tokens, reserved: 0 });
                launches.ends.push(launches.pairs.len());
            };
            alone(kept, spare, self.pairs[last].tokens);
            let mut at = first;
            while at != last {
                let pair = self.pairs[at];
                alone(pair.source, pair.destination, pair.tokens);
                self.is_left[at] = false;
                // Now nobody reads the source any more, so its writer is next.
                at = self.writers.get(&pair.source).copied().unwrap_or(last);
            }
            alone(spare, self.pairs[last].destination, self.pairs[last].tokens);
            self.is_left[last] = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Random;

    fn pair(source: u32, destination: u32) -> kvk_copy_pair {
        kvk_copy_pair { source, destination, tokens: 1, reserved: 0 }
    }

    /// What blocks hold after launches in order, each of whose pairs read before any of them writes; block i held i.
    fn outcome(launches: &Launches, blocks: u32) -> Vec<u32> {
        let mut memory: Vec<u32> = (0..=blocks).collect();
        for launch in launches.each() {
            let mut touched = std::collections::HashSet::new();
            assert!(launch.iter().all(|pair| touched.insert(pair.destination)), "{launch:?}");
            assert!(launch.iter().all(|pair| !touched.contains(&pair.source)), "{launch:?}");
            for pair in launch {
                memory[pair.destination as usize] = memory[pair.source as usize];
            }
        }
        memory
    }

    fn happens_at_once(pairs: &[kvk_copy_pair], blocks: u32) -> Launches {
        let launches = in_order(pairs, Some(blocks)).unwrap();
        let mut expected: Vec<u32> = (0..=blocks).collect();
        for pair in pairs {
            expected[pair.destination as usize] = pair.source;
        }
        let mut found = outcome(&launches, blocks);
        // The spare block holds what was kept.
        found[blocks as usize] = blocks;
        assert_eq!(found, expected, "{pairs:?} by {launches:?}");
        launches
    }

    /// TensorRT-LLM issue 9056 and vllm-ascend issue 16013.
    #[test]
    fn blocks_get_what_their_sources_held_before() {
        let twice = in_order(&[pair(3, 7), pair(5, 7)], Some(9));
        assert_eq!(twice, Err(Refusal::new("pairs", Wrong::Twice { first: 0, second: 1 })));
        assert_eq!(happens_at_once(&[pair(1, 2), pair(2, 3)], 9).ends, [1, 2]);
        assert_eq!(happens_at_once(&[pair(1, 2), pair(2, 1)], 9).ends, [1, 2, 3]);
    }

    #[test]
    fn what_does_not_wait_is_one_launch() {
        assert_eq!(happens_at_once(&[pair(1, 2), pair(1, 3), pair(4, 5)], 9).ends, [3]);
        assert_eq!(happens_at_once(&[pair(1, 2), pair(3, 4), pair(2, 5), pair(4, 6)], 9).ends, [2, 4]);
        assert_eq!(happens_at_once(&[], 9), Launches::default());
        assert_eq!(happens_at_once(&[pair(6, 6)], 9), Launches::default());
        assert!(in_order(&[pair(1, 2), pair(2, 3)], None).is_ok(), "a chain needs no spare block");
    }

    #[test]
    fn a_cycle_needs_a_block_that_nobody_uses() {
        let cycle = [pair(4, 5), pair(1, 2), pair(2, 3), pair(3, 1)];
        let refused = Refusal::new("pairs", Wrong::Cycle { writer: 1, reader: 2 });
        assert_eq!(in_order(&cycle, None), Err(refused));
        let named = Refusal::new("pairs", Wrong::Spare { entry: 0, block: 5 });
        assert_eq!(in_order(&cycle, Some(5)), Err(named));
    }

    /// Chains, forks and cycles of all lengths, some of them with branches.
    #[test]
    fn random_lists_happen_at_once() {
        let blocks = 24;
        for seed in 0..20_000 {
            let mut random = Random::new(seed);
            let mut destinations: Vec<u32> = (1..blocks).collect();
            let count = random.below(u64::from(blocks)) as usize;
            let pairs: Vec<_> = (0..count)
                .map(|_| {
                    let at = random.below(destinations.len() as u64) as usize;
                    pair(1 + random.below(u64::from(blocks) - 1) as u32, destinations.swap_remove(at))
                })
                .collect();
            happens_at_once(&pairs, blocks);
        }
    }
}
