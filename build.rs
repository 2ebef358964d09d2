//! Compiles `cuda/kernels` for the CPU device always, and for CUDA when a toolkit is found.
//!
//! What can be chosen, by whom and how it is said is in `cuda/build/choices.rs`; users need choose nothing.

#[path = "cuda/build/choices.rs"]
mod choices;
#[path = "cuda/build/cpu.rs"]
mod cpu;
#[path = "cuda/build/cuda.rs"]
mod cuda;
#[path = "cuda/build/libcuda.rs"]
mod libcuda;
#[path = "cuda/build/sources.rs"]
mod sources;
#[path = "cuda/build/toolkit.rs"]
mod toolkit;
#[path = "cuda/build/units.rs"]
mod units;

use choices::{Choices, Cuda};
use std::env;
use std::path::{Path, PathBuf};
use toolkit::Toolkit;

const MISSING: &str = "no CUDA toolkit";
const HOW: &str = "install one, run `.ci/run cuda` once, or set KVL_CUDA_HOME to its folder";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(kvl_cuda, kvl_plants)");
    println!("cargo::rustc-check-cfg=cfg(kvl_sanitized, values(\"thread\", \"address\"))");
    println!("cargo::rerun-if-changed=cuda/build");
    for variable in Toolkit::variables().chain(choices::VARIABLES) {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if let Err(wrong) = build() {
        println!("cargo::error={wrong}");
    }
}

fn build() -> Result<(), String> {
    let choices = Choices::read()?;
    let sources = sources::Sources::find()?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR: this runs under cargo")?);
    cpu::build(&sources, &choices, &out)?;
    if env::var_os("CARGO_FEATURE_CUST").is_some() {
        libcuda::build(&out)?;
    }
    if choices.cuda == Cuda::Off {
        return Ok(());
    }
    match Toolkit::find(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        Some(toolkit) => cuda::build(&sources.kernels, &toolkit, &choices, &out),
        None if choices.cuda == Cuda::Required => {
            Err(format!("{MISSING}, and the feature `cuda` needs one: {HOW}; KVL_CUDA=off does without it"))
        }
        None => {
            println!("cargo::warning={MISSING}: the CPU device only. For GPUs: {HOW}. KVL_CUDA=off says no more");
            Ok(())
        }
    }
}
