//! `version`.

use crate::answer::{KvlRefusal, fill};
use crate::claim::Out;

/// `version`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_version(version: Out<'_, u32>, refusal: Out<'_, KvlRefusal>) -> u32 {
    fill(version, refusal, || Ok(kvledger_core::version()))
}
