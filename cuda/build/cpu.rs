//! The CPU device: kernels and executor by the host's C++ compiler, without exceptions, run-time types and the C++
//! library, so that the objects need only what C needs.

use super::choices::{Choices, Sanitizer};
use super::sources::Sources;
use super::units::{self, Unit};
use std::path::{Path, PathBuf};

/// The same numbers on every host: no multiply-add that the source does not name.
const NUMBERS: &str = "-ffp-contract=off";

pub fn build(sources: &Sources, choices: &Choices, out: &Path) -> Result<(), String> {
    if choices.has_plants {
        println!("cargo::rustc-cfg=kvl_plants");
        // For build scripts of who uses the package: DEP_KVLEDGER_CUDA_PLANTS.
        println!("cargo::metadata=plants=1");
    }
    if let Some(sanitizer) = choices.sanitizer {
        println!("cargo::rustc-cfg=kvl_sanitized=\"{}\"", sanitizer.name());
        println!("cargo::metadata=sanitized=1");
        link_runtime(sanitizer, &compiler(choices, None))?;
    }
    // The executor is not watched for races: it announces what it does for a kernel (`cuda/cpu/sanitizer.h`).
    let watched = choices.sanitizer.filter(|sanitizer| *sanitizer == Sanitizer::Address);
    let mut units = compiled(&sources.kernels, choices, choices.sanitizer, out);
    units.extend(compiled(&sources.executor, choices, watched, out));
    let objects = units::compile(&units)?;
    cc::Build::new().objects(objects).compile("kvk_cpu");
    Ok(())
}

/// As libraries of this crate, which come before those of the system in every program that has it: a sanitizer must be
/// asked for memory before the system is. The compiler's flag would do nothing, because rustc names all libraries itself.
fn link_runtime(sanitizer: Sanitizer, compiler: &cc::Tool) -> Result<(), String> {
    for library in sanitizer.libraries() {
        let file = format!("lib{library}.so");
        let output = compiler.to_command().arg(format!("-print-file-name={file}")).output();
        let output = output.map_err(|error| format!("{}: {error}", compiler.path().display()))?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        // What it does not find is answered as it was asked.
        let Some(folder) = path.parent().filter(|_| path.is_absolute()) else {
            return Err(format!("KVL_SANITIZE: {} has no {file}", compiler.path().display()));
        };
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    Ok(())
}

fn compiled(files: &[PathBuf], choices: &Choices, sanitizer: Option<Sanitizer>, out: &Path) -> Vec<Unit> {
    let compiler = compiler(choices, sanitizer);
    let unit = |file: &PathBuf| Unit {
        source: file.clone(),
        object: out.join(file.with_extension("cpu.o").file_name().unwrap_or_default()),
        compiler: compiler.path().to_path_buf(),
        flags: compiler.args().to_vec(),
    };
    files.iter().map(unit).collect()
}

/// The one that `cc` finds, with what it knows of the target.
fn compiler(choices: &Choices, sanitizer: Option<Sanitizer>) -> cc::Tool {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings(true).extra_warnings(true);
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
    build.get_compiler()
}
