//! Names of prefixes through the C ABI.

mod common;

use common::{INVALID, invalid, no, ok, refused, sized, the, to};
use kvledger_core::identity::{Domain, Identity, IdentityKey};
use kvledger_core::{Argument, Group};
use kvledger_ffi::*;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

const DOMAIN: KvlDomain = KvlDomain { group: 3, reserved: 0, adapter: 4, modality: 5, salt: null(), salt_bytes: 0 };

#[test]
fn names_are_those_of_the_core() {
    let key: IdentityKey = ok(|out| kvl_identity_key_new(1, 2, to(out), no()));
    let salted = KvlDomain { salt: b"salt".as_ptr().cast(), salt_bytes: 4, ..DOMAIN };
    // SAFETY: the salt is as long as said.
    let root: Identity = ok(|out| unsafe { kvl_identity_key_root(the(&key), the(&sized(salted)), to(out), no()) });
    let ours = IdentityKey::new(1, 2);
    let domain = Domain { group: Group(3), adapter: 4, modality: 5, salt: b"salt" };
    assert_eq!(Ok(root), ours.root(&domain));

    let tokens = [7u32, 8, 9, 10, 11];
    let mut names = [Identity::NONE; 3];
    // SAFETY: the arrays are as long as said.
    let blocks: usize = ok(|out| unsafe {
        let (tokens, names) = (tokens.as_ptr(), names.as_mut_ptr());
        kvl_identity_key_chain(the(&key), the(&root), tokens, 5, 2, names, 3, to(out), no())
    });
    let mut expected = [Identity::NONE; 3];
    assert_eq!(ours.chain(root, &tokens, 2, &mut expected), Ok(blocks));
    assert_eq!((blocks, names), (2, expected));

    let media = Identity { low: 9, high: 9 };
    for media in [None, Some(&media)] {
        let claim = media.map_or(no(), the);
        // SAFETY: as above.
        let name: Identity = ok(|out| unsafe {
            kvl_identity_key_block(the(&key), the(&root), tokens.as_ptr(), 5, claim, to(out), no())
        });
        assert_eq!(Ok(name), ours.block(root, &tokens, media.copied().unwrap_or(Identity::NONE)));
    }
}

#[test]
fn what_cannot_be_named_is_refused() {
    let key = IdentityKey::new(1, 2);
    let (out, blocks, tokens) = (&mut MaybeUninit::uninit(), &mut MaybeUninit::uninit(), [1u32; 4]);
    // SAFETY: NULL is checked.
    assert_eq!(unsafe { kvl_identity_key_root(no(), the(&sized(DOMAIN)), to(out), no()) }, INVALID);
    // SAFETY: as above.
    assert_eq!(unsafe { kvl_identity_key_root(the(&key), no(), to(out), no()) }, INVALID);
    let lie = KvlDomain { salt_bytes: 3, ..DOMAIN };
    // SAFETY: as above.
    assert_eq!(unsafe { kvl_identity_key_root(the(&key), the(&sized(lie)), to(out), no()) }, INVALID);
    // SAFETY: as above.
    let why = refused(|why| unsafe {
        kvl_identity_key_block(the(&key), the(&Identity::NONE), null(), 0, no(), to(out), to(why))
    });
    assert_eq!(invalid(why), Argument::Tokens as u32);
    let mut names = [Identity::NONE; 2];
    let mut chain = |block_tokens, names_max| {
        // SAFETY: the arrays are as long as said, or longer.
        let why = refused(|why| unsafe {
            let names = if names_max == 0 { null_mut() } else { names.as_mut_ptr() };
            let (key, root, tokens) = (the(&key), the(&Identity::NONE), tokens.as_ptr());
            kvl_identity_key_chain(key, root, tokens, 4, block_tokens, names, names_max, to(blocks), to(why))
        });
        invalid(why)
    };
    assert_eq!(chain(0, 0), Argument::BlockTokens as u32);
    assert_eq!(chain(2, 0), Argument::Output as u32);
    assert_eq!(chain(2, 1), Argument::Output as u32);
}
