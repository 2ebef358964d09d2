//! The CUDA toolkit, by the search of the root build script; the driver and the devices, by the files that they leave.
//! No library is opened and no device touched: this says that kernels could be compiled, and could be tried.

use super::check::{Check, Need, Section, State};
use super::files::Files;
use super::system::Packages;
use super::tool::{Finder, Said, line};
use std::env;
use std::path::{Path, PathBuf};

#[path = "../../../cuda/build/toolkit.rs"]
#[allow(dead_code, reason = "the build script needs more of it")]
mod toolkit;

use toolkit::Toolkit;

/// Folders that the loader looks in besides `LD_LIBRARY_PATH`: Debian's, Fedora's, and that of WSL.
const LIBRARY_FOLDERS: [&str; 7] = [
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "lib64",
    "usr/local/nvidia/lib64",
    "usr/lib/wsl/lib",
];
const DRIVER_LIBRARY: &str = "libcuda.so.1";
/// The stage that fetches a compiler.
const FETCH: &str = ".ci/run cuda   # pinned in cuda/requirements.txt, about 300 MB, no installer";

/// All that is to be said about CUDA.
pub fn cuda(files: &Files, finder: &Finder, packages: Packages) -> Vec<Check> {
    vec![compiler(finder), library(files, packages), module(files, packages), devices(files)]
}

fn check(name: &str, state: State, found: impl Into<String>) -> Check {
    Check::new(Section::Cuda, name, state, found)
}

/// The toolkit that a build of these sources would use.
fn compiler(finder: &Finder) -> Check {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/"));
    let mut passed = Vec::new();
    for (name, folder) in toolkit::places(root, || site_packages(finder)) {
        match folder.clone().and_then(Toolkit::at) {
            Some(toolkit) => return found(finder, name, &toolkit.nvcc),
            None => passed.push((name, folder)),
        }
    }
    let check = check("nvcc", State::Missing, "no toolkit: kernels are compiled for the CPU device only");
    Check { details: looked_at(&passed), ..check }.needed_for(&[Need::Cuda]).mended_by(FETCH)
}

fn found(finder: &Finder, place: &str, nvcc: &Path) -> Check {
    let (state, text) = match finder.ask(nvcc, &["--version"]) {
        Said::Text(text) => (State::Ok, format!("{} (by {place})", release(&text))),
        Said::Nothing(why) => (State::Unusable, format!("{why} (by {place})")),
    };
    let is_off = env::var_os("KVL_CUDA").is_some_and(|value| value == "off");
    let (state, text) =
        if is_off { (State::Unusable, format!("{text}; KVL_CUDA=off leaves it alone")) } else { (state, text) };
    Check { at: Some(nvcc.to_path_buf()), ..check("nvcc", state, text) }
        .needed_for(&[Need::Cuda])
        .mended_by(if is_off { "unset KVL_CUDA" } else { FETCH })
}

/// The line of `nvcc --version` that has the version.
fn release(text: &str) -> String {
    let release = text.lines().find(|line| line.contains("release"));
    line(release.unwrap_or(text)).unwrap_or_default()
}

/// The folder that Python keeps packages in.
fn site_packages(finder: &Finder) -> Option<PathBuf> {
    match finder.ask(&finder.find("python3")?, &["-c", toolkit::SITE_PACKAGES]) {
        Said::Text(text) => Some(toolkit::in_site_packages(&text)),
        Said::Nothing(_) => None,
    }
}

/// Places without a toolkit: a line for each that names a folder, and one for those that name none.
fn looked_at(places: &[(&str, Option<PathBuf>)]) -> Vec<String> {
    let none: Vec<&str> = places.iter().filter(|(_, folder)| folder.is_none()).map(|(name, _)| *name).collect();
    let none = (!none.is_empty()).then(|| format!("not set, or without nvcc: {}", none.join(", ")));
    let named = places.iter().filter_map(|(name, folder)| Some((name, folder.as_ref()?)));
    let named = named.map(|(name, folder)| {
        let what = if !folder.is_dir() {
            "not there"
        } else if folder.join("bin/nvcc").is_file() {
            "no libcudart_static.a"
        } else {
            "no bin/nvcc"
        };
        // Variables and Python need their name beside the folder; the others are folders.
        let folder = folder.display();
        if name.contains('/') && !name.contains(' ') {
            format!("{folder}: {what}")
        } else {
            format!("{name}, {folder}: {what}")
        }
    });
    none.into_iter().chain(named).collect()
}

