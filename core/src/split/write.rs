//! From a batch to the words of its plan.

use super::SPLIT_VERSION;
use super::batch::SplitBatch;
use super::cut::{Listener, Nobody, SplitCounts, cut};
use super::layout::{HEADER_WORDS, ITEM_WORDS, JOIN_WORDS, SplitHeader, SplitItem, SplitJoin, SplitLayout};
use super::shape::{Checked, Split};
use crate::answer::{Argument, Refusal};
use core::slice::IterMut;

impl Split {
    /// What the plan of a batch would have, and how equal the shares would be; nothing is written.
    ///
    /// As [`plan`](Split::plan), less the buffer.
    pub fn count(&self, batch: &SplitBatch<'_>) -> Result<SplitCounts, Refusal> {
        let shape = self.checked()?;
        batch.check(&shape)?;
        Ok(cut(&shape, batch, &mut Nobody))
    }

    /// Writes the plan of a batch: header, item starts, items, joins, and everything else empty. `generation` is the
    /// caller's number of it, by which whoever reads it later knows that it is still the same one. What is in `words`
    /// beyond [`layout`](Split::layout) stays.
    ///
    /// As [`layout`](Split::layout), and `INVALID`: `Sequences`, `Tokens` or `Length` (above the maximum), `Queries`
    /// (`query_starts` has another count than sequences and one, or descends; fewer `query_positions` than query tokens),
    /// `Ranges` (`begins` or `ends` has another count than `lengths`), `Output` (too few words). A refused call has written
    /// nothing. Cost: O(row tiles + words), O(query tokens) if they have positions; twice through the batch.
    pub fn plan(&self, batch: &SplitBatch<'_>, generation: u32, words: &mut [u32]) -> Result<SplitHeader, Refusal> {
        let shape = self.checked()?;
        batch.check(&shape)?;
        let layout = shape.layout()?;
        let short = Refusal::invalid(Argument::Output);
        let words = words.get_mut(..words_of(layout.bytes) as usize).ok_or(short)?;
        let Arrays { header: header_words, item_starts, items, joins } = Arrays::of(words, &layout).ok_or(short)?;

        let mut writer =
            Writer { item_starts: item_starts.iter_mut(), items: items.iter_mut(), joins: joins.iter_mut() };
        writer.thread_block(0);
        let counts = cut(&shape, batch, &mut writer);
        writer.finish(&counts);

        let SplitCounts { items, joins, parts, .. } = counts;
        let sequences = batch.lengths.len() as u32;
        let mut header = SplitHeader { generation, items, joins, parts, sequences, ..blank(&shape, &layout) };
        *header_words = header.words();
        header.checksum = checksum(words);
        if let [_, checksum, ..] = words {
            *checksum = header.checksum;
        }
        Ok(header)
    }
}

/// What all plans of one shape begin with.
pub(super) fn blank(shape: &Checked, layout: &SplitLayout) -> SplitHeader {
    let Split { chunk_keys, thread_blocks, tile_rows, tile_keys, heads, .. } = shape.split;
    let SplitLayout { items_max, joins_max, parts_max, .. } = *layout;
    SplitHeader {
        version: SPLIT_VERSION,
        words: words_of(layout.bytes),
        chunk_keys,
        thread_blocks,
        tile_rows,
        tile_keys,
        heads,
        items_max,
        joins_max,
        parts_max,
        ..SplitHeader::default()
    }
}

/// A plan is of as many words as 32 bits count.
pub(super) const fn words_of(bytes: u64) -> u32 {
    (bytes / 4) as u32
}

/// Of every word but the first two: a sum of products, so that any order of adding up comes to the same, and words that
/// changed places do not.
pub(super) fn checksum(words: &[u32]) -> u32 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = words.iter().zip(0u64..).skip(2).map(|(word, place)| {
        let word = (u64::from(*word) | place << 32).wrapping_mul(ODD);
        (word ^ word >> 29).wrapping_mul(ODD)
    });
    let sum = mixed.fold(0u64, u64::wrapping_add);
    (sum ^ sum >> 32) as u32
}

/// The arrays of a plan, in its words. Each has all words up to the next one, so perhaps a few more entries than there is
/// need for: they are empty ones.
struct Arrays<'a> {
    header: &'a mut [u32; HEADER_WORDS],
    item_starts: &'a mut [u32],
    items: &'a mut [[u32; ITEM_WORDS]],
    joins: &'a mut [[u32; JOIN_WORDS]],
}

impl<'a> Arrays<'a> {
    /// `None` if there are too few words.
    fn of(words: &'a mut [u32], layout: &SplitLayout) -> Option<Arrays<'a>> {
        let (words, joins) = words.split_at_mut_checked(words_of(layout.joins) as usize)?;
        let (words, items) = words.split_at_mut_checked(words_of(layout.items) as usize)?;
        let (header, item_starts) = words.split_at_mut_checked(words_of(layout.item_starts) as usize)?;
        let ((items, after_items), (joins, after_joins)) = (items.as_chunks_mut(), joins.as_chunks_mut());
        after_items.fill(0);
        after_joins.fill(0);
        Some(Arrays { header: header.try_into().ok()?, item_starts, items, joins })
    }
}

/// Writes what it is told. There is room for it all: [`SplitLayout`] is made of what a cut can come to at most.
struct Writer<'a> {
    item_starts: IterMut<'a, u32>,
    items: IterMut<'a, [u32; ITEM_WORDS]>,
    joins: IterMut<'a, [u32; JOIN_WORDS]>,
}

impl Writer<'_> {
    /// Everything that no entry was written to is empty.
    fn finish(self, counts: &SplitCounts) {
        self.item_starts.for_each(|start| *start = counts.items);
        self.items.for_each(|item| *item = SplitItem::EMPTY.words());
        self.joins.for_each(|join| *join = SplitJoin::EMPTY.words());
    }
}

impl Listener for Writer<'_> {
    fn item(&mut self, item: SplitItem) {
        put(&mut self.items, item.words());
    }

    fn join(&mut self, join: SplitJoin) {
        put(&mut self.joins, join.words());
    }

    fn thread_block(&mut self, first_item: u32) {
        put(&mut self.item_starts, first_item);
    }
}

fn put<T>(places: &mut IterMut<'_, T>, entry: T) {
    let place = places.next();
    debug_assert!(place.is_some(), "a plan has more entries than its layout");
    if let Some(place) = place {
        *place = entry;
    }
}
