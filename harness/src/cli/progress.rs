//! How far replays are, on standard error, while somebody is watching a terminal.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Runs `work` and shows meanwhile how far each of `labels` is: `through[i]` of `total`.
pub fn watch<T: Send>(labels: &[String], through: &[AtomicU64], total: u64, work: impl FnOnce() -> T + Send) -> T {
    let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
    if bars.is_hidden() {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| draw(&bars, labels, through, total, &done));
        let result = work();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

fn draw(bars: &MultiProgress, labels: &[String], through: &[AtomicU64], total: u64, done: &AtomicBool) {
    let style = ProgressStyle::with_template("{prefix:>24} {wide_bar} {pos}/{len} requests")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = |label: &String| {
        let bar = bars.add(ProgressBar::new(total).with_style(style.clone()));
        bar.set_prefix(label.clone());
        bar
    };
    let lines: Vec<ProgressBar> = labels.iter().map(bar).collect();
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(Duration::from_millis(100));
        for (line, count) in lines.iter().zip(through) {
            line.set_position(count.load(Ordering::Relaxed));
        }
    }
    lines.iter().for_each(ProgressBar::finish_and_clear);
}
