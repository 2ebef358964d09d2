//! What this command was built from, and with.

use super::self_test::Versions;
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
    /// Features of the core. This command does not compile without either, so there is no other build of it.
    pub core_features: [&'static str; 2],
    /// Kernels that are in this command: none. They are of `kvledger-cuda`, which needs a C++ compiler; a command that
    /// says that one is missing must do without.
    pub kernels: [&'static str; 0],
    /// The version of the layout of a pool's memory, if the self-test came so far.
    pub layout_version: Option<u64>,
    /// The version of records, likewise.
    pub record_version: Option<u64>,
}

impl Built {
    /// This build.
    pub fn this(versions: Versions) -> Built {
        let known = |text: &'static str| (!text.is_empty()).then_some(text);
        Built {
            version: env!("CARGO_PKG_VERSION"),
            commit: known(env!("KVL_BUILT_COMMIT")),
            rustc: known(env!("KVL_BUILT_RUSTC")),
            target: env!("KVL_BUILT_TARGET"),
            profile: env!("KVL_BUILT_PROFILE"),
            opt_level: env!("KVL_BUILT_OPT_LEVEL"),
            debug_assertions: cfg!(debug_assertions),
            core_features: ["recorder", "model"],
            kernels: [],
            layout_version: versions.layout,
            record_version: versions.record,
        }
    }

    /// The same in lines of name and text.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let version =
            |version: Option<u64>| version.map_or_else(|| "unknown".to_string(), |version| version.to_string());
        let assertions = if self.debug_assertions { "with debug assertions" } else { "without debug assertions" };
        let rustc = self.rustc.unwrap_or("an unknown compiler");
        vec![
            ("version", self.version.to_string()),
            ("commit", self.commit.unwrap_or("not known: no release build, or no git").to_string()),
            ("built with", format!("{rustc} for {}", self.target)),
            ("profile", format!("{}, optimization {}, {assertions}", self.profile, self.opt_level)),
            ("core", format!("features {}", self.core_features.join(", "))),
            ("kernels", "none in this command; what kvledger-cuda would compile stands under cuda".to_string()),
            ("layout version", version(self.layout_version)),
            ("record version", version(self.record_version)),
        ]
    }
}
