//! What a run has exercised: each operation, and how often it got each answer.

use crate::answers::word;
use kvledger_core::model::Tally;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Each operation, and how often it got each answer.
pub fn counted(tally: &Tally) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let mut all: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (&(name, code), count) in &tally.0 {
        *all.entry(name).or_default().entry(word(code)).or_default() += count;
    }
    all
}

/// A line an operation: its answers, the most frequent first.
pub fn answers(tally: &Tally) -> String {
    let mut text = String::new();
    let mut names: Vec<_> = tally.0.keys().map(|(name, _)| *name).collect();
    names.dedup();
    for name in names {
        let of_name = tally.0.iter().filter(|((of, _), _)| *of == name);
        let mut answers: Vec<_> = of_name.map(|((_, code), count)| (*count, *code)).collect();
        answers.sort_unstable_by(|left, right| right.cmp(left));
        let _ = write!(text, "  {name:<18}");
        for (count, code) in answers {
            let _ = write!(text, " {} {count}", word(code));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_answers_come_first_and_unknown_ones_are_shown() {
        let tally = Tally([(("admit", 0), 3), (("admit", 1), 40), (("end", 99), 1)].into());
        assert_eq!(answers(&tally), "  admit              WOULD_BLOCK 40 OK 3\n  end                ? 1\n");
        assert_eq!(counted(&tally)["admit"], BTreeMap::from([("WOULD_BLOCK", 40), ("OK", 3)]));
    }
}
