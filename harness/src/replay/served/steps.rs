//! One step of a lane: what the device is told, and who ends with it.

use super::super::settings::Sharing;
use super::desk::Lists;
use super::failures::Step;
use super::lanes::Pending;
use super::model::bits;
use super::server::Server;
use super::shadow::Expected;
use crate::replay::Failure;
use kvledger_core::{Epoch, Prefix};
use kvledger_cuda::Event;
use std::sync::atomic::Ordering;

/// Steps of a lane that may be under way while another one is made.
pub(super) const IN_FLIGHT: usize = 2;
/// Most new tokens of a sequence in one step.
pub(super) const CHUNK: u32 = 256;

impl Server<'_> {
    /// One step of a lane.
    pub(super) fn step(&mut self, number: usize, step: Step) -> Result<(), Failure> {
        if self.lanes[number].running.is_empty() {
            return Ok(());
        }
        let expected = self.make_lists(number, step)?;
        let lane = &mut self.lanes[number];
        let device = lane.epochs.stream().device().clone();
        let results = match lane.spare.pop() {
            Some(results) => results,
            None => step.done(lane.desk.results(&device))?,
        };
        let event = step.done(Event::open(&device))?;
        let (epoch, generation) = match self.mistake {
            #[cfg(test)]
            super::server::Mistake::CompleteEarly => {
                let stream = kvledger_core::Stream(number as u32);
                let epoch = step.answered("submit", self.pool.submit(stream))?;
                let generation = step.done(lane.desk.enqueue(lane.epochs.stream(), &lane.lists, &results))?;
                step.answered("complete", self.pool.complete(stream, epoch, false))?;
                (epoch, generation)
            }
            _ => {
                let begun = step.ended("submit", lane.epochs.begin())?;
                let generation = step.done(lane.desk.enqueue(begun.stream(), &lane.lists, &results))?;
                (step.ended("submit", begun.end(false))?, generation)
            }
        };
        step.done(lane.epochs.stream().record(&event))?;
        lane.pending.push_back(Pending { event, results, expected, generation, step });
        self.served.steps += 1;
        self.publish(number, step, epoch)?;
        self.end_finished(number, step)
    }

    /// Blocks for the next tokens of each sequence, and everything that the device is to be told of them.
    fn make_lists(&mut self, number: usize, step: Step) -> Result<Vec<(u32, u32, Expected)>, Failure> {
        let lane = &mut self.lanes[number];
        let (lists, block_tokens) = (&mut lane.lists, self.work.settings.block_tokens);
        *lists = Lists::default();
        let mut expected = Vec::with_capacity(lane.running.len());
        for running in &mut lane.running {
            let first = running.written;
            let tokens = running.next_tokens(CHUNK);
            let advanced = step.answered("advance", self.pool.advance(running.sequence, tokens))?;
            running.written += tokens;
            running.shadow.extend_to(running.written);
            let mut row = vec![0; self.columns as usize];
            let held = step.answered("export_row", self.pool.export_row(running.sequence, &mut row))?;
            self.served.taken += u64::from(advanced.taken);
            self.seen.extend(&row[..held as usize]);
            for position in first..running.written {
                lists.slots.extend([row[(position / block_tokens) as usize], position % block_tokens]);
                let [key, value] = running.shadow.pair(position);
                lists.keys.extend(bits(key));
                lists.values.extend(bits(value));
            }
            let queries = running.shadow.queries();
            lists.queries.extend(bits(&queries));
            lists.lengths.push(running.written);
            lists.entries.extend(row);
            self.served.written += u64::from(tokens);
            expected.push((running.request, running.written, running.shadow.expected(&queries)));
        }
        Ok(expected)
    }

    /// The named blocks of prompts that are written by this step, or were before, are known from now on.
    fn publish(&mut self, number: usize, step: Step, epoch: Epoch) -> Result<(), Failure> {
        let keep = self.work.settings.sharing == Sharing::Retain;
        if self.work.settings.sharing == Sharing::Off {
            return Ok(());
        }
        for running in &mut self.lanes[number].running {
            let mut prefix = Vec::new();
            self.work.names.identities(running.request, &mut prefix);
            let new = prefix.get(running.hits as usize..).unwrap_or(&[]);
            if running.written < running.prompt || new.is_empty() {
                continue;
            }
            let published = self.pool.publish(running.sequence, running.hits, &Prefix::of(new), epoch, keep, &mut []);
            step.answered("publish", published)?;
            // Once is enough.
            running.hits = prefix.len() as u32;
        }
        Ok(())
    }

    /// Who has made the last token ends, with its work under way.
    fn end_finished(&mut self, number: usize, step: Step) -> Result<(), Failure> {
        let running = std::mem::take(&mut self.lanes[number].running);
        for running in running {
            if running.written < running.tokens_in_all {
                self.lanes[number].running.push(running);
                continue;
            }
            let released = step.answered("end", self.pool.end(running.sequence))?;
            self.served.retired += u64::from(released.retiring);
            self.served.requests += 1;
            self.through.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Waits until at most so many steps of a lane are under way, and compares those that are over.
    pub(super) fn settle(&mut self, number: usize, most: usize) -> Result<(), Failure> {
        let lane = &mut self.lanes[number];
        while let Some(oldest) = lane.pending.front() {
            let step = oldest.step;
            if lane.pending.len() <= most && !step.done(oldest.event.is_complete())? {
                break;
            }
            step.done(oldest.event.synchronize())?;
            let compared = oldest.compare()?;
            self.served.rows += compared.rows;
            self.served.share = self.served.share.max(compared.share);
            lane.spare.extend(lane.pending.pop_front().map(|pending| pending.results));
        }
        let step = Step(self.served.steps);
        if most == 0 {
            step.ended("complete", lane.epochs.wait())?;
        }
        step.ended("poll", lane.epochs.poll()).map(|_| ())
    }
}
