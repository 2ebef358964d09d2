//! Rule G: trust groups. Blocks are shared only inside one.

use crate::trace::Trace;
use std::fmt;
use std::str::FromStr;

/// How requests are divided into trust groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupRule {
    /// All in one.
    One,
    /// Each alone.
    Solo,
    /// By tenant.
    Tenant,
    /// Index modulo k, which is at least 1.
    Index(u32),
    /// The id of the second segment modulo k, which is at least 1; of the first where there is only one.
    SecondSegment(u32),
}

impl GroupRule {
    /// The group of request number `index` of `trace`; 0 if there is no such request.
    pub fn group(self, trace: &Trace, index: usize) -> u64 {
        let Some(request) = trace.requests.get(index) else { return 0 };
        let modulo = |value: u64, k: u32| value % u64::from(k.max(1));
        match self {
            GroupRule::One => 0,
            GroupRule::Solo => index as u64,
            GroupRule::Tenant => request.tenant,
            GroupRule::Index(k) => modulo(index as u64, k),
            GroupRule::SecondSegment(k) => {
                let ids = trace.ids(request);
                modulo(ids.get(1).or(ids.first()).copied().unwrap_or(0), k)
            }
        }
    }
}

impl fmt::Display for GroupRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GroupRule::One => f.write_str("one"),
            GroupRule::Solo => f.write_str("solo"),
            GroupRule::Tenant => f.write_str("tenant"),
            GroupRule::Index(k) => write!(f, "idx:{k}"),
            GroupRule::SecondSegment(k) => write!(f, "seg1:{k}"),
        }
    }
}

impl FromStr for GroupRule {
    type Err = String;

    fn from_str(text: &str) -> Result<GroupRule, String> {
        let want = "give `one`, `solo`, `tenant`, `idx:K` or `seg1:K` with K from 1 on";
        match text {
            "one" => return Ok(GroupRule::One),
            "solo" => return Ok(GroupRule::Solo),
            "tenant" => return Ok(GroupRule::Tenant),
            _ => {}
        }
        let (rule, k) = text.split_once(':').ok_or(want)?;
        let k = k.parse().ok().filter(|&k: &u32| k > 0).ok_or(want)?;
        match rule {
            "idx" => Ok(GroupRule::Index(k)),
            "seg1" => Ok(GroupRule::SecondSegment(k)),
            _ => Err(want.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Normalise, load_text};

    #[test]
    fn every_rule_as_it_is_written() {
        let text =
            "arrival_us,prompt_tokens,output_tokens,ids,tenant\n0,8,1,21 32,7\n1,4,1,23,8\n2,5,1,,7\n3,8,1,1 9,8\n";
        let trace = load_text("t", text, Some(4), Normalise::default()).expect("a trace");
        let groups = |rule: &str| {
            let parsed: GroupRule = rule.parse().expect(rule);
            assert_eq!(parsed.to_string(), rule);
            [0, 1, 2, 3].map(|index| parsed.group(&trace, index))
        };
        assert_eq!(groups("one"), [0, 0, 0, 0]);
        assert_eq!(groups("solo"), [0, 1, 2, 3]);
        assert_eq!(groups("tenant"), [7, 8, 7, 8]);
        assert_eq!(groups("idx:3"), [0, 1, 2, 0]);
        assert_eq!(groups("seg1:10"), [2, 3, 0, 9], "the second id, the only id, no id");
        for bad in ["idx", "idx:0", "seg2:3", "all", "", "seg1:-1", "solo:2"] {
            assert!(bad.parse::<GroupRule>().is_err(), "{bad}");
        }
    }
}
