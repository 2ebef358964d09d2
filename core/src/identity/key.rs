//! The key, and the names that are made with it.

use super::siphash::SipHash;
use crate::answer::{Argument, Refusal};
use crate::ids::Group;

/// The name of a prefix that ends with a full block. Equal names mean equal prefixes in one domain.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Identity {
    /// 64 of its bits.
    pub low: u64,
    /// The other 64.
    pub high: u64,
}

impl Identity {
    /// No name: a block without placeholder tokens has no media.
    pub const NONE: Identity = Identity { low: 0, high: 0 };
}

/// The secret of a server. Whoever knows it can find two prompts with one name; keep it in the process, draw it anew at
/// each start (names are then worth nothing outside it), or share it among the servers that exchange blocks.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IdentityKey {
    words: [u64; 2],
}

impl core::fmt::Debug for IdentityKey {
    /// A secret does not belong in a log.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("IdentityKey(..)")
    }
}

/// What must be equal for two prompts to share blocks, besides their tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Domain<'a> {
    /// The trust group.
    pub group: Group,
    /// The adapter (LoRA and its kin) that computes keys and values; 0 is the model alone.
    pub adapter: u64,
    /// The modality, or any other variant of the same model whose keys and values differ.
    pub modality: u64,
    /// What a tenant gives with a request so that it shares with requests of the same salt only; at most 2^32 − 1 bytes.
    pub salt: &'a [u8],
}

/// What a message is about: its first byte.
const ROOT: u64 = 1;
const BLOCK: u64 = 2;

impl IdentityKey {
    /// 128 bits from a source of randomness.
    pub const fn new(low: u64, high: u64) -> IdentityKey {
        IdentityKey { words: [low, high] }
    }

    /// The name of the beginning of a prompt in `domain`, before its first block. Cost: O(salt).
    ///
    /// Errors: `INVALID(Salt)` for a salt of 2^32 bytes or more.
    pub fn root(&self, domain: &Domain<'_>) -> Result<Identity, Refusal> {
        let salt = u32::try_from(domain.salt.len()).map_err(|_| Refusal::invalid(Argument::Salt))?;
        let mut message = self.begin(ROOT, salt);
        message.word(u64::from(domain.group.0));
        message.word(domain.adapter);
        message.word(domain.modality);
        let (words, rest) = domain.salt.as_chunks::<8>();
        words.iter().for_each(|bytes| message.word(u64::from_le_bytes(*bytes)));
        if !rest.is_empty() {
            message.word(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        Ok(end(message))
    }

    /// The name of a block: `parent` is that of the block before it, or the root. `media` names what its placeholder
    /// tokens stand for, an image say, [`Identity::NONE`] if there are none; a hash that its sender can choose freely
    /// will not do for that. Cost: O(tokens), about 100 ns for 16.
    ///
    /// Errors: `INVALID(Tokens)` if there are none, or 2^32 or more.
    pub fn block(&self, parent: Identity, tokens: &[u32], media: Identity) -> Result<Identity, Refusal> {
        let count = u32::try_from(tokens.len()).ok().filter(|&count| count > 0);
        let mut message = self.begin(BLOCK, count.ok_or(Refusal::invalid(Argument::Tokens))?);
        for name in [parent, media] {
            message.word(name.low);
            message.word(name.high);
        }
        let (pairs, last) = tokens.as_chunks::<2>();
        pairs.iter().for_each(|[first, second]| message.word(u64::from(*first) | u64::from(*second) << 32));
        last.iter().for_each(|token| message.word(u64::from(*token)));
        Ok(end(message))
    }

    /// The names of all full blocks of a prompt without placeholders, in order, to the front of `out`; how many they are:
    /// ⌊tokens/B⌋. Tokens after them have no name: they are in a block that is not full.
    ///
    /// Errors: `INVALID`: `BlockTokens` for 0, `Output` if `out` is shorter, and then nothing was written.
    /// Cost: O(tokens).
    pub fn chain(
        &self,
        root: Identity,
        tokens: &[u32],
        block_tokens: u32,
        out: &mut [Identity],
    ) -> Result<usize, Refusal> {
        let size = usize::try_from(block_tokens).unwrap_or(usize::MAX);
        let count = tokens.len().checked_div(size).ok_or(Refusal::invalid(Argument::BlockTokens))?;
        let out = out.get_mut(..count).ok_or(Refusal::invalid(Argument::Output))?;
        let (mut parent, mut rest) = (root, tokens);
        for name in out {
            let (block, after) = rest.split_at_checked(size).unwrap_or((rest, &[]));
            parent = self.block(parent, block, Identity::NONE)?;
            (*name, rest) = (parent, after);
        }
        Ok(count)
    }

    /// A message: what it is about, and the length of its field of variable length.
    fn begin(&self, kind: u64, length: u32) -> SipHash {
        let mut message = SipHash::new(self.words);
        message.word(kind | u64::from(length) << 32);
        message
    }
}

fn end(message: SipHash) -> Identity {
    let [low, high] = message.finish();
    Identity { low, high }
}
