//! Sizing a pool before anything is started: from a model's config and a device's memory to blocks, and from request
//! lengths to how many requests are admitted under each policy.
//!
//! The formulas are the core's (`kvledger_core::plan`); what is here decides what they are asked.
//!
//! 1. [`Cache`]: the bytes of a token and a block, for each kind of layer, and of a sequence's state.
//! 2. [`Weights`] and [`Regions`]: what the rest of the device is for, and what it leaves.
//! 3. [`Pools`]: the KV pool, divided among the kinds.
//! 4. [`fit()`] and [`needed()`]: how many requests, and how much memory for so many.
//! 5. [`Plan`]: all of it, as [`Question`] asks; [`render`] makes a page of it.

mod cache;
mod demand;
mod device;
mod document;
mod fit;
mod needed;
mod page;
mod plan;
mod pool;
mod problem;
mod size;
mod weights;

pub use cache::{Cache, Kind, Storage};
pub use demand::{Load, Policy, Request};
pub use device::{Regions, name as region_name, named as region_named};
pub use document::Document;
pub use fit::{Fit, Limit, fit};
pub use needed::{Needed, needed};
pub use page::{Page, render};
pub use plan::{Plan, Question};
pub use pool::{Pool, Pools, usual_safety};
pub use problem::Problem;
pub use size::{Amount, Bytes, count};
pub use weights::{Said, Weights};
