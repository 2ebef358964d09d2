//! Lines of a script.

use super::command::Command;
use kvledger_core::PoolConfig;
use std::fmt;

/// What a script says: a pool, and what is done to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// The pool.
    pub config: PoolConfig,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A line that is not empty.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// From 1.
    pub number: usize,
    /// What it says; nothing if it is a comment.
    pub command: Option<Command>,
    /// As it was written.
    pub text: String,
}

/// A line that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    /// From 1.
    pub line: usize,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The pool of a script that does not say.
const USUAL: PoolConfig = PoolConfig { accounts: 16, groups: 16, streams: 4, ..PoolConfig::new(40, 1, 64, 40) };

impl Script {
    /// Reads a script. Errors: the first line that is none.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let (mut config, mut lines) = (USUAL, Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            let failed = |message| ScriptError { line: number, message };
            if line.is_empty() {
                continue;
            }
            let mut command = None;
            if line.strip_prefix('#').is_none() {
                let words: Vec<&str> = line.split_whitespace().collect();
                if let ["pool", settings @ ..] = words.as_slice() {
                    if lines.iter().any(|line: &Line| line.command.is_some()) {
                        return Err(failed("pool: say it before everything else, once".to_string()));
                    }
                    config = pool(settings).map_err(failed)?;
                }
                command = Some(Command::parse(&words).map_err(failed)?);
            }
            lines.push(Line { number, command, text: line.to_string() });
        }
        Ok(Script { config, lines })
    }
}

/// The largest table of a script: 256 MiB.
const TABLE_ENTRIES_MAX: usize = 1 << 26;

/// `N`, then names and numbers.
fn pool(settings: &[&str]) -> Result<PoolConfig, String> {
    const HELP: &str = "pool BLOCKS [safety S] [block TOKENS] [sequences N] [width BLOCKS] [rows 1|2] [groups N] \
                        [accounts N] [streams N] [epochs N]";
    let number = |word: &str| word.parse::<u32>().map_err(|_| format!("pool: `{word}` is no number; write {HELP}"));
    let (blocks, rest) = settings.split_first().ok_or(format!("pool: how many blocks? Write {HELP}"))?;
    let blocks = number(blocks)?;
    let mut config = PoolConfig { blocks, table_width: blocks, ..USUAL };
    let (pairs, odd) = rest.as_chunks::<2>();
    if let [odd] = odd {
        return Err(format!("pool: `{odd}` has no number; write {HELP}"));
    }
    for &[name, value] in pairs {
        let field = match name {
            "safety" => &mut config.safety,
            "block" => &mut config.block_tokens,
            "sequences" => &mut config.sequences,
            "width" => &mut config.table_width,
            "rows" => &mut config.rows,
            "groups" => &mut config.groups,
            "accounts" => &mut config.accounts,
            "streams" => &mut config.streams,
            "epochs" => &mut config.epochs,
            _ => return Err(format!("pool: there is no `{name}`; write {HELP}")),
        };
        *field = number(value)?;
    }
    config.check().map_err(|refusal| format!("pool: there is no such pool: {refusal}; write {HELP}"))?;
    if config.blocks > 1 << 20 || config.sequences > 1 << 12 {
        return Err("pool: at most 1048576 blocks and 4096 sequences here".to_string());
    }
    if config.table_entries().is_err() || config.table_entries().is_ok_and(|entries| entries > TABLE_ENTRIES_MAX) {
        return Err(format!("pool: sequences x rows x width is above {TABLE_ENTRIES_MAX} here; say a smaller `width`"));
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Script::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn a_line_that_is_none_is_named_with_what_would_be_right() {
        for (text, line, says) in [
            ("open a\nopne b", 2, "there is no `opne`"),
            ("\n# comment\nadmit a 3", 3, "admit NAME PROMPT OUTPUT"),
            ("admit a 3 x", 1, "`x`"),
            ("admit a 3 4 blocks", 1, "`blocks`"),
            ("open a b", 1, "open NAME"),
            ("expect A=x", 1, "`x`"),
            ("expect Q=3", 1, "`Q`"),
            ("expect answer=MAYBE", 1, "`MAYBE`"),
            ("expect", 1, "expect"),
            ("open a\npool 3", 2, "before everything else"),
            ("pool", 1, "how many blocks"),
            ("pool 0", 1, "Blocks"),
            ("pool 4 safety 9", 1, "Safety"),
            ("pool 4 safety", 1, "`safety` has no number"),
            ("pool 4 colour 3", 1, "`colour`"),
            ("pool 99999999999", 1, "no number"),
            ("pool 2000000", 1, "at most"),
            ("pool 1048576 sequences 4096", 1, "smaller `width`"),
            ("complete a failed twice", 1, "complete"),
        ] {
            let error = error(text);
            assert!(error.starts_with(&format!("line {line}: ")) && error.contains(says), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_script_without_a_pool_has_the_usual_one() {
        assert_eq!(Script::parse("open a").expect("a script").config, USUAL);
        assert_eq!(Script::parse("").expect("empty").lines, []);
        let config = Script::parse("pool 9 block 16 safety 2").expect("a pool").config;
        assert_eq!((config.blocks, config.block_tokens, config.safety, config.table_width), (9, 16, 2, 9));
    }
}
