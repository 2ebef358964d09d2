//! The races of a transfer, each with the mistake that must be noticed.

use super::{Access, Transfers};
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Line};
use crate::ids::Transfer;
use crate::race::holds_and_notices;
use crate::sync::{AtomicU32, Plant, Relaxed};
use loom::sync::Arc;
use loom::thread;
use std::boxed::Box;
use std::vec;

/// One slot over three blocks.
fn table() -> Transfers<'static> {
    let layout = Transfers::layout(&mut Carve::new(), 1, 3);
    // loom's cells are larger than words.
    let mut arena = Arena::fresh(Box::leak(vec![Line::ZERO; 256].into_boxed_slice()));
    let table = Transfers::view(&mut arena, &layout, 1, 3, 0).expect("room");
    table.fill();
    table
}

/// A transfer that grips blocks 1 and 3.
fn running(table: &Transfers<'_>) -> Transfer {
    let transfer = table.open(Access::Write).expect("a slot");
    assert!(table.add(transfer.slot, 1) && table.add(transfer.slot, 3) && !table.add(transfer.slot, 1));
    table.start(transfer);
    transfer
}

/// The end of a transfer, by whoever comes: 1 if he won.
fn end(table: &Transfers<'_>, transfer: Transfer, walks: &AtomicU32) -> u32 {
    let Ok(access) = table.finish(transfer) else { return 0 };
    assert_eq!(access, Access::Write);
    assert!(table.blocks(transfer.slot).eq([(0, 0b1010)]), "the winner sees all that it grips");
    walks.fetch_add(1, Relaxed);
    table.vacate(transfer);
    1
}

/// O32: complete against revoke. One of them lets go of the blocks, and the next user of the slot finds it empty.
#[test]
fn complete_against_revoke() {
    holds_and_notices(None, &[Plant::FinishInTwoSteps], || {
        let table = table();
        let transfer = running(&table);
        let walks = Arc::new(AtomicU32::new(0));
        let theirs = walks.clone();
        let other = thread::spawn(move || end(&table, transfer, &theirs));
        let mine = end(&table, transfer, &walks);
        assert_eq!(mine + other.join().expect("no panic"), 1);
        assert_eq!(walks.load(Relaxed), 1);
        let next = table.open(Access::Read).expect("the slot is back");
        assert_eq!((next.generation, table.blocks(next.slot).count()), (transfer.generation + 1, 0));
        assert_eq!(table.finish(transfer), Err(Refusal::Stale));
    });
}

/// O32: a handle is passed on by the caller's own means, here by a word that orders nothing.
#[test]
fn start_against_finish() {
    holds_and_notices(None, &[], || {
        let table = table();
        let walks = Arc::new(AtomicU32::new(0));
        let theirs = walks.clone();
        let guess = Transfer { slot: 0, pool: 0, generation: 1 };
        let other = thread::spawn(move || end(&table, guess, &theirs));
        assert_eq!(running(&table), guess);
        let won = other.join().expect("no panic");
        assert_eq!(won + end(&table, guess, &walks), 1);
    });
}

/// O33: quarantine against the end. What is doubted has been doubted when somebody lets go of it.
#[test]
fn quarantine_against_completion() {
    holds_and_notices(None, &[Plant::FinishWhileDoubted], || {
        let table = table();
        let transfer = running(&table);
        // Stands for the words of the blocks: 1 once they are doubted.
        let doubts = Arc::new(AtomicU32::new(0));
        let theirs = doubts.clone();
        let other = thread::spawn(move || {
            let Ok(_) = table.quarantine(transfer) else { return 0 };
            assert!(table.blocks(transfer.slot).eq([(0, 0b1010)]), "nobody lets go meanwhile");
            theirs.store(1, Relaxed);
            table.doubted(transfer);
            1
        });
        let walks = AtomicU32::new(0);
        let won = end(&table, transfer, &walks);
        let seen = doubts.load(Relaxed);
        let doubted = other.join().expect("no panic");
        assert!(won == 0 || seen == doubted, "who ended it after the quarantine saw all of the quarantine");
        assert_eq!(won + end(&table, transfer, &walks), 1);
    });
}
