//! A plan that is there already: words that claim to be one, and what can be read from them.

use super::layout::{HEADER_WORDS, ITEM_WORDS, JOIN_WORDS, SplitHeader, SplitItem, SplitJoin, SplitLayout};
use super::shape::Split;
use super::write::{blank, checksum, words_of};
use crate::answer::{Argument, Refusal};

/// The words of a plan, whose header and checksum are right.
#[derive(Clone, Copy)]
pub struct SplitPlan<'a> {
    header: SplitHeader,
    item_starts: &'a [u32],
    items: &'a [[u32; ITEM_WORDS]],
    joins: &'a [[u32; JOIN_WORDS]],
}

impl Split {
    /// Takes words for a plan of this [`Split`]: what a launch does before it gives them to the device.
    ///
    /// As [`layout`](Split::layout); `INVALID(Header)` if version, sizes or counts are not those of such a plan, or the
    /// checksum is not that of the words: then they were never a plan, or are being written. Cost: O(words).
    pub fn read<'a>(&self, words: &'a [u32]) -> Result<SplitPlan<'a>, Refusal> {
        let shape = self.checked()?;
        let layout = shape.layout()?;
        let plan = SplitPlan::of(words, &layout).ok_or(Refusal::invalid(Argument::Header))?;
        let SplitHeader { checksum, generation, items, joins, parts, sequences, .. } = plan.header;
        let like_this = SplitHeader { checksum, generation, items, joins, parts, sequences, ..blank(&shape, &layout) };
        let fits = items <= layout.items_max && joins <= layout.joins_max && parts <= layout.parts_max;
        if plan.header != like_this || !fits || sequences > self.sequences_max {
            return Err(Refusal::invalid(Argument::Header));
        }
        Ok(plan)
    }
}

impl<'a> SplitPlan<'a> {
    /// `None` if there are too few words, or the checksum is another one.
    fn of(words: &'a [u32], layout: &SplitLayout) -> Option<SplitPlan<'a>> {
        let words = words.get(..words_of(layout.bytes) as usize)?;
        let header = SplitHeader::of_words(words.first_chunk::<HEADER_WORDS>()?);
        if header.checksum != checksum(words) {
            return None;
        }
        let (words, joins) = words.split_at_checked(words_of(layout.joins) as usize)?;
        let (words, items) = words.split_at_checked(words_of(layout.items) as usize)?;
        let (_, item_starts) = words.split_at_checked(words_of(layout.item_starts) as usize)?;
        Some(SplitPlan { header, item_starts, items: items.as_chunks().0, joins: joins.as_chunks().0 })
    }

    /// Its header.
    pub fn header(&self) -> SplitHeader {
        self.header
    }

    /// The items, in the order of thread blocks, and after those in use the empty ones.
    pub(super) fn all_items(&self) -> impl Iterator<Item = SplitItem> + 'a {
        self.items.iter().map(SplitItem::of_words)
    }

    /// The joins, and after those in use the empty ones.
    pub(super) fn all_joins(&self) -> impl Iterator<Item = SplitJoin> + 'a {
        self.joins.iter().map(SplitJoin::of_words)
    }

    /// Where the items of each thread block begin, and the end of the last one's; then the same end again.
    pub(super) fn all_starts(&self) -> &'a [u32] {
        self.item_starts
    }

    /// The items in use, in the order of thread blocks.
    pub fn items(&self) -> impl Iterator<Item = SplitItem> + 'a {
        self.all_items().take(self.header.items as usize)
    }

    /// The joins in use, in the order of their row tiles.
    pub fn joins(&self) -> impl Iterator<Item = SplitJoin> + 'a {
        self.all_joins().take(self.header.joins as usize)
    }

    /// The items of one thread block: none if there is no such thread block.
    pub fn items_of(&self, thread_block: u32) -> impl Iterator<Item = SplitItem> + 'a {
        let start = |at: u32| self.item_starts.get(at as usize).copied().unwrap_or(self.header.items);
        let (first, end) = (start(thread_block), start(thread_block.saturating_add(1)));
        self.items().take(end as usize).skip(first as usize)
    }
}
