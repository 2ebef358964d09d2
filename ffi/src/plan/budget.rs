//! The device budget. `kvl_budget` is plain data of the caller; regions are numbers.

use crate::answer::{In, KvlRefusal, Out, fill, given, invalid, run};
use kvledger_core::plan::{Budget, Region, Usage};
use kvledger_core::{Argument, Refusal};

/// `INVALID(Budget)` for a number that names no region.
fn region(number: u32) -> Result<Region, Refusal> {
    Region::from_number(number).ok_or(invalid(Argument::Budget))
}

/// `Budget::new`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_new(device_bytes: u64, budget: Out<'_, Budget>, refusal: Out<'_, KvlRefusal>) -> u32 {
    fill(budget, refusal, || Ok(Budget::new(device_bytes)))
}

/// `Budget::device_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_device_bytes(
    budget: In<'_, Budget>,
    bytes: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || Ok(given(budget)?.device_bytes()))
}

/// `Budget::set_bound`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_set_bound(
    budget: Option<&mut Budget>,
    region_number: u32,
    bytes: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    run(refusal, || given(budget)?.set_bound(region(region_number)?, bytes))
}

/// `Budget::spare_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_spare_bytes(
    budget: In<'_, Budget>,
    bytes: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || Ok(given(budget)?.spare_bytes()))
}

/// `Budget::take`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_take(
    budget: Option<&mut Budget>,
    region_number: u32,
    bytes: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    run(refusal, || given(budget)?.take(region(region_number)?, bytes))
}

/// `Budget::give_back`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_give_back(
    budget: Option<&mut Budget>,
    region_number: u32,
    bytes: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    run(refusal, || given(budget)?.give_back(region(region_number)?, bytes))
}

/// `Budget::observe`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_observe(
    budget: Option<&mut Budget>,
    region_number: u32,
    bytes: u64,
    excess: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(excess, refusal, || Ok(given(budget)?.observe(region(region_number)?, bytes)))
}

/// `Budget::usage`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_usage(
    budget: In<'_, Budget>,
    region_number: u32,
    usage: Out<'_, Usage>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(usage, refusal, || Ok(given(budget)?.usage(region(region_number)?)))
}
