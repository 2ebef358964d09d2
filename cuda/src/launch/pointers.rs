//! The pointers of a launch: what each may point to and how far it reaches, so that a device can look them up.

use super::check::{cache_shape, element_bytes, scale_shape, table_shape};
use super::refusal::Refusal;
use crate::raw::{kvk_cache, kvk_table};

/// Where what a pointer points to may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// The device's own memory only: it is read or written again and again.
    Device,
    /// Pinned memory as well: it is small, or passed over once.
    Either,
}

/// One pointer of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The field, as the C header names it.
    pub field: &'static str,
    /// What must be there, from the pointer on.
    pub bytes: u64,
    /// Where it may be.
    pub place: Where,
}

/// What looks addresses up: it answers with the address that the kernel is to have.
pub type See<'a> = dyn FnMut(Use, u64) -> Result<u64, Refusal> + 'a;

/// Pointers to one thing or another.
pub trait Pointer: Copy {
    fn address(self) -> u64;
    fn at(address: u64) -> Self;
}

impl<T> Pointer for *const T {
    fn address(self) -> u64 {
        self as usize as u64
    }

    fn at(address: u64) -> Self {
        address as usize as *const T
    }
}

impl<T> Pointer for *mut T {
    fn address(self) -> u64 {
        self as usize as u64
    }

    fn at(address: u64) -> Self {
        address as usize as *mut T
    }
}

/// Looks up one pointer. NULL stays NULL: what may not be has been refused.
pub fn see<P: Pointer>(
    see: &mut See<'_>,
    field: &'static str,
    place: Where,
    bytes: u64,
    pointer: &mut P,
) -> Result<(), Refusal> {
    if pointer.address() != 0 {
        *pointer = P::at(see(Use { field, bytes, place }, pointer.address())?);
    }
    Ok(())
}

/// Those of a cache.
pub fn see_cache(look: &mut See<'_>, cache: &mut kvk_cache) -> Result<(), Refusal> {
    let bytes = cache_shape(cache).extent().saturating_mul(element_bytes(cache.type_));
    let scale_bytes = scale_shape(cache).extent().saturating_mul(4);
    see(look, "cache.keys", Where::Device, bytes, &mut cache.keys)?;
    see(look, "cache.values", Where::Device, bytes, &mut cache.values)?;
    see(look, "cache.key_scales", Where::Device, scale_bytes, &mut cache.key_scales)?;
    see(look, "cache.value_scales", Where::Device, scale_bytes, &mut cache.value_scales)
}

/// Those of a table that `sequences` read.
pub fn see_table(look: &mut See<'_>, table: &mut kvk_table, table_rows: u32, sequences: u32) -> Result<(), Refusal> {
    let bytes = table_shape(table, table_rows).extent().saturating_mul(4);
    see(look, "table.entries", Where::Either, bytes, &mut table.entries)?;
    see(look, "table.rows", Where::Either, u64::from(sequences) * 4, &mut table.rows)
}
