//! The table against an obvious one.

use super::{Access, State, Transfers};
use crate::answer::Refusal;
use crate::arena::{Arena, Carve, Line};
use crate::bits::{Places, bit_at};
use crate::ids::Transfer;
use std::boxed::Box;
use std::collections::BTreeSet;
use std::vec;
use std::vec::Vec;

const POOL: u32 = 7;

fn table(count: u32, blocks: u32) -> Transfers<'static> {
    let mut carve = Carve::new();
    let layout = Transfers::layout(&mut carve, count, blocks);
    let memory = Box::leak(vec![Line::DIRTY; carve.bytes() / size_of::<Line>()].into_boxed_slice());
    let table = Transfers::view(&mut Arena::fresh(memory), &layout, count, blocks, POOL).expect("room for it");
    table.fill();
    table
}

fn ids(table: &Transfers<'_>, slot: u32) -> Vec<u32> {
    table.blocks(slot).flat_map(|(word, bits)| Places(bits).map(move |place| bit_at(word, place))).collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }
}

/// What a transfer is, for everybody to see.
struct Plain {
    transfer: Transfer,
    access: Access,
    state: State,
    ids: BTreeSet<u32>,
}

/// Transfers opened, filled, quarantined and ended at random, through good handles and through all that were ever good.
#[test]
fn the_table_is_a_list_of_sets() {
    for (count, blocks) in [(1, 1), (3, 63), (3, 64), (8, 4_095), (8, 4_096), (2, 300_000)] {
        let (table, mut random) = (table(count, blocks), Random(u64::from(blocks)));
        let (mut plain, mut ever): (Vec<Plain>, Vec<Transfer>) = (Vec::new(), Vec::new());
        for _ in 0..3_000 {
            if random.below(3) == 0 {
                let access = if random.below(2) == 0 { Access::Read } else { Access::Write };
                let opened = table.open(access);
                assert_eq!(opened.is_ok(), plain.len() < count as usize);
                let Ok(transfer) = opened else { continue };
                let mut named = BTreeSet::new();
                for _ in 0..random.below(40) {
                    let id = random.below(blocks + 2);
                    assert_eq!(table.add(transfer.slot, id), (1..=blocks).contains(&id) && named.insert(id));
                }
                if random.below(8) == 0 {
                    // Its opener was refused something else.
                    table.vacate(transfer);
                } else {
                    table.start(transfer);
                    plain.push(Plain { transfer, access, state: State::Running, ids: named });
                }
                ever.push(transfer);
                continue;
            }
            // One of the last, which may be running still, or any.
            let newest = ever.len().saturating_sub(if random.below(4) == 0 { usize::MAX } else { 9 });
            let which = newest + random.below((ever.len() - newest).max(1) as u32) as usize;
            let Some(&transfer) = ever.get(which) else { continue };
            let found = plain.iter().position(|plain| plain.transfer == transfer);
            if random.below(4) == 0 {
                let expected = match found.map(|found| &mut plain[found]) {
                    Some(plain) if plain.state == State::Running => {
                        plain.state = State::Quarantined;
                        Ok(plain.access)
                    }
                    _ => Err(Refusal::Stale),
                };
                assert_eq!(table.quarantine(transfer), expected);
                if expected.is_ok() {
                    assert_eq!(table.finish(transfer), Err(Refusal::Busy));
                    assert_eq!(table.quarantine(transfer), Err(Refusal::Busy));
                    table.doubted(transfer);
                }
            } else if let Some(found) = found {
                let Plain { access, ids: named, .. } = plain.remove(found);
                assert_eq!(table.finish(transfer), Ok(access));
                assert_eq!(table.finish(transfer), Err(Refusal::Stale), "repeated");
                assert!(ids(&table, transfer.slot).into_iter().eq(named));
                table.vacate(transfer);
            } else {
                assert_eq!(table.finish(transfer), Err(Refusal::Stale), "late");
            }
            for Plain { transfer, access, state, ids: named } in &plain {
                assert_eq!(table.look(transfer.slot), Some((*state, *access)));
                assert!(named.iter().all(|&id| table.grips(transfer.slot, id)));
                assert!(ids(&table, transfer.slot).into_iter().eq(named.iter().copied()));
            }
        }
    }
}

#[test]
fn i12_handles_that_are_no_transfers_are_stale() {
    let table = table(2, 100);
    let transfer = table.open(Access::Read).expect("a slot");
    assert_eq!(table.finish(transfer), Err(Refusal::Stale), "not started");
    assert_eq!(table.quarantine(transfer), Err(Refusal::Stale), "not started");
    table.start(transfer);
    let foreign = [
        Transfer::default(),
        Transfer { pool: POOL + 1, ..transfer },
        Transfer { slot: 1, ..transfer },
        Transfer { slot: 2, ..transfer },
        Transfer { slot: u32::MAX, ..transfer },
        Transfer { generation: 0, ..transfer },
        Transfer { generation: u64::MAX, ..transfer },
    ];
    for handle in foreign {
        assert_eq!(table.finish(handle), Err(Refusal::Stale), "{handle:?}");
        assert_eq!(table.quarantine(handle), Err(Refusal::Stale), "{handle:?}");
    }
    assert_eq!(table.finish(transfer), Ok(Access::Read));
}

#[test]
fn no_transfers_are_a_full_table() {
    let table = table(0, 1_000_000);
    assert_eq!(table.open(Access::Read), Err(Refusal::Full));
    assert_eq!(table.finish(Transfer { slot: 0, pool: POOL, generation: 1 }), Err(Refusal::Stale));
    assert_eq!(table.look(0), None);
}
