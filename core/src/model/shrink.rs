//! Making a failure short: leave out operations, then make numbers smaller, as long as it still fails.

use super::Operation;
use std::vec::Vec;

/// The shortest list that this finds for which `fails` is still true. Halves, quarters, …, single operations are left
/// out in turn (Zeller's delta debugging); then every number is tried smaller. Cost: O(n² ) calls of `fails` at worst.
pub fn shrink(operations: &[Operation], fails: impl Fn(&[Operation]) -> bool) -> Vec<Operation> {
    let mut list = operations.to_vec();
    let mut part = list.len().div_ceil(2).max(1);
    loop {
        let before = list.len();
        let mut from = 0;
        while from < list.len() {
            let to = (from + part).min(list.len());
            let shorter: Vec<_> = list[..from].iter().chain(&list[to..]).copied().collect();
            if fails(&shorter) {
                list = shorter;
            } else {
                from = to;
            }
        }
        if part > 1 {
            part = part.div_ceil(2);
        } else if list.len() == before {
            break;
        }
    }
    for index in 0..list.len() {
        while let Some(simpler) = list[index].simpler().find(|&simpler| {
            let mut candidate = list.clone();
            candidate[index] = simpler;
            fails(&candidate)
        }) {
            list[index] = simpler;
        }
    }
    list
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_left() {
        let operations: Vec<_> = (0..100u8).map(|i| Operation::from_bytes([i, i, 0, 0, 0, 9])).collect();
        // It fails when the 17th and the 80th are both there, the first with a number of at least 5.
        let fails = |list: &[Operation]| {
            list.iter().any(|o| o.kind == 17 && o.numbers[0] >= 5) && list.iter().any(|o| o.kind == 80)
        };
        let short = shrink(&operations, fails);
        let bytes: Vec<_> = short.iter().map(|o| (o.kind, o.numbers)).collect();
        assert_eq!(bytes, [(17, [5, 0, 0, 0, 0]), (80, [0, 0, 0, 0, 0])]);
    }
}
