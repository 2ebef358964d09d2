//! Why a verification failed.

use super::EPISODE;
use kvledger_core::PoolConfig;
use kvledger_core::model::Operation;
use std::fmt;

/// Why a verification failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Pool and model do not say the same.
    Differs(Box<Shortened>),
    /// A thread panicked outside the pool and the model. A bug of the harness; what it said is on standard error.
    Died,
    /// Another number of operations was done than was asked for. A bug of the harness.
    Miscounted {
        /// Asked for.
        asked: u64,
        /// Done.
        done: u64,
    },
}

/// A difference, with as few operations as could be found.
#[derive(Clone, Debug)]
pub struct Shortened {
    /// The seed of the episode.
    pub seed: u64,
    /// The configuration of its pool.
    pub config: PoolConfig,
    /// The operations that are left.
    pub operations: Vec<Operation>,
    /// What differs after the last of them.
    pub what: String,
    /// The calls that they became, as words of a dump.
    pub record: Vec<u64>,
}

impl Shortened {
    /// The pool and the operations, a line each.
    pub fn listing(&self) -> String {
        let mut text = format!("episode seed {}, {:?}\n", self.seed, self.config);
        for (index, operation) in self.operations.iter().enumerate() {
            text += &format!("  {index:>4} {operation:?}\n");
        }
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Differs(short) => write!(
                f,
                "pool and model differ: {} (repeat it with --seed {} --operations {EPISODE})",
                short.what, short.seed
            ),
            Failure::Died => f.write_str("a thread of the harness panicked: nothing is shown"),
            Failure::Miscounted { asked, done } => {
                write!(f, "{done} operations were done instead of {asked}: nothing is shown")
            }
        }
    }
}

impl std::error::Error for Failure {}
