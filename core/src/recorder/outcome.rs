//! What a call answered, in one shape for all calls, and how it is written down.

use super::words::{Put, Take};
use crate::answer::{Argument, Place, Refusal, Scope};
use crate::calls::{Admitted, Advanced, Batch, Forked, Published, Released};
use crate::ids::{Account, Epoch, Sequence, Transfer};
use crate::pool::RowView;

/// What a call that was not refused returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// Nothing but that it is done.
    Done,
    /// A handle: `open`.
    Sequence(Sequence),
    /// `admit`.
    Admitted(Admitted),
    /// `advance`, `advance_growing`, `materialize`.
    Advanced(Advanced),
    /// `advance_many`.
    Batch(Batch),
    /// `end`, `preempt`, `unpin`, `release`, `accept`.
    Released(Released),
    /// `open_account`.
    Account(Account),
    /// `submit`: the epoch; `complete`, `abandon`: the frontier.
    Epoch(Epoch),
    /// A number of blocks: `shrink`, `reclaim`, `withdraw`, `evict`, the end of a transfer.
    Blocks(u32),
    /// `launch_row`.
    Row(RowView),
    /// `publish`.
    Published(Published),
    /// `fork`.
    Forked(Forked),
    /// `hold`, `hold_blocks`.
    Transfer(Transfer),
    /// None: the call was unwound by a panic, which a release build does not have.
    Unfinished,
}

macro_rules! answers {
    ($($variant:ident: $type:ty),*) => {$(
        impl From<$type> for Answer {
            #[inline(always)]
            fn from(value: $type) -> Answer {
                Answer::$variant(value)
            }
        }
    )*};
}

answers!(
    Sequence: Sequence, Admitted: Admitted, Advanced: Advanced, Batch: Batch, Released: Released, Account: Account,
    Epoch: Epoch, Blocks: u32, Row: RowView, Published: Published, Forked: Forked, Transfer: Transfer
);

impl From<()> for Answer {
    #[inline(always)]
    fn from((): ()) -> Answer {
        Answer::Done
    }
}

/// What a call came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The answer.
    pub answer: Result<Answer, Refusal>,
    /// The block ids that it took, and the rows of a batch that were refused, as a digest; 0 if there are none. Equal
    /// digests mean the same ids in the same order, but for one case in 2^32.
    pub digest: u32,
    /// The first block that it took; 0 if it took none.
    pub first_block: u32,
}

impl Answer {
    /// The shape of the answer in a record. Never reused.
    const fn number(&self) -> u8 {
        match self {
            Answer::Done => 0,
            Answer::Sequence(_) => 1,
            Answer::Admitted(_) => 2,
            Answer::Advanced(_) => 3,
            Answer::Batch(_) => 4,
            Answer::Released(_) => 5,
            Answer::Account(_) => 6,
            Answer::Epoch(_) => 7,
            Answer::Blocks(_) => 8,
            Answer::Row(_) => 9,
            Answer::Unfinished => 10,
            Answer::Published(_) => 11,
            Answer::Forked(_) => 12,
            Answer::Transfer(_) => 13,
        }
    }

    fn put(&self, to: &mut impl Put) {
        match *self {
            Answer::Done | Answer::Unfinished => {}
            Answer::Sequence(sequence) => to.sequence(sequence),
            Answer::Blocks(count) => to.word(u64::from(count)),
            Answer::Admitted(Admitted { promised, hits, cached_tokens, after }) => {
                to.pair(promised, hits);
                to.word(u64::from(cached_tokens));
                to.word(after.0);
            }
            // Blocks are below 2^31, and an advance makes one copy at most.
            Answer::Advanced(Advanced { taken, entries, copies }) => to.pair(taken, entries | copies << 31),
            Answer::Batch(Batch { advanced, refused, changed, taken, copies, retry_after }) => {
                to.pair(advanced, refused);
                to.pair(changed, taken);
                to.pair(copies, 0);
                to.word(retry_after.0);
            }
            Answer::Published(Published { stored, known }) => to.pair(stored, known),
            Answer::Forked(Forked { shared, promised, after }) => {
                to.pair(shared, promised);
                to.word(after.0);
            }
            Answer::Transfer(transfer) => {
                to.pair(transfer.slot, transfer.pool);
                to.word(transfer.generation);
            }
            Answer::Released(Released { promised, free, retiring, after }) => {
                to.pair(promised, free);
                to.word(u64::from(retiring));
                to.word(after.0);
            }
            Answer::Account(account) => to.account(account),
            Answer::Epoch(epoch) => to.word(epoch.0),
            Answer::Row(RowView { row, entries, tokens, version }) => {
                to.pair(row, entries);
                to.word(u64::from(tokens));
                to.word(version);
            }
        }
    }

