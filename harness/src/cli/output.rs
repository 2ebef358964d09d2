//! Where results go: standard output, and the file of `--json`.

use super::Stop;
use serde::Serialize;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// To standard output, at once. Who stops reading early, as `head` does, has had enough.
pub fn write_out(text: &str) -> Result<(), Stop> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Stop::Usage(format!("standard output: {error}"))),
        _ => Ok(()),
    }
}

/// `document` as JSON to `file`; `-` is standard output.
pub fn write_json(file: &Path, document: &impl Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string_pretty(document).map_err(|error| Stop::Usage(error.to_string()))? + "\n";
    if file == Path::new("-") {
        return write_out(&text);
    }
    fs::write(file, text).map_err(|error| {
        let mend = "give a file in a folder that is there";
        Stop::Usage(format!("--json {}: cannot be written: {error}; {mend}", file.display()))
    })
}
