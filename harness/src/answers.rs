//! The words of answers by their numbers, as in the C ABI; each is the core's own.

use kvledger_core::{Argument, Epoch, Place, Refusal, Scope};

/// The words: `OK`, and those of refusals, at [`Refusal::code`].
pub const WORDS: [&str; 11] = [
    "OK",
    Refusal::WouldBlock { short_by: 0, scope: Scope::Pool }.word(),
    Refusal::RetryAfter { after: Epoch::NONE, reclaimable: 0 }.word(),
    Refusal::NeverFits { needed: 0, ceiling: 0 }.word(),
    Refusal::OverPromise { short_by: 0 }.word(),
    Refusal::Cancelled.word(),
    Refusal::Stale.word(),
    Refusal::Invalid { argument: Argument::Memory }.word(),
    Refusal::Full.word(),
    Refusal::Busy.word(),
    Refusal::Corrupt { place: Place::Table }.word(),
];

/// The word of the answer that is number `code`; `?` if there is none.
pub fn word(code: u32) -> &'static str {
    WORDS.get(code as usize).copied().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_at_the_numbers_of_their_answers() {
        let refusals = [
            Refusal::WouldBlock { short_by: 1, scope: Scope::Group },
            Refusal::RetryAfter { after: Epoch(2), reclaimable: 3 },
            Refusal::NeverFits { needed: 4, ceiling: 5 },
            Refusal::OverPromise { short_by: 6 },
            Refusal::Cancelled,
            Refusal::Stale,
            Refusal::Invalid { argument: Argument::Table },
            Refusal::Full,
            Refusal::Busy,
            Refusal::Corrupt { place: Place::FreeList },
        ];
        assert_eq!(refusals.map(|refusal| word(refusal.code())), refusals.map(|refusal| refusal.word()));
        assert_eq!((word(0), word(11)), ("OK", "?"));
    }
}
