//! Arguments of any length: names and tokens of a prefix, block ids, handles. Of the caller while a call is made, of the record
//! when it is read.

use super::words::{Put, Take, halves};
use crate::calls::Prefix;
use crate::identity::Identity;
use crate::ids::{BlockId, Sequence};

/// Identities.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a>(Form<'a, Identity>);

/// Block ids, or tokens.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a>(NumberForm<'a>);

/// Handles of sequences.
#[derive(Clone, Copy, Debug)]
pub struct Handles<'a>(Form<'a, Sequence>);

#[derive(Clone, Copy, Debug)]
enum Form<'a, T> {
    Caller(&'a [T]),
    /// Two words each.
    Words(&'a [u64]),
}

#[derive(Clone, Copy, Debug)]
enum NumberForm<'a> {
    Caller(&'a [u32]),
    Ids(&'a [BlockId]),
    /// Two of them a word, so many in all.
    Words(&'a [u64], usize),
}

impl<'a, T: Copy> Form<'a, T> {
    const fn len(&self) -> usize {
        match self {
            Form::Caller(list) => list.len(),
            Form::Words(words) => words.len() / 2,
        }
    }

    fn each(&self, mut from: impl FnMut(T), read: impl Fn(u64, u64) -> T) {
        match self {
            Form::Caller(list) => list.iter().for_each(|item| from(*item)),
            Form::Words(words) => words.as_chunks::<2>().0.iter().for_each(|[low, high]| from(read(*low, *high))),
        }
    }
}

impl<'a> Names<'a> {
    /// How many.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in order.
    pub fn each(&self, each: impl FnMut(Identity)) {
        self.0.each(each, |low, high| Identity { low, high });
    }
}

impl<'a> Handles<'a> {
    /// Those that a caller gave.
    pub const fn of(list: &'a [Sequence]) -> Handles<'a> {
        Handles(Form::Caller(list))
    }

    /// How many.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in order.
    pub fn each(&self, each: impl FnMut(Sequence)) {
        self.0.each(each, |place, generation| {
            let (slot, pool) = halves(place);
            Sequence { slot, pool, generation }
        });
    }

    pub(super) fn put(&self, to: &mut impl Put) {
        to.word(self.len() as u64);
        self.each(|sequence| to.sequence(sequence));
    }

    pub(super) fn read(from: &mut Take<'a>) -> Option<Handles<'a>> {
        let count = usize::try_from(from.word()?).ok()?;
        Some(Handles(Form::Words(from.words(count.checked_mul(2)?)?)))
    }
}

impl<'a> Numbers<'a> {
    /// Block ids that a caller gave.
    pub const fn of(ids: &'a [BlockId]) -> Numbers<'a> {
        Numbers(NumberForm::Ids(ids))
    }

    /// How many.
    pub const fn len(&self) -> usize {
        match self.0 {
            NumberForm::Caller(list) => list.len(),
            NumberForm::Ids(list) => list.len(),
            NumberForm::Words(_, count) => count,
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in order.
    pub fn each(&self, mut each: impl FnMut(u32)) {
        match self.0 {
            NumberForm::Caller(list) => list.iter().for_each(|number| each(*number)),
            NumberForm::Ids(list) => list.iter().for_each(|id| each(id.0)),
            NumberForm::Words(words, count) => {
                let numbers = words.iter().map(|word| halves(*word)).flat_map(|(low, high)| [low, high]);
                numbers.take(count).for_each(each);
            }
        }
    }

    pub(super) fn put(&self, to: &mut impl Put) {
        to.word(self.len() as u64);
        let mut low = None;
        self.each(|number| match low.take() {
            None => low = Some(number),
            Some(first) => to.pair(first, number),
        });
        if let Some(last) = low {
            to.pair(last, 0);
        }
    }

    pub(super) fn read(from: &mut Take<'a>) -> Option<Numbers<'a>> {
        let count = usize::try_from(from.word()?).ok()?;
        Some(Numbers(NumberForm::Words(from.words(count.div_ceil(2))?, count)))
    }
}

/// A [`Prefix`], of a caller or of a record.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its names.
    pub identities: Names<'a>,
    /// Its tokens.
    pub tokens: Numbers<'a>,
    /// [`Prefix::unfinished`].
    pub unfinished: bool,
    /// [`Prefix::blocks_max`].
    pub blocks_max: u32,
}

impl<'a> Named<'a> {
    /// The prefix that a caller gave.
    #[inline(always)]
    pub const fn of(prefix: &Prefix<'a>) -> Named<'a> {
        Named {
            identities: Names(Form::Caller(prefix.identities)),
            tokens: Numbers(NumberForm::Caller(prefix.tokens)),
            unfinished: prefix.unfinished,
            blocks_max: prefix.blocks_max,
        }
    }

    /// Words of the lists, at most.
    pub(super) const fn words(&self) -> usize {
        self.identities.len().saturating_mul(2).saturating_add(self.tokens.len() / 2 + 4)
    }

    pub(super) fn put(&self, to: &mut impl Put) {
        to.pair(self.blocks_max, u32::from(self.unfinished));
        to.word(self.identities.len() as u64);
        self.identities.each(|name| {
            to.word(name.low);
            to.word(name.high);
        });
        self.tokens.put(to);
    }

    pub(super) fn read(from: &mut Take<'a>) -> Option<Named<'a>> {
        let (blocks_max, unfinished) = from.pair()?;
        let count = usize::try_from(from.word()?).ok()?;
        let identities = Names(Form::Words(from.words(count.checked_mul(2)?)?));
        Some(Named { identities, tokens: Numbers::read(from)?, unfinished: unfinished != 0, blocks_max })
    }
}
