//! What a line of a script may say.

use crate::answers::WORDS;

/// A line.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the words are those of FORMS, the fields those of the calls of the pool")]
pub enum Command {
    Pool,
    Open {
        name: String,
    },
    Admit {
        name: String,
        prompt: u32,
        output: u32,
        blocks: Option<u32>,
        watermark: u32,
        group: u32,
        account: Option<String>,
    },
    Advance {
        name: String,
        tokens: u32,
    },
    Grow {
        name: String,
        tokens: u32,
        watermark: u32,
    },
    Materialize {
        name: String,
        blocks: u32,
    },
    Extend {
        name: String,
        blocks: u32,
    },
    Shrink {
        name: String,
        blocks: u32,
    },
    Draw {
        name: String,
        blocks: u32,
    },
    Cancel {
        name: String,
    },
    End {
        name: String,
    },
    Preempt {
        name: String,
    },
    Submit {
        name: String,
        stream: u32,
    },
    Complete {
        name: String,
        failed: bool,
    },
    Safety {
        blocks: u32,
    },
    Quota {
        group: u32,
        blocks: u32,
    },
    Account {
        name: String,
        total: u32,
        group: u32,
    },
    Total {
        name: String,
        total: u32,
    },
    Close {
        name: String,
    },
    Reclaim {
        blocks: u32,
    },
    Expect {
        all: Vec<(Key, Expected)>,
    },
}

/// What may be expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// A.
    Committed,
    /// R.
    Promised,
    /// S.
    Safety,
    /// A + R + S.
    Used,
    /// N − A − R − S.
    Headroom,
    /// F.
    Free,
    /// Of A, blocks that submitted work may still touch.
    Retiring,
    /// Sequences that are open.
    Sequences,
    /// What the operation before was answered.
    Answer,
}

/// The value of a key: a number, or the word of an answer.
pub type Expected = String;

const KEYS: [(&str, Key); 9] = [
    ("A", Key::Committed),
    ("R", Key::Promised),
    ("S", Key::Safety),
    ("used", Key::Used),
    ("headroom", Key::Headroom),
    ("free", Key::Free),
    ("retiring", Key::Retiring),
    ("sequences", Key::Sequences),
    ("answer", Key::Answer),
];

/// The first word of a line, and how the line is written.
const FORMS: [(&str, &str); 20] = [
    ("open", "open NAME"),
    ("admit", "admit NAME PROMPT OUTPUT [blocks N] [watermark N] [group N] [account NAME]"),
    ("advance", "advance NAME TOKENS"),
    ("grow", "grow NAME TOKENS [watermark N]"),
    ("materialize", "materialize NAME BLOCKS"),
    ("extend", "extend NAME BLOCKS"),
    ("shrink", "shrink NAME BLOCKS"),
    ("draw", "draw NAME BLOCKS"),
    ("cancel", "cancel NAME"),
    ("end", "end NAME"),
    ("preempt", "preempt NAME"),
    ("submit", "submit NAME [stream N]"),
    ("complete", "complete NAME [failed]"),
    ("safety", "safety BLOCKS"),
    ("quota", "quota GROUP BLOCKS"),
    ("account", "account NAME TOTAL [group N]"),
    ("total", "total NAME BLOCKS"),
    ("close", "close NAME"),
    ("reclaim", "reclaim BLOCKS"),
    ("expect", "expect KEY=VALUE..., keys A, R, S, used, headroom, free, retiring, sequences, answer"),
];

impl Command {
    /// The words of a line. Err: what is wrong, and how it is written.
    pub(super) fn parse(words: &[&str]) -> Result<Command, String> {
        let Some((&verb, rest)) = words.split_first() else { return Err("nothing is said".to_string()) };
        if verb == "pool" {
            return Ok(Command::Pool);
        }
        let Some(&(_, form)) = FORMS.iter().find(|(name, _)| *name == verb) else {
            let names: Vec<&str> = FORMS.iter().map(|(name, _)| *name).collect();
            return Err(format!("there is no `{verb}`; there are pool, {}", names.join(", ")));
        };
        let mut words = Words { rest };
        let command = words.command(verb).and_then(|command| match words.rest {
            [] => Ok(command),
            [more, ..] => Err(format!("`{more}` is too much")),
        });
        command.map_err(|what| format!("{what}; write {form}"))
    }
}

/// The words after the verb.
struct Words<'a> {
    rest: &'a [&'a str],
}

