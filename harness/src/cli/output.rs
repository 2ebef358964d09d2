//! Where results go: standard output, and the file of `--json`.

use super::Stop;
use serde::Serialize;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

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

/// Refuses to write figures over a trace that was named.
pub fn is_no_input(json: Option<&Path>, inputs: &[PathBuf]) -> Result<(), Stop> {
    let Some((file, real)) = json.and_then(|file| Some((file, file.canonicalize().ok()?))) else { return Ok(()) };
    match inputs.iter().find(|input| input.canonicalize().is_ok_and(|input| real.starts_with(input))) {
        None => Ok(()),
        Some(input) => Err(Stop::Usage(format!(
            "--json {}: that would overwrite the trace {}; give another file",
            file.display(),
            input.display()
        ))),
    }
}
