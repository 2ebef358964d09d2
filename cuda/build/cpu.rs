//! The CPU device: kernels and executor by the host's C++ compiler, without exceptions, run-time types and the C++
//! library, so that the objects need only what C needs.

use super::choices::Choices;
use super::sources::Sources;

/// The same numbers on every host: no multiply-add that the source does not name.
const NUMBERS: &str = "-ffp-contract=off";

pub fn build(sources: &Sources, choices: &Choices) {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").cpp_link_stdlib(None).warnings(true).extra_warnings(true);
    // Always optimized: without, a test of attention takes minutes.
    build.opt_level(2).flag("-x").flag("c++").flag(NUMBERS);
    // Loops say `#pragma unroll` to the other compiler.
    build.flag("-fno-exceptions").flag("-fno-rtti").flag("-Wno-unknown-pragmas");
    if choices.has_plants {
        build.define("KVK_PLANTS", None);
        println!("cargo::rustc-cfg=kvl_plants");
    }
    if let Some(sanitizer) = choices.sanitizer {
        // Reports name lines.
        build.debug(true).flag("-fno-omit-frame-pointer");
        for flag in sanitizer.flags() {
            build.flag(flag);
            println!("cargo::rustc-link-arg={flag}");
        }
        // The same for programs of other packages, whose build scripts see it as DEP_KVLEDGER_CUDA_LINK.
        println!("cargo::metadata=link={}", sanitizer.flags().join(" "));
        println!("cargo::rustc-cfg=kvl_sanitized");
    }
    let files: Vec<_> = sources.kernels.iter().chain(&sources.executor).collect();
    if !files.is_empty() {
        build.files(files).compile("kvk_cpu");
    }
}
