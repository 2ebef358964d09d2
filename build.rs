//! Compiles `cuda/kernels` for the CPU device, and for CUDA when a toolkit is found.
//!
//! Without a toolkit the build goes on with the CPU device alone and says nothing: that is the ordinary case. The
//! variable `KVL_REQUIRE_CUDA=1` makes it an error, so that a build that is meant to have kernels for CUDA cannot lack
//! them; `KVL_CUDA=off` leaves a toolkit that is there alone.

#[path = "cuda/build/toolkit.rs"]
mod toolkit;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolkit::Toolkit;

const KERNELS: [&str; 1] = ["cuda/kernels/copy.cu"];

/// What device code is made for: machine code for these, and portable code for what comes after the last one.
const ARCHITECTURES: [&str; 4] = ["80", "90", "100", "120"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(kvl_cuda)");
    println!("cargo::rerun-if-changed=cuda/kernels");
    println!("cargo::rerun-if-changed=cuda/build");
    for variable in Toolkit::variables().chain(["KVL_REQUIRE_CUDA", "KVL_CUDA"]) {
        println!("cargo::rerun-if-env-changed={variable}");
    }

    cpu_device();
    let required = env::var_os("KVL_REQUIRE_CUDA").is_some_and(|value| value == "1");
    let off = env::var_os("KVL_CUDA").is_some_and(|value| value == "off");
    match if off { None } else { Toolkit::find(Path::new(env!("CARGO_MANIFEST_DIR"))) } {
        Some(toolkit) => cuda_device(&toolkit),
        None if required => {
            println!("cargo::error=KVL_REQUIRE_CUDA=1, but no CUDA toolkit was found: set KVL_CUDA_HOME to its folder");
        }
        None => {}
    }
}

/// No exceptions, no run-time types and no C++ library: the objects need only what C needs.
fn cpu_device() {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").cpp_link_stdlib(None).warnings(true).extra_warnings(true);
    build.flag("-x").flag("c++").flag("-fno-exceptions").flag("-fno-rtti");
    build.files(KERNELS).compile("kvk_cpu");
}

/// The compiler is called directly: `cc` hands it flags of the host compiler when it is given its path.
fn cuda_device(toolkit: &Toolkit) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let mut archive = cc::Build::new();
    for kernel in KERNELS {
        let name = Path::new(kernel).file_stem().expect("each of KERNELS names a file");
        let object = out.join(name).with_extension("cuda.o");
        compile(toolkit, kernel, &object);
        archive.object(object);
    }
    archive.compile("kvk_cuda");

    // The static runtime opens the driver when it is first used: the program starts where there is none.
    println!("cargo::rustc-link-search=native={}", toolkit.libraries.display());
    println!("cargo::rustc-link-lib=static=cudart_static");
    for library in ["dl", "rt", "pthread", "stdc++"] {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    println!("cargo::rustc-cfg=kvl_cuda");
}

/// Always optimized, and with line numbers, which cost nothing: debugging device code is another build than this.
fn compile(toolkit: &Toolkit, kernel: &str, object: &Path) {
    let mut nvcc = Command::new(&toolkit.nvcc);
    nvcc.args(["-std=c++17", "-O3", "-lineinfo", "-Xcompiler=-fPIC,-Wall,-Wextra"]);
    for sm in ARCHITECTURES {
        nvcc.args(["-gencode", &format!("arch=compute_{sm},code=sm_{sm}")]);
    }
    let newest = ARCHITECTURES[ARCHITECTURES.len() - 1];
    nvcc.args(["-gencode", &format!("arch=compute_{newest},code=compute_{newest}")]);
    let done = nvcc.arg("-c").arg(kernel).arg("-o").arg(object).status();
    if !done.is_ok_and(|status| status.success()) {
        println!("cargo::error={kernel} did not compile with {}: KVL_CUDA=off leaves it out", toolkit.nvcc.display());
        std::process::exit(1);
    }
}
