//! The five decisions that a person can take through a client. Source: *Needs Attention*, from Continue to Escalate.

use super::category::AllowedAction;

/// One action-specific tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Continue,
    Skip,
    Reject,
    Teach,
    Escalate,
}

impl Action {
    /// In the order of the tool list.
    pub const ALL: [Self; 5] = [Self::Continue, Self::Skip, Self::Reject, Self::Teach, Self::Escalate];

    pub fn of_tool(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.tool() == name)
    }

    pub const fn tool(self) -> &'static str {
        match self {
            Self::Continue => "continue_attention",
            Self::Skip => "skip_attention",
            Self::Reject => "reject_attention",
            Self::Teach => "teach_attention",
            Self::Escalate => "escalate_attention",
        }
    }

    pub const fn allowed_as(self) -> AllowedAction {
        match self {
            Self::Continue => AllowedAction::Continue,
            Self::Skip => AllowedAction::Skip,
            Self::Reject => AllowedAction::Reject,
            Self::Teach => AllowedAction::Teach,
            Self::Escalate => AllowedAction::Escalate,
        }
    }

    /// The word in a request to Flow.
    pub const fn as_str(self) -> &'static str {
        self.allowed_as().as_str()
    }

    /// The argument that has to be `true`. It proves no person's presence; the form is asked for all the same.
    pub const fn confirmation(self) -> &'static str {
        match self {
            Self::Continue => "human_completed",
            Self::Skip => "confirmed_not_applicable",
            Self::Reject => "confirm_run_must_not_proceed",
            Self::Teach => "request_demonstration",
            Self::Escalate => "request_assistance",
        }
    }

    pub const fn disposition(self) -> &'static str {
        match self {
            Self::Continue => "completed_by_operator",
            Self::Skip => "not_applicable",
            Self::Reject => "rejected_by_operator",
            Self::Teach => "teach_requested",
            Self::Escalate => "needs_assistance",
        }
    }

    /// It goes on in the app, so a live executor has to be ready.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Continue | Self::Skip)
    }
}
