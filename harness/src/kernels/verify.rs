//! `kvledger verify --device`: cases of kernels on a device, compared with what they must come to.
//!
//! 1. [`jobs`] lists them: those of published faults, then the random ones; case i of a kernel has the seed + i.
//! 2. [`run`] hands them out to threads, each with a device of its own. A device that a case has lost is opened anew.
//! 3. What is wrong is kept with how to repeat it; the rest goes on, so that one fault does not hide another.

use super::known::{Known, known};
use super::make::{Kernel, case};
use super::run::{Bench, Case, Right};
use kvledger_cuda::cpu::Order;
use kvledger_cuda::{Device, Error};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What to verify.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Which kernels.
    pub kernels: Vec<Kernel>,
    /// Random cases of each; `None`: so many for each as it deserves.
    pub cases: Option<u32>,
    /// The seed of the first random case of each kernel.
    pub seed: u64,
    /// Threads, each with a device of its own.
    pub threads: usize,
}

/// Random cases of a kernel of weight 1, where nobody says how many.
pub const CASES: u32 = 100;

/// Where a case comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// A published fault, by its place in [`known`].
    Report(usize),
    /// A seed.
    Seed(u64),
}

/// One case to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// Its kernel.
    pub kernel: Kernel,
    /// Where it comes from.
    pub origin: Origin,
}

/// A case that is not right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// Which one.
    pub origin: Origin,
    /// The report that it is from, if it is from one.
    pub source: Option<&'static str>,
    /// What it is about.
    pub title: String,
    /// What is wrong.
    pub what: String,
}

/// What came of the cases of one kernel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Cases that were run.
    pub cases: u64,
    /// Those of them that are of published faults.
    pub reports: u64,
    /// Numbers that were compared.
    pub compared: u64,
    /// The largest error, as a share of what is allowed.
    pub share: f64,
    /// What is not right, in the order of the jobs.
    pub wrong: Vec<Wrong>,
}

/// All jobs, in order.
pub fn jobs(settings: &Settings) -> Vec<Job> {
    jobs_of(settings, &known())
}

fn jobs_of(settings: &Settings, reports: &[Known]) -> Vec<Job> {
    let reports: Vec<Kernel> = reports.iter().map(|known| kernel_of(&known.case)).collect();
    let mut jobs = Vec::new();
    for kernel in Kernel::ALL.into_iter().filter(|kernel| settings.kernels.contains(kernel)) {
        let of_kernel = reports.iter().enumerate().filter(|(_, report)| **report == kernel);
        jobs.extend(of_kernel.map(|(place, _)| Job { kernel, origin: Origin::Report(place) }));
        let cases = settings.cases.unwrap_or(CASES * kernel.weight());
        let seeds = (0..u64::from(cases)).map(|case| settings.seed.wrapping_add(case));
        jobs.extend(seeds.map(|seed| Job { kernel, origin: Origin::Seed(seed) }));
    }
    jobs
}

fn kernel_of(case: &Case) -> Kernel {
    match case {
        Case::Append(_) => Kernel::Append,
        Case::Attend(_) => Kernel::Attend,
        Case::Merge(_) => Kernel::Merge,
        Case::MergeTwo(_) => Kernel::MergeTwo,
        Case::CopyBlocks(_) => Kernel::CopyBlocks,
        Case::Fill(_) => Kernel::Fill,
        Case::Checksum(_) => Kernel::Checksum,
        Case::Rewrite(_) => Kernel::Rewrite,
        Case::Gather(_) => Kernel::Gather,
    }
}

/// Runs them all on devices that `open` opens; `progress` is told how many are done, from any thread. The error is the
/// device's, if one cannot be opened.
pub fn run(
    settings: &Settings,
    open: &(dyn Fn() -> Result<Arc<dyn Device>, Error> + Sync),
    progress: &(dyn Fn(usize) + Sync),
) -> Result<BTreeMap<Kernel, Outcome>, Error> {
    let reports = known();
    let round = Round {
        jobs: jobs_of(settings, &reports),
        reports,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        results: Mutex::default(),
        open,
    };
    // A thread without a case would open a device for nothing; one there is, so that a device that is missing is told.
    let threads = settings.threads.min(round.jobs.len()).max(1);
    let work = || round.work(progress).inspect_err(|_| round.next.store(usize::MAX / 2, Ordering::Relaxed));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("cases that panic are caught"))
    })?;
    Ok(round.outcomes(settings))
}

/// What the threads of a run share.
struct Round<'a> {
    jobs: Vec<Job>,
    /// Those that jobs name.
    reports: Vec<Known>,
    next: AtomicUsize,
    done: AtomicUsize,
    results: Mutex<BTreeMap<usize, Result<Right, Wrong>>>,
    open: &'a (dyn Fn() -> Result<Arc<dyn Device>, Error> + Sync),
}

