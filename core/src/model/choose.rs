//! Six bytes become a call, read against what is there.

use super::chains::{CHAINS, chain_words};
use super::compare::Comparison;
use super::make::Words;
use super::operation::{Kind, Operation};
use super::pool::{Life, Seq};
use crate::calls::{Admission, Promise, Step, Window};
use crate::ids::{Account, BlockId, Epoch, Group, Sequence, Stream, StreamSet, Transfer};
use crate::recorder::{Call, Handles, Named, Numbers, Steps};
use crate::transfers::Access;
use std::vec::Vec;

/// What the arguments of a call refer to.
#[derive(Default)]
pub(super) struct Lists {
    rows: Vec<Step>,
    words: Words,
    ids: Vec<BlockId>,
    handles: Vec<Sequence>,
}

fn pick<T: Copy + Default>(list: &[T], number: u8) -> T {
    if list.is_empty() { T::default() } else { list[number as usize % list.len()] }
}

impl Comparison<'_> {
    /// The call that `operation` stands for now. Its lists go to `lists`.
    pub(super) fn choose<'a>(&self, operation: Operation, lists: &'a mut Lists) -> Call<'a> {
        let [a, b, c, d, e] = operation.numbers;
        let kind = self.kind(operation.kind(), e);
        let sequence = self.sequence(a, |seq| is_for(kind, seq));
        let (small, watermark) = (u32::from(b % 12), watermark(e));
        match kind {
            Kind::Open => Call::Open,
            Kind::Admit => {
                let admission = self.admission(sequence, operation.numbers);
                lists.words = self.prompt(c >> 2, admission.prompt_tokens, e);
                Call::Admit { sequence, admission, prefix: Named::of(&lists.words.prefix()) }
            }
            Kind::Advance => Call::Advance { sequence, tokens: small / 2 },
            Kind::AdvanceGrowing => Call::AdvanceGrowing { sequence, tokens: small / 2, watermark },
            Kind::AdvanceMany => {
                lists.rows = self.rows([a, b, c], u32::from(d % 4));
                // Sometimes too short, which is refused.
                let (answers, changed) = (if e == 255 { 2 } else { 3 }, if e == 254 { 1 } else { 3 });
                Call::AdvanceMany { steps: Steps::of(&lists.rows), answers, changed }
            }
            Kind::Materialize => Call::Materialize { sequence, blocks: small },
            Kind::Extend => Call::Extend { sequence, blocks: small, watermark },
            Kind::Shrink => Call::Shrink { sequence, blocks: small },
            Kind::DrawSafety => Call::DrawSafety { sequence, blocks: small },
            Kind::Cancel => Call::Cancel { sequence },
            Kind::End => Call::End { sequence },
            Kind::Preempt => Call::Preempt { sequence },
            Kind::UseStreams => Call::UseStreams { sequence, streams: StreamSet(u64::from(b)) },
            Kind::LaunchRow => Call::LaunchRow { sequence, epoch: pick(&self.epochs, b) },
            Kind::WithdrawAdmission => Call::WithdrawAdmission { sequence },
            Kind::Unpin => Call::Unpin { sequence },
            Kind::CopySubmitted => Call::CopySubmitted { sequence, epoch: pick(&self.epochs, b) },
            Kind::Speculate => Call::Speculate { sequence, tokens: small / 3 },
            Kind::Accept => Call::Accept { sequence, tokens: u32::from(b % 5), give_back: c & 1 == 1 },
            _ => self.choose_more(kind, sequence, operation.numbers, lists),
        }
    }

    /// Calls that share, and those of the whole pool.
    fn choose_more<'a>(&self, kind: Kind, sequence: Sequence, numbers: [u8; 5], lists: &'a mut Lists) -> Call<'a> {
        let [a, b, c, d, e] = numbers;
        let (small, watermark) = (u32::from(b % 12), watermark(e));
        let (account, stream, group) = (self.account(a), self.stream(b), self.group(a));
        let access = if d & 1 == 0 { Access::Read } else { Access::Write };
        let (first, count) = (u32::from(b & 3), u32::from(c & 3));
        match kind {
            Kind::Publish => {
                let (first, words) = self.edition(sequence, numbers);
                lists.words = words;
                let epoch =
                    if d < 200 { self.epochs.last().copied().unwrap_or_default() } else { pick(&self.epochs, d) };
                Call::Publish { sequence, first, prefix: Named::of(&lists.words.prefix()), epoch, keep: e & 3 > 0 }
            }
            Kind::Withdraw => Call::Withdraw { sequence, first, count },
            Kind::Pin => {
                lists.words = self.prompt(b, u32::from(c & 7) * self.model.config.block_tokens, e);
                let group = self.model.group_of(sequence).filter(|_| d < 240).unwrap_or(self.group(d));
                let (streams, prefix) = (StreamSet(u64::from((d & 7) | 1)), Named::of(&lists.words.prefix()));
                Call::Pin { sequence, group, streams, prefix, watermark }
            }
            Kind::Release => {
                lists.ids = self.row_ids(sequence, [b, c, d]);
                Call::Release { sequence, ids: Numbers::of(&lists.ids) }
            }
            Kind::ReleaseTokens => {
                let size = if e < 240 { self.model.config.block_tokens } else { 1 };
                Call::ReleaseTokens { sequence, from: first * size, to: (first + count) * size }
            }
            Kind::Trim => {
                let size = if e < 240 { self.model.config.block_tokens } else { 1 };
                Call::Trim { sequence, tokens: first * size }
            }
            Kind::Fork => {
                let children = [(b, true), (c, c & 1 == 0), (d, d & 3 == 0)];
                let children = children.iter().filter(|(_, wanted)| *wanted);
                for &(number, _) in children {
                    // Mostly each once.
                    let mut others =
                        (0..6).map(|more| self.sequence(number.saturating_add(more), |seq| seq.life == Life::Opened));
                    let another = others.find(|child| number > 225 || !lists.handles.contains(child));
                    lists.handles.extend(another);
                }
                let output_tokens_max = u32::from(e & 7);
                Call::Fork { parent: sequence, children: Handles::of(&lists.handles), output_tokens_max, watermark }
            }
            Kind::Hold => Call::Hold { sequence, first, count, access },
            Kind::HoldBlocks => {
                lists.ids = self.known_ids([a, b, c]);
                Call::HoldBlocks { ids: Numbers::of(&lists.ids), access }
            }
            Kind::CompleteTransfer => Call::CompleteTransfer { transfer: self.transfer(a) },
            Kind::Revoke => Call::Revoke { transfer: self.transfer(a) },
            Kind::Quarantine => Call::Quarantine { transfer: self.transfer(a) },
            Kind::Evict => Call::Evict { blocks: small / 2 },
            Kind::Reset => Call::Reset { group: (b < 200).then_some(group) },
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
            _ => Call::Reclaim { blocks: small },
        }
    }

    /// What the pool has no room for is seldom asked for.
    fn kind(&self, kind: Kind, number: u8) -> Kind {
        let config = &self.model.config;
        let is_there = match kind {
            Kind::Publish | Kind::Withdraw | Kind::Pin | Kind::Unpin | Kind::Evict | Kind::Reset => config.cache > 0,
            Kind::Hold | Kind::HoldBlocks | Kind::CompleteTransfer | Kind::Revoke | Kind::Quarantine => {
                config.transfers > 0
            }
            _ => true,
        };
        if is_there || number > 240 { kind } else { Kind::Advance }
    }

    fn admission(&self, sequence: Sequence, numbers: [u8; 5]) -> Admission {
        let [a, b, c, d, e] = numbers;
        let account = if d & 7 == 0 { self.account(d) } else { Account::NONE };
        let promise =
            if c & 1 == 0 { Promise::Full } else { Promise::Blocks(u32::from(b & 15) + u32::from(c >> 1 & 7)) };
        // Mostly what half a row can hold, so that prompt and output together fit.
        let half_row = self.model.config.table_width * self.model.config.block_tokens / 2 + 1;
        let window = Window {
            tokens: 1 + u32::from(c >> 4),
            steps_in_flight: u32::from(d >> 6 & 1),
            // 0 is refused.
            chunk_tokens: u32::from(e & 31).min(1 + u32::from(d >> 4 & 3)),
        };
        Admission {
            prompt_tokens: if b == 0 { 0 } else { 1 + u32::from(b & 15) % half_row },
            output_tokens_max: u32::from(b >> 4) % half_row,
            promise,
            group: if d < 128 { self.model.group_of(sequence).unwrap_or(self.group(d)) } else { self.group(d) },
            speculative_tokens: if e & 3 == 0 { u32::from(e >> 2 & 7) } else { 0 },
            window: if a & 3 == 1 { window } else { Window::FULL },
            streams: if e < 100 { StreamSet(u64::from((e % 8) | 1)) } else { StreamSet::ALL },
            watermark: watermark(e),
            account,
        }
    }

    /// The names of a prompt's full blocks, and sometimes one more.
    fn prompt(&self, number: u8, tokens: u32, e: u8) -> Words {
        let config = &self.model.config;
        if u32::from(number & 3) >= CHAINS {
            return Words::default();
        }
        let count = tokens / config.block_tokens + u32::from(e & 1);
        let mut words = chain_words(config, u32::from(number & 3), 0, count, e & 6 > 0, e & 8 == 0);
        self.spoil(&mut words, e);
        if e & 0xf0 == 0x30 {
            words.blocks_max = u32::from(e & 3);
        }
        words
    }

    /// Sometimes the tokens are others than the names say.
    fn spoil(&self, words: &mut Words, number: u8) {
        if number & 0xf0 == 0x20
            && let Some(token) = words.tokens.last_mut()
        {
            *token += 1;
        }
        if number == 0x4f {
            words.tokens.push(0);
        }
    }

    /// Names for blocks of a sequence: mostly for all that are full, of a prompt that goes with those that have names.
    fn edition(&self, sequence: Sequence, numbers: [u8; 5]) -> (u32, Words) {
        let [_, b, c, _, e] = numbers;
        let config = &self.model.config;
        let seq = self.model.find(sequence).ok().map(|slot| &self.model.sequences[slot]);
        let (full, recycled) = seq.map_or((0, 0), |seq| (seq.accepted() / config.block_tokens, seq.recycled as u32));
        let first = if b < 200 { recycled } else { u32::from(b & 3) };
        let count = if c < 200 { full.saturating_sub(first) } else { u32::from(c & 3) };
        let shift = u32::from(c >= 250);
        let goes = |chain: &u32| {
            let names = seq.into_iter().flat_map(|seq| seq.row.iter().filter(|entry| entry.held).zip(0..));
            let names = names.filter_map(|(entry, place)| Some((self.model.block(entry.id).name.as_ref()?, place)));
            names.into_iter().all(|(name, place)| name.identity == super::chains::chain_identity(*chain, place))
        };
        let chain =
            (0..CHAINS).map(|chain| (chain + u32::from(b)) % CHAINS).find(goes).unwrap_or(u32::from(b) % CHAINS);
        let mut words = chain_words(config, chain, first + shift, count, false, e < 245);
        self.spoil(&mut words, e);
        (first, words)
    }

    /// The same sequence may stand in it twice, unless blocks may leave its row before it is looked at.
    fn rows(&self, which: [u8; 3], tokens: u32) -> Vec<Step> {
        let mut rows: Vec<Step> = Vec::new();
        for number in which {
            let sequence = self.sequence(number, |seq| seq.life == Life::Admitted);
            let is_windowed = self.model.find(sequence).is_ok_and(|slot| self.model.sequences[slot].is_windowed());
            let again = is_windowed && rows.iter().any(|step| step.sequence == sequence);
            rows.push(Step { sequence: if again { Sequence::default() } else { sequence }, tokens });
        }
        rows
    }

    /// Blocks of a sequence, some of them twice, and some of others.
    fn row_ids(&self, sequence: Sequence, numbers: [u8; 3]) -> Vec<BlockId> {
        let slot = self.model.find(sequence).ok();
        let own: Vec<u32> = slot.into_iter().flat_map(|slot| self.model.sequences[slot].held_ids()).collect();
        let wanted = numbers.iter().enumerate().filter(|(index, number)| *index == 0 || **number & 1 == 1);
        wanted
            .map(|(_, &number)| BlockId(if number < 248 { pick(&own, number) } else { u32::from(number & 31) }))
            .collect()
    }

    /// Blocks that others than their holders may know, and some that nobody does.
    fn known_ids(&self, numbers: [u8; 3]) -> Vec<BlockId> {
        let known: Vec<u32> = self.model.ids().filter(|&id| self.model.block(id).known).collect();
        let wanted = numbers.iter().enumerate().filter(|(index, number)| *index == 0 || **number & 1 == 1);
        wanted
            .map(|(_, &number)| BlockId(if number < 248 { pick(&known, number) } else { u32::from(number & 31) }))
            .collect()
    }

    /// A handle: mostly of a sequence that the operation is for, sometimes of any other, a cancelled or an ended one.
    fn sequence(&self, number: u8, is_for: impl Fn(&Seq) -> bool) -> Sequence {
        let pool = self.model.config.number;
        let listed = |fits: &dyn Fn(&Seq) -> bool| -> Vec<_> {
            let fitting = self.model.sequences.iter().zip(0..).filter(|(seq, _)| seq.open && fits(seq));
            fitting.map(|(seq, slot)| Sequence { slot, pool, generation: seq.generation }).collect()
        };
        let fitting = listed(&|seq| !seq.cancelled && is_for(seq));
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

    fn transfer(&self, number: u8) -> Transfer {
        let pool = self.model.config.number;
        let open = self.model.transfers.iter().zip(0..).filter(|(transfer, _)| transfer.access.is_some());
        let open: Vec<_> =
            open.map(|(transfer, slot)| Transfer { slot, pool, generation: transfer.generation }).collect();
        if number < 224 && !open.is_empty() { pick(&open, number) } else { pick(&self.transfers, number) }
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

/// Mostly none.
fn watermark(number: u8) -> u32 {
    if number < 200 { 0 } else { u32::from(number - 200) / 8 }
}

/// Which sequences are mostly asked for.
fn is_for(kind: Kind, seq: &Seq) -> bool {
    let is_admitted = seq.life == Life::Admitted;
    match kind {
        Kind::Admit | Kind::Pin => seq.life == Life::Opened,
        Kind::Unpin => seq.life == Life::Pinned,
        Kind::End => true,
        Kind::Accept => is_admitted && seq.unaccepted > 0,
        Kind::CopySubmitted => is_admitted && seq.order.is_some(),
        Kind::Publish | Kind::Release | Kind::Hold | Kind::Withdraw => is_admitted && seq.held() > 0,
        _ => is_admitted,
    }
}
