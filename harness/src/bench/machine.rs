//! Where and when a figure was taken: a number without this is not a number.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// What stands above the figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Of the processor.
    pub model: String,
    /// Cores that this process may use.
    pub cores: u32,
    /// The kernel.
    pub system: String,
    /// Load average of the last minute when the run began: other work that the figures suffer from.
    pub load: String,
    /// The commit that this command was built of, if that was known (of release builds), and whether sources were changed.
    pub commit: Option<String>,
    /// The command line.
    pub command: String,
    /// Of the run, UTC.
    pub date: String,
}

impl Machine {
    /// This one.
    pub fn here() -> Machine {
        let command: Vec<String> = std::env::args().skip(1).map(without_folder).collect();
        Machine {
            model: cpu_model().unwrap_or_else(|| std::env::consts::ARCH.to_string()),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            system: system(),
            load: first_word("/proc/loadavg"),
            commit: Some(env!("KVL_BUILT_COMMIT").to_string()).filter(|commit| !commit.is_empty()),
            command: format!("kvledger {}", command.join(" ")),
            date: date(SystemTime::now()),
        }
    }

    /// The commit in words. Older files have a `+` for changes.
    pub fn commit(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or("unknown");
        commit
            .strip_suffix('+')
            .map_or_else(|| commit.to_string(), |commit| format!("{commit} with uncommitted changes"))
    }

    /// Whether other work was running when the run began.
    pub fn is_disturbed(&self) -> bool {
        self.load.parse::<f64>().is_ok_and(|load| load >= 1.0)
    }
}

/// An argument as it would be given in the folder of the file that it names: where that is matters to nobody else.
fn without_folder(argument: String) -> String {
    let path = Path::new(&argument);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && folder.is_dir());
    let name = folder.and(path.file_name()).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or(argument)
}

fn first_word(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_string()
}

fn system() -> String {
    format!("{} {}", std::env::consts::OS, first_word("/proc/sys/kernel/osrelease"))
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// `YYYY-MM-DD HH:MM`, UTC.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, minutes) = (seconds / 86_400, seconds % 86_400 / 60);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

/// Year, month and day of a day since 1970-01-01, by counting.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_command_names_files_without_their_folders() {
        let folder = std::env::temp_dir();
        assert_eq!(without_folder(folder.join("f.json").display().to_string()), "f.json");
        for argument in ["--json", "1/4", "f.json", "17,145"] {
            assert_eq!(without_folder(argument.to_string()), argument);
        }
    }

    #[test]
    fn dates_are_civil() {
        let at = |seconds| date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00");
        assert_eq!(at(951_782_399), "2000-02-28 23:59");
        assert_eq!(at(951_782_400), "2000-02-29 00:00");
        assert_eq!(at(1_735_689_599), "2024-12-31 23:59");
        assert_eq!(at(4_107_542_400), "2100-03-01 00:00");
    }
}
