//! Compilers that run side by side, and only for what has changed: instances of attention take a minute each.
//!
//! A unit is one source and its object. Beside the object lie the command that made it, what it read (`-MD`), and what the
//! compiler had to say, which is said again while the object stays.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;
use std::time::SystemTime;

/// Lines of a compiler that are shown when it fails.
const SAID_MAX: usize = 100;

/// One source to compile.
pub struct Unit {
    pub source: PathBuf,
    pub object: PathBuf,
    /// The compiler and its flags, less the source, the object and what it reads.
    pub compiler: PathBuf,
    pub flags: Vec<OsString>,
}

/// Brings all objects up to date, as many at once as cargo may run jobs. All are tried, so that one build says all that is
/// wrong.
pub fn compile(units: &[Unit]) -> Result<Vec<PathBuf>, String> {
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let work = Mutex::new(units.iter());
    let done = Mutex::new(Vec::new());
    let next = || work.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..units.len().min(jobs) {
            scope.spawn(|| {
                while let Some(unit) = next() {
                    let result = unit.bring_up_to_date();
                    if let Ok(mut done) = done.lock() {
                        done.push((&unit.source, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().map_err(|_| "a thread of the build has panicked")?;
    done.sort();
    let mut failed = Vec::new();
    for (_, result) in done {
        match result {
            Ok(said) => {
                said.lines().filter(|line| line.contains("warning")).for_each(|line| println!("cargo::warning={line}"))
            }
            Err(wrong) => failed.push(wrong),
        }
    }
    // A compiler that does not start says so of each.
    failed.dedup();
    if failed.is_empty() { Ok(units.iter().map(|unit| unit.object.clone()).collect()) } else { Err(failed.join("; ")) }
}

impl Unit {
    /// What the compiler said.
    fn bring_up_to_date(&self) -> Result<String, String> {
        let command = self.line();
        if let Some(said) = self.fresh(&command) {
            return Ok(said);
        }
        let _ = fs::remove_file(self.beside("command"));
        let mut compiler = Command::new(&self.compiler);
        compiler.args(&self.flags).arg("-MD").arg("-MF").arg(self.beside("d"));
        let output = compiler.arg("-c").arg(&self.source).arg("-o").arg(&self.object).output();
        let output = output.map_err(|error| format!("{}: {error}", self.compiler.display()))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        self.succeeded(&output, &said)?;
        let write = |extension, text: &str| {
            fs::write(self.beside(extension), text).map_err(|error| format!("{}: {error}", self.object.display()))
        };
        write("said", &said)?;
        // Last: with it the object is complete.
        write("command", &command)?;
        Ok(said)
    }

    fn succeeded(&self, output: &Output, said: &str) -> Result<(), String> {
        if output.status.success() {
            return Ok(());
        }
        // Cargo shows nothing else of a build script.
        for line in said.lines().take(SAID_MAX) {
            println!("cargo::error={line}");
        }
        let (source, compiler) = (self.source.display(), self.compiler.display());
        Err(format!("{source} did not compile with {compiler}: {}", output.status))
    }

    fn line(&self) -> String {
        format!("{} {:?}", self.compiler.display(), self.flags)
    }

    /// What was said when the object was made, if it is what would be made now.
    fn fresh(&self, command: &str) -> Option<String> {
        if fs::read_to_string(self.beside("command")).ok()? != command {
            return None;
        }
        let made = modified(&self.object)?;
        let reads = fs::read_to_string(self.beside("d")).ok()?;
        let (_, reads) = reads.split_once(": ")?;
        let mut reads = reads.split_ascii_whitespace().filter(|word| *word != "\\");
        // A name with a space is not found, and so is made anew.
        let is_older = |file: &str| modified(Path::new(file)).is_some_and(|changed| changed < made);
        let is_fresh = modified(&self.compiler).is_none_or(|changed| changed < made) && reads.all(is_older);
        if is_fresh { fs::read_to_string(self.beside("said")).ok() } else { None }
    }

    fn beside(&self, extension: &str) -> PathBuf {
        self.object.with_extension(extension)
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}
