//! What this command was built from, and with.

use kvledger_core::LAYOUT_VERSION;
use kvledger_core::recorder::DUMP_VERSION;
use serde::Serialize;

/// What `build.rs` wrote down, and what the code says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Built {
    /// The version of kvledger.
    pub version: &'static str,
    /// The commit, if it was known when this was built.
    pub commit: Option<&'static str>,
    /// The compiler.
    pub rustc: Option<&'static str>,
    /// What it was compiled for.
    pub target: &'static str,
    /// `debug` or `release`.
    pub profile: &'static str,
    /// `0` to `3`, `s` or `z`.
    pub opt_level: &'static str,
    /// Whether debug assertions are on: figures of `bench` are then worth nothing.
    pub debug_assertions: bool,
    /// The version of the layout of a pool's memory: processes that share a pool must have the same.
    pub layout_version: u64,
    /// The version of records: `rerun` takes those of its own version.
    pub record_version: u64,
}

impl Built {
    /// This build.
    pub fn this() -> Built {
        let known = |text: &'static str| (!text.is_empty()).then_some(text);
        Built {
            version: env!("CARGO_PKG_VERSION"),
            commit: known(env!("KVL_BUILT_COMMIT")),
            rustc: known(env!("KVL_BUILT_RUSTC")),
            target: env!("KVL_BUILT_TARGET"),
            profile: env!("KVL_BUILT_PROFILE"),
            opt_level: env!("KVL_BUILT_OPT_LEVEL"),
            debug_assertions: cfg!(debug_assertions),
            layout_version: LAYOUT_VERSION,
            record_version: DUMP_VERSION,
        }
    }

    /// The same in lines of name and text.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let assertions = if self.debug_assertions { "with debug assertions" } else { "without debug assertions" };
        let rustc = self.rustc.unwrap_or("an unknown compiler");
        vec![
            ("version", self.version.to_string()),
            ("commit", self.commit.unwrap_or("not known: no release build, or no git").to_string()),
            ("built with", format!("{rustc} for {}", self.target)),
            ("profile", format!("{}, optimization {}, {assertions}", self.profile, self.opt_level)),
            ("layout version", self.layout_version.to_string()),
            ("record version", self.record_version.to_string()),
        ]
    }
}
