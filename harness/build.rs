//! Writes down what the command was built with, for `kvledger doctor`: the compiler, the target, the profile, the commit.
//!
//! The commit is `KVL_COMMIT` where that is set, which is how a packager says it. Otherwise git is asked, but only for
//! release builds: whoever works on the sources commits more often than he wants to compile. It says too whether the
//! sources of the command were changed since. Without git, or in a tarball that was unpacked inside some other repository,
//! nobody knows it, and the build goes on.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the command is made of, from the root of the workspace.
const SOURCES: [&str; 13] = [
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    "core/Cargo.toml",
    "core/src",
    "cuda/build",
    "cuda/cpu",
    "cuda/kernels",
    "cuda/src",
    "harness/Cargo.toml",
    "harness/build.rs",
    "harness/samples",
    "harness/src",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=KVL_COMMIT");
    for name in ["TARGET", "PROFILE", "OPT_LEVEL"] {
        say(name, &variable(name));
    }
    let rustc = printed(Command::new(variable("RUSTC")).arg("--version")).unwrap_or_default();
    say("RUSTC", &rustc);
    let given = variable("KVL_COMMIT");
    let is_release = variable("PROFILE") == "release";
    let commit = Some(given.trim().to_string()).filter(|given| !given.is_empty());
    // Whether kernels can be told to make mistakes, and whether a sanitizer watches them.
    println!("cargo::rustc-check-cfg=cfg(kvl_plants, kvl_sanitized)");
    for (name, cfg) in [("DEP_KVLEDGER_CUDA_PLANTS", "kvl_plants"), ("DEP_KVLEDGER_CUDA_SANITIZED", "kvl_sanitized")] {
        if variable(name) == "1" {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
    say("COMMIT", &commit.or_else(|| is_release.then(commit_of_git).flatten()).unwrap_or_default());
}

/// For `env!("KVL_BUILT_…")`. An empty text is what is not known.
fn say(name: &str, value: &str) {
    println!("cargo::rustc-env=KVL_BUILT_{name}={}", value.lines().next().unwrap_or_default());
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// What a command that succeeds prints on standard output.
fn printed(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
}

/// The commit that is checked out, and whether the sources are changed, if the repository is that of these sources.
fn commit_of_git() -> Option<String> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?).parent()?.canonicalize().ok()?;
    let git = |args: &[&str]| printed(Command::new("git").arg("-C").arg(&root).args(args));
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != root {
        return None;
    }
    // The log of HEAD gets a line with every commit. A file that is not there would make cargo ask every time.
    for name in ["HEAD", "logs/HEAD"] {
        let file = root.join(git(&["rev-parse", "--git-path", name])?);
        if file.is_file() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    for source in SOURCES.iter().map(|source| root.join(source)).filter(|source| source.exists()) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&[&["status", "--porcelain", "--"][..], &SOURCES].concat())?;
    Some(if changes.is_empty() { commit } else { format!("{commit} with uncommitted changes") })
}
