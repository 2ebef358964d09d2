//! The model: one layer, one key-value head, three query heads of 64 elements, binary16; and what its keys, values and
//! queries are. A token's numbers are a function of what the token is, so that who shares a prefix has the same, and who
//! writes them twice writes the same.

use crate::kernels::numbers::Element;
use crate::kernels::random::Random;
use kvledger_core::identity::Identity;
use std::sync::OnceLock;

/// Key-value heads.
pub const HEADS: u32 = 1;
/// Query heads.
pub const QUERY_HEADS: u32 = 3;
/// Elements of a head.
pub const HEAD_DIM: u32 = 64;
/// The type of everything.
pub const ELEMENT: Element = Element::F16;
/// Of scores.
pub const SCALE: f32 = 0.125;

/// Numbers are n/256 for n from −256 to 256: each is one of binary16.
const STEPS: u32 = 512;

/// What a token is: all that decides its numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// In a block of a prompt that has a name, at a place of it.
    Named(Identity, u32),
    /// A request's own, at a position.
    Own(u32, u32),
}

/// What is asked of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Its key.
    Key,
    /// Its value.
    Value,
    /// The queries that follow it.
    Query,
}

/// The numbers of one token: elements of one head for keys and values, of all query heads for queries.
pub fn numbers(token: Token, side: Side) -> Vec<f32> {
    let seed = match token {
        Token::Named(identity, place) => {
            identity.low ^ identity.high.rotate_left(21) ^ u64::from(place).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        }
        Token::Own(request, position) => (u64::from(request) << 32 | u64::from(position)) ^ 0xA5A5 << 48,
    };
    let mut random = Random::new(seed.wrapping_add((side as u64) << 60));
    // Queries are larger, so that weights differ much: one wrong key is then a wrong result.
    let (count, scale) = if side == Side::Query { (HEAD_DIM * QUERY_HEADS, 4.0) } else { (HEAD_DIM, 1.0) };
    (0..count).map(|_| (f64::from(random.below(STEPS + 1)) / 256.0 - 1.0) as f32 * scale).collect()
}

/// The bits of such numbers.
pub fn bits(numbers: &[f32]) -> impl Iterator<Item = u16> + '_ {
    static BITS: OnceLock<Vec<u16>> = OnceLock::new();
    let of_key = BITS.get_or_init(|| (0..=STEPS).map(|n| ELEMENT.nearest(f64::from(n) / 256.0 - 1.0)).collect());
    numbers.iter().map(|number| match (number * 256.0) as i32 + 256 {
        n @ 0..=512 => of_key[n as usize],
        _ => ELEMENT.nearest(f64::from(*number)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_token_s_own_and_have_exact_bits() {
        let identity = Identity { low: 5, high: 1 };
        let all = [
            numbers(Token::Named(identity, 3), Side::Key),
            numbers(Token::Named(identity, 4), Side::Key),
            numbers(Token::Named(identity, 3), Side::Value),
            numbers(Token::Own(3, 5), Side::Key),
            numbers(Token::Own(5, 3), Side::Key),
            numbers(Token::Own(3, 5), Side::Query),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| other[..64] != one[..64]));
            assert!(bits(one).zip(one).all(|(bits, number)| ELEMENT.value(bits) == f64::from(*number)));
        }
        assert_eq!(all[0], numbers(Token::Named(identity, 3), Side::Key));
        assert_eq!((all[0].len(), all[5].len()), (64, 192));
    }
}
