//! The device's memory by region, in the core's [`Budget`]: what is left for the KV pool, or which region is too large.

use super::problem::Problem;
use super::size::{Amount, Bytes, WHOLE};
use kvledger_core::plan::{Budget, REGIONS, Region};

/// What a region is called on the command line.
pub const fn name(region: Region) -> &'static str {
    match region {
        Region::Weights => "weights",
        Region::KvPool => "kv-pool",
        Region::Workspace => "workspace",
        Region::GraphCapture => "graph-capture",
        Region::Communication => "communication",
        Region::Restoration => "restoration",
        Region::Outside => "outside",
    }
}

/// The region of a name.
pub fn named(text: &str) -> Option<Region> {
    Region::ALL.into_iter().find(|&region| name(region) == text)
}

/// How much each region may take, as it was given; the weights always, the others perhaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Regions {
    amounts: [Option<Amount>; REGIONS],
}

impl Regions {
    /// Sets a region.
    pub const fn set(&mut self, region: Region, amount: Amount) {
        self.amounts[region as usize] = Some(amount);
    }

    /// What was given for a region.
    pub const fn get(&self, region: Region) -> Option<Amount> {
        self.amounts[region as usize]
    }

    /// The budget of a device. The pool has what was given for it, else what the others leave.
    pub fn budget(&self, device_bytes: u64) -> Result<Budget, Problem> {
        let mut budget = Budget::new(device_bytes);
        for region in Region::ALL {
            let bytes = self.get(region).map_or(0, |amount| amount.of(device_bytes));
            if budget.set_bound(region, bytes).is_err() {
                return Err(self.does_not_fit(device_bytes));
            }
        }
        if self.get(Region::KvPool).is_none() {
            let spare = budget.spare_bytes();
            // What is spare fits by definition.
            budget.set_bound(Region::KvPool, spare).map_err(Problem::refused)?;
        }
        Ok(budget)
    }

    /// Names the regions, and the one to make smaller.
    fn does_not_fit(&self, device_bytes: u64) -> Problem {
        let given = || Region::ALL.into_iter().filter_map(|region| Some((region, self.get(region)?.of(device_bytes))));
        let sum: u128 = given().map(|(_, bytes)| u128::from(bytes)).sum();
        let short = u64::try_from(sum - u128::from(device_bytes)).unwrap_or(u64::MAX);
        let list: Vec<String> = given()
            .filter(|&(_, bytes)| bytes > 0)
            .map(|(region, bytes)| format!("{} {}", name(region), Bytes(bytes)))
            .collect();
        let (largest, bytes) = given().max_by_key(|&(_, bytes)| bytes).unwrap_or((Region::Weights, 0));
        let shrink = if largest == Region::Weights {
            "--tensor-parallel, a narrower --weights-type, or a larger --gpu-memory".to_string()
        } else {
            let most = bytes.saturating_sub(short);
            format!("at most --region {}={most}, or a larger --gpu-memory", name(largest))
        };
        Problem::DoesNotFit(format!(
            "the regions are {} more than --gpu-memory {} ({}); shrink {}: give {shrink}",
            Bytes(short),
            Bytes(device_bytes),
            list.join(", "),
            name(largest)
        ))
    }

    /// The smallest device on which a pool of so many bytes fits beside the other regions.
    pub fn device_for(&self, pool_bytes: u64) -> Result<u64, Problem> {
        let (mut bytes, mut parts) = (u128::from(pool_bytes), 0u128);
        for region in Region::ALL.into_iter().filter(|&region| region != Region::KvPool) {
            match self.get(region) {
                None => {}
                Some(Amount::Bytes(more)) => bytes += u128::from(more),
                Some(Amount::Share(more)) => parts += u128::from(more),
            }
        }
        let left = u128::from(WHOLE).checked_sub(parts).filter(|&left| left > 0);
        let left =
            left.ok_or_else(|| Problem::usage("--region: the shares leave nothing of the device; give smaller ones"))?;
        let device = (bytes * u128::from(WHOLE)).div_ceil(left);
        u64::try_from(device).map_err(|_| Problem::overflow("the bytes of the device"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(amounts: &[(Region, Amount)]) -> Regions {
        let mut regions = Regions::default();
        for &(region, amount) in amounts {
            regions.set(region, amount);
        }
        regions
    }

    #[test]
    fn the_pool_has_what_is_left() {
        let given = regions(&[(Region::Weights, Amount::Bytes(600)), (Region::Outside, Amount::Share(WHOLE / 10))]);
        let budget = given.budget(1_000).expect("it fits");
        assert_eq!((budget.usage(Region::KvPool).bound, budget.spare_bytes()), (300, 0));
        assert_eq!(given.device_for(300), Ok(1_000));
        assert_eq!(given.device_for(301), Ok(1_002), "a tenth of it is not ours");
    }

    #[test]
    fn the_largest_region_is_to_shrink() {
        let given = regions(&[(Region::Weights, Amount::Bytes(300)), (Region::Workspace, Amount::Bytes(800))]);
        let message = given.budget(1_000).expect_err("too much").to_string();
        assert!(message.contains("shrink workspace: give at most --region workspace=700"), "{message}");
        let given = regions(&[(Region::Weights, Amount::Bytes(u64::MAX)), (Region::Outside, Amount::Bytes(u64::MAX))]);
        assert!(given.budget(5).expect_err("too much").to_string().contains("shrink outside"));
    }

    #[test]
    fn shares_that_take_everything_leave_no_device() {
        let given = regions(&[(Region::Workspace, Amount::Share(WHOLE))]);
        assert!(given.device_for(1).is_err());
        assert!(regions(&[(Region::Weights, Amount::Bytes(u64::MAX))]).device_for(1).is_err(), "64 bits");
    }

    #[test]
    fn names_name_regions() {
        assert!(Region::ALL.into_iter().all(|region| named(name(region)) == Some(region)));
        assert_eq!(named("kv"), None);
    }
}
