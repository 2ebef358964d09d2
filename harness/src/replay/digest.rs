//! Two digests of what happened to each request, so that two implementations can be compared request by request with one
//! string.

use super::counters::Record;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The digests, in hexadecimal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Digests {
    /// sha256 over `idx,admit,finish,preempts,hits,outcome` lines.
    pub per_request: String,
    /// sha256 over the same lines without hits: it does not depend on the order of eviction.
    pub schedule: String,
}

/// A step, or −1 for never.
fn step(step: Option<u64>) -> i128 {
    step.map_or(-1, i128::from)
}

/// The digests of `records`, which are in order of index.
pub fn digests(records: &[Record]) -> Digests {
    let (mut per_request, mut schedule) = (Sha256::new(), Sha256::new());
    let mut line = String::new();
    for (idx, record) in records.iter().enumerate() {
        let (admit, finish) = (step(record.admit), step(record.finish));
        let (preempts, hits, outcome) = (record.preempts, record.hits, record.outcome.name());
        line.clear();
        // Writing to a string does not fail.
        let _ = writeln!(line, "{idx},{admit},{finish},{preempts},{hits},{outcome}");
        per_request.update(&line);
        line.clear();
        let _ = writeln!(line, "{idx},{admit},{finish},{preempts},{outcome}");
        schedule.update(&line);
    }
    Digests { per_request: hexadecimal(per_request), schedule: hexadecimal(schedule) }
}

fn hexadecimal(hash: Sha256) -> String {
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::counters::Outcome;
    use super::*;

    #[test]
    fn lines_are_hashed_as_the_rule_writes_them() {
        let records = [
            Record { admit: Some(0), finish: Some(6), hits: 2, outcome: Outcome::Completed, ..Record::default() },
            Record { outcome: Outcome::RejectedContext, ..Record::default() },
        ];
        let hash = |text: &str| hexadecimal(Sha256::new_with_prefix(text));
        let digests = digests(&records);
        assert_eq!(digests.per_request, hash("0,0,6,0,2,completed\n1,-1,-1,0,0,rejected_ctx\n"));
        assert_eq!(digests.schedule, hash("0,0,6,0,completed\n1,-1,-1,0,rejected_ctx\n"));
        // The well-known digest of nothing: the hexadecimal is in the usual order.
        assert!(hash("").starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
    }
}
