//! Files that say something about this machine, below a root that a test can choose. Reading is bounded, and what is
//! not there, or not to be read, is nothing.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of a file that are read; the list of a machine with a thousand processors has about as many.
const BYTES_MAX: u64 = 2 << 20;

/// Files below a root.
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Those below `root`.
    pub fn below(root: impl Into<PathBuf>) -> Files {
        Files { root: root.into() }
    }

    /// The path of one.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path.as_ref().strip_prefix("/").unwrap_or(path.as_ref()))
    }

    /// What is in it, as bytes.
    pub fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let path = self.path(path);
        // A pipe, a folder or a device is none of these files, and opening one may wait for ever.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(path).ok()?.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// What is in it, as text.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes(path)?).into_owned())
    }

    /// Its first word.
    pub fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        Some(self.text(path)?.split_whitespace().next()?.to_string())
    }

    /// The value of the first line `key: value`, or `key=value`.
    pub fn value(&self, path: impl AsRef<Path>, key: &str) -> Option<String> {
        let text = self.text(path)?;
        let values = text.lines().filter_map(|line| line.split_once([':', '=']));
        let value = values.into_iter().find(|(name, _)| name.trim() == key)?.1;
        Some(value.trim().trim_matches('"').to_string())
    }

    /// Names in a folder, in order.
    pub fn names(&self, folder: impl AsRef<Path>) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(self.path(folder))
            .map(|entries| entries.flatten().map(|entry| entry.file_name()).collect())
            .unwrap_or_default();
        names.sort();
        names
    }
}

/// A folder of a test's own, removed when it is done.
#[cfg(test)]
pub(super) struct Root(pub(super) PathBuf);

#[cfg(test)]
impl Root {
    /// With these files in it.
    pub(super) fn with(files: &[(&str, &str)]) -> Root {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = Root(std::env::temp_dir().join(format!("kvledger-doctor-{}-{number}", std::process::id())));
        fs::create_dir_all(&root.0).expect("a folder");
        for (name, text) in files {
            let file = root.0.join(name);
            fs::create_dir_all(file.parent().expect("it is below the root")).expect("a folder");
            fs::write(file, text).expect("a file");
        }
        root
    }

    pub(super) fn files(&self) -> Files {
        Files::below(&self.0)
    }
}

#[cfg(test)]
impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_nothing() {
        let root = Root::with(&[("a/b", "first word\nkey : the value\nID=\"debian\"\n")]);
        let files = root.files();
        assert_eq!(files.word("/a/b").as_deref(), Some("first"));
        assert_eq!(files.value("a/b", "key").as_deref(), Some("the value"));
        assert_eq!(files.value("a/b", "ID").as_deref(), Some("debian"));
        assert_eq!((files.text("a"), files.text("none"), files.value("a/b", "other")), (None, None, None));
        assert_eq!((files.names("a"), files.names("none")), (vec!["b".into()], vec![]));
    }
}
