//! What a block of a prompt is called, so that two requests which begin alike can be seen to.
//!
//! Problem: keys and values of a token depend on every token before it, so a block may be used by another request only if
//! the *whole* prefix is equal, and the model, the adapter and what stands behind placeholder tokens too; and it must not
//! be used by who has no right to it, even if he can make up tokens as he likes. A 64-bit hash of tokens is none of this:
//! its collisions can be searched for (the public bug cases of every manager that had one).
//!
//! 1. [`IdentityKey::root`] names the beginning of a prompt: trust group, salt, adapter, modality. A secret key of the
//!    server goes into every name.
//! 2. [`IdentityKey::block`] names a full block by the name of the block before it, its tokens, and what its placeholder
//!    tokens stand for; [`IdentityKey::chain`] names all full blocks of a prompt.
//! 3. Equal names mean equal prefixes in one domain, but for chance: 128 bits of a keyed pseudorandom function
//!    (`siphash.rs`). Who does not know the key cannot search for two prompts of one name.
//!
//! A name is SipHash-2-4-128 of these bytes, everything little-endian; servers that share a key may exchange names:
//!
//! ```text
//! root    1 (4 bytes), salt bytes (4), group (4), 0 (4), adapter (8), modality (8), salt, zeros up to a multiple of 8
//! block   2 (4 bytes), tokens (4), parent (16), media (16), each token (4), zeros up to a multiple of 8
//! ```
//!
//! Fields cannot run into one another: each message begins with what it is and how long its one field of variable length
//! is, and all other fields have fixed widths.

mod key;
mod siphash;
#[cfg(all(test, not(loom)))]
mod tests;

pub use key::{Domain, Identity, IdentityKey};
