//! A stream of the CPU device: work in order, and the thread that does it.

use super::common::Common;
use super::mapping::Mapping;
use super::mark::{Mark, lock};
use super::options::{Options, Pace, Pauses};
use super::order::{observe, publish};
use super::random::Random;
use super::registry::Span;
use super::run::Runner;
use crate::error::{Error, Loss, Reason};
use crate::launch::Launch;
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

#[expect(clippy::large_enum_variant, reason = "each has a box of its own")]
/// One operation. Until it is done it keeps the memory that it needs.
#[derive(Debug)]
pub enum Work {
    Copy {
        to: Span,
        from: Span,
        bytes: usize,
    },
    Set {
        to: Span,
        value: u8,
        bytes: usize,
    },
    Kernel {
        launch: Launch,
        #[expect(dead_code, reason = "it is kept, which is all that it is for")]
        memory: Vec<Arc<Mapping>>,
    },
    /// Tells who waits that the stream has come this far.
    Mark(Arc<Mark>),
    /// Goes on when another stream has come so far.
    Wait(Arc<Mark>),
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Held while an operation is done, so that they are done one after the other.
    doer: Mutex<Doer>,
}

#[derive(Debug, Default)]
struct State {
    /// Each at an address of its own, which stands for what came before it was enqueued.
    work: VecDeque<Box<Work>>,
    /// One was taken out and is not done.
    is_busy: bool,
    is_closed: bool,
}

/// What doing work needs.
#[derive(Debug)]
pub struct Doer {
    pub runner: Runner,
    chance: Random,
    pauses: Random,
}

/// What came of asking a stream to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It did one operation.
    Done,
    /// The next one waits for another stream.
    Waits,
    /// There is none.
    Idle,
}

impl Queue {
    pub fn new(options: &Options, number: u64) -> Queue {
        let pauses = match options.pace {
            Pace::Threads(pauses) => pauses.seed,
            Pace::AtOnce | Pace::ByHand => 0,
        };
        let doer = Doer {
            runner: Runner::new(options.order),
            chance: Random::new(options.trouble.seed ^ number.rotate_left(32)),
            pauses: Random::new(pauses ^ number.rotate_left(32)),
        };
        Queue { state: Mutex::default(), changed: Condvar::new(), doer: Mutex::new(doer) }
    }

    /// Does all work until the stream is closed and empty. The life of its thread.
    pub fn serve(&self, common: &Common, pauses: Pauses) {
        while let Some(work) = self.take() {
            let pause = lock(&self.doer).pause(pauses);
            if !pause.is_zero() {
                thread::sleep(pause);
            }
            if let Work::Wait(mark) = &*work {
                mark.wait();
            }
            self.perform(&mut lock(&self.doer), &work, common);
        }
    }

    /// The next operation, when there is one; `None` when there will be none.
    fn take(&self) -> Option<Box<Work>> {
        let mut state = lock(&self.state);
        loop {
            if let Some(work) = state.work.pop_front() {
                state.is_busy = true;
                return Some(work);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does the next operation on the calling thread, unless it has to wait. Threads that do so at once take turns: who
    /// takes an operation out does it before the next one is taken.
    pub fn advance(&self, common: &Common) -> Step {
        let mut doer = lock(&self.doer);
        let work = {
            let mut state = lock(&self.state);
            if matches!(state.work.front().map(|work| &**work), Some(Work::Wait(mark)) if !mark.is_over()) {
                return Step::Waits;
            }
            let Some(work) = state.work.pop_front() else { return Step::Idle };
            state.is_busy = true;
            work
        };
        self.perform(&mut doer, &work, common);
        Step::Done
    }

    /// Does what was taken out: after what came before it was enqueued, and after what the stream did before.
    fn perform(&self, doer: &mut Doer, work: &Work, common: &Common) {
        observe(work);
        observe(&self.doer);
        doer.perform(work, common);
        publish(&self.doer);
        lock(&self.state).is_busy = false;
        self.changed.notify_all();
    }

    /// Adds work at the end. Errors: `Handle` if the stream was closed meanwhile, for nobody would do it.
    pub fn push(&self, operation: &'static str, work: Work) -> Result<(), Error> {
        let work = Box::new(work);
        publish(&*work);
        {
            let mut state = lock(&self.state);
            if state.is_closed {
                return Err(Error::new(operation, Reason::Handle));
            }
            state.work.push_back(work);
        }
        self.changed.notify_all();
        Ok(())
    }

    /// No more will come.
    pub fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }

    pub fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        let is_idle = state.work.is_empty() && !state.is_busy;
        if is_idle {
            observe(&self.doer);
        }
        is_idle
    }

    /// Until its thread has done everything.
    pub fn wait_idle(&self) {
        let mut state = lock(&self.state);
        while state.is_busy || !state.work.is_empty() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        observe(&self.doer);
    }

    /// Between two operations.
    pub fn with_runner<T>(&self, f: impl FnOnce(&mut Runner) -> T) -> T {
        f(&mut lock(&self.doer).runner)
    }
}

impl Doer {
    /// How long to wait before the next operation.
    fn pause(&mut self, pauses: Pauses) -> Duration {
        if pauses.one_in == 0 || self.pauses.below(pauses.one_in.into()) != 0 {
            return Duration::ZERO;
        }
        let most = u64::try_from(pauses.most.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.pauses.below(most.saturating_add(1).max(1)))
    }

    /// A lost device touches no memory; marks are reached all the same, so that nobody waits for ever.
    fn perform(&mut self, work: &Work, common: &Common) {
        if let Work::Mark(mark) = work {
            mark.reach();
        }
        if common.loss().is_some() {
            return;
        }
        if let Err(loss) = self.touch(work, common) {
            common.lose(loss);
        }
    }

    fn touch(&mut self, work: &Work, common: &Common) -> Result<(), Loss> {
        if matches!(work, Work::Copy { .. } | Work::Set { .. } | Work::Kernel { .. }) {
            common.maybe_lose(&mut self.chance)?;
        }
        match work {
            Work::Copy { to, from, bytes } => {
                let (to, from) = (to.real as *mut libc::c_void, from.real as *const libc::c_void);
                // SAFETY: both ranges were looked up and are apart, and their spans keep them mapped; Rust has no
                // references into them.
                unsafe { libc::memcpy(to, from, *bytes) };
                Ok(())
            }
            Work::Set { to, value, bytes } => {
                // SAFETY: as above.
                unsafe { libc::memset(to.real as *mut libc::c_void, (*value).into(), *bytes) };
                Ok(())
            }
            // SAFETY: pointers were looked up when it was enqueued, `memory` keeps them mapped; what is in memory is the
            // promise of who enqueued it.
            Work::Kernel { launch, .. } => unsafe { self.runner.run(launch) },
            Work::Mark(_) | Work::Wait(_) => Ok(()),
        }
    }
}
