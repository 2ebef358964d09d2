use super::make::{Kernel, case};
use super::run::Bench;
use kvledger_cuda::cpu::{Options, Pace};
use kvledger_cuda::{Cpu, Device};
use std::sync::Arc;

#[test]
fn all() {
    let device: Arc<dyn Device> = Cpu::open(Options { pace: Pace::AtOnce, ..Options::default() });
    for kernel in [Kernel::Append, Kernel::Attend, Kernel::Merge, Kernel::MergeTwo, Kernel::Gather] {
        let count: u64 = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
        let start = std::time::Instant::now();
        let mut worst = 0.0f64;
        let mut wrong = 0;
        let bench = Bench::open(&device).unwrap();
        for seed in 0..count {
            let case = case(kernel, seed);
            match case.run(&bench) {
                Ok(right) => worst = worst.max(right.share),
                Err(why) => { wrong += 1; if wrong < 6 { println!("{kernel} seed {seed} {}: {why}", case.title()); } }
            }
        }
        println!("{kernel}: {count} cases, {wrong} wrong, worst {worst:.3}, {:?}", start.elapsed());
    }
}
macro_rules! stub { ($($n:ident),*) => { $(#[unsafe(no_mangle)] pub extern "C" fn $n(_: *const u8, _: *mut u8) -> u32 { 0x4B560001 })* } }
stub!(kvk_cpu_copy_blocks, kvk_cpu_fill, kvk_cpu_checksum, kvk_cpu_rewrite);
