//! Keys and values out of their blocks, into contiguous memory.

use super::check::{self, Checked, refuse};
use super::pointers::{See, Where, see, see_cache, see_table};
use super::refusal::Wrong;
use crate::raw::{kvk_gather_params, kvk_status};

/// A launch of `gather`.
///
/// In device memory: `first_keys` and `starts`, which [`check_ranges`](Gather::check_ranges) takes before they are copied
/// there; rows and entries of the table. Entries that are wrong are reported and read as 0; rows must be in the table.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    /// What the kernel is given.
    pub params: kvk_gather_params,
    /// Rows of the table that are in memory.
    pub table_rows: u32,
    /// The end of the keys that are wanted, of the sequence where it is highest.
    pub longest: u32,
}

impl Gather {
    /// Whether the kernel can be given these.
    pub fn check(&self) -> Checked {
        let p = &self.params;
        check::cache(&p.cache)?;
        check::wide_type("type", p.type_)?;
        check::status(p.status)?;
        if self.is_empty() {
            return Ok(());
        }
        check::counted("total", p.total.into(), u64::from(p.cache.heads) * 2, check::WORK_MAX)?;
        check::table(&p.table, self.table_rows, self.longest, p.cache.block_tokens)?;
        check::needed("first_keys", p.first_keys)?;
        check::needed("starts", p.starts)?;
        check::rows("keys", p.keys)?;
        check::rows("values", p.values)?;
        let row = u64::from(p.total) * u64::from(p.cache.heads) * u64::from(p.cache.head_dim);
        let whole = check::Shape { axes: [], row, multiple: 1 };
        whole.check_pair(("keys", p.keys), ("values", p.values), 2)
    }

    /// Whether nothing is looked at.
    fn is_empty(&self) -> bool {
        self.params.sequences == 0 || self.params.total == 0
    }

    /// Whether these are ranges of the output and of sequences that are long enough. Cost: O(sequences).
    pub fn check_ranges(&self, first_keys: &[u32], starts: &[u32]) -> Checked {
        let p = &self.params;
        check::count("first_keys", first_keys.len(), p.sequences.into())?;
        check::starts("starts", starts, p.sequences, p.total)?;
        for (entry, (first, ends)) in first_keys.iter().zip(starts.windows(2)).enumerate() {
            let value = u64::from(*first) + u64::from(ends[1] - ends[0]);
            if value > u64::from(self.longest) {
                return refuse("first_keys", Wrong::Entry { entry, value, most: self.longest.into() });
            }
        }
        Ok(())
    }

    pub(super) fn see(&mut self, look: &mut See<'_>) -> Checked {
        if self.is_empty() {
            return Ok(());
        }
        let p = &mut self.params;
        let bytes = u64::from(p.total) * u64::from(p.cache.heads) * u64::from(p.cache.head_dim) * 2;
        see_cache(look, &mut p.cache)?;
        see_table(look, &mut p.table, self.table_rows, p.sequences)?;
        see(look, "first_keys", Where::Either, u64::from(p.sequences) * 4, &mut p.first_keys)?;
        see(look, "starts", Where::Either, (u64::from(p.sequences) + 1) * 4, &mut p.starts)?;
        see(look, "keys", Where::Device, bytes, &mut p.keys)?;
        see(look, "values", Where::Device, bytes, &mut p.values)?;
        see(look, "status", Where::Either, size_of::<kvk_status>() as u64, &mut p.status)
    }
}
