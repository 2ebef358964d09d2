//! The machine: what figures of `bench` and a good number of `--threads` depend on.

use super::check::{Check, Section, State};
use super::files::Files;
use super::limits::limits;
use crate::planning::Bytes;
use serde::Serialize;
use std::thread;

/// What is known of it. Nothing is what could not be found out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Machine {
    /// The operating system and its version.
    pub system: String,
    /// The model of the processor.
    pub cpu: Option<String>,
    /// Processors that the machine has.
    pub processors: Option<u64>,
    /// Cores that this process may use: affinity and limits of containers are counted in.
    pub cores: u64,
    /// Bytes of a page.
    pub page_bytes: Option<u64>,
    /// When memory is given in huge pages without being asked for: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// What the kernel reads the time from.
    pub clock_source: Option<String>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Memory that could be had now.
    pub memory_available_bytes: Option<u64>,
    /// Processor time that the control groups of this process leave it, in thousandths of a core.
    pub cpu_limit_millicores: Option<u64>,
    /// Memory that they leave it.
    pub memory_limit_bytes: Option<u64>,
    /// Threads that ran or wanted to, averaged over a minute.
    pub load: Option<f64>,
}

impl Machine {
    /// As files say.
    pub fn read(files: &Files) -> Machine {
        let memory = |key| Some(kib(&files.value("proc/meminfo", key)?)? * 1024);
        let limits = limits(files);
        let release = files.word("proc/sys/kernel/osrelease").unwrap_or_default();
        let processors = files.text("proc/cpuinfo").map(|text| {
            text.lines().filter(|line| line.split(':').next().is_some_and(|name| name.trim() == "processor")).count()
        });
        Machine {
            system: format!("{} {} {release}", std::env::consts::OS, std::env::consts::ARCH).trim().to_string(),
            cpu: files.value("proc/cpuinfo", "model name"),
            processors: processors.filter(|&count| count > 0).map(|count| count as u64),
            cores: thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
            page_bytes: files.bytes("proc/self/auxv").and_then(|bytes| page_bytes(&bytes)),
            huge_pages: files.text("sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
            clock_source: files.word("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            memory_bytes: memory("MemTotal"),
            memory_available_bytes: memory("MemAvailable"),
            cpu_limit_millicores: limits.cpu_millicores,
            memory_limit_bytes: limits.memory_bytes,
            load: files.word("proc/loadavg").and_then(|word| word.parse().ok()),
        }
    }

    /// The same, judged.
    pub fn checks(&self) -> Vec<Check> {
        let check = |name: &str, found: String| Check::new(Section::Machine, name, State::Ok, found);
        let cpu = self.cpu.as_deref().unwrap_or(std::env::consts::ARCH);
        let mut checks = vec![check("system", self.system.clone()), check("cpu", cpu.to_string()), self.cores()];
        checks.extend(self.memory());
        checks.extend(self.pages());
        checks.extend(self.clock());
        checks.extend(self.load());
        checks
    }

    fn cores(&self) -> Check {
        let mut found = format!("{} of {}", self.cores, self.processors.unwrap_or(self.cores));
        let limit = self.cpu_limit_millicores;
        if let Some(limit) = limit {
            found += &format!("; the container gets {}.{:03} cores of time", limit / 1_000, limit % 1_000);
        }
        // Threads that are stopped for the rest of a period are what a limit costs, also within whole cores.
        let is_noted = limit.is_some();
        if is_noted {
            found += ": threads beyond that are stopped in turn, and figures of bench suffer";
        }
        Check::new(Section::Machine, "cores", if is_noted { State::Note } else { State::Ok }, found)
    }

    fn memory(&self) -> Option<Check> {
        let total = self.memory_bytes?;
        let mut found = Bytes(total).to_string();
        if let Some(available) = self.memory_available_bytes {
            found += &format!(", {} available", Bytes(available));
        }
        let limit = self.memory_limit_bytes.filter(|&limit| limit < total);
        if let Some(limit) = limit {
            found += &format!("; the container may have {}", Bytes(limit));
        }
        let state = if limit.is_some() { State::Note } else { State::Ok };
        Some(Check::new(Section::Machine, "memory", state, found))
    }

    fn pages(&self) -> Option<Check> {
        let pages = self.page_bytes.map(|bytes| Bytes(bytes).to_string());
        let huge = self.huge_pages.as_ref().map(|when| format!("huge ones: {when}"));
        let found: Vec<String> = pages.into_iter().chain(huge).collect();
        (!found.is_empty()).then(|| Check::new(Section::Machine, "pages", State::Ok, found.join(", ")))
    }

    /// A clock that is not read in the process makes timing itself cost something.
    fn clock(&self) -> Option<Check> {
        let source = self.clock_source.as_deref()?;
        let is_quick = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"].contains(&source);
        let (state, found) = if is_quick {
            (State::Ok, source.to_string())
        } else {
            (State::Note, format!("{source}: reading it is slow, and short times of bench have it in them"))
        };
        Some(Check::new(Section::Machine, "clock", state, found))
    }

    fn load(&self) -> Option<Check> {
        let load = self.load?;
        let (state, found) = if load < QUIET {
            (State::Ok, format!("{load:.2}"))
        } else {
            let cores = self.cores;
            (State::Note, format!("{load:.2} on {cores} cores: other work is running, and figures of bench suffer"))
        };
        Some(Check::new(Section::Machine, "load", state, found))
    }
}

/// Below this load nothing else is worth mentioning.
const QUIET: f64 = 0.5;

/// `16384 kB`.
fn kib(value: &str) -> Option<u64> {
    let kib: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
    (kib < u64::MAX / 1024).then_some(kib)
}

/// The word in brackets.
fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_string())
}

