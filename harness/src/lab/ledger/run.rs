//! A script that was run: what was answered and what the counts were after each line.

use super::machine::Machine;
use super::script::{Line, Script, ScriptError};
use crate::lab::bar::divided;
use crate::report::prose;
use kvledger_core::{Line as Memory, Pool, entries, lines};
use serde::Serialize;

/// What came of a script.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Run {
    /// N.
    pub blocks: u32,
    /// Its lines, as far as it was run.
    pub steps: Vec<Step>,
    /// The expectation that did not hold, with its line.
    pub failed: Option<String>,
}

/// A line and what was so after it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// The line, from 1.
    pub line: usize,
    /// As it was written.
    pub text: String,
    /// The answer; none for a comment or an expectation.
    pub answer: Option<String>,
    /// A.
    pub committed: u32,
    /// Of these, blocks that submitted work may still touch.
    pub retiring: u32,
    /// R.
    pub promised: u32,
    /// S.
    pub safety: u32,
    /// N − A − R − S.
    pub headroom: u32,
}

impl Script {
    /// Makes the operations, one after the other, on a pool of its own. Err: a line names what there is not.
    pub fn run(&self) -> Result<Run, ScriptError> {
        let config = &self.config;
        let (mut memory, mut table) = (vec![Memory::ZERO; lines(config)], vec![0; entries(config)]);
        let pool = Pool::init(&mut memory, &mut table, config)
            .map_err(|refusal| ScriptError { line: 1, message: format!("the pool cannot be made: {refusal}") })?;
        let mut machine = Machine::new(pool);
        let mut run = Run { blocks: config.blocks, steps: Vec::new(), failed: None };
        for line in &self.lines {
            let answer = match &line.command {
                None => None,
                Some(command) => match machine.make(command) {
                    Ok(answer) => Some(answer).filter(|answer| !answer.is_empty()),
                    Err(message) if line.text.starts_with("expect") => {
                        run.steps.push(step(line, Some(message.clone()), &machine));
                        run.failed = Some(format!("line {}: {message}", line.number));
                        return Ok(run);
                    }
                    Err(message) => return Err(ScriptError { line: line.number, message }),
                },
            };
            run.steps.push(step(line, answer, &machine));
        }
        Ok(run)
    }
}

fn step(line: &Line, answer: Option<String>, machine: &Machine<'_>) -> Step {
    let now = machine.snapshot();
    Step {
        line: line.number,
        text: line.text.clone(),
        answer,
        committed: now.committed,
        retiring: now.retiring,
        promised: now.promised,
        safety: now.safety,
        headroom: now.blocks.saturating_sub(now.committed + now.promised + now.safety),
    }
}

impl Run {
    /// Line for line, with a bar of at most `width` characters after each operation.
    pub fn text(&self, width: usize) -> String {
        let marks = "# committed (A), ~ of these retiring, + promised (R), ! safety (S), . headroom";
        let mut text = prose(&format!("N = {}: {marks}", self.blocks), width, 2);
        for step in &self.steps {
            match &step.answer {
                None if step.text.starts_with('#') => text += &format!("\n{}", prose(&step.text, width, 2)),
                None => text += &prose(&format!("{}: holds", step.text), width, 2),
                Some(answer) => text += &self.operation(step, answer, width),
            }
        }
        text
    }

    fn operation(&self, step: &Step, answer: &str, width: usize) -> String {
        let Step { committed, retiring, promised, safety, headroom, .. } = step;
        let parts = [
            ('#', u64::from(committed - (*retiring).min(*committed))),
            ('~', u64::from(*retiring)),
            ('+', u64::from(*promised)),
            ('!', u64::from(*safety)),
        ];
        let bar = divided(&parts, u64::from(self.blocks), width.min(self.blocks as usize).min(60));
        let used = u64::from(*committed) + u64::from(*promised) + u64::from(*safety);
        let said = prose(&format!("{} -> {answer}", step.text), width, 2);
        let counts = format!("A {committed}, R {promised}, S {safety}, used {used}, headroom {headroom}");
        format!("{said}{bar}\n{}", prose(&counts, width, 2))
    }
}

