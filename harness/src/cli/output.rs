//! Where results go: standard output, and the files of flags such as `--json`.

use super::Stop;
use super::target::Target;
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
    write_file("--json", file, &text)
}

/// `text` to the `file` that `flag` named; `-` is standard output.
pub fn write_file(flag: &str, file: &Path, text: &str) -> Result<(), Stop> {
    if file == Path::new("-") {
        return write_out(text);
    }
    fs::write(file, text).map_err(|error| {
        let mend = "give a file in a folder that is there";
        Stop::Usage(format!("{flag} {}: cannot be written: {error}; {mend}", file.display()))
    })
}

/// Refuses to write figures over an input that was named.
pub fn is_no_input(json: Option<&Path>, inputs: &[PathBuf]) -> Result<(), Stop> {
    json.map_or(Ok(()), |file| overwrites_no_input("--json", file, inputs))
}

/// Refuses to write the `file` that `flag` named over an input that was named, and where no file can be. `-` is fine.
pub fn can_be_written(flag: &str, file: &Path, inputs: &[PathBuf]) -> Result<(), Stop> {
    if file == Path::new("-") {
        return Ok(());
    }
    overwrites_no_input(flag, file, inputs)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        let mend = "give a file in a folder that is there";
        return Err(Stop::Usage(format!("{flag} {}: cannot be written: no such place; {mend}", file.display())));
    }
    Ok(())
}

/// Refuses two outputs that are one file, whatever they are called: the second would overwrite the first. `outputs`: each
/// flag that was given, and what it names; `-` is standard output.
pub fn are_different(outputs: &[(&str, &Path)]) -> Result<(), Stop> {
    let targets: Vec<Target> = outputs.iter().map(|(_, file)| Target::of(file)).collect();
    for (at, (flag, file)) in outputs.iter().enumerate() {
        if let Some(before) = targets[..at].iter().position(|target| target.is_same(&targets[at])) {
            let (other, shown) = (outputs[before].0, file.display());
            return Err(Stop::Usage(format!("{other} and {flag}: both are {shown}; give two files")));
        }
    }
    Ok(())
}

fn overwrites_no_input(flag: &str, file: &Path, inputs: &[PathBuf]) -> Result<(), Stop> {
    let Target::There(there) = Target::of(file) else { return Ok(()) };
    match inputs.iter().find(|input| there.is_of(input)) {
        None => Ok(()),
        Some(input) => Err(Stop::Usage(format!(
            "{flag} {}: that would overwrite the input {}; give another file",
            file.display(),
            input.display()
        ))),
    }
}
