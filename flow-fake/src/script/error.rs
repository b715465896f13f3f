//! Why a script can't be played: the harness is to blame, never the program that is judged.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ScriptError {
    #[error("the script can't be read: {0}")]
    Unreadable(String),
    #[error("the script isn't usable: {problem}")]
    Malformed { problem: String },
    #[error("step {index} of {} ({name}) isn't usable: {problem}", place(*play))]
    Step { play: usize, index: usize, name: String, problem: String },
    #[error("no play of the script matches this launch")]
    NoPlay,
    #[error("the step `{name}` can't be played: {problem}")]
    Play { name: &'static str, problem: String },
    #[error("the step `{name}` failed on a file: {source}")]
    Io { name: &'static str, source: std::io::Error },
}

impl ScriptError {
    /// What to do about it, for the person who wrote the script.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable(_) => "give an existing file to --script or FLOW_FAKE_SCRIPT".into(),
            Self::Malformed { .. } => {
                "a script is {\"plays\":[{\"when\":{…},\"steps\":[…]}]} or {\"steps\":[…]}; see docs/flow-fake.md"
                    .into()
            }
            Self::Step { .. } | Self::Play { .. } => {
                format!("a step is one word or an object with one key; the steps are {}", super::STEP_NAMES.join(", "))
            }
            Self::NoPlay => "end the list of plays with one that has no `when`".into(),
            Self::Io { .. } => "check that the run folder, the control folder and the journal can be written".into(),
        }
    }
}

fn place(play: usize) -> String {
    if play == 0 { "the bridge".into() } else { format!("play {play}") }
}