impl Round<'_> {
    /// Jobs, until there are no more.
    fn work(&self, progress: &(dyn Fn(usize) + Sync)) -> Result<(), Error> {
        let mut bench = Bench::open(&(self.open)()?)?;
        while let Some((number, job)) = self.take() {
            let (case, source) = match job.origin {
                Origin::Report(place) => (self.reports[place].case.clone(), Some(self.reports[place].source)),
                Origin::Seed(seed) => (case(job.kernel, seed), None),
            };
            order(&bench, job.origin)?;
            let name = format!("{}, {}: {}", job.kernel, said(job.origin, source), case.title());
            let result = attempt(&case, &bench, &name).map_err(|what| Wrong {
                origin: job.origin,
                source,
                title: case.title().to_string(),
                what,
            });
            self.results.lock().unwrap_or_else(PoisonError::into_inner).insert(number, result);
            if bench.device().loss().is_some() {
                bench = Bench::open(&(self.open)()?)?;
            }
            progress(self.done.fetch_add(1, Ordering::Relaxed) + 1);
        }
        Ok(())
    }

    fn take(&self) -> Option<(usize, Job)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.jobs.get(number).map(|job| (number, *job))
    }

    fn outcomes(self, settings: &Settings) -> BTreeMap<Kernel, Outcome> {
        let mut outcomes: BTreeMap<Kernel, Outcome> =
            settings.kernels.iter().map(|kernel| (*kernel, Outcome::default())).collect();
        for (number, result) in self.results.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let job = self.jobs[number];
            let outcome = outcomes.entry(job.kernel).or_default();
            outcome.cases += 1;
            outcome.reports += u64::from(matches!(job.origin, Origin::Report(_)));
            match result {
                Ok(right) => {
                    outcome.compared += right.compared;
                    outcome.share = outcome.share.max(right.share);
                }
                Err(wrong) => outcome.wrong.push(wrong),
            }
        }
        outcomes
    }
}

/// On the CPU device threads run in every order, and the same one for the same case.
fn order(bench: &Bench, origin: Origin) -> Result<(), Error> {
    let Some(cpu) = bench.device().as_cpu() else { return Ok(()) };
    let number = match origin {
        Origin::Report(place) => place as u64,
        Origin::Seed(seed) => seed,
    };
    let order = match number % 4 {
        0 => Order::Ascending,
        1 => Order::Descending,
        _ => Order::Random(number),
    };
    cpu.set_order(bench.stream().id(), order)
}

/// Where a case comes from, in words.
fn said(origin: Origin, source: Option<&str>) -> String {
    match (origin, source) {
        (Origin::Seed(seed), _) => format!("seed {seed}"),
        (_, Some(source)) => source.to_string(),
        (Origin::Report(place), None) => format!("report {place}"),
    }
}

/// One case. A panic is a fault like any other.
fn attempt(case: &Case, bench: &Bench, name: &str) -> Result<Right, String> {
    #[cfg(unix)]
    let _watched = super::guard::watch(name);
    match catch_unwind(AssertUnwindSafe(|| case.run(bench))) {
        Ok(result) => result.map_err(|wrong| wrong.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(format!("panic: {}", text.unwrap_or("without a message")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvledger_cuda::Cpu;
    use kvledger_cuda::cpu::{Options, Pace, Trouble};

    fn settings(kernels: &[Kernel], cases: u32) -> Settings {
        Settings { kernels: kernels.to_vec(), cases: Some(cases), seed: 3, threads: 2 }
    }

    fn cpu(options: Options) -> Result<Arc<dyn Device>, Error> {
        let device: Arc<dyn Device> = Cpu::open(Options { pace: Pace::AtOnce, ..options });
        Ok(device)
    }

    #[test]
    fn every_case_is_run_and_counted() {
        let settings = settings(&[Kernel::Rewrite, Kernel::MergeTwo], 7);
        let most = AtomicUsize::new(0);
        let progress = |done: usize| _ = most.fetch_max(done, Ordering::Relaxed);
        let outcomes = run(&settings, &|| cpu(Options::default()), &progress).expect("a device");
        let counts: Vec<_> = outcomes.iter().map(|(kernel, of)| (kernel.name(), of.cases, of.reports)).collect();
        assert_eq!(counts, [("merge_two", 8, 1), ("rewrite", 7, 0)]);
        assert!(outcomes.values().all(|of| of.wrong.is_empty() && of.compared > 0));
        assert_eq!(most.into_inner(), 15);
    }

    #[test]
    fn threads_make_no_difference() {
        let of = |threads| {
            let settings = Settings { threads, ..settings(&[Kernel::Append, Kernel::Merge], 9) };
            run(&settings, &|| cpu(Options::default()), &|_| {}).expect("a device")
        };
        assert_eq!(of(1), of(3));
    }

    /// A device that is lost by every case: each is told, and the next one has a new device.
    #[test]
    fn a_lost_device_is_opened_anew() {
        let lost = Trouble { lose: u16::MAX, ..Trouble::default() };
        let outcomes =
            run(&settings(&[Kernel::Fill], 5), &|| cpu(Options { trouble: lost, ..Options::default() }), &|_| {})
                .expect("a device");
        let wrong = &outcomes[&Kernel::Fill].wrong;
        assert_eq!(wrong.len(), 5);
        assert!(wrong.iter().all(|wrong| wrong.what.contains("the device is lost")), "{wrong:?}");
        assert!(wrong.iter().map(|wrong| wrong.origin).eq((3..8).map(Origin::Seed)));
    }

    #[test]
    fn where_there_is_no_device_nothing_is_run() {
        let none = || Err(Error::new("open", kvledger_cuda::Reason::NoDevice { count: 0 }));
        assert!(run(&settings(&[Kernel::Fill], 5), &none, &|_| {}).is_err());
    }
}
