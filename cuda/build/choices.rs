//! What a build can be told, checked before anything is compiled.
//!
//! | | what it does |
//! | --- | --- |
//! | feature `cuda` | a build without a CUDA toolkit is an error |
//! | `KVL_CUDA=off` | a toolkit is not looked for; wins over the feature, so that lints of all features need none |
//! | `KVLEDGER_CUDA_ARCHS=80,90` | machine code for these, and portable code for what comes after the newest of them |
//! | `KVL_SANITIZE=thread`, `address` | kernels and executor of the CPU device are watched by that sanitizer |
//! | `KVL_PLANTS=1` | the CPU device's kernels can be told to make a mistake: for the tests of the tests |

use std::env;

/// The variables among these: cargo asks again when one changes.
pub const VARIABLES: [&str; 4] = ["KVL_CUDA", "KVLEDGER_CUDA_ARCHS", "KVL_SANITIZE", "KVL_PLANTS"];

/// Runs, by its portable code, on every GPU that has what the kernels need; a build for one machine names its own.
const ARCHS_DEFAULT: &str = "80";
/// The first with `cp.async`.
const ARCH_MIN: u32 = 80;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cuda {
    /// Where a toolkit is found.
    IfFound,
    Required,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sanitizer {
    Thread,
    /// And undefined behaviour.
    Address,
}

pub struct Choices {
    pub cuda: Cuda,
    /// Ascending, without repetition, never empty.
    pub archs: Vec<u32>,
    pub sanitizer: Option<Sanitizer>,
    pub has_plants: bool,
}

impl Choices {
    pub fn read() -> Result<Choices, String> {
        Ok(Choices {
            cuda: cuda()?,
            archs: archs(variable("KVLEDGER_CUDA_ARCHS")?.as_deref().unwrap_or(ARCHS_DEFAULT))?,
            sanitizer: match variable("KVL_SANITIZE")?.as_deref() {
                None => None,
                Some("thread") => Some(Sanitizer::Thread),
                Some("address") => Some(Sanitizer::Address),
                Some(other) => return Err(format!("KVL_SANITIZE={other}: thread, address, or not set")),
            },
            has_plants: match variable("KVL_PLANTS")?.as_deref() {
                None | Some("0") => false,
                Some("1") => true,
                Some(other) => return Err(format!("KVL_PLANTS={other}: 1, or not set")),
            },
        })
    }
}

impl Sanitizer {
    /// As it is chosen.
    pub fn name(self) -> &'static str {
        match self {
            Sanitizer::Thread => "thread",
            Sanitizer::Address => "address",
        }
    }

    /// For the compiler.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Sanitizer::Thread => &["-fsanitize=thread"],
            Sanitizer::Address => &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        }
    }

    /// For the linker: the first of them must come before all others.
    pub fn libraries(self) -> &'static [&'static str] {
        match self {
            Sanitizer::Thread => &["tsan"],
            Sanitizer::Address => &["asan", "ubsan"],
        }
    }
}

fn cuda() -> Result<Cuda, String> {
    match variable("KVL_CUDA")?.as_deref() {
        Some("off") => Ok(Cuda::Off),
        None if env::var_os("CARGO_FEATURE_CUDA").is_some() => Ok(Cuda::Required),
        None => Ok(Cuda::IfFound),
        Some(other) => Err(format!("KVL_CUDA={other}: off, or not set (the feature `cuda` makes a toolkit required)")),
    }
}

fn archs(list: &str) -> Result<Vec<u32>, String> {
    let one = |text: &str| match text.trim().parse() {
        Ok(arch) if arch >= ARCH_MIN => Ok(arch),
        Ok(_) => Err(format!("KVLEDGER_CUDA_ARCHS: {text}: kernels need {ARCH_MIN} or newer")),
        Err(_) => {
            Err(format!("KVLEDGER_CUDA_ARCHS: {text:?} is no number; numbers of compute capabilities: 80,90,120"))
        }
    };
    let mut archs = list.split(',').map(one).collect::<Result<Vec<u32>, String>>()?;
    archs.sort_unstable();
    archs.dedup();
    Ok(archs)
}

/// Not set and empty are the same.
fn variable(name: &str) -> Result<Option<String>, String> {
    let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    value.into_string().map(Some).map_err(|value| format!("{name}={}: not UTF-8", value.display()))
}
