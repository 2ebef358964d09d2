//! The command `kvledger`. See `kvledger --help`, and README.md beside this crate's manifest.

use std::process::ExitCode;

fn main() -> ExitCode {
    kvledger_harness::cli::main()
}
