//! `kvledger doctor`: what this build is, what this machine has, and how to get what is missing.
//!
//! Problem: a stage of the checks that fails for a missing linker, a figure from a busy container, a build without kernels:
//! each looks like a fault of the project until somebody asks the right question. This asks all of them.
//!
//! 1. [`examine`] tries the pool (`self_test.rs`), reads what the system says in files (`machine.rs`, `limits.rs`,
//!    `cuda.rs`, `traces.rs`) and asks programs for their version (`tools.rs`, through `tool.rs`).
//! 2. Each thing becomes a [`Check`]: its state, who needs it, and the command that mends it.
//! 3. [`Report::verdict`] holds what was required against the checks; [`render`] is the page.
//!
//! Nothing is written, downloaded, or run but to ask for a version. What is missing is no error unless it was required.

mod built;
mod check;
mod cuda;
mod files;
mod limits;
mod machine;
mod page;
mod self_test;
mod system;
mod tool;
mod tools;
mod traces;

use self::files::Files;
use self::system::Packages;
use self::tool::Finder;
use clap::ValueEnum;
use serde::Serialize;
use std::time::Duration;

pub use built::Built;
pub use check::{Check, Need, Section, State};
pub use machine::Machine;
pub use page::render;
pub use traces::FIGURES;

/// All that was found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// This build.
    pub kvledger: Built,
    /// This machine, in numbers.
    pub machine: Machine,
    /// Everything that was looked for.
    pub checks: Vec<Check>,
    /// What can be done here.
    pub possible: Vec<Need>,
    /// What was required.
    pub required: Vec<Need>,
    /// Names of checks that what was required lacks.
    pub lacking: Vec<String>,
}

/// Looks for everything. No program is listened to for longer than `limit`.
pub fn examine(required: &[Need], limit: Duration) -> Report {
    let (files, finder) = (Files::below("/"), Finder::in_path(limit));
    let packages = Packages::here(&files);
    // First, because other programs' starting is a load.
    let machine = Machine::read(&files);
    let self_test = self_test::self_test();
    let mut checks = machine.checks();
    checks.extend(tools::tools(&finder, packages));
    checks.extend(cuda::cuda(&files, &finder, packages));
    checks.extend(traces::traces());
    checks.push(self_test);
    Report::new(Built::this(), machine, checks, required)
}

impl Report {
    fn new(kvledger: Built, machine: Machine, checks: Vec<Check>, required: &[Need]) -> Report {
        let mut report = Report {
            kvledger,
            machine,
            checks,
            possible: Vec::new(),
            required: required.to_vec(),
            lacking: Vec::new(),
        };
        report.possible = Need::all().iter().copied().filter(|&need| report.lacking(need).is_empty()).collect();
        for &need in required {
            for name in report.lacking(need) {
                if !report.lacking.contains(&name) {
                    report.lacking.push(name);
                }
            }
        }
        report
    }

    /// Names of checks that `need` needs and that found nothing usable.
    pub fn lacking(&self, need: Need) -> Vec<String> {
        let lacks = |check: &&Check| check.needed_for.contains(&need) && !check.is_usable();
        self.checks.iter().filter(lacks).map(|check| check.name.clone()).collect()
    }

    /// `Err`: the self-test failed, or something that was required is not usable; what.
    pub fn verdict(&self) -> Result<(), String> {
        let failed = self.checks.iter().find(|check| check.section == Section::SelfTest && !check.is_usable());
        if let Some(check) = failed {
            return Err(format!("{}: {}", check.name, check.found));
        }
        let lacks = |&need: &Need| {
            let names = self.lacking(need);
            (!names.is_empty()).then(|| format!("--require {}: not usable: {}", need.name(), names.join(", ")))
        };
        let all: Vec<String> = self.required.iter().filter_map(lacks).collect();
        if all.is_empty() { Ok(()) } else { Err(all.join("; ")) }
    }
}

impl Need {
    /// All of them.
    pub fn all() -> &'static [Need] {
        Need::value_variants()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(checks: Vec<Check>, required: &[Need]) -> Report {
        Report::new(Built::this(), Machine::read(&Files::below("/no/such/folder")), checks, required)
    }

    fn check(section: Section, name: &str, state: State) -> Check {
        Check::new(section, name, state, "said").needed_for(&[Need::Cuda]).mended_by("get it")
    }

    #[test]
    fn only_what_was_required_fails() {
        let checks = || vec![check(Section::Cuda, "a", State::Missing), check(Section::Cuda, "b", State::Note)];
        assert_eq!(report(checks(), &[]).verdict(), Ok(()));
        assert_eq!(report(checks(), &[Need::Gpu]).verdict(), Ok(()));
        let required = report(checks(), &[Need::Cuda]);
        assert_eq!(required.verdict(), Err("--require cuda: not usable: a".to_string()));
        assert_eq!(
            (required.lacking.as_slice(), required.possible.contains(&Need::Cuda)),
            (&["a".to_string()][..], false)
        );
        let mended: Vec<_> = checks().into_iter().map(|check| check.mend.is_some()).collect();
        assert_eq!(mended, [true, false]);
    }

    #[test]
    fn a_self_test_that_failed_always_fails() {
        let failed = report(vec![check(Section::SelfTest, "self-test", State::Unusable)], &[]);
        assert_eq!(failed.verdict(), Err("self-test: said".to_string()));
        let page = render(&failed, 80);
        assert!(page.contains("self-test       unusable: said\n") && page.contains("$ get it\n"), "{page}");
    }
}
