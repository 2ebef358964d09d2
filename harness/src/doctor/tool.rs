//! Whether a program is there, and what it says of its version. Nothing is run but to ask that, each program has a limit
//! of time, and what it prints is cut to a line without control characters before anybody sees it.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes that a program is listened to.
const BYTES_MAX: u64 = 64 << 10;
/// Most characters of a version.
const CHARACTERS_MAX: usize = 100;
/// Between two looks at whether a program is done.
const PATIENCE: Duration = Duration::from_millis(5);
/// After a program is done: what it printed is in the pipe, unless a child of its own keeps that open.
const DRAINING: Duration = Duration::from_millis(200);

/// Where programs are looked for, and how long each may take.
#[derive(Clone, Debug)]
pub struct Finder {
    folders: Vec<PathBuf>,
    limit: Duration,
}

/// What a program said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// It succeeded, and printed this.
    Text(String),
    /// It did not: why.
    Nothing(String),
}

impl Finder {
    /// In the folders of `PATH`. Relative ones are left out: what they name depends on where one stands.
    pub fn in_path(limit: Duration) -> Finder {
        let folders = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        Finder::in_folders(folders, limit)
    }

    fn in_folders(mut folders: Vec<PathBuf>, limit: Duration) -> Finder {
        folders.retain(|folder| folder.is_absolute());
        Finder { folders, limit }
    }

    /// The first program of this name. A name with a folder in it is that file.
    pub fn find(&self, name: impl AsRef<OsStr>) -> Option<PathBuf> {
        let name = Path::new(name.as_ref());
        if name.is_absolute() {
            return is_program(name).then(|| name.to_path_buf());
        }
        self.folders.iter().map(|folder| folder.join(name)).find(|file| is_program(file))
    }

    /// Runs `program` with `args`, without input, and returns what it prints: to standard output, else to standard error.
    /// At the limit it is killed; children of its own are not waited for.
    pub fn ask(&self, program: &Path, args: &[&str]) -> Said {
        match self.output(program, args) {
            Ok(text) if text.trim().is_empty() => Said::Nothing("prints nothing".to_string()),
            Ok(text) => Said::Text(text),
            Err(why) => Said::Nothing(why),
        }
    }

    fn output(&self, program: &Path, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new(program);
        // In the root, so that no file of the folder one stands in (`.python-version`, `rust-toolchain.toml`) decides
        // what is asked; and so that asking for a version never downloads a toolchain.
        command.args(args).current_dir("/").env("LC_ALL", "C").env("RUSTUP_AUTO_INSTALL", "0");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("does not start: {error}"))?;
        let (out, error) = (child.stdout.take().map(listen), child.stderr.take().map(listen));
        let until = Instant::now() + self.limit;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < until => thread::sleep(PATIENCE),
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("did not answer within {} s", self.limit.as_secs()));
                }
            }
        };
        let text = |said: Option<Receiver<String>>| said.and_then(|said| said.recv_timeout(DRAINING).ok());
        let (out, error) = (text(out).unwrap_or_default(), text(error).unwrap_or_default());
        if status.success() {
            return Ok(if out.trim().is_empty() { error } else { out });
        }
        let how =
            status.code().map_or_else(|| "is killed by a signal".to_string(), |code| format!("fails with {code}"));
        Err(match line(&error) {
            Some(line) => format!("{how}: {line}"),
            None => how,
        })
    }
}

/// Reads in a thread of its own, which ends when nobody can write any more.
fn listen(mut from: impl Read + Send + 'static) -> Receiver<String> {
    let (give, take) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.by_ref().take(BYTES_MAX).read_to_end(&mut bytes);
        // Whoever asked may have given up.
        let _ = give.send(String::from_utf8_lossy(&bytes).into_owned());
        // The rest is let go by: a program that cannot write any more would fail for that.
        let _ = io::copy(&mut from, &mut io::sink());
    });
    take
}

/// The first line with something on it, fit to be shown.
pub fn line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(CHARACTERS_MAX).collect())
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Said {
        Finder::in_folders(Vec::new(), limit).ask(Path::new("/bin/sh"), &["-c", script])
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn standard_output_comes_first() {
        assert_eq!(shell("echo out; echo error >&2", LONG), Said::Text("out\n".to_string()));
        assert_eq!(shell("echo error >&2", LONG), Said::Text("error\n".to_string()));
        assert_eq!(shell("true", LONG), Said::Nothing("prints nothing".to_string()));
    }

    #[test]
    fn failures_say_how() {
        assert_eq!(shell("echo no >&2; exit 3", LONG), Said::Nothing("fails with 3: no".to_string()));
        assert_eq!(shell("kill -9 $$", LONG), Said::Nothing("is killed by a signal".to_string()));
        let hangs = shell("while :; do sleep 1; done", Duration::from_secs(1));
        assert_eq!(hangs, Said::Nothing("did not answer within 1 s".to_string()));
        let finder = Finder::in_folders(Vec::new(), LONG);
        let Said::Nothing(why) = finder.ask(Path::new("/no/such/program"), &[]) else { panic!("it is not there") };
        assert!(why.starts_with("does not start: "), "{why}");
    }

    #[test]
    fn more_than_is_listened_to_is_no_reason_to_wait() {
        assert!(matches!(shell("yes | head -c 1000000", LONG), Said::Text(text) if text.len() == 64 << 10));
    }

    #[test]
    fn programs_are_found_by_absolute_folders_only() {
        let finder = Finder::in_folders(vec!["".into(), ".".into(), "bin".into(), "/bin".into()], LONG);
        assert_eq!(finder.find("sh"), Some("/bin/sh".into()));
        assert_eq!(finder.find("/bin/sh"), Some("/bin/sh".into()));
        assert_eq!((finder.find("no such program"), finder.find("/bin"), finder.find("")), (None, None, None));
    }

    #[test]
    fn a_line_is_fit_for_a_terminal() {
        assert_eq!(line("\n  \u{1b}[31mred\u{7}\r\nmore").as_deref(), Some("[31mred"));
        assert_eq!((line(""), line(" \n")), (None, None));
        assert_eq!(line(&"x".repeat(1_000)).map(|line| line.len()), Some(CHARACTERS_MAX));
    }
}
