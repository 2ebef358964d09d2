//! How far a measurement is, on standard error, while somebody is watching a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::time::Duration;

/// A bar whose length is time. It is drawn between measurements only: a thread that draws would be measured too.
pub struct Bar {
    bar: ProgressBar,
    /// What is being measured takes so long.
    current: Cell<Duration>,
}

impl Bar {
    /// Of so much time in all.
    pub fn new(takes: Duration) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(takes.as_millis() as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:20} {percent:>3} % {elapsed} of about {prefix}  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        let minutes = takes.as_secs().div_ceil(60);
        bar.set_prefix(format!("{minutes} min"));
        Bar { bar, current: Cell::new(Duration::ZERO) }
    }

    /// Something else is measured now.
    pub fn next(&self, takes: Duration, what: &str) {
        self.bar.inc(self.current.replace(takes).as_millis() as u64);
        self.bar.set_message(what.to_string());
    }

    /// All is measured.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
