//! How `conformance` ends. These numbers are part of its interface.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything that was judged conforms.
    Conformant = 0,
    /// A command line that can't be understood.
    Usage = 2,
    /// Nothing was selected.
    NothingSelected = 4,
    /// A fault of the judge itself.
    Harness = 70,
    /// The judgement couldn't begin: a build, a file or a command is missing.
    SetUp = 96,
    /// A requirement failed, or one that is within reach has no scenario.
    Failed = 100,
    /// A change that must be seen wasn't, or was seen by others, too.
    Power = 101,
    /// A stored report is truncated or otherwise not what was written.
    BadEvidence = 102,
    /// Interrupted from outside.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
