//! Kernels by `nvcc`, and the static runtime.
//!
//! The compiler is called directly: `cc` hands it flags of the host compiler when it is given its path.

use super::choices::Choices;
use super::toolkit::Toolkit;
use super::units::{self, Unit};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Always optimized, and with line numbers: debugging device code is another build than this. What the assembler says of
/// registers and spills is kept beside the object, for `cuda/gates.py`. Packed, all targets together take 13 MB, not 80.
const FLAGS: [&str; 6] =
    ["-std=c++17", "-O3", "-lineinfo", "-Xptxas=-v", "-Xfatbin=-compress-all", "-Xcompiler=-fPIC,-Wall,-Wextra"];

pub fn build(kernels: &[PathBuf], toolkit: &Toolkit, choices: &Choices, out: &Path) -> Result<(), String> {
    let unit = |kernel: &PathBuf| Unit {
        source: kernel.clone(),
        object: out.join(kernel.with_extension("cuda.o").file_name().unwrap_or_default()),
        compiler: toolkit.nvcc.clone(),
        flags: flags(&choices.archs),
    };
    let units: Vec<Unit> = kernels.iter().map(unit).collect();
    let objects = units::compile(&units).map_err(|wrong| format!("{wrong}; {}", mend(&choices.archs)))?;
    cc::Build::new().objects(objects).compile("kvk_cuda");
    // It opens the driver when it is first used: a program starts where there is none.
    println!("cargo::rustc-link-search=native={}", toolkit.libraries.display());
    println!("cargo::rustc-link-lib=static=cudart_static");
    for library in ["dl", "rt", "pthread", "stdc++"] {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    println!("cargo::rustc-cfg=kvl_cuda");
    Ok(())
}

fn mend(archs: &[u32]) -> String {
    let archs = archs.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    format!(
        "KVLEDGER_CUDA_ARCHS={archs}: those that `nvcc --list-gpu-arch` prints can be named; KVL_CUDA=off leaves CUDA out"
    )
}

fn flags(archs: &[u32]) -> Vec<OsString> {
    let code = archs.iter().map(|arch| format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
    let portable = archs.last().map(|newest| format!("-gencode=arch=compute_{newest},code=compute_{newest}"));
    FLAGS.iter().map(OsString::from).chain(code.chain(portable).map(OsString::from)).collect()
}
