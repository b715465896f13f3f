//! The attention tools as an MCP client sees them.

use schemas::Schema;

use super::host::{Annotations, ToolSpec};
use super::tools::READ_ONLY;
use crate::attended::action::Action;

pub const LIST_NEEDS_ATTENTION: &str = "list_needs_attention";
pub const GET_ATTENTION_ITEM: &str = "get_attention_item";

const LIVE: Annotations = Annotations { read_only: false, destructive: true, idempotent: true, open_world: true };
const ENDING: Annotations = Annotations { read_only: false, destructive: true, idempotent: true, open_world: false };
const ASKING: Annotations = Annotations { read_only: false, destructive: false, idempotent: true, open_world: false };

pub fn list_needs_attention() -> ToolSpec {
    spec(
        (LIST_NEEDS_ATTENTION, "List what needs attention"),
        "Lists the runs that wait for a person, newest first: why each waits, and which actions a person may take. At most 200 an \
         answer; next_cursor continues the list. Only a person decides.",
        Schema::ListNeedsAttentionInput,
        READ_ONLY,
    )
}

pub fn get_attention_item() -> ToolSpec {
    spec(
        (GET_ATTENTION_ITEM, "Look up what needs attention"),
        "Tells where one run that waits for a person stands now, with the capability_digest that a decision needs.",
        Schema::GetAttentionItemInput,
        READ_ONLY,
    )
}

pub fn decision(action: Action) -> ToolSpec {
    let (title, description, schema, annotations) = match action {
        Action::Continue => (
            "Continue a paused run",
            "Asks the person at the computer to confirm that they have done the paused step in the app themselves, and then has the \
             run checked and continued after it. The step is never done again.",
            Schema::ContinueAttentionInput,
            LIVE,
        ),
        Action::Skip => (
            "Skip a paused step",
            "Asks the person at the computer to confirm that the paused step doesn't apply, and then has the run checked and \
             continued after it. Only for steps that were declared safe to skip.",
            Schema::SkipAttentionInput,
            LIVE,
        ),
        Action::Reject => (
            "End a paused run",
            "Asks the person at the computer to confirm that the run must not go on, and then ends it for good. What it did before \
             the pause stays as it is.",
            Schema::RejectAttentionInput,
            ENDING,
        ),
        Action::Teach => (
            "Ask for a demonstration",
            "Asks the person at the computer to confirm, and then records the request for a demonstration of the paused step. The \
             run stays paused.",
            Schema::TeachAttentionInput,
            ASKING,
        ),
        Action::Escalate => (
            "Ask for help with a paused run",
            "Asks the person at the computer to confirm, and then records the request for qualified help. The run stays paused.",
            Schema::EscalateAttentionInput,
            ASKING,
        ),
    };
    spec((action.tool(), title), description, schema, annotations)
}

fn spec((name, title): (&str, &'static str), description: &str, input: Schema, annotations: Annotations) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title,
        description: description.to_owned(),
        input_schema: input.for_tool_list(),
        output_schema: None,
        annotations,
        meta: None,
    }
}
