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
    let saved = |case: &Replayed| unshared(cases, case).map(|off| (taken(off).saturating_sub(taken(case)), taken(off)));
    let lost = |case: &Replayed| {
        together(cases, case).map(|one| (one.counters.hit_first.saturating_sub(case.counters.hit_first), one))
    };
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_string());
    let mut rows = vec![
        ("found at first admissions, tokens", shared(&|case| grouped(tokens(case, case.counters.hit_first)))),
        (
            "of all prompt tokens",
            shared(&|case| percent(tokens(case, case.counters.hit_first), statics.prompt_tokens)),
        ),
        ("of the blocks looked for", shared(&|case| percent(case.counters.hit_first, case.counters.lookup_first))),
        ("found after preemptions, tokens", shared(&|case| grouped(tokens(case, case.counters.hit_re)))),
        ("blocks taken", cases.iter().map(|case| grouped(taken(case))).collect()),
    ];
    if cases.iter().any(|case| saved(case).is_some()) {
        rows.push(("fewer than without sharing, blocks", shared(&|case| or_none(saved(case).map(|(by, _)| grouped(by))))));
        rows.push(("the same, of those", shared(&|case| or_none(saved(case).map(|(by, off)| percent(by, off))))));
    }
    if cases.iter().any(|case| lost(case).is_some()) {
        let tokens_lost = |case: &Replayed| lost(case).map(|(by, _)| grouped(tokens(case, by)));
        rows.push(("isolation: found in one group only, tokens", shared(&|case| or_none(tokens_lost(case)))));
        let more = |case: &Replayed| lost(case).map(|(_, one)| grouped(taken(case).saturating_sub(taken(one))));
        rows.push(("isolation: more blocks taken", shared(&|case| or_none(more(case)))));
    }
    rows.push(("kept (C), peak", shared(&|case| grouped(case.counters.peak_cached))));
    rows.push(("evictions", shared(&|case| grouped(case.counters.evictions))));
    rows
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
