//! The name of a case: its policy, where Q stands among the trace's own outputs, and how blocks are shared.

use crate::prefix::GroupRule;
use crate::replay::{Policy, PoolSize, Ranked, Settings};

/// Percentiles that a Q is recognised as.
const USUAL: [u32; 4] = [50, 90, 95, 99];

/// The name of a replay of a trace with these outputs. `asked` is the percentile that Q was given as, if it was.
pub fn label(settings: &Settings, outputs: &Ranked, asked: Option<u32>) -> String {
    let policy = match settings.policy {
        Policy::Percentile { q_tokens, exceed } => {
            let usual = || USUAL.into_iter().find(|&percent| outputs.percentile(percent) == q_tokens);
            let largest = || (outputs.percentile(100) == q_tokens).then_some(100);
            match asked.or_else(usual).or_else(largest) {
                Some(100) => "p100 (common cap)".to_string(),
                Some(percent) => format!("p{percent}/{}", exceed.name()),
                None => format!("q{q_tokens}/{}", exceed.name()),
            }
        }
        policy => policy.name().to_string(),
    };
    match (settings.pool, sharing(settings)) {
        (PoolSize::Unlimited, sharing) => format!("unlimited/{policy}{sharing}"),
        (PoolSize::Blocks(_), sharing) => format!("{policy}{sharing}"),
    }
}

/// How blocks are shared, and in which groups. (Where there is no limit the one group of all needs no word.)
fn sharing(settings: &Settings) -> String {
    let name = settings.sharing.name();
    match (settings.pool, settings.group) {
        _ if !settings.shares() => String::new(),
        (PoolSize::Unlimited, GroupRule::One) => format!("/{name}"),
        (_, group) => format!("/{name}/{group}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Exceed, Sharing};
    use crate::trace::{Normalise, load_text};

    #[test]
    fn q_is_named_by_its_place_among_the_outputs() {
        let rows: Vec<String> = (1..=100).map(|output| format!("1,{output}")).collect();
        let text = format!("num_prefill_tokens,num_decode_tokens\n{}\n", rows.join("\n"));
        let trace = load_text("t", &text, None, Normalise::default()).expect("a trace");
        let outputs = Ranked::outputs(&trace);
        let name = |q_tokens, asked| {
            let policy = Policy::Percentile { q_tokens, exceed: Exceed::Truncate };
            label(&Settings::new(policy, PoolSize::Blocks(9), 0, 0), &outputs, asked)
        };
        assert_eq!(name(50, None), "p50/truncate");
        assert_eq!(name(51, None), "q51/truncate");
        assert_eq!(name(51, Some(51)), "p51/truncate");
        assert_eq!(name(100, None), "p100 (common cap)");
        let unlimited = Settings::new(Policy::Contig, PoolSize::Unlimited, 0, 8);
        assert_eq!(label(&unlimited, &outputs, None), "unlimited/contig");
        let shared = |settings: Settings, sharing| label(&settings.sharing(sharing, GroupRule::One), &outputs, None);
        let full = Settings::new(Policy::Full, PoolSize::Blocks(9), 0, 8);
        assert_eq!(shared(full, Sharing::Retain), "full/retain/one");
        assert_eq!(shared(full, Sharing::Off), "full");
        assert_eq!(shared(unlimited, Sharing::Live), "unlimited/contig");
        assert_eq!(shared(Settings { policy: Policy::Full, ..unlimited }, Sharing::Live), "unlimited/full/live");
    }
}
