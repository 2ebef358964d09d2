//! The pool and its obvious model say the same after every operation, whatever the operations are. The first eight
//! bytes choose the configuration, every six after them are an operation.
#![no_main]

use kvledger_core::model::{BlackBox, Comparison, Operation, configuration};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((seed, rest)) = input.split_first_chunk() else {
        return;
    };
    let config = configuration(u64::from_le_bytes(*seed));
    let (chunks, _) = rest.as_chunks::<{ Operation::BYTES }>();
    let operations: Vec<Operation> = chunks.iter().copied().map(Operation::from_bytes).collect();
    let mut black_box = BlackBox::new("fuzz", Comparison::ring_lines(operations.len()));
    if let Err(difference) = Comparison::run_recorded(&config, &operations, black_box.ring()) {
        // Here and not when it is dropped: the fuzzer's panic hook ends the process.
        let record = black_box.leave();
        panic!("{difference}\n{config:?}\n{operations:?}\nkvledger rerun --model {record:?}");
    }
});