#[cfg(test)]
mod tests {
    use super::super::STORY;
    use super::*;

    fn run(text: &str) -> Run {
        Script::parse(text).expect("a script").run().expect("its names are known")
    }

    /// The numbers of the contract, from the pool itself and not from the expectations in the story.
    #[test]
    fn i8_the_forty_block_story_is_told_by_the_real_ledger() {
        let story = run(STORY);
        assert_eq!((story.failed.as_ref(), story.blocks), (None, 40));
        let after = |text: &str| {
            let step = story.steps.iter().find(|step| step.text == text).expect(text);
            (step.committed, step.promised, step.safety, step.committed + step.promised + step.safety)
        };
        assert_eq!(after("advance leaving 2"), (18, 10, 4, 32));
        assert_eq!(after("admit new 3 2"), (18, 15, 4, 37));
        assert_eq!(after("advance new 3"), (21, 12, 4, 37));
        assert_eq!(after("cancel leaving"), (21, 8, 4, 33));
        assert_eq!(after("complete step"), (19, 8, 4, 31));
        let text = story.text(80);
        assert!(text.contains("A 19, R 8, S 4, used 31, headroom 9"), "{text}");
        assert!(text.contains("###################++++++++!!!!........."), "{text}");
        assert!(story.text(30).lines().all(|line| line.chars().count() <= 30), "{}", story.text(30));
    }

    #[test]
    fn an_expectation_that_does_not_hold_ends_the_script() {
        let failed = run("open a\nadmit a 3 4\nexpect A=1 R=7\nopen b");
        assert_eq!(failed.failed.as_deref(), Some("line 3: A is 0, not 1"));
        assert_eq!(failed.steps.len(), 3);
        assert_eq!(run("open a\nadmit a 41 0\nexpect answer=NEVER_FITS").failed, None);
    }

    #[test]
    fn a_name_that_stands_for_nothing_is_the_scripts_fault() {
        for (text, says) in [
            ("open a\nadvance b 1", "line 2: `b` was never opened"),
            ("complete x", "line 1: `x` was never submitted"),
            ("open a\nadmit a 1 1 account c", "line 2: there was never an account `c`"),
        ] {
            let error = Script::parse(text).expect("a script").run().expect_err(text);
            assert_eq!(error.to_string(), says);
        }
    }

    /// A refusal is an answer: who was not let in is told so, and what he asks for then is STALE.
    #[test]
    fn who_was_refused_may_go_on_asking() {
        let run = run("pool 5 sequences 1 accounts 1 epochs 1\nopen a\nopen b\nexpect answer=FULL\nadmit b 1 1\n\
                       expect answer=STALE\naccount x 9\nexpect answer=NEVER_FITS\nadmit a 1 1 account x\n\
                       expect answer=STALE\nsubmit s\nsubmit t\nexpect answer=FULL\ncomplete t\nexpect answer=STALE");
        assert_eq!(run.failed, None, "{}", run.text(80));
    }

    /// Each operation once, and what it is answered.
    #[test]
    fn every_operation_reaches_the_pool() {
        let all = run("pool 20 block 4 safety 2\nopen a\nadmit a 4 4 blocks 2\nadvance a 4\nextend a 2\nshrink a 1\n\
             grow a 9 watermark 1\nmaterialize a 5\ndraw a 1\nsafety 3\nquota 0 9\nsubmit s stream 1\npreempt a\n\
             complete s failed\nreclaim 9\naccount c 4 group 1\ntotal c 6\nopen b\nadmit b 4 0 group 1 account c\n\
             advance b 4\nclose c\nexpect answer=BUSY\ncancel b\nend b\nclose c\nexpect answer=OK A=0 R=0 sequences=1");
        assert_eq!(all.failed, None, "{}", all.text(80));
        assert!(all.steps.iter().all(|step| !step.answer.as_deref().unwrap_or("").starts_with("INVALID")));
    }
}
