//! What a container may use: the control groups of this process, of both versions. A limit of any group above counts.

use super::files::Files;
use std::path::{Component, Path, PathBuf};

/// What the groups of this process leave it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Thousandths of a core.
    pub cpu_millicores: Option<u64>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
}

/// Where the groups of version 2 are mounted: alone, or beside version 1.
const UNIFIED: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];
/// Version 1 says "no limit" with the largest whole number of pages.
const NO_LIMIT: u64 = 1 << 62;

/// The smallest limits that hold for this process.
pub fn limits(files: &Files) -> Limits {
    let groups = files.text("proc/self/cgroup").unwrap_or_default();
    let mut found = Limits::default();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next()) else { continue };
        if controllers.is_empty() {
            for folder in UNIFIED.iter().flat_map(|mount| upwards(mount, group)) {
                lower(&mut found.cpu_millicores, files.text(folder.join("cpu.max")).as_deref().and_then(share));
                lower(&mut found.memory_bytes, whole(files, &folder.join("memory.max")));
            }
        }
        if controllers.split(',').any(|name| name == "cpu") {
            for folder in upwards("sys/fs/cgroup/cpu", group) {
                let number = |name| files.word(folder.join(name));
                let (quota, period) = (number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"));
                lower(&mut found.cpu_millicores, quota.zip(period).and_then(|(q, p)| share(&format!("{q} {p}"))));
            }
        }
        if controllers.split(',').any(|name| name == "memory") {
            for folder in upwards("sys/fs/cgroup/memory", group) {
                let limit = whole(files, &folder.join("memory.limit_in_bytes"));
                lower(&mut found.memory_bytes, limit.filter(|&bytes| bytes < NO_LIMIT));
            }
        }
    }
    found
}

fn lower(least: &mut Option<u64>, found: Option<u64>) {
    *least = least.iter().copied().chain(found).min();
}

/// The folder of a group and all above it. Inside a container the group's path may not be there, the mount's root is.
fn upwards(mount: &str, group: &str) -> Vec<PathBuf> {
    let names: PathBuf = Path::new(group).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    names.ancestors().map(|above| Path::new(mount).join(above)).collect()
}

fn whole(files: &Files, path: &Path) -> Option<u64> {
    files.word(path)?.parse().ok()
}

/// `quota period` in thousandths; `max` and −1 are no quota.
fn share(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let (quota, period): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    u64::try_from((u128::from(quota) * 1_000).checked_div(period.into())?).ok()
}

#[cfg(test)]
mod tests {
    use super::super::files::Root;
    use super::*;

    #[test]
    fn the_smallest_limit_above_counts() {
        let root = Root::with(&[
            ("proc/self/cgroup", "0::/pod/one\n"),
            ("sys/fs/cgroup/pod/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/pod/one/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/pod/memory.max", "max\n"),
            ("sys/fs/cgroup/pod/one/memory.max", "1073741824\n"),
        ]);
        let found = limits(&root.files());
        assert_eq!(found, Limits { cpu_millicores: Some(1_500), memory_bytes: Some(1 << 30) });
    }

    #[test]
    fn version_1_says_no_limit_in_its_own_way() {
        let groups = "4:memory:/docker/x\n1:cpu,cpuacct:/docker/x\n";
        let none = Root::with(&[
            ("proc/self/cgroup", groups),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(limits(&none.files()), Limits::default());
        let some = Root::with(&[
            ("proc/self/cgroup", groups),
            ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n"),
        ]);
        let found = limits(&some.files());
        assert_eq!(found, Limits { cpu_millicores: Some(500), memory_bytes: Some(4096) });
    }

    #[test]
    fn nonsense_is_no_limit() {
        let root = Root::with(&[
            ("proc/self/cgroup", "nonsense\n0::/../..\n::\n"),
            ("sys/fs/cgroup/cpu.max", "1 0\n"),
            ("sys/fs/cgroup/memory.max", "-3\n"),
        ]);
        assert_eq!(limits(&root.files()), Limits::default());
        assert_eq!(limits(&Files::below("/no/such/folder")), Limits::default());
    }
}
