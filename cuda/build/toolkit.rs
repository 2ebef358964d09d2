//! Where `nvcc` is, if anywhere. Searched in this order: folders named by variables, the compiler named by `NVCC`, the
//! project's own `.cuda-venv`, `PATH`, Python's site-packages, the default folder of the toolkit's installer.

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

impl Toolkit {
    /// The first that has both.
    pub fn find(manifest: &Path) -> Option<Toolkit> {
        let named = HOMES.iter().filter_map(env::var_os).map(PathBuf::from);
        let nvcc = env::var_os("NVCC").and_then(|nvcc| root_of(Path::new(&nvcc)));
        let own = [manifest.join(".cuda-venv/cuda"), manifest.join("../../.cuda-venv/cuda")];
        let mut early = named.chain(nvcc).chain(own).chain(on_path());
        early.find_map(Toolkit::at).or_else(|| site_packages().and_then(Toolkit::at)).or_else(|| {
            // Last, so that asking for another one never needs this one gone.
            Toolkit::at(PathBuf::from(DEFAULT_FOLDER))
        })
    }

    fn at(root: PathBuf) -> Option<Toolkit> {
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

/// The wheels of the package index unpack here.
fn site_packages() -> Option<PathBuf> {
    let script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| Path::new(folder.trim()).join("nvidia/cu13"))
}
