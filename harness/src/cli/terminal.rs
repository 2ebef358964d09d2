//! How wide a line may be.

use console::Term;

/// Where nobody says: in a pipe, or in a file.
const USUAL: usize = 80;
/// Narrower than this nothing can be laid out.
const LEAST: usize = 20;

/// Characters in a line of standard output: what `COLUMNS` says, or else the terminal, or else 80.
pub fn width() -> usize {
    width_or(USUAL)
}

/// The same, with `usual` where nobody says.
pub fn width_or(usual: usize) -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    said.filter(|&columns: &usize| columns > 0).or_else(terminal).unwrap_or(usual).max(LEAST)
}
