//! Work over whole blocks: copies, swaps, fills, sums and compaction, with the lists that it needs.
//!
//! The problem: kernels take lists of blocks that are in memory of the device, that nobody changes before they are done,
//! and that are right. A [`Mover`] checks a list, sends it, and enqueues the launches, so that these calls are safe.

mod compact;
mod copy;
mod fill;
mod swap;

pub use compact::{Compaction, Table};
pub use swap::DMA_BYTES_MIN;

use crate::device::Device;
use crate::error::{Error, Reason};
use crate::launch::{Refusal, Wrong};
use crate::pool::BlockPool;
use crate::raw::kvk_copy_pair;
use crate::ring::Ring;
use std::sync::Arc;

/// Lists that may be on their way while another one is written.
const SLOTS: usize = 3;

/// Enqueues work over whole blocks. One for each thread that does so.
///
/// When a call fails, some of its launches may have been enqueued: what they write is in an unknown state.
#[derive(Debug)]
pub struct Mover {
    lists: Ring,
}

impl Mover {
    /// For lists of up to so many pairs, or four times as many blocks. Errors: `Memory`, `Lost`.
    pub fn new(device: &Arc<dyn Device>, pairs_max: usize) -> Result<Mover, Error> {
        Ok(Mover { lists: Ring::new(device, SLOTS, pairs_max.saturating_mul(size_of::<kvk_copy_pair>()))? })
    }

    /// Whether a list fits.
    fn check_room<T>(&self, operation: &'static str, field: &'static str, list: &[T]) -> Result<(), Error> {
        let (value, most) = (list.len() as u64, (self.lists.bytes() / size_of::<T>()) as u64);
        if value > most {
            Err(refused(operation, Refusal::new(field, Wrong::Room { room: most, needed: value })))
        } else {
            Ok(())
        }
    }
}

fn refused(operation: &'static str, refusal: Refusal) -> Error {
    Error::new(operation, Reason::Refused(refusal))
}

/// Whether both are the same memory.
fn is_same(from: &BlockPool, to: &BlockPool) -> bool {
    from.memory().address() == to.memory().address()
}
