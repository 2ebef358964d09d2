//! Which file a path means, whatever it is called: `.` and `..`, links of both kinds, and files that are not there yet.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// As many links as systems follow before they give up.
const LINKS_MAX: usize = 40;

/// What would be written to.
#[derive(Debug)]
pub(super) enum Target {
    /// `-`.
    StandardOutput,
    /// A file that is there, and that writing would empty.
    There(File),
    /// Where a file would be made.
    New(PathBuf),
    /// A device, a pipe or a folder: writing empties nothing. Two outputs may go to `/dev/null`.
    NoFile,
}

/// A regular file that is there.
#[derive(Debug)]
pub(super) struct File {
    real: PathBuf,
    metadata: Metadata,
}

impl Target {
    /// What `path` means.
    pub(super) fn of(path: &Path) -> Target {
        if path == Path::new("-") {
            return Target::StandardOutput;
        }
        if path.exists() { File::at(path).map_or(Target::NoFile, Target::There) } else { Target::New(place(path)) }
    }

    /// Whether writing to both would leave one of the two only.
    pub(super) fn is_same(&self, other: &Target) -> bool {
        match (self, other) {
            (Target::StandardOutput, Target::StandardOutput) => true,
            (Target::There(file), Target::There(other)) => file.is_same(other),
            (Target::New(place), Target::New(other)) => place == other,
            _ => false,
        }
    }
}

impl File {
    fn at(path: &Path) -> Option<File> {
        let (real, metadata) = (path.canonicalize().ok()?, fs::metadata(path).ok()?);
        metadata.is_file().then_some(File { real, metadata })
    }

    /// Whether the file is `input`, or in the folder that `input` is. `-` is what standard input comes from.
    pub(super) fn is_of(&self, input: &Path) -> bool {
        let input = if input == Path::new("-") { Path::new("/dev/stdin") } else { input };
        if input.canonicalize().is_ok_and(|input| self.real.starts_with(input)) {
            return true;
        }
        let is_self = |path: &Path| File::at(path).is_some_and(|other| self.is_same(&other));
        match fs::read_dir(input) {
            // By another name in that folder.
            Ok(entries) if self.has_other_names() => entries.flatten().any(|entry| is_self(&entry.path())),
            Ok(_) => false,
            Err(_) => is_self(input),
        }
    }

    fn is_same(&self, other: &File) -> bool {
        self.real == other.real || self.is_same_inode(other)
    }

    #[cfg(unix)]
    fn is_same_inode(&self, other: &File) -> bool {
        use std::os::unix::fs::MetadataExt;
        (self.metadata.dev(), self.metadata.ino()) == (other.metadata.dev(), other.metadata.ino())
    }

    #[cfg(unix)]
    fn has_other_names(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        self.metadata.nlink() > 1
    }

    // Elsewhere a file is known by its path alone.
    #[cfg(not(unix))]
    fn is_same_inode(&self, _other: &File) -> bool {
        false
    }

    #[cfg(not(unix))]
    fn has_other_names(&self) -> bool {
        self.metadata.is_dir()
    }
}

/// Where a file that is not there would be: its real folder, and its name. A link that leads nowhere is followed, because
/// writing follows it.
fn place(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let Ok(to) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(to);
    }
    match (folder_of(&path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}
