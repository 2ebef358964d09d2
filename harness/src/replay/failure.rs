//! Why a replay stopped.

use kvledger_core::Refusal;
use std::fmt;

/// Why a replay stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The settings cannot be replayed; the message names the flag and the mend. The user's to mend.
    Settings(String),
    /// The pool answered what it must not answer here. A bug of the pool or of the replay.
    Answer {
        /// In which step.
        step: u64,
        /// To which call.
        call: &'static str,
        /// What.
        answer: Refusal,
    },
    /// The pool and the replay's own integers differ, or an invariant does not hold. A bug likewise.
    Audit {
        /// In which step.
        step: u64,
        /// What differs.
        what: String,
    },
    /// The device failed.
    Device {
        /// In which step.
        step: u64,
        /// What it said.
        what: String,
    },
    /// A manager of blocks did not do what workload W of the bench says. A bug of the pool, or of a peer.
    Workload(String),
    /// The thread that replayed it panicked. A bug; what the thread said is on standard error.
    Died,
}

impl Failure {
    /// Whether other settings would help.
    pub fn is_usage(&self) -> bool {
        matches!(self, Failure::Settings(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Settings(message) => f.write_str(message),
            Failure::Workload(what) => write!(f, "workload W: {what}"),
            Failure::Answer { step, call, answer } => write!(f, "step {step}: the pool answered `{answer}` to {call}"),
            Failure::Audit { step, what } => write!(f, "step {step}: {what}"),
            Failure::Device { step, what } => write!(f, "step {step}: the device: {what}"),
            Failure::Died => f.write_str("the thread that replayed it panicked"),
        }
    }
}

impl std::error::Error for Failure {}
