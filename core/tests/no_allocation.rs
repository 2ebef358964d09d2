//! I11: no call allocates. (No call panics either: the archive's symbols prove that, see `ffi/gate.py`.)

mod common;
use common::{STREAM, pool, small};
use kvledger_core::{Admission, Group, Refusal, Step, StreamSet};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Of this thread: the test harness has its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is the system allocator's; a counter is added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Everything once, with refusals on the way.
fn everything(pool: &kvledger_core::Pool<'_>) -> Result<(), Refusal> {
    let sequence = pool.open()?;
    pool.admit(sequence, &Admission::full(6, 2))?;
    pool.advance(sequence, 6)?;
    pool.materialize(sequence, 7)?;
    pool.advance_growing(sequence, 4, 0)?;
    let (mut answers, mut changed) = ([0; 1], [0; 1]);
    pool.advance_many(&[Step { sequence, tokens: 1 }], &mut answers, &mut changed)?;
    pool.extend(sequence, 2, 0)?;
    pool.shrink(sequence, 1)?;
    let step = pool.submit(STREAM)?;
    let (mut indptr, mut indices, mut last) = ([0; 2], [0; 16], [0; 1]);
    pool.export_csr(&[sequence], &mut indptr, &mut indices, &mut last)?;
    pool.preempt(sequence)?;
    let refused = pool.admit(sequence, &Admission::full(16, 0));
    assert!(matches!(refused, Err(Refusal::RetryAfter { .. })));
    pool.complete(STREAM, step, false)?;
    let account = pool.open_account(Group(0), 2, 0)?;
    pool.set_account_total(account, 3)?;
    pool.close_account(account)?;
    pool.set_safety(2)?;
    pool.set_safety(0)?;
    pool.set_quota(Group(0), 16)?;
    pool.admit(sequence, &Admission::full(2, 0))?;
    pool.set_safety(1)?;
    pool.draw_safety(sequence, 1)?;
    pool.set_safety(0)?;
    pool.use_streams(sequence, StreamSet::ALL)?;
    let step = pool.submit(STREAM)?;
    let view = pool.launch_row(sequence, step)?;
    assert_eq!(pool.row(sequence)?, view);
    pool.export_row(sequence, &mut indices)?;
    assert!(pool.frontier() < pool.newest_epoch());
    pool.sequence_snapshot(sequence)?;
    pool.group_snapshot(Group(0))?;
    pool.abandon(STREAM)?;
    let account = pool.open_account(Group(0), 3, 0)?;
    let drawing = pool.open()?;
    pool.admit(drawing, &Admission { account, ..Admission::full(2, 1) })?;
    pool.advance(drawing, 2)?;
    pool.account_snapshot(account)?;
    pool.end(drawing)?;
    pool.close_account(account)?;
    assert_eq!(pool.reclaim(9), 0);
    pool.cancel(sequence)?;
    pool.end(sequence)?;
    assert!(pool.snapshot().holds());
    pool.validate().expect("the audit");
    Ok(())
}

#[test]
fn i11_no_call_allocates() {
    let pool = pool(&small(16, 1));
    everything(&pool).expect("a first round");
    let before = ALLOCATIONS.get();
    everything(&pool).expect("a second round");
    assert_eq!(ALLOCATIONS.get(), before, "I11: the core allocates nothing");
}
