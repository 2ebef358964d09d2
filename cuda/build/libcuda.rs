//! A static stand-in for the driver's library, for the feature `cust`: a program that was linked with `-lcuda` would not
//! start where there is no driver.
//!
//! `cust_raw` asks the linker for `-lcuda`. Where no `libcuda.so` is in the way it takes `libcuda.a`, which is made here: a
//! label for each function, which jumps through a table that is filled when the program starts. Functions that the driver
//! does not have, or all of them, then answer `CUDA_ERROR_STUB_LIBRARY`.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Every function that `cust_raw` 0.11.3 declares.
const NAMES: &str = "cuda/stub/names.txt";

pub fn build(out: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-changed={NAMES}");
    let names = fs::read_to_string(NAMES).map_err(|error| format!("{NAMES}: {error}"))?;
    let names: Vec<&str> = names.lines().collect();
    let source = out.join("libcuda.c");
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    fs::write(&source, text(&names, &architecture)?).map_err(|error| format!("{}: {error}", source.display()))?;
    cc::Build::new().file(&source).cargo_metadata(false).warnings(true).compile("cuda");
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=dylib=dl");
    Ok(())
}

fn text(names: &[&str], architecture: &str) -> Result<String, String> {
    let mut text = String::from("#include <dlfcn.h>\n#include <stddef.h>\n");
    let count = names.len();
    let mut write = |line: std::fmt::Arguments<'_>| text.write_fmt(line).map_err(|error| error.to_string());
    write(format_args!("__attribute__((visibility(\"hidden\"))) void *kvl_libcuda[{count}];\n"))?;
    write(format_args!("static int absent(void) {{ return 34; }}\nstatic const char *const names[] = {{\n"))?;
    for name in names {
        write(format_args!("  \"{name}\",\n"))?;
    }
    write(format_args!("{FILL}"))?;
    for (at, name) in names.iter().enumerate() {
        let jump = match architecture {
            "x86_64" => format!("jmp *kvl_libcuda+{}(%rip)", at * 8),
            "aarch64" => {
                let entry = format!("kvl_libcuda+{}", at * 8);
                format!("adrp x16, {entry}\\n ldr x16, [x16, #:lo12:{entry}]\\n br x16")
            }
            other => return Err(format!("the feature `cust` is for x86_64 and aarch64, not {other}")),
        };
        let label = format!(".globl {name}\\n.type {name}, %function\\n{name}: {jump}\\n.size {name}, .-{name}");
        write(format_args!("__asm__(\".text\\n{label}\\n\");\n"))?;
    }
    Ok(text)
}

const FILL: &str = "};
__attribute__((constructor)) static void fill(void) {
  void *const library = dlopen(\"libcuda.so.1\", RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *const found = library != NULL ? dlsym(library, names[i]) : NULL;
    kvl_libcuda[i] = found != NULL ? found : (void *)absent;
  }
}
";
