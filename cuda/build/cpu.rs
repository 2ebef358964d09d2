//! The CPU device: kernels and executor by the host's C++ compiler, without exceptions, run-time types and the C++
//! library, so that the objects need only what C needs.

use super::choices::{Choices, Sanitizer};
use super::sources::Sources;
use std::path::PathBuf;

/// The same numbers on every host: no multiply-add that the source does not name.
const NUMBERS: &str = "-ffp-contract=off";

pub fn build(sources: &Sources, choices: &Choices) {
    if choices.has_plants {
        println!("cargo::rustc-cfg=kvl_plants");
    }
    if let Some(sanitizer) = choices.sanitizer {
        for flag in sanitizer.flags() {
            println!("cargo::rustc-link-arg={flag}");
        }
        // The same for programs of other packages, whose build scripts see it as DEP_KVLEDGER_CUDA_LINK.
        println!("cargo::metadata=link={}", sanitizer.flags().join(" "));
        println!("cargo::rustc-cfg=kvl_sanitized");
    }
    compile("kvk_cpu", &sources.kernels, choices, choices.sanitizer);
    // The executor is not watched for races: it announces what it does for a kernel (`cuda/cpu/sanitizer.h`).
    let watched = choices.sanitizer.filter(|sanitizer| *sanitizer == Sanitizer::Address);
    compile("kvk_cpu_executor", &sources.executor, choices, watched);
}

fn compile(archive: &str, files: &[PathBuf], choices: &Choices, sanitizer: Option<Sanitizer>) {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").cpp_link_stdlib(None).warnings(true).extra_warnings(true);
    // Always optimized: without, a test of attention takes minutes.
    build.opt_level(2).flag("-x").flag("c++").flag(NUMBERS);
    build.flag("-fno-exceptions").flag("-fno-rtti");
    if choices.has_plants {
        build.define("KVK_PLANTS", None);
    }
    if choices.sanitizer.is_some() {
        // Reports name lines.
        build.debug(true).flag("-fno-omit-frame-pointer");
    }
    for flag in sanitizer.iter().flat_map(|sanitizer| sanitizer.flags()) {
        build.flag(flag);
    }
    build.files(files).compile(archive);
}
