//! From a model's shape and a device's bytes to what can be promised. Each figure that it prints is asserted.
//!
//! `cargo run -p kvledger-core --example sizing`

use kvledger_core::Refusal;
use kvledger_core::plan::{Binomial, Budget, Element, Geometry, Region, contiguous, paged};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn main() -> Result<(), Refusal> {
    // A decoder of 32 layers with 8 KV heads of 128 bf16 elements, in blocks of 16 tokens.
    let geometry = Geometry::new(32, 8, 128, 16, Element::Bf16);
    let (token, block) = (geometry.token_bytes()?, geometry.block_bytes()?);
    println!("a token is {token} bytes, a block {} MiB", block / MIB);
    assert_eq!((token, block), (131_072, 2 * MIB));

    // Everything else on the device gets its bound first; the pool gets what is left.
    let mut budget = Budget::new(24 * GIB);
    budget.set_bound(Region::Weights, 16 * GIB)?;
    budget.set_bound(Region::Workspace, 2 * GIB)?;
    budget.set_bound(Region::GraphCapture, GIB)?;
    budget.set_bound(Region::Communication, 512 * MIB)?;
    budget.set_bound(Region::Restoration, 256 * MIB)?;
    budget.set_bound(Region::Outside, GIB)?;
    let blocks = geometry.pool_blocks(budget.spare_bytes())? - 1; // one is the null block
    budget.set_bound(Region::KvPool, geometry.pool_bytes(blocks)?)?;
    println!("the pool has {blocks} blocks, {} MiB are left over", budget.spare_bytes() / MIB);
    assert_eq!((blocks, budget.spare_bytes()), (1_663, 0));

    // 2,048 tokens of prompt, at most 257 of output: what one request may come to hold, and how many are promised that.
    let request = geometry.request_blocks(2_048, 257)?;
    let alone = paged::group_requests(u64::from(blocks), 0, 2_305, 16)?;
    let sharing = paged::group_requests(u64::from(blocks), 2_048, 2_305, 16)?;
    println!("a request needs {request} blocks: {alone} fit, or {sharing} that share their prompt");
    assert_eq!((request, alone, sharing), (145, 11, 90));

    // The same requests in contiguous regions of 8,192 tokens.
    let regions = contiguous::extra_reservations(u64::from(blocks) * 16, 8_192, 0)?;
    let waste = contiguous::waste_fraction(&[2_305; 3], 8_192)?;
    println!("contiguous: {regions} fit, {}/{} of their slots idle", waste.numerator, waste.denominator);
    assert_eq!((regions, waste.numerator), (3, 3 * (8_192 - 2_305)));

    // Promising each a length that it exceeds one time in twenty is no bound for twenty of them.
    if let Some(forecast) = Binomial::new(20, 0.05) {
        let exceeded = forecast.tail(1);
        println!("P(at least one of 20 exceeds its 95th percentile) = {exceeded:.4}, if they are independent");
        assert_eq!((exceeded * 10_000.0).round(), 6_415.0);
    }
    Ok(())
}
