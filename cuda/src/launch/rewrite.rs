//! Block ids of a table become others: what a compaction does after it has moved blocks.

use super::check::{self, Axis, Checked, Shape, refuse};
use super::pointers::{See, Where, see};
use super::refusal::Wrong;
use crate::raw::{kvk_rewrite_params, kvk_status};

/// A launch of `rewrite`.
///
/// In device memory: where each block is now, which [`check_moved`](Rewrite::check_moved) takes before it is copied there;
/// entries of the table. Those that are wrong are left, and reported.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite {
    /// What the kernel is given.
    pub params: kvk_rewrite_params,
}

impl Rewrite {
    /// Whether the kernel can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        check::status(p.status)?;
        check::some("blocks", p.blocks)?;
        check::needed("moved", p.moved)?;
        if p.rows == 0 || p.columns == 0 {
            return Ok(());
        }
        check::counted("rows", p.rows.into(), p.columns.into(), check::WORK_MAX)?;
        check::needed("entries", p.entries)?;
        self.entries().check_apart()
    }

    /// Whether each block is at a place of the pool, and the null block stays. Cost: O(blocks).
    pub fn check_moved(&self, moved: &[u32]) -> Checked {
        let blocks = self.params.blocks;
        check::count("moved", moved.len(), u64::from(blocks) + 1)?;
        if moved[0] != 0 {
            return refuse("moved", Wrong::Block { entry: 0, block: moved[0], blocks });
        }
        match moved.iter().skip(1).position(|block| !(1..=blocks).contains(block)) {
            Some(before) => refuse("moved", Wrong::Block { entry: before + 1, block: moved[before + 1], blocks }),
            None => Ok(()),
        }
    }

    /// Whether a table of so many bytes is long enough.
    pub(crate) fn check_room(&self, available: u64) -> Checked {
        check::counted("rows", self.params.rows.into(), self.params.columns.into(), check::WORK_MAX)?;
        self.entries().check_apart()?;
        let needed = self.entries().extent().saturating_mul(4);
        if needed > available { refuse("entries", Wrong::Short { needed, available }) } else { Ok(()) }
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        let entries = self.entries().extent().saturating_mul(4);
        let p = &mut self.params;
        see(look, "entries", Where::Either, entries, &mut p.entries)?;
        see(look, "moved", Where::Either, (u64::from(p.blocks) + 1) * 4, &mut p.moved)?;
        see(look, "status", Where::Either, size_of::<kvk_status>() as u64, &mut p.status)
    }

    fn entries(&self) -> Shape<1> {
        let p = &self.params;
        let axis = Axis::new("row_stride", p.rows.into(), p.row_stride);
        Shape { axes: [axis], row: p.columns.into(), multiple: 1 }
    }
}
