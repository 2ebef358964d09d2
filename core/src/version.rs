//! Which version of the library this is, as one number that a program can compare with the one that it was compiled for.

/// Major version × 1,000,000 + minor × 1,000 + patch, of the library that is linked. Threads: any. Cost: O(1).
pub const fn version() -> u32 {
    const VERSION: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
        + number(env!("CARGO_PKG_VERSION_MINOR")) * 1_000
        + number(env!("CARGO_PKG_VERSION_PATCH"));
    VERSION
}

/// Below 1,000, so that the parts stay apart. Anything else does not compile.
const fn number(digits: &str) -> u32 {
    match u32::from_str_radix(digits, 10) {
        Ok(number) if number < 1_000 => number,
        _ => panic!("a part of the version is no number below 1,000"),
    }
}
