//! A record in words, on one line.

use kvledger_core::recorder::{Answer, Call, Outcome, Record};
use kvledger_core::{Account, Admission, Promise, Refusal, Sequence};
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
        Call::Admit { sequence: who, admission } => format!("{name} {}: {}", sequence(who), admitted(admission)),
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
        Answer::Admitted(admitted) => format!("OK, {} promised", admitted.promised),
        Answer::Advanced(advanced) => format!("OK, {} taken, {} held", advanced.taken, advanced.held),
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
        Answer::Row(row) => format!("OK, row {} with {} blocks", row.row, row.blocks),
        Answer::Unfinished => "it panicked".to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::words;
    use kvledger_core::model::{Comparison, Operation, configuration, in_order};
    use kvledger_core::recorder::Dump;
    use kvledger_core::{Line, PoolConfig};

    /// Every kind of call has a line of its own, and says which sequence it was for.
    #[test]
    fn every_call_is_one_line_that_begins_with_its_name() {
        let config = PoolConfig { accounts: 2, groups: 2, ..configuration(3) };
        let operations: Vec<_> = (0..23 * 40).map(|n| Operation::from_bytes([n as u8, 5, 40, 7, 9, n as u8])).collect();
        let mut ring = vec![Line::ZERO; Comparison::ring_lines(operations.len())];
        Comparison::run_recorded(&config, &operations, &mut ring).expect("they agree");
        let mut words = words(&ring);
        let dump = Dump::read(&mut words).expect("a dump");
        let mut names = std::collections::BTreeSet::new();
        for record in in_order(0, &dump).expect("whole records") {
            let line = describe(&record);
            assert!(line.starts_with(record.call.name()) && line.contains(" -> ") && !line.contains('\n'), "{line}");
            assert!(!line.contains('{'), "{line}");
            names.insert(record.call.name());
        }
        assert_eq!(names.len(), 23, "{names:?}");
    }
}
