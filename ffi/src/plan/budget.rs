//! The device budget. `kvl_budget` is plain data of the caller; regions are numbers.

use crate::answer::{KvlRefusal, fill, fill_apart, invalid, run_apart};
use crate::claim::{In, InOut, Out};
use kvledger_core::plan::{Budget, Region, Usage};
use kvledger_core::{Argument, Refusal};

/// `INVALID(Region)` for a number that names no region.
fn region(number: u32) -> Result<Region, Refusal> {
    Region::from_number(number).ok_or(invalid(Argument::Region))
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
    fill(bytes, refusal, || Ok(budget.given()?.device_bytes()))
}

/// `Budget::set_bound`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_set_bound(
    budget: InOut<'_, Budget>,
    region_number: u32,
    bytes: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    run_apart(refusal, &[budget.range()], || budget.given()?.set_bound(region(region_number)?, bytes))
}

/// `Budget::spare_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_spare_bytes(
    budget: In<'_, Budget>,
    bytes: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(bytes, refusal, || Ok(budget.given()?.spare_bytes()))
}

/// `Budget::take`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_take(
    budget: InOut<'_, Budget>,
    region_number: u32,
    bytes: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    run_apart(refusal, &[budget.range()], || budget.given()?.take(region(region_number)?, bytes))
}

/// `Budget::give_back`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_give_back(
    budget: InOut<'_, Budget>,
    region_number: u32,
    bytes: u64,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    run_apart(refusal, &[budget.range()], || budget.given()?.give_back(region(region_number)?, bytes))
}

/// `Budget::observe`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_observe(
    budget: InOut<'_, Budget>,
    region_number: u32,
    bytes: u64,
    excess: Out<'_, u64>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill_apart(excess, refusal, &[budget.range()], &[], || Ok(budget.given()?.observe(region(region_number)?, bytes)))
}

/// `Budget::usage`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_budget_usage(
    budget: In<'_, Budget>,
    region_number: u32,
    usage: Out<'_, Usage>,
    refusal: Out<'_, KvlRefusal>,
) -> u32 {
    fill(usage, refusal, || Ok(budget.given()?.usage(region(region_number)?)))
}
