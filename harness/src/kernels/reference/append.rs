//! New keys and values in their blocks: the contract's conversion, one element after the other.

use super::Report;
use crate::kernels::case::Append;
use crate::kernels::numbers::Element;
use crate::kernels::pool::{At, KeyValue, Pool, Scales};
use kvledger_cuda::raw::KVK_FAULT_SLOT;

/// Where each has its own scale it is at least this.
const SCALE_MIN: f32 = f32::from_bits((127 - 100) << 23);

/// The pool after the launch, and what is reported.
pub fn append(case: &Append) -> (Pool, Report) {
    let (mut pool, mut report) = (case.pool.clone(), Report::NOTHING);
    for (token, &(block, place)) in case.slots.iter().enumerate() {
        if block == 0 {
            continue;
        }
        if !pool.shape.has_block(block) || place >= pool.shape.block_tokens {
            report.add(KVK_FAULT_SLOT, 0, token as u32);
            continue;
        }
        for head in 0..pool.shape.heads {
            let [key, value] = case.pair(token, head as usize);
            let [key, value] = [converted(case, key, 0), converted(case, value, 1)];
            let pair = KeyValue { key: key.0, value: value.0, scales: [key.1, value.1] };
            pool.contents.insert(At { block, token: place, head }, pair);
        }
    }
    (pool, report)
}

/// Bits in the type of the cache, and the scale that is written beside them; `side` is 0 for keys and 1 for values.
fn converted(case: &Append, bits: &[u16], side: usize) -> (Vec<u16>, f32) {
    let to = case.pool.shape.element;
    if to == case.element {
        return (bits.to_vec(), 1.0);
    }
    // Numbers of 16 bits are numbers of binary32.
    let values: Vec<f32> = bits.iter().map(|bits| case.element.value(*bits) as f32).collect();
    let (scale, inverse) = match case.pool.shape.scales {
        _ if to.is_wide() => (1.0, 1.0),
        Scales::One(scales) => (1.0, 1.0 / scales[side]),
        Scales::Each(_) => {
            let scale = scale_of(&values, to);
            (scale, 1.0 / scale)
        }
    };
    // Rounded to binary32 once by the product, as every device does it, and then to the type.
    (values.iter().map(|value| to.nearest(f64::from(value * inverse))).collect(), scale)
}

/// The largest finite magnitude times the reciprocal of the type's largest number.
fn scale_of(values: &[f32], to: Element) -> f32 {
    let finite = values.iter().map(|value| value.abs()).filter(|value| value.is_finite());
    let limit = 1.0 / to.largest() as f32;
    (finite.fold(0.0, f32::max) * limit).max(SCALE_MIN)
}
