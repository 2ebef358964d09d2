//! The caller's memory, carved once into typed rows of cells. The only raw pointers of the crate are here.
//!
//! Problem: the pool lives in memory that somebody else owns, may be mapped at different addresses in several
//! processes, and must never be indexed out of bounds, whatever a caller passes, without a panic path.
//!
//! 1. [`Carve`] adds up the regions, one after another on cache lines, in constant arithmetic: that is the size.
//! 2. [`Arena`] walks the memory in the same order and turns each [`Span`] into [`Cells`]. A fresh arena writes zeroed
//!    cells first (loom's atomics cannot be cast from raw memory, so cells are constructed, never assumed).
//! 3. [`Cells::at`] is total: an index out of range is a bug that debug builds assert, and release builds clamp.

use crate::answer::{Argument, Refusal};
use crate::sync::{AtomicU32, AtomicU64};
use core::marker::PhantomData;
use core::mem::size_of;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64 as Plain;

/// Bytes in a cache line; every region starts on one.
pub(crate) const LINE_BYTES: usize = 64;

/// A cache line of the caller's memory.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Line([u64; 8]);

impl Line {
    /// A zeroed line.
    pub const ZERO: Line = Line([0; 8]);

    /// The words of a line, as they are in memory.
    pub const fn words(&self) -> &[u64; 8] {
        &self.0
    }

    /// A line as somebody else may have left it: what a test gives to `init`.
    #[cfg(any(test, feature = "model"))]
    pub const DIRTY: Line = Line([0x5a5a_a5a5_dead_beef; 8]);
}

const _: () = assert!(size_of::<Line>() == LINE_BYTES);

/// What regions are made of.
///
/// # Safety
/// The type may be shared between threads, every bit pattern of its bytes is a value (outside loom), and its alignment
/// divides [`LINE_BYTES`].
pub(crate) unsafe trait Cell: Sync + Send {
    /// A zeroed cell.
    fn zero() -> Self;
}

// SAFETY: an atomic integer is `Sync`, has no invalid bit pattern, and is aligned to 8 bytes at most.
unsafe impl Cell for AtomicU64 {
    fn zero() -> Self {
        AtomicU64::new(0)
    }
}

// SAFETY: as above.
unsafe impl Cell for AtomicU32 {
    fn zero() -> Self {
        AtomicU32::new(0)
    }
}

// SAFETY: as above, eight of them in a row; a region of these has each on a line of its own.
unsafe impl Cell for [AtomicU64; 8] {
    fn zero() -> Self {
        core::array::from_fn(|_| AtomicU64::new(0))
    }
}

/// Under loom the seam's atomics are loom's; guarded cells stay `core`'s.
#[cfg(loom)]
mod plain {
    // SAFETY: as above.
    unsafe impl super::Cell for core::sync::atomic::AtomicU32 {
        fn zero() -> Self {
            core::sync::atomic::AtomicU32::new(0)
        }
    }

    // SAFETY: as above.
    unsafe impl super::Cell for core::sync::atomic::AtomicU64 {
        fn zero() -> Self {
            core::sync::atomic::AtomicU64::new(0)
        }
    }
}

/// Where one region is: bytes from the start, and its number of cells.
pub(crate) struct Span<T> {
    offset: usize,
    len: usize,
    cell: PhantomData<T>,
}

impl<T> Clone for Span<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Span<T> {}

/// Adds regions up. Saturates: a size beyond the address space comes out as `usize::MAX`, which no memory satisfies.
#[derive(Clone, Copy)]
pub(crate) struct Carve {
    end: usize,
}

impl Carve {
    pub(crate) const fn new() -> Carve {
        Carve { end: 0 }
    }

    /// A region of `len` cells (one at least, so that [`Cells::at`] always has something to clamp to).
    pub(crate) const fn region<T>(&mut self, len: usize) -> Span<T> {
        let len = if len == 0 { 1 } else { len };
        let offset = self.end;
        let bytes = len.saturating_mul(size_of::<T>());
        let lines = bytes.div_ceil(LINE_BYTES);
        self.end = offset.saturating_add(lines.saturating_mul(LINE_BYTES));
        Span { offset, len, cell: PhantomData }
    }

    /// All regions so far, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.end
    }
}

/// The memory, while it is being carved.
pub(crate) struct Arena<'m> {
    base: NonNull<u8>,
    bytes: usize,
    /// Regions below are handed out already.
    carved: usize,
    /// Whether regions are zeroed when they are handed out.
    fresh: bool,
    memory: PhantomData<&'m [u8]>,
}

