//! What an event is on the CPU device.

use super::order::{observe, publish};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A place in a stream, from `record` on: over when the stream has come to it.
#[derive(Debug, Default)]
pub struct Mark {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Mark {
    /// The stream has come to it.
    pub fn reach(&self) {
        publish(self);
        *lock(&self.is_over) = true;
        self.changed.notify_all();
    }

    /// Whether it has.
    pub fn is_over(&self) -> bool {
        let is_over = *lock(&self.is_over);
        if is_over {
            observe(self);
        }
        is_over
    }

    /// Waits until it has. Streams go on when the device is lost, so it will.
    pub fn wait(&self) {
        let mut is_over = lock(&self.is_over);
        while !*is_over {
            is_over = self.changed.wait(is_over).unwrap_or_else(PoisonError::into_inner);
        }
        observe(self);
    }
}

/// An event: its newest mark, if there is one.
#[derive(Debug, Default)]
pub struct Event(Mutex<Option<Arc<Mark>>>);

impl Event {
    /// A new mark in place of the older one, once it is in a stream: nobody may wait for one that is in none, or that comes
    /// behind him.
    pub fn mark<E>(&self, push: impl FnOnce(Arc<Mark>) -> Result<(), E>) -> Result<(), E> {
        let mut newest = lock(&self.0);
        let mark = Arc::<Mark>::default();
        push(mark.clone())?;
        *newest = Some(mark);
        Ok(())
    }

    /// The newest one.
    pub fn newest(&self) -> Option<Arc<Mark>> {
        lock(&self.0).clone()
    }
}

/// What a thread that panicked held is as it left it: nothing here is half done between two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
