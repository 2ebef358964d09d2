//! Names are those of SipHash, differ whenever anything differs, and do not depend on how a prompt is cut into calls.

use super::siphash::SipHash;
use super::{Domain, Identity, IdentityKey};
use crate::answer::{Argument, Refusal};
use crate::ids::Group;
use crate::model::Random;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::collections::BTreeSet;
use std::hash::Hasher;
use std::vec;
use std::vec::Vec;

const KEY: IdentityKey = IdentityKey::new(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
const HERE: Domain<'_> = Domain { group: Group(0), adapter: 0, modality: 0, salt: b"" };

fn root(domain: &Domain<'_>) -> Identity {
    KEY.root(domain).expect("a short salt")
}

fn block(parent: Identity, tokens: &[u32]) -> Identity {
    KEY.block(parent, tokens, Identity::NONE).expect("tokens")
}

#[test]
fn the_function_is_siphash_2_4_with_128_bits() {
    // The reference implementation's first vector: no input, key 00 01 .. 0f.
    let empty = SipHash::new(KEY_WORDS).finish();
    let bytes: Vec<u8> = empty.iter().flat_map(|half| half.to_le_bytes()).collect();
    assert_eq!(bytes, [0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93]);
    let mut random = Random::new(1);
    for words in 0..200 {
        let (key, message) = ([random.next(), random.next()], (0..words).map(|_| random.next()).collect::<Vec<_>>());
        let mut ours = SipHash::new(key);
        let mut library = SipHasher24::new_with_keys(key[0], key[1]);
        for &word in &message {
            ours.word(word);
            library.write(&word.to_le_bytes());
        }
        let expected = library.finish128();
        assert_eq!(ours.finish(), [expected.h1, expected.h2], "{words} words");
    }
}

const KEY_WORDS: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];

/// The bytes of a name as `mod.rs` has them, through a library.
fn by_the_book(fields: &[&[u8]]) -> Identity {
    let mut message = fields.concat();
    message.resize(message.len().next_multiple_of(8), 0);
    let mut library = SipHasher24::new_with_keys(KEY_WORDS[0], KEY_WORDS[1]);
    library.write(&message);
    let hash = library.finish128();
    Identity { low: hash.h1, high: hash.h2 }
}

#[test]
fn a_name_is_of_the_bytes_that_are_written_down() {
    for salt in [&b""[..], b"a", b"tenant-7", b"tenant-seven"] {
        let domain = Domain { group: Group(0x0102), adapter: 0x0304_0506_0708, modality: 9, salt };
        let length = (salt.len() as u32).to_le_bytes();
        let numbers = [0x0304_0506_0708u64.to_le_bytes(), 9u64.to_le_bytes()].concat();
        let expected = by_the_book(&[&[1, 0, 0, 0], &length, &[2, 1, 0, 0, 0, 0, 0, 0], &numbers, salt]);
        assert_eq!(root(&domain), expected);
    }
    let (parent, media) = (Identity { low: 1, high: 2 }, Identity { low: 3, high: 4 });
    for count in 1..20u32 {
        let tokens: Vec<u32> = (0..count).map(|token| token * 70_001).collect();
        let names: Vec<u8> = [1u64, 2, 3, 4].iter().flat_map(|half| half.to_le_bytes()).collect();
        let bytes: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
        let expected = by_the_book(&[&[2, 0, 0, 0], &count.to_le_bytes(), &names, &bytes]);
        assert_eq!(KEY.block(parent, &tokens, media), Ok(expected));
    }
    // And once for all: a change of these renames every block that servers have exchanged.
    let first = block(root(&HERE), &[1, 2, 3, 4]);
    assert_eq!((first.low, first.high), (17_811_357_898_598_895_550, 7_588_073_779_196_184_120));
}

/// I6: every field of a name counts, and no two of these are equal.
#[test]
fn i6_whatever_differs_gives_another_name() {
    let (tokens, other) = ([1u32, 2, 3, 4], [1u32, 2, 3, 5]);
    let start = root(&HERE);
    let names = [
        start,
        root(&Domain { group: Group(1), ..HERE }),
        root(&Domain { adapter: 1, ..HERE }),
        root(&Domain { modality: 1, ..HERE }),
        root(&Domain { salt: b"a", ..HERE }),
        root(&Domain { salt: b"a\0", ..HERE }),
        root(&Domain { salt: b"\0", ..HERE }),
        root(&Domain { salt: b"12345678", ..HERE }),
        root(&Domain { salt: b"123456789", ..HERE }),
        KEY.block(start, &tokens, Identity { low: 1, high: 0 }).expect("tokens"),
        KEY.block(Identity { low: 1, high: 0 }, &tokens, Identity::NONE).expect("tokens"),
        IdentityKey::new(1, 0).root(&HERE).expect("no salt"),
        block(start, &tokens),
        block(start, &other),
        block(start, &tokens[..3]),
        block(start, &[1, 2, 3, 4, 0]),
        block(start, &[2, 1, 3, 4]),
        block(block(start, &tokens[..2]), &tokens[2..]),
        block(root(&Domain { group: Group(1), ..HERE }), &tokens),
    ];
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

/// I6: against a model that keeps whole prefixes: two blocks have one name if and only if their prefixes and domains are
/// equal. Few tokens, so that equal prefixes are common.
#[test]
fn i6_names_are_equal_exactly_where_prefixes_are() {
    let mut random = Random::new(9);
    let (mut by_name, mut by_prefix) = (BTreeSet::new(), BTreeSet::new());
    let mut blocks = 0;
    for _ in 0..3000 {
        let size = 1 + random.below(3);
        let domain = Domain { group: Group(random.below(2)), adapter: u64::from(random.below(2)), ..HERE };
        let tokens: Vec<u32> = (0..random.below(9)).map(|_| random.below(2)).collect();
        let mut names = vec![Identity::NONE; tokens.len()];
        let count = KEY.chain(root(&domain), &tokens, size, &mut names).expect("room");
        assert_eq!(count, tokens.len() / size as usize);
        for (end, name) in (1..).zip(&names[..count]) {
            blocks += 1;
            by_name.insert(*name);
            by_prefix.insert((domain.group.0, domain.adapter, size, tokens[..end * size as usize].to_vec()));
        }
        assert!(names[count..].iter().all(|name| *name == Identity::NONE), "the rest is left alone");
    }
    assert_eq!(by_name.len(), by_prefix.len());
    assert!(blocks > 4 * by_name.len(), "{blocks} blocks have {} names", by_name.len());
}

#[test]
fn what_cannot_be_named_is_refused() {
    let invalid = |argument| Err(Refusal::Invalid { argument });
    let names = &mut [Identity::NONE; 2];
    assert_eq!(KEY.block(Identity::NONE, &[], Identity::NONE), invalid(Argument::Tokens));
    assert_eq!(KEY.chain(Identity::NONE, &[1, 2], 0, names), Err(Refusal::Invalid { argument: Argument::BlockTokens }));
    assert_eq!(KEY.chain(Identity::NONE, &[1; 6], 2, names), Err(Refusal::Invalid { argument: Argument::Output }));
    assert_eq!(names, &[Identity::NONE; 2]);
    assert_eq!(KEY.chain(Identity::NONE, &[1; 5], 2, names), Ok(2));
    assert_eq!(std::format!("{KEY:?}"), "IdentityKey(..)", "a secret is not printed");
}
