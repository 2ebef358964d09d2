//! What sharing found, saved and cost, beside the cases of the same policy that shared otherwise.

use super::number::{grouped, percent};
use crate::prefix::GroupRule;
use crate::replay::{Replayed, Sharing, Statics};

/// A name, and a cell for each case.
pub(super) type Row = (&'static str, Vec<String>);

/// Where there is nothing to say.
const NONE: &str = "-";

/// Rows of all cases; none if nothing is shared in any.
pub(super) fn rows(cases: &[&Replayed], statics: &Statics) -> Vec<Row> {
    if !cases.iter().any(|case| case.settings.shares()) {
        return Vec::new();
    }
    type Text<'a> = &'a dyn Fn(&Replayed) -> String;
    let shared = |text: Text<'_>| -> Vec<String> {
        cases.iter().map(|case| if case.settings.shares() { text(case) } else { NONE.to_string() }).collect()
    };
    let tokens = |case: &Replayed, blocks: u64| blocks * u64::from(case.settings.block_tokens);
    let taken = |case: &Replayed| case.counters.blocks_allocated;
    let off = |case: &Replayed| unshared(cases, case);
    let one = |case: &Replayed| together(cases, case);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_string());
    let mut rows = vec![
        ("found at first admissions, tokens", shared(&|case| grouped(tokens(case, case.counters.hit_first)))),
        ("of all prompt tokens", shared(&|case| percent(tokens(case, case.counters.hit_first), statics.prompt_tokens))),
        ("of the blocks looked for", shared(&|case| percent(case.counters.hit_first, case.counters.lookup_first))),
        ("found after preemptions, tokens", shared(&|case| grouped(tokens(case, case.counters.hit_re)))),
        ("blocks taken", cases.iter().map(|case| grouped(taken(case))).collect()),
    ];
    if cases.iter().any(|case| off(case).is_some()) {
        let more = |case: &Replayed| off(case).map(|off| change(taken(off), taken(case)));
        let part = |case: &Replayed| off(case).map(|off| percent(taken(case), taken(off)));
        rows.push(("against no sharing, blocks", shared(&|case| or_none(more(case)))));
        rows.push(("of those without sharing", shared(&|case| or_none(part(case)))));
    }
    if cases.iter().any(|case| one(case).is_some()) {
        let found = |case: &Replayed| tokens(case, case.counters.hit_first);
        let lost = |case: &Replayed| one(case).map(|one| change(found(one), found(case)));
        let more = |case: &Replayed| one(case).map(|one| change(taken(one), taken(case)));
        rows.push(("isolation: tokens found", shared(&|case| or_none(lost(case)))));
        rows.push(("isolation: blocks taken", shared(&|case| or_none(more(case)))));
    }
    rows.push(("kept (C), peak", shared(&|case| grouped(case.counters.peak_cached))));
    rows.push(("evictions", shared(&|case| grouped(case.counters.evictions))));
    rows
}

/// How much more or less `to` is than `from`.
fn change(from: u64, to: u64) -> String {
    let sign = if to < from { "−" } else { "+" };
    format!("{sign}{}", grouped(to.abs_diff(from)))
}

/// The same case without sharing.
fn unshared<'a>(cases: &[&'a Replayed], case: &Replayed) -> Option<&'a Replayed> {
    let settings = case.settings.sharing(Sharing::Off, GroupRule::One);
    case.settings.shares().then(|| find(cases, settings)).flatten()
}

/// The same case with all requests in one group, if this one has several.
fn together<'a>(cases: &[&'a Replayed], case: &Replayed) -> Option<&'a Replayed> {
    let settings = case.settings.sharing(case.settings.sharing, GroupRule::One);
    (case.settings.group != GroupRule::One).then(|| find(cases, settings)).flatten()
}

fn find<'a>(cases: &[&'a Replayed], settings: crate::replay::Settings) -> Option<&'a Replayed> {
    cases.iter().find(|case| case.settings == settings).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Policy, PoolSize, Prepared, Settings, statics};
    use crate::trace::{Normalise, load_text};
    use std::sync::atomic::AtomicU64;

    /// Two prompts of two equal blocks and one more of its own, together and apart.
    #[test]
    fn what_sharing_saves_and_what_isolation_costs_is_said_where_the_cases_are_there() {
        let line = |id| {
            format!("{{\"timestamp\": 0, \"input_length\": 12, \"output_length\": 4, \"hash_ids\": [1, 2, {id}]}}\n")
        };
        let trace = load_text("t", &(line(3) + &line(4)), Some(4), Normalise::default()).expect("a trace");
        let full = Settings { block_tokens: 4, ..Settings::new(Policy::Full, PoolSize::Blocks(20), 0, 0) };
        let replay = |sharing, group| {
            let settings = full.sharing(sharing, group);
            Prepared::new(&trace, &settings).expect("a pool").run(&AtomicU64::new(0)).expect("a replay")
        };
        let (one, solo) = (replay(Sharing::Live, GroupRule::One), replay(Sharing::Live, GroupRule::Solo));
        let off = replay(Sharing::Off, GroupRule::One);
        let statics = statics(&trace, 4, 0);
        let of = |cases: &[&Replayed], name: &str| {
            let rows = rows(cases, &statics);
            rows.into_iter().find(|row| row.0 == name).map(|row| row.1.join(" "))
        };
        let all = [&off, &one, &solo];
        for (name, cells) in [
            ("found at first admissions, tokens", "- 8 0"),
            ("of all prompt tokens", "- 33.3 % 0.0 %"),
            ("of the blocks looked for", "- 33.3 % 0.0 %"),
            ("blocks taken", "8 6 8"),
            ("against no sharing, blocks", "- −2 +0"),
            ("of those without sharing", "- 75.0 % 100.0 %"),
            ("isolation: tokens found", "- - −8"),
            ("isolation: blocks taken", "- - +2"),
            ("evictions", "- 0 0"),
        ] {
            assert_eq!(of(&all, name).as_deref(), Some(cells), "{name}");
        }
        assert_eq!(of(&[&one], "against no sharing, blocks"), None, "nothing to compare with");
        assert_eq!(of(&[&one, &off], "isolation: blocks taken"), None);
        assert_eq!(rows(&[&off], &statics), [], "nothing is shared");
    }
}
