//! The tests of the tests: a mistake that is planted in a kernel is found by the check of that kernel.

use crate::bench::{Bench, Found, found_with};
use crate::{checksum, copy, large};

/// A check that must find the mistake.
type Check<'a> = &'a dyn Fn(&Bench) -> Found;

#[test]
fn planted_mistakes_are_found() {
    let copies = |bench: &Bench| copy::CASES.iter().try_for_each(|case| copy::check(bench, case));
    let checks: [(&str, Check<'_>); 3] = [
        ("whole_blocks", &copies),
        ("barrier_before_sum", &|bench| checksum::check(bench, 4096, &[1, 2])),
        ("offset_32_bits", &large::check),
    ];
    for (mistake, check) in checks {
        let found = found_with(mistake, check);
        println!("{mistake}: {}", found.as_deref().unwrap_or("not found"));
        assert!(found.is_some(), "{mistake} is not found");
    }
}
