//! A record in words, on one line.

use kvledger_core::recorder::{Answer, Call, Named, Outcome, Record};
use kvledger_core::{Account, Admission, Admitted, Promise, Published, Refusal, Sequence};
use std::fmt::Write;

/// The call that was under way when a ring was looked at.
pub fn under_way(made: &Call<'_>) -> String {
    match made {
        Call::AdvanceMany { answers, .. } => format!("{} of up to {answers} rows", made.name()),
        made => call(made),
    }
}

/// What was asked and what it came to.
pub fn describe(record: &Record<'_>) -> String {
    format!("{} -> {}", call(&record.call), outcome(&record.outcome))
}

/// What a call came to: the answer, and from which block on it took any.
pub fn outcome(outcome: &Outcome) -> String {
    let mut text = outcome.answer.as_ref().map_or_else(Refusal::to_string, answer);
    if outcome.first_block > 0 {
        let _ = write!(text, ", block {} and on", outcome.first_block);
    }
    if outcome.digest > 0 {
        let _ = write!(text, " (ids {:08x})", outcome.digest);
    }
    text
}

fn sequence(name: &Sequence) -> String {
    format!("sequence {}/{}", name.slot, name.generation)
}

fn account(name: &Account) -> String {
    format!("account {}/{}", name.slot, name.generation)
}

/// The watermark, if there is one.
fn above(watermark: u32) -> String {
    if watermark == 0 { String::new() } else { format!(", watermark {watermark}") }
}

fn call(call: &Call<'_>) -> String {
    let name = call.name();
    match call {
        Call::Open => name.to_string(),
        Call::Admit { sequence: who, admission, prefix } => {
            format!("{name} {}: {}{}", sequence(who), admitted(admission), names(prefix))
        }
        Call::Publish { sequence: who, first, prefix, epoch, keep } => {
            let (epoch, kept) = (epoch.0, if *keep { "" } else { ", not kept" });
            format!("{name} {} from block {first} on{} under epoch {epoch}{kept}", sequence(who), names(prefix))
        }
        Call::Advance { sequence: who, tokens } => format!("{name} {} by {tokens} tokens", sequence(who)),
        Call::AdvanceGrowing { sequence: who, tokens, watermark } => {
            format!("{name} {} by {tokens} tokens{}", sequence(who), above(*watermark))
        }
        Call::AdvanceMany { steps, .. } => {
            let tokens: u64 = steps.iter().map(|step| u64::from(step.tokens)).sum();
            format!("{name} {} rows by {tokens} tokens in all", steps.len())
        }
        Call::Materialize { sequence: who, blocks }
        | Call::Shrink { sequence: who, blocks }
        | Call::DrawSafety { sequence: who, blocks } => format!("{name} {} by {blocks} blocks", sequence(who)),
        Call::Extend { sequence: who, blocks, watermark } => {
            format!("{name} {} by {blocks} blocks{}", sequence(who), above(*watermark))
        }
        Call::Cancel { sequence: who } | Call::End { sequence: who } | Call::Preempt { sequence: who } => {
            format!("{name} {}", sequence(who))
        }
        Call::UseStreams { sequence: who, streams } => format!("{name} {}: {:#x}", sequence(who), streams.0),
        Call::OpenAccount { group, total, watermark } => {
            format!("{name} of group {}: {total} blocks{}", group.0, above(*watermark))
        }
        Call::SetAccountTotal { account: which, total } => format!("{name} {} to {total} blocks", account(which)),
        Call::CloseAccount { account: which } => format!("{name} {}", account(which)),
        Call::SetSafety { blocks } => format!("{name} to {blocks} blocks"),
        Call::SetQuota { group, blocks } => format!("{name} of group {} to {blocks} blocks", group.0),
        Call::Submit { stream } | Call::Abandon { stream } => format!("{name} stream {}", stream.0),
        Call::Complete { stream, epoch, failed } => {
            format!("{name} stream {} epoch {}{}", stream.0, epoch.0, if *failed { ", failed" } else { "" })
        }
        Call::Reclaim { blocks } => format!("{name} up to {blocks} blocks"),
        Call::LaunchRow { sequence: who, epoch } => format!("{name} {} under epoch {}", sequence(who), epoch.0),
        other => format!("{other:?}"),
    }
}

/// How many blocks are named, if any.
fn names(prefix: &Named<'_>) -> String {
    match prefix.identities.len() {
        0 => String::new(),
        count => format!(", {count} names"),
    }
}

fn admitted(admission: &Admission) -> String {
    let mut text = format!("{} + {} tokens", admission.prompt_tokens, admission.output_tokens_max);
    if let Promise::Blocks(blocks) = admission.promise {
        let _ = write!(text, ", {blocks} blocks promised");
    }
    if admission.group.0 > 0 {
        let _ = write!(text, ", group {}", admission.group.0);
    }
    if !admission.account.is_none() {
        let _ = write!(text, ", {}", account(&admission.account));
    }
    text + &above(admission.watermark)
}

fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Done => "OK".to_string(),
        Answer::Sequence(name) => format!("OK, {}", sequence(name)),
        Answer::Account(name) => format!("OK, {}", account(name)),
        Answer::Admitted(Admitted { promised, hits: 0, .. }) => format!("OK, {promised} promised"),
        Answer::Admitted(Admitted { promised, hits, .. }) => format!("OK, {promised} promised, {hits} found"),
        Answer::Published(Published { stored, known }) => format!("OK, {stored} stored, {known} of them known"),
        Answer::Advanced(advanced) => format!("OK, {} taken, {} entries", advanced.taken, advanced.entries),
        Answer::Batch(batch) => {
            format!("OK, {} advanced, {} refused, {} taken", batch.advanced, batch.refused, batch.taken)
        }
        Answer::Released(gone) if gone.retiring > 0 => {
            let after = gone.after.0;
            format!("OK, {} promised and {} back, {} after epoch {after}", gone.promised, gone.free, gone.retiring)
        }
        Answer::Released(gone) => format!("OK, {} promised and {} back", gone.promised, gone.free),
        Answer::Epoch(epoch) => format!("OK, epoch {}", epoch.0),
        Answer::Blocks(blocks) => format!("OK, {blocks} blocks"),
        Answer::Row(row) => format!("OK, row {} with {} entries", row.row, row.entries),
        Answer::Unfinished => "it panicked".to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::words;
    use kvledger_core::identity::Identity;
    use kvledger_core::recorder::Dump;
    use kvledger_core::{Advanced, Batch, Epoch, Group, Prefix, Released, RowView, Step, Stream, StreamSet};
    use kvledger_core::{Line, Pool, PoolConfig, entries, lines};
    use std::collections::BTreeSet;

    const A: Sequence = Sequence { slot: 4, pool: 1, generation: 9 };
    const NAMES: [Identity; 2] = [Identity { low: 1, high: 1 }, Identity { low: 2, high: 1 }];
    const OF: Account = Account { slot: 2, pool: 1, generation: 3 };

    /// All calls but `advance_many`, whose rows only a dump has, and their lines.
    fn calls() -> [(Call<'static>, &'static str); 24] {
        let admission = Admission {
            promise: Promise::Blocks(7),
            group: Group(2),
            watermark: 5,
            account: OF,
            ..Admission::full(100, 28)
        };
        [
            (Call::Open, "open"),
            (
                Call::Admit { sequence: A, admission, prefix: Named::of(&Prefix::of(&[])) },
                "admit sequence 4/9: 100 + 28 tokens, 7 blocks promised, group 2, account 2/3, watermark 5",
            ),
            (
                Call::Admit { sequence: A, admission: Admission::full(40, 2), prefix: Named::of(&Prefix::of(&NAMES)) },
                "admit sequence 4/9: 40 + 2 tokens, 2 names",
            ),
            (
                Call::Publish {
                    sequence: A,
                    first: 1,
                    prefix: Named::of(&Prefix::of(&NAMES)),
                    epoch: Epoch(7),
                    keep: false,
                },
                "publish sequence 4/9 from block 1 on, 2 names under epoch 7, not kept",
            ),
            (Call::Advance { sequence: A, tokens: 16 }, "advance sequence 4/9 by 16 tokens"),
            (
                Call::AdvanceGrowing { sequence: A, tokens: 16, watermark: 5 },
                "advance_growing sequence 4/9 by 16 tokens, watermark 5",
            ),
            (Call::Materialize { sequence: A, blocks: 3 }, "materialize sequence 4/9 by 3 blocks"),
            (Call::Extend { sequence: A, blocks: 3, watermark: 0 }, "extend sequence 4/9 by 3 blocks"),
            (Call::Shrink { sequence: A, blocks: 3 }, "shrink sequence 4/9 by 3 blocks"),
            (Call::DrawSafety { sequence: A, blocks: 3 }, "draw_safety sequence 4/9 by 3 blocks"),
            (Call::Cancel { sequence: A }, "cancel sequence 4/9"),
            (Call::End { sequence: A }, "end sequence 4/9"),
            (Call::Preempt { sequence: A }, "preempt sequence 4/9"),
            (Call::UseStreams { sequence: A, streams: StreamSet(0x11) }, "use_streams sequence 4/9: 0x11"),
            (
                Call::OpenAccount { group: Group(2), total: 40, watermark: 5 },
                "open_account of group 2: 40 blocks, watermark 5",
            ),
            (Call::SetAccountTotal { account: OF, total: 41 }, "set_account_total account 2/3 to 41 blocks"),
            (Call::CloseAccount { account: OF }, "close_account account 2/3"),
            (Call::SetSafety { blocks: 6 }, "set_safety to 6 blocks"),
            (Call::SetQuota { group: Group(2), blocks: 8 }, "set_quota of group 2 to 8 blocks"),
            (Call::Submit { stream: Stream(1) }, "submit stream 1"),
            (
                Call::Complete { stream: Stream(1), epoch: Epoch(12), failed: true },
                "complete stream 1 epoch 12, failed",
            ),
            (Call::Abandon { stream: Stream(1) }, "abandon stream 1"),
            (Call::Reclaim { blocks: 3 }, "reclaim up to 3 blocks"),
            (Call::LaunchRow { sequence: A, epoch: Epoch(12) }, "launch_row sequence 4/9 under epoch 12"),
        ]
    }

    #[test]
    fn every_call_has_its_line() {
        let outcome = Outcome { answer: Ok(Answer::Done), digest: 0, first_block: 0 };
        let mut names = BTreeSet::new();
        for (call, line) in calls() {
            assert_eq!(describe(&Record { ticket: 1, call, outcome }), format!("{line} -> OK"));
            names.insert(call.name());
        }
        let mut ring = vec![Line::ZERO; 64];
        advance_two(&mut ring);
        let mut words = words(&ring);
        let dump = Dump::read(&mut words).expect("a dump");
        let batch = dump.newest_first().next().expect("a record").expect("whole");
        let line = "advance_many 2 rows by 23 tokens in all -> OK, 1 advanced, 1 refused, 2 taken, block ";
        assert!(describe(&batch).starts_with(line), "{}", describe(&batch));
        assert_eq!(under_way(&batch.call), "advance_many of up to 2 rows");
        names.insert(batch.call.name());
        assert_eq!(names.len(), 24, "{names:?}");
    }

    /// A batch of two rows, one of which is of no sequence, recorded in `ring`.
    fn advance_two(ring: &mut [Line]) {
        let config = PoolConfig::new(64, 16, 8, 16);
        let (mut memory, mut table) = (vec![Line::ZERO; lines(&config)], vec![0; entries(&config)]);
        let pool = Pool::init(&mut memory, &mut table, &config).expect("valid");
        let pool = pool.recording(ring).expect("room");
        let sequence = pool.open().expect("a slot");
        pool.admit(sequence, &Admission::full(30, 10)).expect("room");
        let steps = [Step { sequence, tokens: 20 }, Step { sequence: A, tokens: 3 }];
        pool.advance_many(&steps, &mut [0; 2], &mut [0; 2]).expect("long enough");
    }

    #[test]
    fn every_answer_has_its_words() {
        let gone = Released { promised: 5, free: 6, retiring: 0, after: Epoch::NONE };
        let batch = Batch { advanced: 3, refused: 1, changed: 2, taken: 4, copies: 0, retry_after: Epoch::NONE };
        for (answer, said) in [
            (Ok(Answer::Done), "OK"),
            (Ok(Answer::Sequence(A)), "OK, sequence 4/9"),
            (Ok(Answer::Account(OF)), "OK, account 2/3"),
            (Ok(Answer::Admitted(Admitted { promised: 8, ..Admitted::default() })), "OK, 8 promised"),
            (Ok(Answer::Admitted(Admitted { promised: 8, hits: 3, ..Admitted::default() })), "OK, 8 promised, 3 found"),
            (Ok(Answer::Published(Published { stored: 4, known: 1 })), "OK, 4 stored, 1 of them known"),
            (Ok(Answer::Advanced(Advanced { taken: 1, entries: 7, copies: 0 })), "OK, 1 taken, 7 entries"),
            (Ok(Answer::Batch(batch)), "OK, 3 advanced, 1 refused, 4 taken"),
            (Ok(Answer::Released(gone)), "OK, 5 promised and 6 back"),
            (
                Ok(Answer::Released(Released { retiring: 2, after: Epoch(12), ..gone })),
                "OK, 5 promised and 6 back, 2 after epoch 12",
            ),
            (Ok(Answer::Epoch(Epoch(12))), "OK, epoch 12"),
            (Ok(Answer::Blocks(3)), "OK, 3 blocks"),
            (Ok(Answer::Row(RowView { row: 4, entries: 7, tokens: 100, version: 1 })), "OK, row 4 with 7 entries"),
            (Ok(Answer::Unfinished), "it panicked"),
            (Err(Refusal::Stale), "STALE: over, repeated or foreign"),
        ] {
            assert_eq!(outcome(&Outcome { answer, digest: 0, first_block: 0 }), said);
            let with_blocks = Outcome { answer, digest: 0xab, first_block: 17 };
            assert_eq!(outcome(&with_blocks), format!("{said}, block 17 and on (ids 000000ab)"));
        }
    }
}