/// The value of `AT_PAGESZ` in the auxiliary vector of a 64-bit process: pairs of words.
fn page_bytes(vector: &[u8]) -> Option<u64> {
    const AT_PAGESZ: u64 = 6;
    let words = vector.as_chunks().0.iter().map(|&bytes| u64::from_ne_bytes(bytes));
    let words: Vec<u64> = words.collect();
    let pairs = words.as_chunks::<2>().0;
    pairs.iter().find(|[key, _]| *key == AT_PAGESZ).map(|&[_, value]| value)
}

#[cfg(test)]
mod tests {
    use super::super::files::Root;
    use super::*;

    fn state(machine: &Machine, name: &str) -> (State, String) {
        let check = machine.checks().into_iter().find(|check| check.name == name).expect(name);
        (check.state, check.found)
    }

    #[test]
    fn a_machine_is_read_from_its_files() {
        let root = Root::with(&[
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: A: B\nflags: x\n\nprocessor\t: 1\nmodel name\t: A: B\n"),
            ("proc/meminfo", "MemTotal:       2097152 kB\nMemAvailable:   1048576 kB\n"),
            ("proc/loadavg", "1.25 0.5 0.1 1/2 3\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/memory.max", "1073741824\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
        ]);
        let machine = Machine::read(&root.files());
        assert_eq!((machine.cpu.as_deref(), machine.processors), (Some("A: B"), Some(2)));
        let (cores, said) = state(&machine, "cores");
        assert!(cores == State::Note && said.contains("1.500 cores"), "{said}");
        let memory = "2 GiB, 1 GiB available; the container may have 1 GiB";
        assert_eq!(state(&machine, "memory"), (State::Note, memory.to_string()));
        assert_eq!(state(&machine, "pages"), (State::Ok, "huge ones: madvise".to_string()));
        assert_eq!((state(&machine, "clock").0, state(&machine, "load").0), (State::Note, State::Note));
        let quiet = Machine { load: Some(0.1), clock_source: Some("tsc".to_string()), ..machine };
        assert_eq!((state(&quiet, "clock").0, state(&quiet, "load").0), (State::Ok, State::Ok));
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        let machine = Machine::read(&Files::below("/no/such/folder"));
        assert_eq!((machine.processors, machine.memory_bytes, machine.load), (None, None, None));
        let names: Vec<String> = machine.checks().into_iter().map(|check| check.name).collect();
        assert_eq!(names, ["system", "cpu", "cores"]);
        assert_eq!((kib("x kB"), kib(&format!("{} kB", u64::MAX)), chosen("none")), (None, None, None));
    }

    #[test]
    fn the_size_of_a_page_is_in_the_auxiliary_vector() {
        let words = [16_u64, 1, 6, 4096, 0, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!((page_bytes(&bytes), page_bytes(&bytes[..20])), (Some(4096), None));
    }
}
