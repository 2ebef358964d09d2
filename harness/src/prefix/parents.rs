//! The ids of a trace by themselves. Some traces give ids to prefixes: an id then always follows the same id, and equal ids
//! mean equal prefixes. Others give ids to what the tokens are: an id may follow any other. Rule K compares whole prefixes,
//! so that it is right for both; which of the two a trace is says how much of it a cache could share out of order.

use crate::trace::Trace;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How many ids there are, and how many of them follow several others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parents {
    /// Different ids.
    pub ids: u64,
    /// Of these, ids that stand after different ids, or once first and once not.
    pub several: u64,
}

/// What an id was seen after.
enum Parent {
    One(Option<u64>),
    Several,
}

impl Parents {
    /// Looks at all ids of `trace`. Holds about 40 bytes for each different one meanwhile.
    pub fn of(trace: &Trace) -> Parents {
        let mut parents: HashMap<u64, Parent> = HashMap::new();
        let mut several = 0;
        for request in &trace.requests {
            let mut before = None;
            for &id in trace.ids(request) {
                match parents.entry(id) {
                    Entry::Vacant(entry) => {
                        entry.insert(Parent::One(before));
                    }
                    Entry::Occupied(mut entry) => {
                        if matches!(entry.get(), Parent::One(parent) if *parent != before) {
                            entry.insert(Parent::Several);
                            several += 1;
                        }
                    }
                }
                before = Some(id);
            }
        }
        Parents { ids: parents.len() as u64, several }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Normalise, load_text};

    fn parents(ids: &[&str]) -> Parents {
        let rows: Vec<String> = ids.iter().map(|ids| format!("0,8,1,{ids}")).collect();
        let text = format!("arrival_us,prompt_tokens,output_tokens,ids\n{}\n", rows.join("\n"));
        Parents::of(&load_text("t", &text, Some(1), Normalise::default()).expect("a trace"))
    }

    #[test]
    fn an_id_with_two_parents_is_counted_once() {
        assert_eq!(parents(&["1 2 3", "1 2 4", "1 2 3 5"]), Parents { ids: 5, several: 0 });
        assert_eq!(parents(&["1 2 3", "1 3", "3 2", "2"]), Parents { ids: 3, several: 2 });
        assert_eq!(parents(&["1 1"]), Parents { ids: 1, several: 1 }, "first, and after itself");
        assert_eq!(parents(&[""]), Parents { ids: 0, several: 0 });
    }
}