/// The driver's library, which programs open when they first use a device.
fn library(files: &Files, packages: Packages) -> Check {
    let named = env::var_os("LD_LIBRARY_PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    library_in(files, named, packages)
}

fn library_in(files: &Files, named: Vec<PathBuf>, packages: Packages) -> Check {
    let usual = LIBRARY_FOLDERS.map(|folder| files.path(folder));
    let mut all = named.into_iter().filter(|folder| folder.is_absolute()).chain(usual);
    let check = match all.find_map(|folder| Some(folder.join(DRIVER_LIBRARY)).filter(|file| file.is_file())) {
        Some(at) => Check { at: Some(at), ..check(DRIVER_LIBRARY, State::Ok, "seen, not opened") },
        None => check(DRIVER_LIBRARY, State::Missing, "in no folder of the loader: kernels for CUDA cannot run"),
    };
    check.needed_for(&[Need::Gpu]).mended_by(driver(packages))
}

fn driver(packages: Packages) -> String {
    packages.install("nvidia-driver", "akmod-nvidia")
}

/// The driver in the kernel.
fn module(files: &Files, packages: Packages) -> Check {
    let version = files.text("proc/driver/nvidia/version").and_then(|text| line(&text));
    let check = match version {
        Some(version) => check("driver", State::Ok, version.trim_start_matches("NVRM version:").trim()),
        None => check("driver", State::Missing, "no /proc/driver/nvidia/version"),
    };
    check.needed_for(&[Need::Gpu]).mended_by(driver(packages))
}

/// Nodes of devices, which a container gets by being given them; and the models, which are those of the whole machine.
fn devices(files: &Files) -> Check {
    let is_node = |name: &str| name.strip_prefix("nvidia").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let nodes = files.names("dev").iter().filter(|name| name.to_str().is_some_and(is_node)).count();
    let model = |gpu| files.value(Path::new("proc/driver/nvidia/gpus").join(gpu).join("information"), "Model");
    let mut models: Vec<String> = files.names("proc/driver/nvidia/gpus").into_iter().filter_map(model).collect();
    models.dedup();
    let check = if nodes == 0 {
        check("devices", State::Missing, "no /dev/nvidia0, /dev/nvidia1 ...")
    } else {
        let of = if models.is_empty() { String::new() } else { format!(": {}", models.join(", ")) };
        check("devices", State::Ok, format!("{nodes}{of}"))
    };
    check.needed_for(&[Need::Gpu]).mended_by("docker run --gpus all ...   # in a container; else modprobe nvidia")
}

#[cfg(test)]
mod tests {
    use super::super::files::Root;
    use super::*;

    #[test]
    fn a_driver_and_its_devices_are_seen_by_their_files() {
        let root = Root::with(&[
            ("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Module  580.1\nGCC version: x\n"),
            ("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA X9\nIRQ: 1\n"),
            ("proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: \t\t NVIDIA X9\n"),
            ("dev/nvidia0", ""),
            ("dev/nvidia11", ""),
            ("dev/nvidiactl", ""),
            ("usr/lib64/libcuda.so.1", ""),
        ]);
        let files = root.files();
        let found = [module(&files, Packages::Apt), devices(&files), library_in(&files, Vec::new(), Packages::Apt)];
        assert!(found.iter().all(|check| check.is_usable() && check.mend.is_none()), "{found:?}");
        assert_eq!((found[0].found.as_str(), found[1].found.as_str()), ("NVIDIA UNIX Module  580.1", "2: NVIDIA X9"));
        assert!(found[2].at.as_ref().is_some_and(|at| at.ends_with("usr/lib64/libcuda.so.1")), "{found:?}");
    }

    #[test]
    fn without_them_each_has_a_mend() {
        let root = Root::with(&[("dev/null", "")]);
        let files = root.files();
        for check in [module(&files, Packages::Dnf), devices(&files), library_in(&files, Vec::new(), Packages::Dnf)] {
            assert_eq!((check.state, check.needed_for.as_slice()), (State::Missing, &[Need::Gpu][..]), "{check:?}");
            assert!(check.mend.is_some(), "{check:?}");
        }
        let named = Root::with(&[("here/libcuda.so.1", "")]);
        assert!(library_in(&files, vec![named.0.join("here")], Packages::Dnf).is_usable());
    }

    #[test]
    fn places_say_what_they_lack() {
        let root = Root::with(&[("bin/nvcc", ""), ("empty/x", "")]);
        let places = [
            ("A", None),
            ("B", Some(root.0.clone())),
            ("C", Some(root.0.join("empty"))),
            ("D", Some(root.0.join("none"))),
            ("E", None),
        ];
        let said = looked_at(&places);
        assert_eq!(said[0], "not set, or without nvcc: A, E");
        let ends = ["no libcudart_static.a", "no bin/nvcc", "not there"];
        assert!(said.len() == 4 && said[1..].iter().zip(ends).all(|(line, end)| line.ends_with(end)), "{said:?}");
    }

    #[test]
    fn the_version_is_in_one_of_the_lines() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\nBuild x\n";
        assert_eq!(release(text), "Cuda compilation tools, release 13.0, V13.0.88");
        assert_eq!(release("\nother\n"), "other");
    }
}
