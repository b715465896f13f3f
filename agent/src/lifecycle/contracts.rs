//! The contract of each tool that has effects: what it can change, how repeats are judged, what is left out of its identity.
//! Source: lifecycle, *The one entry*, the table of tool families.

use super::types::EffectClass;
use crate::contract::outcome::closed_words;

closed_words! {
    /// The tools that go through the one entry.
    Tool {
        RunWorkflow = "run_workflow",
        /// The older tools run_<id>, one for each workflow.
        RunOlder = "run_older",
        Continue = "continue_attention",
        Skip = "skip_attention",
        Reject = "reject_attention",
        Teach = "teach_attention",
        Escalate = "escalate_attention",
        StartRecord = "start_record",
        Click = "click",
        Halt = "halt",
        Type = "type",
        PauseForInput = "pause_for_input",
        ContinueInput = "continue_input",
        StopRecord = "stop_record",
        Compile = "compile",
        Admit = "admit",
    }
}

/// How an equal operation is judged that comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatRule {
    /// Nothing is known of repeats; a repeat is a new action.
    None,
    /// The request_id decides.
    RequestGate,
    /// After so many equal failures the next one isn't executed.
    Suppress { after: u32 },
}

/// What asks for a yes before the dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// The reviewer where there is one, and a person where its refusals ask for one.
    Reviewer,
    /// A form that a person confirms, always.
    Form,
    /// Nothing: the operator opened it when the server was started.
    Nothing,
}

closed_words! {
    /// What carries an action out, or is asked about it.
    Executor {
        Flow = "flow",
        Bridge = "bridge",
        Reviewer = "reviewer",
        Elicitation = "elicitation",
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolContract {
    /// Part of the identity of every operation: a tool that means something else gets another version.
    pub version: i64,
    pub effect: EffectClass,
    pub repeat: RepeatRule,
    pub approval: Approval,
    pub executor: Executor,
    /// JSON pointers into the arguments that say how to present an answer and nothing about the work.
    pub presentation: &'static [&'static str],
}

impl Tool {
    /// Its action is a run of a workflow.
    pub const fn is_run(self) -> bool {
        matches!(self, Self::RunWorkflow | Self::RunOlder)
    }

    pub const fn contract(self) -> ToolContract {
        match self {
            Self::RunWorkflow => ToolContract {
                version: 1,
                effect: EffectClass::External,
                repeat: RepeatRule::RequestGate,
                approval: Approval::Reviewer,
                executor: Executor::Flow,
                presentation: &["/wait_seconds"],
            },
            Self::RunOlder => {
                ToolContract { repeat: RepeatRule::None, presentation: &[], ..Self::RunWorkflow.contract() }
            }
            Self::Continue | Self::Skip => ToolContract {
                version: 1,
                effect: EffectClass::External,
                repeat: RepeatRule::Suppress { after: 2 },
                approval: Approval::Form,
                executor: Executor::Bridge,
                presentation: &[],
            },
            Self::Reject | Self::Teach | Self::Escalate => {
                ToolContract { effect: EffectClass::LocalDurable, ..Self::Continue.contract() }
            }
            Self::StartRecord | Self::Click | Self::Type | Self::PauseForInput | Self::ContinueInput => {
                ToolContract { approval: Approval::Nothing, ..Self::Continue.contract() }
            }
            Self::Halt | Self::StopRecord | Self::Compile => {
                ToolContract { effect: EffectClass::LocalDurable, ..Self::Click.contract() }
            }
            Self::Admit => ToolContract { approval: Approval::Form, ..Self::Compile.contract() },
        }
    }
}
