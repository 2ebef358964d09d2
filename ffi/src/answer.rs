//! From `Result<T, Refusal>` to a status, an output and the details of a refusal.

use crate::array::{Span, apart};
use crate::claim::{Out, Output, meet};
use kvledger_core::{Argument, Epoch, Place, Refusal, Scope};

/// The status of a call that was not refused.
pub(crate) const OK: u32 = 0;

/// A refusal with its details; fields that the answer does not have are 0.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KvlRefusal {
    /// The status.
    pub code: u32,
    /// `INVALID`: which argument.
    pub argument: u32,
    /// `WOULD_BLOCK`: which resource.
    pub scope: u32,
    /// `CORRUPT`: where.
    pub place: u32,
    /// `WOULD_BLOCK`, `OVER_PROMISE`: blocks missing.
    pub short_by: u32,
    /// `RETRY_AFTER`: blocks that will have come back.
    pub reclaimable: u32,
    /// `NEVER_FITS`: blocks at the request's peak.
    pub needed: u32,
    /// `NEVER_FITS`: the most that could ever be given.
    pub ceiling: u32,
    /// `RETRY_AFTER`: the epoch.
    pub after: u64,
}

impl From<Refusal> for KvlRefusal {
    fn from(refusal: Refusal) -> KvlRefusal {
        let bare = KvlRefusal { code: refusal.code(), ..KvlRefusal::default() };
        match refusal {
            Refusal::WouldBlock { short_by, scope } => KvlRefusal { short_by, scope: scope as u32, ..bare },
            Refusal::RetryAfter { after, reclaimable } => KvlRefusal { after: after.0, reclaimable, ..bare },
            Refusal::NeverFits { needed, ceiling } => KvlRefusal { needed, ceiling, ..bare },
            Refusal::OverPromise { short_by } => KvlRefusal { short_by, ..bare },
            Refusal::Invalid { argument } => KvlRefusal { argument: argument as u32, ..bare },
            Refusal::Corrupt { place } => KvlRefusal { place: place as u32, ..bare },
            _ => bare,
        }
    }
}

impl KvlRefusal {
    /// The refusal that these numbers stand for, once C has carried them from one call to another; `None` if they stand
    /// for none.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        let KvlRefusal { code, short_by, reclaimable, needed, ceiling, .. } = *self;
        let refusal = match code {
            1 => Refusal::WouldBlock { short_by, scope: Scope::from_number(self.scope)? },
            2 => Refusal::RetryAfter { after: Epoch(self.after), reclaimable },
            3 => Refusal::NeverFits { needed, ceiling },
            4 => Refusal::OverPromise { short_by },
            5 => Refusal::Cancelled,
            6 => Refusal::Stale,
            7 => Refusal::Invalid { argument: Argument::from_number(self.argument)? },
            8 => Refusal::Full,
            9 => Refusal::Busy,
            10 => Refusal::Corrupt { place: Place::from_number(self.place)? },
            _ => return None,
        };
        Some(refusal)
    }
}

/// A pointer that cannot be used: NULL where there must be none, misaligned, or over another output.
pub(crate) const POINTER: Refusal = invalid(Argument::Pointer);

pub(crate) const fn invalid(argument: Argument) -> Refusal {
    Refusal::Invalid { argument }
}

/// Run a call that has no output. A refusal that could not be written is answered by the status alone, before the call.
#[inline(always)]
pub(crate) fn run(refusal: Out<'_, KvlRefusal>, call: impl FnOnce() -> Result<(), Refusal>) -> u32 {
    if refusal.is_askew() {
        return POINTER.code();
    }
    match call() {
        Ok(()) => OK,
        Err(why) => refuse(refusal, why),
    }
}

/// The same of a call that writes some of its arguments, or reads them when it has been refused already: none of them may
/// lie over `refusal`, which then is not written either.
#[inline(always)]
pub(crate) fn run_apart(
    refusal: Out<'_, KvlRefusal>,
    arguments: &[Span],
    call: impl FnOnce() -> Result<(), Refusal>,
) -> u32 {
    if apart(&[refusal.range()], arguments).is_err() { POINTER.code() } else { run(refusal, call) }
}

/// Run a call and write its output. An output that cannot be written is refused before the call, whose effect would be
/// lost otherwise; and so is one that lies over `refusal`, which then is not written either.
#[inline(always)]
pub(crate) fn fill<O: Output>(
    output: O,
    mut refusal: Out<'_, KvlRefusal>,
    call: impl FnOnce() -> Result<O::Value, Refusal>,
) -> u32 {
    match ready(&output, &mut refusal) {
        Ok(()) => finish(output, refusal, call()),
        Err(status) => status,
    }
}

/// Whether a call can answer; the status, if it cannot.
#[inline(always)]
pub(crate) fn ready<O: Output>(output: &O, refusal: &mut Out<'_, KvlRefusal>) -> Result<(), u32> {
    if refusal.is_askew() || meet(output.range(), refusal.range()) {
        return Err(POINTER.code());
    }
    output.given().map_err(|why| refuse(refusal.again(), why))
}

/// What a call has answered, for C.
#[inline(always)]
pub(crate) fn finish<O: Output>(output: O, refusal: Out<'_, KvlRefusal>, answer: Result<O::Value, Refusal>) -> u32 {
    match answer {
        Ok(value) => {
            output.write(value);
            OK
        }
        Err(why) => refuse(refusal, why),
    }
}

/// The same of a call that writes arrays, or arguments, beside its output: none of them, the output included, may share a
/// byte with another one, with `refusal`, or with what is `read`, before there is a reference to any. `refusal` over another
/// one is answered by the status alone.
#[inline(always)]
pub(crate) fn fill_apart<O: Output>(
    output: O,
    refusal: Out<'_, KvlRefusal>,
    written: &[Span],
    read: &[Span],
    call: impl FnOnce() -> Result<O::Value, Refusal>,
) -> u32 {
    let (answer, details) = (output.range(), refusal.range());
    if apart(&[details], written).and_then(|()| apart(&[details], read)).is_err() {
        return POINTER.code();
    }
    fill(output, refusal, || {
        apart(written, read)?;
        apart(&[answer], written)?;
        apart(&[answer], read)?;
        call()
    })
}

#[cold]
pub(crate) fn refuse(refusal: Out<'_, KvlRefusal>, why: Refusal) -> u32 {
    refusal.write(why.into());
    why.code()
}
