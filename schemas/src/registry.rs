//! Which schemas there are. A new file is one line in the list below.

use std::sync::OnceLock;

use serde_json::Value;

macro_rules! schemas {
    ($($name:ident => $stem:literal,)+) => {
        /// One schema of the set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Schema {
            $(#[doc = concat!("`", $stem, ".json`")] $name,)+
        }

        impl Schema {
            /// Every schema, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The file's name without `.json`.
            pub const fn stem(self) -> &'static str {
                match self { $(Self::$name => $stem,)+ }
            }

            /// The file as it is in the repository.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("../", $stem, ".json")),)+ }
            }

            /// The schema's `$id`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => concat!("urn:openadapt:", $stem, ":v1"),)+ }
            }
        }
    };
}

schemas! {
    ListWorkflowsInput => "list-workflows-input",
    RunWorkflowInput => "run-workflow-input",
    GetRunInput => "get-run-input",
    GetWorkflowInput => "get-workflow-input",
    GetRunReportInput => "get-run-report-input",
    OlderWorkflow => "older-workflow",
    OlderRun => "older-run",
    ListNeedsAttentionInput => "list-needs-attention-input",
    GetAttentionItemInput => "get-attention-item-input",
    ContinueAttentionInput => "continue-attention-input",
    SkipAttentionInput => "skip-attention-input",
    RejectAttentionInput => "reject-attention-input",
    TeachAttentionInput => "teach-attention-input",
    EscalateAttentionInput => "escalate-attention-input",
    RecordingInput => "recording-input",
    ClickInput => "click-input",
    TypeInput => "type-input",
    PauseForInputInput => "pause-for-input-input",
    GetCommandResultInput => "get-command-result-input",
    SetCoachInput => "set-coach-input",
    AuthoringObserve => "authoring-observe",
    RecordingResult => "recording-result",
    AttentionItem => "attention-item",
    AttentionList => "attention-list",
    AttentionDecision => "attention-decision",
    WorkflowList => "workflow-list",
    WorkflowCard => "workflow-card",
    WorkflowCardFile => "workflow-card-file",
    RunResult => "run-result",
    RunResultStrict => "run-result-strict",
    RunRecord => "run-record",
    RequestEntry => "request-entry",
    DispatchIntent => "dispatch-intent",
    DispatchClaim => "dispatch-claim",
    DispatchExit => "dispatch-exit",
    FlowReport => "flow-report-1.35.1",
    FlowOutcomeEnvelope => "flow-outcome-envelope",
    FlowStepResult => "flow-step-result",
    FlowEvidence => "flow-evidence",
    FlowPendingEscalation => "flow-pending-escalation",
    FlowAttendedCapability => "flow-attended-capability",
    ItemApprovalRequest => "item-approval-request",
    ItemApprovalAnswer => "item-approval-answer",
    FlowBridge => "flow-bridge",
    FlowScript => "flow-script",
    FlowJournalLine => "flow-journal-line",
    MockmedJournalLine => "mockmed-journal-line",
    AdmissionStatus => "admission-status",
    AdmissionWatermark => "admission-watermark",
    Scenario => "scenario",
    Requirement => "requirement",
    Claims => "claims",
    ConformanceReport => "conformance-report",
}

impl Schema {
    /// The schema with this `$id`.
    pub fn by_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|schema| schema.id() == id)
    }

    /// The parsed file, parsed once. A file that couldn't be parsed would be `false`, the schema that accepts nothing.
    pub fn value(self) -> &'static Value {
        static PARSED: [OnceLock<Value>; Schema::ALL.len()] = [const { OnceLock::new() }; Schema::ALL.len()];
        PARSED[self as usize].get_or_init(|| serde_json::from_str(self.text()).unwrap_or(Value::Bool(false)))
    }

    /// The schema as a tool list shows it: without `$schema`, `$id`, `title` and `description` at its root.
    ///
    /// Two tools share one output schema, and a client that compiles both refuses a second schema with the same `$id`;
    /// some clients know older drafts only and refuse `$schema`.
    pub fn for_tool_list(self) -> Value {
        let mut value = self.value().clone();
        if let Some(root) = value.as_object_mut() {
            root.retain(|key, _| !matches!(key.as_str(), "$schema" | "$id" | "title" | "description"));
        }
        value
    }
}
