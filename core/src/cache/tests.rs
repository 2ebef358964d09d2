//! The index and the order on one thread against obvious models, with the same random events. What only a model checker can
//! find is in `loom_tests.rs`.

mod index;
mod order;
mod policies;
mod ring;
mod support;
mod waiting;
