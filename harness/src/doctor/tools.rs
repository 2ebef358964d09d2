//! Compilers, and what the stages of `.ci/run` use: what each is for, and how to get it.

use super::check::{Check, Need, Section, State};
use super::system::Packages;
use super::tool::{Finder, Said, line};
use std::env;

/// How to get a tool.
#[derive(Clone, Copy, Debug)]
enum Get {
    /// A package of Debian's, and of Fedora's.
    Package(&'static str, &'static str),
    /// A command that is the same everywhere.
    Command(&'static str),
}

/// A tool that is looked for.
#[derive(Clone, Copy, Debug)]
struct Tool {
    name: &'static str,
    /// A variable that names another program for it, as build scripts understand it.
    variable: Option<&'static str>,
    needs: &'static [Need],
    stages: &'static [&'static str],
    /// Whether these stages are skipped without it.
    is_skipped: bool,
    get: Get,
    /// The oldest version that will do.
    least: Option<&'static str>,
}

const RUST: &str = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh";
const OLDEST_RUST: Option<&str> = Some(env!("CARGO_PKG_RUST_VERSION"));
/// What compiles anything.
const COMPILED: &[&str] = &[
    "lint", "test", "plants", "address", "races", "verify", "replay", "counts", "loom", "archive", "c", "fuzz", "cuda",
];
/// What compiles kernels for the CPU device; the command has them in it.
const KERNELS: &[&str] =
    &["lint", "test", "executor", "cross", "plants", "address", "races", "verify", "replay", "counts", "fuzz", "cuda"];
const ALL: &[Need] = &[Need::Build, Need::Archive, Need::C, Need::Checks, Need::Cuda];
const ARCHIVE: &[Need] = &[Need::Archive, Need::C, Need::Checks];
const C: &[Need] = &[Need::C, Need::Checks];
const CHECKS: &[Need] = &[Need::Checks];
const BINUTILS: Get = Get::Package("binutils", "binutils");

const fn tool(name: &'static str, needs: &'static [Need], stages: &'static [&'static str], get: Get) -> Tool {
    Tool { name, variable: None, needs, stages, is_skipped: false, get, least: None }
}

/// In the order in which a newcomer meets them.
const TOOLS: [Tool; 18] = [
    Tool { least: OLDEST_RUST, ..tool("rustc", ALL, COMPILED, Get::Command(RUST)) },
    Tool { least: OLDEST_RUST, ..tool("cargo", ALL, COMPILED, Get::Command(RUST)) },
    tool("rustfmt", CHECKS, &["fmt"], Get::Command("rustup component add rustfmt")),
    tool("cargo-clippy", CHECKS, &["lint"], Get::Command("rustup component add clippy")),
    tool("cc", ALL, COMPILED, Get::Package("gcc", "gcc")),
    Tool { variable: Some("CXX"), ..tool("c++", &[Need::Build, Need::Checks, Need::Cuda], KERNELS, CXX_PACKAGE) },
    tool("gcc", C, &["c"], Get::Package("gcc", "gcc")),
    tool("g++", C, &["c"], CXX_PACKAGE),
    tool("ld", ARCHIVE, &["archive", "c"], BINUTILS),
    tool("objcopy", ARCHIVE, &["archive", "c"], BINUTILS),
    tool("ar", ARCHIVE, &["archive", "c"], BINUTILS),
    tool("readelf", &[Need::Archive, Need::Checks], &["archive"], BINUTILS),
    tool(
        "python3",
        &[Need::Archive, Need::Checks],
        &["archive", "counts", "cuda"],
        Get::Package("python3 python3-venv", "python3"),
    ),
    tool("bash", ARCHIVE, &["fmt", "archive", "c"], Get::Package("bash", "bash")),
    tool("git", CHECKS, &["fmt"], Get::Package("git", "git")),
    Tool { is_skipped: true, ..tool("valgrind", CHECKS, &["counts"], Get::Package("valgrind", "valgrind")) },
    tool("clang", &[], &[], Get::Package("clang", "clang")),
    tool("perf", &[], &[], Get::Package("linux-perf", "perf")),
];
const CXX_PACKAGE: Get = Get::Package("g++", "gcc-c++");

/// Looks for all of them, at the same time: one that hangs delays the others by nothing.
pub fn tools(finder: &Finder, packages: Packages) -> Vec<Check> {
    std::thread::scope(|scope| {
        let looking = TOOLS.map(|tool| scope.spawn(move || look(&tool, finder, packages)));
        looking.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

fn look(tool: &Tool, finder: &Finder, packages: Packages) -> Check {
    // What comes after the first word, as in `ccache g++`, is the compiler's wrapper's affair.
    let named = tool.variable.and_then(|variable| Some((variable, env::var(variable).ok()?)));
    let named = named.and_then(|(variable, value)| Some((variable, value.split_whitespace().next()?.to_string())));
    let program = named.as_ref().map_or(tool.name, |(_, program)| program.as_str());
    let mut check = match finder.find(program) {
        None => Check::new(Section::Tools, tool.name, State::Missing, missing(tool, named.as_ref())),
        Some(at) => {
            let (state, found) = match finder.ask(&at, &["--version"]) {
                Said::Text(text) => judge(tool, &line(&text).unwrap_or_default()),
                Said::Nothing(why) => (State::Unusable, why),
            };
            Check { at: Some(at), ..Check::new(Section::Tools, tool.name, state, found) }
        }
    };
    check = check.needed_for(tool.needs);
    check = if tool.is_skipped { check.skipping(tool.stages) } else { check.in_stages(tool.stages) };
    match (&named, tool.get) {
        (Some((variable, _)), _) => check.mended_by(format!("unset {variable}")),
        (None, Get::Package(debian, fedora)) => check.mended_by(packages.install(debian, fedora)),
        (None, Get::Command(command)) => check.mended_by(command),
    }
}

fn missing(tool: &Tool, named: Option<&(&'static str, String)>) -> String {
    match named {
        Some((variable, program)) => format!("{variable} names {program}, which is not in PATH"),
        None if tool.needs.is_empty() => "optional: no stage needs it".to_string(),
        None => "not in PATH".to_string(),
    }
}

/// Whether a version will do. One that cannot be read will.
fn judge(tool: &Tool, found: &str) -> (State, String) {
    let numbers = |text: &str| -> Vec<u32> { text.split('.').map_while(|part| part.parse().ok()).collect() };
    let Some(least) = tool.least else { return (State::Ok, found.to_string()) };
    let version = found.split_whitespace().map(numbers).find(|version| version.len() > 1);
    match version {
        Some(version) if version < numbers(least) => (State::Unusable, format!("{found}: {least} or newer is needed")),
        _ => (State::Ok, found.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_compiler_is_told_from_a_new_one() {
        let old = |found: &str| judge(&Tool { least: Some("1.95"), ..TOOLS[0] }, found).0;
        for found in ["rustc 1.94.1 (abc 2025-01-01)", "rustc 1.9.0", "cargo 0.99.0"] {
            assert_eq!(old(found), State::Unusable, "{found}");
        }
        for found in ["rustc 1.95.0 (abc 2026-01-01)", "rustc 1.100.0-nightly", "rustc 2.0.0", "a wrapper", ""] {
            assert_eq!(old(found), State::Ok, "{found}");
        }
    }

    #[test]
    fn names_are_unique_and_what_is_needed_says_by_which_stage() {
        let names: std::collections::BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), TOOLS.len());
        assert!(TOOLS.iter().all(|tool| tool.needs.is_empty() == tool.stages.is_empty()));
    }
}
