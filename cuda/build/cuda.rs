//! Kernels by `nvcc`, an object each and several at a time, and the static runtime.
//!
//! The compiler is called directly: `cc` hands it flags of the host compiler when it is given its path.

use super::choices::Choices;
use super::toolkit::Toolkit;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

pub fn build(kernels: &[PathBuf], toolkit: &Toolkit, choices: &Choices) -> Result<(), String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR: this runs under cargo")?);
    let object = |kernel: &PathBuf| out.join(kernel.file_name().unwrap_or_default()).with_extension("cuda.o");
    let objects: Vec<PathBuf> = kernels.iter().map(object).collect();
    compile_all(kernels, &objects, toolkit, &choices.archs)?;
    if !objects.is_empty() {
        let mut archive = cc::Build::new();
        archive.objects(&objects).compile("kvk_cuda");
    }
    // It opens the driver when it is first used: a program starts where there is none.
    println!("cargo::rustc-link-search=native={}", toolkit.libraries.display());
    println!("cargo::rustc-link-lib=static=cudart_static");
    for library in ["dl", "rt", "pthread", "stdc++"] {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    println!("cargo::rustc-cfg=kvl_cuda");
    Ok(())
}

/// As many compilers at once as cargo may run jobs. All are run, so that one build says all that is wrong.
fn compile_all(kernels: &[PathBuf], objects: &[PathBuf], toolkit: &Toolkit, archs: &[u32]) -> Result<(), String> {
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let work = Mutex::new(kernels.iter().zip(objects));
    let failed = Mutex::new(Vec::new());
    let next = || work.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..kernels.len().min(jobs) {
            scope.spawn(|| {
                while let Some((kernel, object)) = next() {
                    if let Err(wrong) = compile(toolkit, archs, kernel, object)
                        && let Ok(mut failed) = failed.lock()
                    {
                        failed.push(wrong);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    if failed.is_empty() { Ok(()) } else { Err(format!("{}; KVL_CUDA=off leaves CUDA out", failed.join("; "))) }
}

/// Always optimized, and with line numbers, which cost nothing: debugging device code is another build than this.
fn compile(toolkit: &Toolkit, archs: &[u32], kernel: &Path, object: &Path) -> Result<(), String> {
    let mut nvcc = Command::new(&toolkit.nvcc);
    nvcc.args(["-std=c++17", "-O3", "-lineinfo", "-Xcompiler=-fPIC,-Wall,-Wextra,-Wno-unknown-pragmas"]);
    for arch in archs {
        nvcc.args(["-gencode", &format!("arch=compute_{arch},code=sm_{arch}")]);
    }
    if let Some(newest) = archs.last() {
        nvcc.args(["-gencode", &format!("arch=compute_{newest},code=compute_{newest}")]);
    }
    match nvcc.arg("-c").arg(kernel).arg("-o").arg(object).output() {
        Ok(done) if done.status.success() => {
            for line in String::from_utf8_lossy(&done.stderr).lines().filter(|line| line.contains("warning")) {
                println!("cargo::warning={line}");
            }
            Ok(())
        }
        Ok(done) => {
            // Whole, above what cargo says: it shows what a failed build script wrote there.
            eprint!("{}", String::from_utf8_lossy(&done.stderr));
            Err(format!("{} did not compile with {}", kernel.display(), toolkit.nvcc.display()))
        }
        Err(error) => Err(format!("{}: {error}", toolkit.nvcc.display())),
    }
}
