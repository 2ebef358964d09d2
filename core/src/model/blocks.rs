//! What the model knows of a block.

use crate::ids::{Epoch, Group, StreamSet};

/// A shared account of one generation.
pub(super) type Credit = Option<(usize, u64)>;

/// The state of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Block {
    Free,
    Held,
    Retiring { epoch: Epoch, streams: StreamSet, group: Group, credit: Credit },
}
