//! What there is to compile: every `.cu` of the kernels, and every `.cc` of the CPU device.

use std::fs;
use std::path::{Path, PathBuf};

pub struct Sources {
    /// `cuda/kernels/*.cu`: for both devices.
    pub kernels: Vec<PathBuf>,
    /// `cuda/cpu/*.cc`: what runs them on a CPU.
    pub executor: Vec<PathBuf>,
}

impl Sources {
    /// In the order of their names, so that two builds do the same.
    pub fn find() -> Result<Sources, String> {
        Ok(Sources { kernels: files("cuda/kernels", "cu")?, executor: files("cuda/cpu", "cc")? })
    }
}

/// Cargo looks for changes below the folder, so for new files too.
fn files(folder: &str, extension: &str) -> Result<Vec<PathBuf>, String> {
    println!("cargo::rerun-if-changed={folder}");
    if !Path::new(folder).is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(|error| format!("{folder}: {error}")));
    let mut files = paths.collect::<Result<Vec<PathBuf>, String>>()?;
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    Ok(files)
}
