//! Six bytes become a call, read against what is there.

use super::compare::Comparison;
use super::operation::{Kind, Operation};
use super::pool::Seq;
use crate::calls::{Admission, Prefix, Promise, Step, Window};
use crate::ids::{Account, Epoch, Group, Sequence, Stream, StreamSet};
use crate::recorder::{Call, Named, Steps};
use std::vec::Vec;

/// Rows of a batch that an operation makes.
pub(super) type Rows = [Step; 3];

fn pick<T: Copy + Default>(list: &[T], number: u8) -> T {
    if list.is_empty() { T::default() } else { list[number as usize % list.len()] }
}

impl Comparison<'_> {
    /// The call that `operation` stands for now. The rows of a batch go to `rows`.
    pub(super) fn choose<'a>(&self, operation: Operation, rows: &'a mut Rows) -> Call<'a> {
        let [a, b, c, d, e] = operation.numbers;
        let sequence = self.sequence(a, operation.kind() != Kind::Admit);
        let account = self.account(a);
        let (small, stream, group) = (u32::from(b % 12), self.stream(b), self.group(a));
        let watermark = if e < 200 { 0 } else { u32::from(e - 200) / 8 };
        match operation.kind() {
            Kind::Open => Call::Open,
            Kind::Admit => Call::Admit {
                sequence,
                admission: self.admission(sequence, operation.numbers),
                prefix: Named::of(&Prefix::of(&[])),
            },
            Kind::Advance => Call::Advance { sequence, tokens: small / 2 },
            Kind::AdvanceGrowing => Call::AdvanceGrowing { sequence, tokens: small / 2, watermark },
            Kind::AdvanceMany => {
                *rows = self.rows([a, b, c], u32::from(d % 4));
                // Sometimes too short, which is refused.
                let (answers, changed) = (if e == 255 { 2 } else { 3 }, if e == 254 { 1 } else { 3 });
                Call::AdvanceMany { steps: Steps::of(rows), answers, changed }
            }
            Kind::Materialize => Call::Materialize { sequence, blocks: small },
            Kind::Extend => Call::Extend { sequence, blocks: small, watermark },
            Kind::Shrink => Call::Shrink { sequence, blocks: small },
            Kind::DrawSafety => Call::DrawSafety { sequence, blocks: small },
            Kind::Cancel => Call::Cancel { sequence },
            Kind::End => Call::End { sequence },
            Kind::Preempt => Call::Preempt { sequence },
            Kind::UseStreams => Call::UseStreams { sequence, streams: StreamSet(u64::from(b)) },
            Kind::OpenAccount => Call::OpenAccount { group, total: small, watermark },
            Kind::SetAccountTotal => Call::SetAccountTotal { account, total: small },
            Kind::CloseAccount => Call::CloseAccount { account },
            Kind::SetSafety => {
                let blocks = self.model.config.blocks;
                Call::SetSafety { blocks: if a < 240 { u32::from(a) % (blocks / 3 + 1) } else { u32::from(a) } }
            }
            Kind::SetQuota => Call::SetQuota { group, blocks: if c < 200 { u32::MAX } else { u32::from(c % 24) } },
            Kind::Submit => Call::Submit { stream },
            Kind::Complete => Call::Complete { stream, epoch: self.epoch(stream, a), failed: c < 32 },
            Kind::Abandon => Call::Abandon { stream },
            Kind::Reclaim => Call::Reclaim { blocks: small },
            Kind::LaunchRow => Call::LaunchRow { sequence, epoch: pick(&self.epochs, b) },
        }
    }

    fn admission(&self, sequence: Sequence, numbers: [u8; 5]) -> Admission {
        let [_, b, c, d, e] = numbers;
        let account = if d & 7 == 0 { self.account(d) } else { Account::NONE };
        let promise =
            if c & 1 == 0 { Promise::Full } else { Promise::Blocks(u32::from(b & 15) + u32::from(c >> 1 & 7)) };
        // Mostly what half a row can hold, so that prompt and output together fit.
        let half_row = self.model.config.table_width * self.model.config.block_tokens / 2 + 1;
        Admission {
            prompt_tokens: if b == 0 { 0 } else { 1 + u32::from(b & 15) % half_row },
            output_tokens_max: u32::from(b >> 4) % half_row,
            promise,
            group: if d < 128 { self.model.group_of(sequence).unwrap_or(self.group(d)) } else { self.group(d) },
            speculative_tokens: 0,
            window: Window::FULL,
            streams: if e < 100 { StreamSet(u64::from((e % 8) | 1)) } else { StreamSet::ALL },
            watermark: if e < 200 { 0 } else { u32::from(e - 200) / 8 },
            account,
        }
    }

    /// The same sequence may stand in it twice.
    fn rows(&self, which: [u8; 3], tokens: u32) -> Rows {
        which.map(|number| Step { sequence: self.sequence(number, true), tokens })
    }

    /// A handle: mostly of a sequence that the operation is for, sometimes of any other, a cancelled or an ended one.
    fn sequence(&self, number: u8, admitted: bool) -> Sequence {
        let pool = self.model.config.number;
        let listed = |fits: &dyn Fn(&Seq) -> bool| -> Vec<_> {
            let fitting = self.model.sequences.iter().zip(0..).filter(|(seq, _)| seq.open && fits(seq));
            fitting.map(|(seq, slot)| Sequence { slot, pool, generation: seq.generation }).collect()
        };
        let fitting = listed(&|seq| !seq.cancelled && seq.admitted == admitted);
        match number {
            0..208 if !fitting.is_empty() => pick(&fitting, number),
            0..240 => pick(&listed(&|_| true), number),
            _ => pick(&self.sequences, number),
        }
    }

    fn account(&self, number: u8) -> Account {
        let pool = self.model.config.number;
        let open = self.model.accounts.iter().zip(0..).filter(|(account, _)| account.open);
        let open: Vec<_> = open.map(|(account, slot)| Account { slot, pool, generation: account.generation }).collect();
        if number < 224 && !open.is_empty() { pick(&open, number) } else { pick(&self.accounts, number) }
    }

    fn group(&self, number: u8) -> Group {
        let groups = self.model.config.groups;
        Group(if number < 240 { u32::from(number) % groups } else { groups })
    }

    fn stream(&self, number: u8) -> Stream {
        let streams = self.model.config.streams;
        Stream(if number < 240 { u32::from(number) % streams } else { streams })
    }

    fn epoch(&self, stream: Stream, number: u8) -> Epoch {
        let outstanding = self.model.time.outstanding(stream);
        if number < 208 && !outstanding.is_empty() { pick(&outstanding, number) } else { pick(&self.epochs, number) }
    }
}
