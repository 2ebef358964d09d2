//! `kvledger bench report`.

use crate::bench::Report;
use crate::bench::show::{changes, markdown, picture, put_between_marks, text};
use crate::cli::output::{are_different, can_be_written, write_file, write_out};
use crate::cli::{Stop, terminal};
use std::fs;
use std::path::{Path, PathBuf};

/// Show figures that were measured before: as text, as Markdown, as a picture, or beside older ones
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct Args {
    /// The file that `kvledger bench --json` wrote
    figures: PathBuf,

    /// Draw ns a batch over threads, one panel a load, as SVG to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Markdown in place of text
    #[arg(long)]
    markdown: bool,

    /// Put the Markdown between the marks of this README, `<!-- figures: PATH -->` and `<!-- end of figures -->`
    #[arg(long, value_name = "README", conflicts_with = "markdown")]
    into: Option<PathBuf>,

    /// What has become of our figures since these
    #[arg(long, value_name = "OLD.json", conflicts_with_all = ["markdown", "into"])]
    against: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  kvledger bench report figures.json > figures.txt
  kvledger bench report figures.json --svg figures.svg
  kvledger bench report harness/results/xeon-2-core/figures.json --into README.md
  kvledger bench report figures.json --against older.json

Exit codes: 0 done; 2 the flags, the figures or the marks of the README cannot be used.";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Stop> {
    check_outputs(args)?;
    let report = read(&args.figures)?;
    if let Some(file) = &args.svg {
        let drawn = picture(&report).map_err(|why| Stop::Usage(format!("{}: {why}", args.figures.display())))?;
        write_file("--svg", file, &drawn)?;
    }
    if let Some(page) = &args.into {
        return into(page, &args.figures, &report);
    }
    if let Some(old) = &args.against {
        return write_out(&changes(&report, &read(old)?, terminal::width()));
    }
    if args.markdown {
        return write_out(&markdown(&report, &args.figures.display().to_string()));
    }
    if args.svg.is_some() { Ok(()) } else { write_out(&text(&report, terminal::width())) }
}

/// The picture is written over none of the other files.
fn check_outputs(args: &Args) -> Result<(), Stop> {
    let Some(svg) = &args.svg else { return Ok(()) };
    let inputs: Vec<PathBuf> = [Some(&args.figures), args.against.as_ref()].into_iter().flatten().cloned().collect();
    can_be_written("--svg", svg, &inputs)?;
    args.into.as_ref().map_or(Ok(()), |page| are_different(&[("--svg", svg), ("--into", page)]))
}

fn read(file: &Path) -> Result<Report, Stop> {
    let bad = |why: String| Stop::Usage(format!("{}: {why}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| bad(format!("cannot be read: {error}")))?;
    Report::parse(&text).map_err(bad)
}

/// The mark of the page says where its reader finds the figures; that must be the file that was given.
fn into(page: &Path, figures: &Path, report: &Report) -> Result<(), Stop> {
    let bad = |why: String| Stop::Usage(format!("--into {}: {why}", page.display()));
    let before = fs::read_to_string(page).map_err(|error| bad(format!("cannot be read: {error}")))?;
    let after = put_between_marks(&before, |path| {
        let named = page.parent().unwrap_or(Path::new("")).join(path);
        let is_given = named.canonicalize().is_ok_and(|named| figures.canonicalize().is_ok_and(|given| given == named));
        let mend = format!("its mark names {path}; give that file, or name {} in the mark", figures.display());
        if is_given { Ok(markdown(report, path)) } else { Err(mend) }
    });
    write_file("--into", page, &after.map_err(bad)?)
}
