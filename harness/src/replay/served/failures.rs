//! Why serving stopped: what the pool, the device or a comparison said, with the step.

use super::super::failure::Failure;
use kvledger_core::Refusal;
use kvledger_cuda::{EpochError, Error};

/// A step, for what stops in it.
#[derive(Clone, Copy, Debug)]
pub struct Step(pub u64);

impl Step {
    /// The pool must not have refused.
    pub fn answered<T>(self, call: &'static str, answer: Result<T, Refusal>) -> Result<T, Failure> {
        answer.map_err(|answer| Failure::Answer { step: self.0, call, answer })
    }

    /// The device must not have failed.
    pub fn done<T>(self, answer: Result<T, Error>) -> Result<T, Failure> {
        answer.map_err(|error| self.device(&error))
    }

    /// Neither of both.
    pub fn ended<T>(self, call: &'static str, answer: Result<T, EpochError>) -> Result<T, Failure> {
        answer.map_err(|error| match error {
            EpochError::Pool(answer) => Failure::Answer { step: self.0, call, answer },
            EpochError::Device(error) => self.device(&error),
        })
    }

    /// What differs.
    pub fn differs(self, what: String) -> Failure {
        Failure::Audit { step: self.0, what }
    }

    fn device(self, error: &Error) -> Failure {
        Failure::Device { step: self.0, what: error.to_string() }
    }
}