    fn read(number: u8, from: &mut Take<'_>) -> Option<Answer> {
        Some(match number {
            0 => Answer::Done,
            1 => Answer::Sequence(from.sequence()?),
            2 => {
                let ((promised, hits), (cached_tokens, _)) = (from.pair()?, from.pair()?);
                Answer::Admitted(Admitted { promised, hits, cached_tokens, after: Epoch(from.word()?) })
            }
            3 => {
                let (taken, entries) = from.pair()?;
                Answer::Advanced(Advanced { taken, entries: entries & !(1 << 31), copies: entries >> 31 })
            }
            4 => {
                let ((advanced, refused), (changed, taken), (copies, _)) = (from.pair()?, from.pair()?, from.pair()?);
                Answer::Batch(Batch { advanced, refused, changed, taken, copies, retry_after: Epoch(from.word()?) })
            }
            5 => {
                let ((promised, free), (retiring, _)) = (from.pair()?, from.pair()?);
                Answer::Released(Released { promised, free, retiring, after: Epoch(from.word()?) })
            }
            6 => Answer::Account(from.account()?),
            7 => Answer::Epoch(Epoch(from.word()?)),
            8 => Answer::Blocks(from.pair()?.0),
            9 => {
                let ((row, entries), (tokens, _)) = (from.pair()?, from.pair()?);
                Answer::Row(RowView { row, entries, tokens, version: from.word()? })
            }
            10 => Answer::Unfinished,
            11 => {
                let (stored, known) = from.pair()?;
                Answer::Published(Published { stored, known })
            }
            12 => {
                let (shared, promised) = from.pair()?;
                Answer::Forked(Forked { shared, promised, after: Epoch(from.word()?) })
            }
            13 => {
                let (slot, pool) = from.pair()?;
                Answer::Transfer(Transfer { slot, pool, generation: from.word()? })
            }
            _ => return None,
        })
    }
}

impl Outcome {
    /// Status (the number of the refusal, 0 is OK) and shape of the answer.
    pub(super) const fn numbers(answer: &Result<Answer, Refusal>) -> (u8, u8) {
        match answer {
            Ok(answer) => (0, answer.number()),
            Err(refusal) => (refusal.code() as u8, 0),
        }
    }

    pub(super) fn put(answer: &Result<Answer, Refusal>, to: &mut impl Put) {
        match answer {
            Ok(answer) => answer.put(to),
            Err(refusal) => put_refusal(refusal, to),
        }
    }

    pub(super) fn read(status: u8, shape: u8, from: &mut Take<'_>) -> Option<Result<Answer, Refusal>> {
        if status == 0 { Answer::read(shape, from).map(Ok) } else { read_refusal(status, from).map(Err) }
    }
}

fn put_refusal(refusal: &Refusal, to: &mut impl Put) {
    match *refusal {
        Refusal::WouldBlock { short_by, scope } => to.pair(short_by, scope as u32),
        Refusal::RetryAfter { after, reclaimable } => {
            to.word(after.0);
            to.word(u64::from(reclaimable));
        }
        Refusal::NeverFits { needed, ceiling } => to.pair(needed, ceiling),
        Refusal::OverPromise { short_by } => to.word(u64::from(short_by)),
        Refusal::Invalid { argument } => to.word(argument as u64),
        Refusal::Corrupt { place } => to.word(place as u64),
        Refusal::Cancelled | Refusal::Stale | Refusal::Full | Refusal::Busy => {}
    }
}

fn read_refusal(status: u8, from: &mut Take<'_>) -> Option<Refusal> {
    Some(match status {
        1 => {
            let (short_by, scope) = from.pair()?;
            Refusal::WouldBlock { short_by, scope: Scope::from_number(scope)? }
        }
        2 => Refusal::RetryAfter { after: Epoch(from.word()?), reclaimable: from.pair()?.0 },
        3 => {
            let (needed, ceiling) = from.pair()?;
            Refusal::NeverFits { needed, ceiling }
        }
        4 => Refusal::OverPromise { short_by: from.pair()?.0 },
        5 => Refusal::Cancelled,
        6 => Refusal::Stale,
        7 => Refusal::Invalid { argument: Argument::from_number(from.pair()?.0)? },
        8 => Refusal::Full,
        9 => Refusal::Busy,
        10 => Refusal::Corrupt { place: Place::from_number(from.pair()?.0)? },
        _ => return None,
    })
}
