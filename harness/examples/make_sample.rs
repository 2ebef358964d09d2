//! Prints the sample trace: `cargo run -p kvledger-harness --example make_sample > harness/samples/chat.jsonl`.

use kvledger_harness::sample;

fn main() {
    print!("{}", sample::make(sample::SEED, sample::REQUESTS));
}
