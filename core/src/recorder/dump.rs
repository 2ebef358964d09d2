//! A dump: the words of a ring, read as what they are, a claim. Nothing in it can make reading fail but by saying so.

use super::call::Call;
use super::outcome::Outcome;
use super::ring::{
    CAPACITY_AT, CONFIG_AT, DIRTY_AT, DUMP_VERSION, FLAGS_SHIFT, HAS_DIGEST, HEADER, IN_USE_AT, LATE_AT, LOST_AT,
    MAGIC, SHAPE_SHIFT, STATUS_SHIFT, UNDER_WAY_AT, WIDE, WORDS_SHIFT, WRITTEN_AT,
};
use super::words::Take;
use crate::answer::{Argument, Refusal};
use crate::config::PoolConfig;
use crate::pool::header;

/// Words of a dump before its records.
pub const HEADER_WORDS: usize = HEADER;

/// A ring that was dumped.
#[derive(Clone, Copy, Debug)]
pub struct Dump<'a> {
    /// The pool's, as it was initialized.
    pub config: PoolConfig,
    /// Calls that were not recorded: another thread had the ring, or it was a batch of more rows than a third of its words.
    pub lost: u64,
    /// Words of older records that were overwritten; 0 if everything from the first call on is there.
    pub overwritten: u64,
    /// Whether the pool had been used by handles without a ring when the first ring was made: the history begins in the
    /// middle.
    pub begun_late: bool,
    /// The call that was under way when the memory was looked at. Of a batch the rows are not known.
    pub under_way: Option<Call<'a>>,
    records: &'a [u64],
}

/// A call that was made, and what it came to.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The place among all records of all rings of the pool.
    pub ticket: u64,
    /// The call.
    pub call: Call<'a>,
    /// What it came to.
    pub outcome: Outcome,
}

impl<'a> Dump<'a> {
    /// Read the words of a dump. They are put in order: the oldest first.
    ///
    /// Errors: `INVALID`: `Header` if it is no dump of this version, or of no pool that there can be; `Memory` if words
    /// are missing at the end. Cost: O(words). Panics: never.
    pub fn read(words: &'a mut [u64]) -> Result<Dump<'a>, Refusal> {
        const NO_DUMP: Refusal = Refusal::invalid(Argument::Header);
        let (header, records) = words.split_at_mut_checked(HEADER).ok_or(NO_DUMP)?;
        let at = |index: usize| header.get(index).copied().unwrap_or(0);
        if (at(0), at(1)) != (MAGIC, DUMP_VERSION) {
            return Err(NO_DUMP);
        }
        let config: [u64; 5] = core::array::from_fn(|index| at(CONFIG_AT + index));
        let config = header::unpack(config);
        config.check().map_err(|_| NO_DUMP)?;
        let capacity = usize::try_from(at(CAPACITY_AT)).map_err(|_| NO_DUMP)?;
        let records = records.get_mut(..capacity).ok_or(Refusal::invalid(Argument::Memory))?;
        let (written, lost, begun_late) = (at(WRITTEN_AT), at(LOST_AT), at(LATE_AT) != 0);
        let capacity = capacity as u64;
        // From here on the next word to be written stands first and the newest record last.
        rotate(records, written.checked_rem(capacity).ok_or(NO_DUMP)? as usize);
        let records: &[u64] = records;
        let dirty = if at(IN_USE_AT) != 0 { at(DIRTY_AT) } else { 0 };
        let number = if dirty > 0 { at(UNDER_WAY_AT) as u8 } else { 0 };
        let under_way = Call::read_arguments(number, &mut Take::new(records.get(1..).unwrap_or(&[])));
        // What a call under way may have changed is no record any more.
        let kept = written.min(capacity.saturating_sub(dirty));
        let records = records.get((capacity - kept) as usize..).unwrap_or(&[]);
        Ok(Dump { config, lost, overwritten: written - kept, begun_late, under_way, records })
    }

    /// The words of the records, the oldest first; if older ones were overwritten it begins within one.
    pub fn words(&self) -> &'a [u64] {
        self.records
    }

    /// The records, the newest first.
    pub fn newest_first(&self) -> Records<'a> {
        Records { words: self.records, pool: self.config.number, overwritten: self.overwritten > 0 }
    }
}

/// `rotate_left`, without a panic path.
fn rotate(words: &mut [u64], left: usize) {
    if let Some((head, tail)) = words.split_at_mut_checked(left) {
        head.reverse();
        tail.reverse();
    }
    words.reverse();
}

/// Goes back through the records of a dump. `Err(words)`: so many of the oldest words are no records.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    words: &'a [u64],
    pool: u32,
    overwritten: bool,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let &footer = self.words.last()?;
        let all = self.words;
        let words = (footer >> WORDS_SHIFT) as usize;
        let Some(start) = all.len().checked_sub(words).filter(|_| words >= 2) else {
            self.words = &[];
            // Of the oldest record a part was overwritten.
            return if self.overwritten && words >= 2 { None } else { Some(Err(all.len())) };
        };
        let record = all.get(start..all.len() - 1).and_then(|words| read(words, footer, self.pool));
        self.words = if record.is_some() { all.get(..start).unwrap_or(&[]) } else { &[] };
        Some(record.ok_or(all.len()))
    }
}

fn read(words: &[u64], footer: u64, pool: u32) -> Option<Record<'_>> {
    let byte = |shift: u32| (footer >> shift) as u8;
    let flags = u64::from(byte(FLAGS_SHIFT));
    let mut from = Take::new(words);
    let ticket = from.word()?;
    let call = Call::read(byte(0), flags & WIDE != 0, pool, &mut from)?;
    let answer = Outcome::read(byte(STATUS_SHIFT), byte(SHAPE_SHIFT), &mut from)?;
    let (digest, first_block) = if flags & HAS_DIGEST != 0 { from.pair()? } else { (0, 0) };
    from.is_empty().then_some(Record { ticket, call, outcome: Outcome { answer, digest, first_block } })
}
