//! Where `nvcc` is, if anywhere. Searched in this order: folders named by variables, the compiler named by `NVCC`, the
//! project's own `.cuda-venv`, `PATH`, Python's site-packages, the default folder of the toolkit's installer.
//!
//! The root build script looks with it, and `kvledger doctor` says with it where a build would look.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables that name the toolkit's folder, the most particular first.
const HOMES: [&str; 4] = ["KVL_CUDA_HOME", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"];
const DEFAULT_FOLDER: &str = "/usr/local/cuda";
/// Where the runtime library may be below the toolkit's folder.
const LIBRARY_FOLDERS: [&str; 4] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
const RUNTIME: &str = "libcudart_static.a";

/// A CUDA toolkit: a compiler, and the folder of its static runtime.
pub struct Toolkit {
    pub nvcc: PathBuf,
    pub libraries: PathBuf,
}

/// A place to look at: what it is called, and the folder that it stands for, if it stands for one here.
pub type Place = (&'static str, Option<PathBuf>);

impl Toolkit {
    /// The first that has both.
    pub fn find(manifest: &Path) -> Option<Toolkit> {
        places(manifest, site_packages).find_map(|(_, root)| root.and_then(Toolkit::at))
    }

    /// The one in this folder, if it has both.
    pub fn at(root: PathBuf) -> Option<Toolkit> {
        let nvcc = root.join("bin/nvcc");
        let libraries = LIBRARY_FOLDERS.iter().map(|folder| root.join(folder));
        let libraries = libraries.into_iter().find(|folder| folder.join(RUNTIME).is_file())?;
        nvcc.is_file().then_some(Toolkit { nvcc, libraries })
    }

    /// What the search depends on: cargo asks again when one of these changes.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        HOMES.into_iter().chain(["NVCC", "PATH"])
    }
}

/// Every place in the order of the search. `site_packages` is asked only by who comes as far as that.
pub fn places(manifest: &Path, site_packages: impl FnOnce() -> Option<PathBuf>) -> impl Iterator<Item = Place> {
    let named = HOMES.map(|name| (name, env::var_os(name).map(PathBuf::from)));
    let own = [".cuda-venv/cuda", "../../.cuda-venv/cuda"].map(|own| (own, Some(manifest.join(own))));
    let nvcc = env::var_os("NVCC").and_then(|nvcc| root_of(Path::new(&nvcc)));
    let early = named.into_iter().chain([("NVCC", nvcc)]).chain(own).chain([("PATH", on_path())]);
    let python = std::iter::once_with(move || ("Python's site-packages", site_packages()));
    // Last, so that asking for another one never needs this one gone.
    early.chain(python).chain([(DEFAULT_FOLDER, Some(PathBuf::from(DEFAULT_FOLDER)))])
}

/// The toolkit's folder is two above its compiler.
fn root_of(nvcc: &Path) -> Option<PathBuf> {
    Some(nvcc.canonicalize().ok()?.parent()?.parent()?.to_path_buf())
}

fn on_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join("nvcc"))
        .find(|nvcc| nvcc.is_file())
        .and_then(|nvcc| root_of(&nvcc))
}

/// What Python prints for [`in_site_packages`].
pub const SITE_PACKAGES: &str = "import sysconfig; print(sysconfig.get_paths()['purelib'])";

/// The wheels of the package index unpack here, below what Python prints.
pub fn in_site_packages(printed: &str) -> PathBuf {
    Path::new(printed.trim()).join("nvidia/cu13")
}

fn site_packages() -> Option<PathBuf> {
    let output = Command::new("python3").args(["-c", SITE_PACKAGES]).output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| in_site_packages(&folder))
}
