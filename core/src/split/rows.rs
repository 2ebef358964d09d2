//! The row tiles of a batch, in the order in which they are planned: by sequence, then key-value head, then row.

use super::batch::SplitBatch;
use super::shape::Checked;

/// One row tile, and the keys that any of its rows sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RowTile {
    pub(super) sequence: u32,
    pub(super) head: u32,
    pub(super) first_row: u32,
    /// The first key, to the number: a kernel that began at a tile's border would touch blocks that a window let go.
    pub(super) first_key: u32,
    /// 0 like the first one if no row sees a key. The tile is there all the same: its rows are written.
    pub(super) end_key: u32,
}

impl RowTile {
    pub(super) fn keys(&self) -> u32 {
        self.end_key.saturating_sub(self.first_key)
    }
}

/// All of them. Nothing else goes through a batch: what is weighed, counted, written and validated is the same.
pub(super) fn each_row_tile(shape: &Checked, batch: &SplitBatch<'_>, mut visit: impl FnMut(RowTile)) {
    for queries in batch.sequences() {
        let rows = queries.tokens.saturating_mul(shape.group.get());
        for head in 0..shape.heads.get() {
            let mut first_row = 0;
            while first_row < rows {
                let end_row = first_row.saturating_add(shape.tile_rows.get()).min(rows);
                let (first_token, end_token) = (first_row / shape.group, end_row.div_ceil(shape.group.get()));
                let (first_key, end_key) = queries.seen(first_token, end_token, shape.split.window_left);
                visit(RowTile { sequence: queries.sequence, head, first_row, first_key, end_key });
                first_row = end_row;
            }
        }
    }
}
