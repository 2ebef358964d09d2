//! Keys and values out of their blocks.

use super::Report;
use crate::kernels::case::Gather;
use crate::kernels::numbers::Element;
use crate::kernels::pool::{KeyValue, Scales};
use crate::kernels::table::Found;
use kvledger_cuda::raw::{KVK_FAULT_BLOCK, KVK_FAULT_TABLE};

/// What a launch must come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gathered {
    /// `[total][heads][head_dim]`, bits; 0 where a key cannot be read.
    pub keys: Vec<u16>,
    /// Likewise.
    pub values: Vec<u16>,
    /// What is reported.
    pub report: Report,
}

/// What comes out.
pub fn gather(case: &Gather) -> Gathered {
    let mut gathered = Gathered { keys: Vec::new(), values: Vec::new(), report: Report::NOTHING };
    for (sequence, (&first, &count)) in case.first_keys.iter().zip(&case.counts).enumerate() {
        for key in first..first + count {
            one_key(case, sequence as u32, key, &mut gathered);
        }
    }
    gathered
}

fn one_key(case: &Gather, sequence: u32, key: u32, gathered: &mut Gathered) {
    let shape = &case.pool.shape;
    match case.table.find(shape, sequence, key) {
        Found::NoBlock => gathered.report.add(KVK_FAULT_BLOCK, sequence, key),
        Found::Beyond => gathered.report.add(KVK_FAULT_TABLE, sequence, key),
        Found::At { .. } => {}
    }
    for head in 0..shape.heads {
        let nothing = || vec![0; shape.head_dim as usize];
        let at = case.table.place(shape, sequence, key, head);
        let [keys, values] = match at.map(|at| case.pool.read(at)) {
            None => [nothing(), nothing()],
            Some(pair) => [converted(case, pair, &pair.key, 0), converted(case, pair, &pair.value, 1)],
        };
        gathered.keys.extend(keys);
        gathered.values.extend(values);
    }
}

fn converted(case: &Gather, pair: &KeyValue, bits: &[u16], side: usize) -> Vec<u16> {
    let (from, to): (Element, Element) = (case.pool.shape.element, case.element);
    if from == to {
        return bits.to_vec();
    }
    let scale = match case.pool.shape.scales {
        _ if from.is_wide() => 1.0,
        Scales::One(scales) => scales[side],
        Scales::Each(_) => pair.scales[side],
    };
    // Rounded to binary32 once by the product, and then to the type.
    bits.iter().map(|bits| to.nearest(f64::from(from.value(*bits) as f32 * scale))).collect()
}
