//! `kvledger bench count`.

use crate::bench::count::{self, CASES};
use crate::cli::Stop;
use crate::cli::output::write_out;
use clap::builder::PossibleValuesParser;
use std::fmt::Write;

/// Do work of a fixed size, for who counts its instructions; without a case: list them
///
/// `harness/counts.py` runs it under callgrind and compares with `harness/counts.json`. It prints how many operations were
/// done inside the function `counted_region`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = HELP)]
pub struct Args {
    /// Which work
    #[arg(value_parser = PossibleValuesParser::new(CASES.iter().map(|case| case.name)), hide_possible_values = true)]
    case: Option<String>,
}

const HELP: &str = "Example: kvledger bench count take-give-17

Exit codes: 0 done; 2 there is no such case.";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    let Some(name) = &args.case else {
        let mut list = String::new();
        for case in CASES {
            let _ = writeln!(list, "{:18} {}", case.name, case.what);
        }
        return write_out(&list);
    };
    let operations = count::run(name).ok_or_else(|| Stop::Usage(format!("there is no case `{name}`")))?;
    write_out(&format!("{operations}\n"))
}
