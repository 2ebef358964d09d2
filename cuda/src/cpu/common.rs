//! What all streams of a CPU device share: whether it is lost, and what goes wrong.

use super::mark::lock;
use super::options::Trouble;
use super::random::Random;
use crate::error::{Error, Loss, Reason};
use std::sync::{Mutex, OnceLock};

/// Number of a loss that was asked for; the device has no other below the header's.
const INJECTED: u32 = 1;
const ALL: u64 = 1 << 16;

/// Shared by the device and the threads of its streams.
#[derive(Debug)]
pub struct Common {
    trouble: Trouble,
    chance: Mutex<Random>,
    loss: OnceLock<Loss>,
}

impl Common {
    pub fn new(trouble: Trouble) -> Common {
        Common { trouble, chance: Mutex::new(Random::new(trouble.seed)), loss: OnceLock::new() }
    }

    pub fn loss(&self) -> Option<Loss> {
        self.loss.get().copied()
    }

    /// The first loss stays.
    pub fn lose(&self, loss: Loss) {
        let _ = self.loss.set(loss);
    }

    /// Loses the device because it was asked for.
    pub fn lose_on_purpose(&self) {
        self.lose(Loss { operation: "", number: INJECTED, text: "lost because it was asked for", at: None });
    }

    /// Errors: `Lost`.
    pub fn alive(&self, operation: &'static str) -> Result<(), Error> {
        match self.loss() {
            Some(loss) => Err(Error::new(operation, Reason::Lost(loss))),
            None => Ok(()),
        }
    }

    /// Whether this allocation is to fail.
    pub fn fails_to_allocate(&self) -> bool {
        self.strikes(self.trouble.allocate)
    }

    /// Errors: `Injected`, as often as it was asked for.
    pub fn maybe_refuse(&self, operation: &'static str) -> Result<(), Error> {
        if self.strikes(self.trouble.enqueue) { Err(Error::new(operation, Reason::Injected)) } else { Ok(()) }
    }

    /// The loss, as often as it was asked for; the numbers are a stream's own.
    pub fn maybe_lose(&self, chance: &mut Random) -> Result<(), Loss> {
        if self.trouble.lose == 0 || chance.below(ALL) >= self.trouble.lose.into() {
            return Ok(());
        }
        Err(Loss { operation: "", number: INJECTED, text: "a loss that was asked for", at: None })
    }

    fn strikes(&self, of_all: u16) -> bool {
        of_all != 0 && lock(&self.chance).below(ALL) < of_all.into()
    }
}