impl Words<'_> {
    fn command(&mut self, verb: &str) -> Result<Command, String> {
        Ok(match verb {
            "open" => Command::Open { name: self.name()? },
            "admit" => self.admit()?,
            "advance" => Command::Advance { name: self.name()?, tokens: self.number()? },
            "grow" => {
                let (name, tokens) = (self.name()?, self.number()?);
                Command::Grow { name, tokens, watermark: self.option("watermark")?.unwrap_or(0) }
            }
            "materialize" => Command::Materialize { name: self.name()?, blocks: self.number()? },
            "extend" => Command::Extend { name: self.name()?, blocks: self.number()? },
            "shrink" => Command::Shrink { name: self.name()?, blocks: self.number()? },
            "draw" => Command::Draw { name: self.name()?, blocks: self.number()? },
            "cancel" => Command::Cancel { name: self.name()? },
            "end" => Command::End { name: self.name()? },
            "preempt" => Command::Preempt { name: self.name()? },
            "submit" => Command::Submit { name: self.name()?, stream: self.option("stream")?.unwrap_or(0) },
            "complete" => Command::Complete { name: self.name()?, failed: self.flag("failed") },
            "safety" => Command::Safety { blocks: self.number()? },
            "quota" => Command::Quota { group: self.number()?, blocks: self.number()? },
            "account" => {
                let (name, total) = (self.name()?, self.number()?);
                Command::Account { name, total, group: self.option("group")?.unwrap_or(0) }
            }
            "total" => Command::Total { name: self.name()?, total: self.number()? },
            "close" => Command::Close { name: self.name()? },
            "reclaim" => Command::Reclaim { blocks: self.number()? },
            _ => self.expect()?,
        })
    }

    fn admit(&mut self) -> Result<Command, String> {
        let (name, prompt, output) = (self.name()?, self.number()?, self.number()?);
        let (mut blocks, mut watermark, mut group, mut account) = (None, 0, 0, None);
        while let Some(&word) = self.rest.first() {
            match word {
                "blocks" => blocks = self.option("blocks")?,
                "watermark" => watermark = self.option("watermark")?.unwrap_or(0),
                "group" => group = self.option("group")?.unwrap_or(0),
                "account" => {
                    self.flag("account");
                    account = Some(self.name()?);
                }
                _ => break,
            }
        }
        Ok(Command::Admit { name, prompt, output, blocks, watermark, group, account })
    }

    fn expect(&mut self) -> Result<Command, String> {
        let all = self.rest.iter().map(|word| expectation(word)).collect::<Result<Vec<_>, _>>()?;
        self.rest = &[];
        if all.is_empty() { Err("nothing is expected".to_string()) } else { Ok(Command::Expect { all }) }
    }

    fn next(&mut self) -> Option<&str> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn name(&mut self) -> Result<String, String> {
        self.next().map(str::to_string).ok_or_else(|| "a name is missing".to_string())
    }

    fn number(&mut self) -> Result<u32, String> {
        let word = self.next().ok_or_else(|| "a number is missing".to_string())?;
        word.parse().map_err(|_| format!("`{word}` is no number from 0 to {}", u32::MAX))
    }

    /// Whether the next word is `name`; then it is taken.
    fn flag(&mut self, name: &str) -> bool {
        let is = self.rest.first() == Some(&name);
        if is {
            self.next();
        }
        is
    }

    /// The number behind `name`, if that is the next word.
    fn option(&mut self, name: &str) -> Result<Option<u32>, String> {
        if !self.flag(name) {
            return Ok(None);
        }
        self.number().map(Some).map_err(|what| format!("`{name}`: {what}"))
    }
}

fn expectation(word: &str) -> Result<(Key, Expected), String> {
    let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` has no `=`"))?;
    let key = KEYS.iter().find(|(key, _)| *key == name).ok_or_else(|| format!("`{name}` is no key"))?.1;
    let is_known = if key == Key::Answer { WORDS.contains(&value) } else { value.parse::<u32>().is_ok() };
    if is_known { Ok((key, value.to_string())) } else { Err(format!("`{value}` is no value of `{name}`")) }
}

impl Key {
    /// As it is written.
    pub fn name(self) -> &'static str {
        KEYS.iter().find(|(_, key)| *key == self).map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_understood() {
        for (verb, form) in FORMS {
            let line = form
                .split(", keys")
                .next()
                .expect("a part")
                .replace(['[', ']'], "")
                .replace("KEY=VALUE...", "A=3 answer=FULL")
                .replace("NAME", "x");
            let words: Vec<&str> = line
                .split_whitespace()
                .map(|word| if word.chars().all(char::is_uppercase) && !word.contains('=') { "7" } else { word })
                .collect();
            assert!(Command::parse(&words).is_ok(), "{verb}: {words:?} {:?}", Command::parse(&words));
        }
        let admitted = Command::parse(&["admit", "a", "3", "4", "account", "b", "blocks", "9"]).expect("in any order");
        assert!(matches!(admitted, Command::Admit { blocks: Some(9), account: Some(ref name), .. } if name == "b"));
    }
}
