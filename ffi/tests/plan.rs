//! Planning through the C ABI.

mod common;

use common::{invalid, no, ok, refused, to};
use kvledger_core::{Argument, plan::paged};
use kvledger_ffi::*;
use std::mem::MaybeUninit;

#[test]
fn the_window_formula_is_the_core_s() {
    let blocks =
        |window, in_flight, chunk, block| ok(|out| kvl_window_blocks(window, in_flight, chunk, block, to(out), no()));
    assert_eq!(blocks(1_024, 1, 2_048, 16), 321);
    assert_eq!(Ok(blocks(4_096, 2, 7, 3)), paged::window_blocks(4_096, 2, 7, 3));
    for (window, block, argument) in [(0, 16, Argument::Tokens), (1, 0, Argument::BlockTokens)] {
        let mut untouched = MaybeUninit::new(77);
        let refusal = refused(|why| kvl_window_blocks(window, 1, 1, block, to(&mut untouched), to(why)));
        assert_eq!(invalid(refusal), argument as u32);
        // SAFETY: written above.
        assert_eq!(unsafe { untouched.assume_init() }, 77, "an output is written on success only");
    }
}
