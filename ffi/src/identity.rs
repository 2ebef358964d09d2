//! Names of prefixes: `IdentityKey`.

use crate::answer::{KvlRefusal, fill, fill_apart, invalid};
use crate::array::{array, array_mut, span};
use crate::claim::{In, InSized, Out};
use core::ffi::c_void;
use kvledger_core::identity::{Domain, Identity, IdentityKey};
use kvledger_core::{Argument, Group};

/// `Domain`, with the salt as a pointer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KvlDomain {
    /// The trust group.
    pub group: u32,
    /// 0.
    pub reserved: u32,
    /// The adapter.
    pub adapter: u64,
    /// The modality.
    pub modality: u64,
    /// The salt; NULL if there is none.
    pub salt: *const c_void,
    /// Its bytes.
    pub salt_bytes: usize,
}

/// `IdentityKey::new`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_identity_key_new(
    low: u64,
    high: u64,
    key: Out<'_, IdentityKey>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(key, refusal, || Ok(IdentityKey::new(low, high)))
}

/// `IdentityKey::root`.
///
/// # Safety
/// `domain`'s salt is NULL or valid for as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_identity_key_root(
    key: In<'_, IdentityKey>,
    domain: InSized<'_, KvlDomain>,
    root: Out<'_, Identity>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(root, refusal, || {
        let (key, domain) = (key.given()?, domain.given()?);
        if domain.reserved != 0 {
            return Err(invalid(Argument::Size));
        }
        // SAFETY: the caller's promise.
        let salt = unsafe { array(domain.salt.cast::<u8>(), domain.salt_bytes) }?;
        let KvlDomain { group, adapter, modality, .. } = domain;
        key.root(&Domain { group: Group(group), adapter, modality, salt })
    })
}

/// `IdentityKey::block`. `media` NULL: no placeholder tokens.
///
/// # Safety
/// `tokens` is NULL or valid for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_identity_key_block(
    key: In<'_, IdentityKey>,
    parent: In<'_, Identity>,
    tokens: *const u32,
    count: usize,
    media: In<'_, Identity>,
    name: Out<'_, Identity>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(name, refusal, || {
        // SAFETY: the caller's promise.
        let tokens = unsafe { array(tokens, count) }?;
        key.given()?.block(*parent.given()?, tokens, media.optional()?.copied().unwrap_or(Identity::NONE))
    })
}

/// `IdentityKey::chain`.
///
/// # Safety
/// `tokens` and `names` are NULL or valid for `count` and `names_max` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kvl_identity_key_chain(
    key: In<'_, IdentityKey>,
    root: In<'_, Identity>,
    tokens: *const u32,
    count: usize,
    block_tokens: u32,
    names: *mut Identity,
    names_max: usize,
    blocks: Out<'_, usize>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    let read = [span(tokens, count), key.range(), root.range()];
    fill_apart(blocks, refusal, &[span(names, names_max)], &read, || {
        // SAFETY: the caller's promise.
        let tokens = unsafe { array(tokens, count) }?;
        // SAFETY: the caller's promise.
        let names = unsafe { array_mut(names, names_max) }?;
        key.given()?.chain(*root.given()?, tokens, block_tokens, names)
    })
}
