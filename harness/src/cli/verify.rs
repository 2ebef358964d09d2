//! `kvledger verify`.

use super::Stop;
use crate::verify::{self, Settings};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::thread;

/// Random operations against the pool and against its obvious model; every observer is compared after each.
#[derive(Parser, Debug)]
pub struct Args {
    /// Operations in all.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    operations: u64,
    /// The seed; 0 draws one from the clock. It is printed either way.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Threads; 0 takes as many as there are cores.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    threads: u16,
}

/// Runs it. A difference between pool and model is exit code 1.
pub fn run(args: &Args) -> Result<(), Stop> {
    let threads = match args.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => usize::from(threads),
    };
    let seed = if args.seed == 0 { seed_from_clock() } else { args.seed };
    println!("verify: {} operations, seed {seed}, {threads} threads", args.operations);
    let bar = progress(args.operations);
    let outcome = verify::run(Settings { operations: args.operations, seed, threads }, |done| bar.set_position(done));
    bar.finish_and_clear();
    match outcome {
        Ok(tally) => {
            println!("pool and model agree after every operation; the answers were:");
            verify::write_tally(&tally, &mut io::stdout()).map_err(|error| Stop::Failed(error.to_string()))?;
            io::stdout().flush().map_err(|error| Stop::Failed(error.to_string()))
        }
        Err(failure) => {
            println!("episode seed {}, {:?}", failure.seed, failure.config);
            for (index, operation) in failure.operations.iter().enumerate() {
                println!("  {index:>4} {operation:?}");
            }
            Err(Stop::Failed(format!(
                "pool and model differ: {} (repeat it with --seed {} --operations 1)",
                failure.what, failure.seed
            )))
        }
    }
}

fn seed_from_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |elapsed| elapsed.as_nanos() as u64).max(1)
}

fn progress(operations: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} {per_sec} {eta}");
    ProgressBar::new(operations).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
