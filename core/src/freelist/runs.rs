//! Runs of neighbouring blocks, joined while they are found.

use super::word::{WORD_SHIFT, ones_at};
use crate::config::BLOCKS_MAX;
use crate::ids::BlockId;

/// A run of neighbouring blocks: `start ..= start + len - 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The id of the first block.
    pub(crate) start: u32,
    /// Blocks, at least 1.
    pub(crate) len: u32,
}

impl Run {
    /// The id behind the last block.
    #[inline(always)]
    pub(crate) const fn end(&self) -> u32 {
        self.start + self.len
    }

    /// A run that `ids` begins with, as far as they count up, and the ids behind it.
    #[inline(always)]
    pub(super) fn leading(ids: &[BlockId]) -> Option<(Run, &[BlockId])> {
        let (&BlockId(start), mut rest) = ids.split_first()?;
        let mut len = 1;
        // What is no block of any list is alone, and no run is so long that its end is no 32-bit number.
        let len_max = if start < NO_BLOCK { NO_BLOCK } else { 0 };
        // Eight at a time: a batch that came as a run goes back as one.
        while let Some((eight, behind)) = rest.split_first_chunk::<8>()
            && len + 8 <= len_max
            && count_up(eight, start + len)
        {
            len += 8;
            rest = behind;
        }
        while let Some((&BlockId(id), behind)) = rest.split_first()
            && len < len_max
            && id == start + len
        {
            len += 1;
            rest = behind;
        }
        Some((Run { start, len }, rest))
    }
}

/// No list has a block with this id or a higher one.
const NO_BLOCK: u32 = BLOCKS_MAX + 2;

/// Whether `eight` are the ids from `from` on.
#[inline(always)]
fn count_up(eight: &[BlockId; 8], from: u32) -> bool {
    let differs = |differs: u32, (index, id): (usize, &BlockId)| differs | (id.0 ^ from.wrapping_add(index as u32));
    eight.iter().enumerate().fold(0, differs) == 0
}

/// Hands runs to a sink, each as soon as it is known that the next blocks do not continue it.
pub(super) struct Runs<'s, S: FnMut(Run)> {
    sink: &'s mut S,
    /// Found, not handed on yet. Empty at first.
    open: Run,
}

impl<'s, S: FnMut(Run)> Runs<'s, S> {
    #[inline(always)]
    pub(super) fn new(sink: &'s mut S) -> Self {
        Runs { sink, open: Run { start: 0, len: 0 } }
    }

    /// The id behind the last block that was pushed, if any was.
    #[inline(always)]
    pub(super) fn end(&self) -> Option<u32> {
        (self.open.len > 0).then(|| self.open.end())
    }

    /// The blocks of a word. How many there are.
    #[inline(always)]
    pub(super) fn push(&mut self, word: usize, mask: u64) -> u32 {
        let base = (word << WORD_SHIFT) as u32;
        let mut rest = mask;
        let mut count = 0;
        while rest != 0 {
            let at = rest.trailing_zeros();
            let len = (rest >> at).trailing_ones();
            rest &= !ones_at(at, len);
            count += len;
            self.join(Run { start: base + at, len });
        }
        count
    }

    #[inline(always)]
    fn join(&mut self, run: Run) {
        if self.open.len > 0 && self.open.end() == run.start {
            self.open.len += run.len;
        } else {
            self.flush();
            self.open = run;
        }
    }

    #[inline(always)]
    pub(super) fn flush(&mut self) {
        if self.open.len > 0 {
            (self.sink)(self.open);
            self.open.len = 0;
        }
    }
}