impl<'m> Arena<'m> {
    /// An arena over memory that nobody else has. Its regions come out zeroed.
    pub(crate) fn fresh(memory: &'m mut [Line]) -> Arena<'m> {
        let bytes = core::mem::size_of_val(memory);
        Arena { base: NonNull::from(memory).cast(), bytes, carved: 0, fresh: true, memory: PhantomData }
    }

    /// An arena over memory that an earlier `fresh` arena has carved in the same way. Its regions come out as they are.
    ///
    /// # Safety
    /// `base` is aligned to [`LINE_BYTES`] and valid for `bytes` bytes for `'m`; all access to it in `'m` is through
    /// cells of the same types at the same places.
    pub(crate) unsafe fn existing(base: NonNull<u8>, bytes: usize) -> Arena<'m> {
        Arena { base, bytes, carved: 0, fresh: false, memory: PhantomData }
    }

    /// The cells of a region as they are, also in a fresh arena: for the header, which another process may be looking at
    /// while it is made. Any bits are good integers.
    pub(crate) fn integers(&mut self, span: Span<Plain>) -> Result<Cells<'m, Plain>, Refusal> {
        let fresh = core::mem::replace(&mut self.fresh, false);
        let cells = self.cells(span);
        self.fresh = fresh;
        cells
    }

    /// The cells of a region. Regions are taken in the order in which they were carved; anything else is refused.
    pub(crate) fn cells<T: Cell>(&mut self, span: Span<T>) -> Result<Cells<'m, T>, Refusal> {
        let end = span.len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(span.offset));
        match end {
            Some(end) if span.offset >= self.carved && end <= self.bytes => self.carved = end,
            _ => return Err(Refusal::invalid(Argument::Memory)),
        }
        // SAFETY: offset <= end <= bytes, so the result stays inside the memory.
        let first: NonNull<T> = unsafe { self.base.add(span.offset) }.cast();
        if self.fresh {
            for index in 0..span.len {
                // SAFETY: index < len, and the region of len cells ends inside the memory.
                let place = unsafe { first.add(index) };
                // SAFETY: the place is inside the memory, which this arena has alone, aligned because regions start
                // on lines whose size T's alignment divides, and not yet seen by anybody: regions do not overlap.
                unsafe { place.write(T::zero()) };
            }
        }
        Ok(Cells { first, len: span.len, memory: PhantomData })
    }
}

/// A row of cells. Shared access only: what is in them are atomics.
pub(crate) struct Cells<'m, T> {
    first: NonNull<T>,
    /// At least 1.
    len: usize,
    memory: PhantomData<&'m [T]>,
}

impl<T> Clone for Cells<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cells<'_, T> {}

// SAFETY: a `Cells` is a `&[T]` in all but name, and `T: Sync` makes that `Send`.
unsafe impl<T: Sync> Send for Cells<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Cells<'_, T> {}

impl<'m, T> Cells<'m, T> {
    /// Number of cells.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The cell at `index`. Out of range is a bug of this crate; release builds take the last cell instead, so that
    /// even then there is no access outside the memory and no panic path (I11).
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> &'m T {
        debug_assert!(index < self.len, "cell {index} of {}", self.len);
        let index = if index < self.len { index } else { self.len - 1 };
        // SAFETY: index < len (len >= 1), and `first` points at len cells that live for 'm.
        let place = unsafe { self.first.add(index) };
        // SAFETY: the cell was constructed by the arena and is only ever accessed through shared references.
        unsafe { place.as_ref() }
    }

    /// All cells, for a walk over them without a bound to check at each.
    #[inline(always)]
    pub(crate) fn all(&self) -> &'m [T] {
        // SAFETY: `first` points at len cells that were constructed by the arena, live for 'm, and are only ever accessed
        // through shared references.
        unsafe { core::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }

    /// The cells from `from` on, `len` of them, as a row of their own (clamped to what there is).
    #[inline(always)]
    pub(crate) fn part(&self, from: usize, len: usize) -> Cells<'m, T> {
        debug_assert!(from < self.len && len >= 1 && len <= self.len - from);
        let from = if from < self.len { from } else { self.len - 1 };
        // Not `clamp`, which panics when its bounds cross: that they do not (from < len) is for the reader to see.
        let len = len.max(1).min(self.len - from);
        // SAFETY: from < len of the whole row, and the part ends inside it.
        let first = unsafe { self.first.add(from) };
        Cells { first, len, memory: PhantomData }
    }
}

/// The caller's table as cells.
pub(crate) fn table_cells<'m>(table: &'m mut [u32]) -> Option<Cells<'m, core::sync::atomic::AtomicU32>> {
    let len = table.len();
    // SAFETY: same size and alignment as u32, every bit pattern is a value, and the exclusive borrow for 'm says that
    // nobody else has access.
    NonNull::new(table.as_mut_ptr()).filter(|_| len > 0).map(|p| Cells { first: p.cast(), len, memory: PhantomData })
}

/// The same for a table that is shared with other processes or with a device.
///
/// # Safety
/// `table` is aligned and valid for `entries` entries for `'m`, and only accessed atomically.
pub(crate) unsafe fn table_cells_raw<'m>(
    table: NonNull<u32>,
    entries: usize,
) -> Option<Cells<'m, core::sync::atomic::AtomicU32>> {
    (entries > 0).then_some(Cells { first: table.cast(), len: entries, memory: PhantomData })
}
