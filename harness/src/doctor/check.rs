//! One thing that was looked for: whether it is there, who needs it, and how to get it.

use serde::Serialize;
use std::path::PathBuf;

/// What somebody wants to do here, and may require to be possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// Compile and test the workspace
    Build,
    /// Make libkvledger.a and pass its gate
    Archive,
    /// Compile the example in C and in C++
    C,
    /// Pass every stage of `.ci/run`, none of them skipped
    Checks,
    /// Compare published traces with figures of another implementation
    Traces,
    /// Compile kernels for CUDA
    Cuda,
    /// Run kernels on an NVIDIA device
    Gpu,
}

impl Need {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Need::Build => "build",
            Need::Archive => "archive",
            Need::C => "c",
            Need::Checks => "checks",
            Need::Traces => "traces",
            Need::Cuda => "cuda",
            Need::Gpu => "gpu",
        }
    }
}

/// Where a check stands on the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// The processor, memory, limits and load.
    Machine,
    /// Compilers and the tools of the project's checks.
    Tools,
    /// Toolkit, driver and devices.
    Cuda,
    /// Published traces.
    Traces,
    /// The pool, tried.
    SelfTest,
}

/// What came of looking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is there.
    Ok,
    /// It is there, and should be known when figures are read.
    Note,
    /// It is not there.
    Missing,
    /// It is there and cannot be used: it fails, says nothing, or is too old.
    Unusable,
}

/// One thing that was looked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// What it is called; unique in a report.
    pub name: String,
    /// Where it stands.
    pub section: Section,
    /// What came of it.
    pub state: State,
    /// What was found, or what is the matter.
    pub found: String,
    /// The file or folder that was found.
    pub at: Option<PathBuf>,
    /// What it was looked for in, where that helps: one line each.
    pub details: Vec<String>,
    /// What cannot be done without it.
    pub needed_for: Vec<Need>,
    /// Stages of `.ci/run` that use it.
    pub stages: Vec<&'static str>,
    /// Whether these stages are skipped without it, aloud; others fail.
    pub is_skipped: bool,
    /// How to get it: a command.
    pub mend: Option<String>,
}

impl Check {
    /// A check that nobody needs, without a place, stages or a mend.
    pub fn new(section: Section, name: impl Into<String>, state: State, found: impl Into<String>) -> Check {
        Check {
            name: name.into(),
            section,
            state,
            found: found.into(),
            at: None,
            details: Vec::new(),
            needed_for: Vec::new(),
            stages: Vec::new(),
            is_skipped: false,
            mend: None,
        }
    }

    /// The same, needed for these.
    pub fn needed_for(mut self, needs: &[Need]) -> Check {
        self.needed_for = needs.to_vec();
        self
    }

    /// The same, used in these stages of `.ci/run`.
    pub fn in_stages(mut self, stages: &[&'static str]) -> Check {
        self.stages = stages.to_vec();
        self
    }

    /// The same, used in these stages, which are skipped without it.
    pub fn skipping(mut self, stages: &[&'static str]) -> Check {
        self.is_skipped = true;
        self.in_stages(stages)
    }

    /// The same, got by this command if it is not usable.
    pub fn mended_by(mut self, command: impl Into<String>) -> Check {
        if !self.is_usable() {
            self.mend = Some(command.into());
        }
        self
    }

    /// Whether who needs it can do with what is there.
    pub const fn is_usable(&self) -> bool {
        matches!(self.state, State::Ok | State::Note)
    }
}
