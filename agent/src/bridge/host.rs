//! What a transport needs of the bridge, and nothing of how it is done.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::{Map, Value};

/// What this client can do, as it said itself, in either protocol era.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientTraits {
    /// It can show a form to a person: `elicitation` is present and has `form`, or lacks `url`.
    pub form_elicitation: bool,
}

/// The four hints of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

/// One row of `tools/list`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    /// For people: a few words on a button or in a list.
    pub title: &'static str,
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub annotations: Annotations,
    pub meta: Option<Map<String, Value>>,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolAnswer {
    /// `structuredContent` (where the tool has an output schema) and the same object as text, indented by two.
    Object(Map<String, Value>),
    /// `isError` with one text item `{"error": …}`. The sentence is fixed copy.
    Refused(&'static str),
    /// The tool doesn't exist here: a protocol error, -32602.
    UnknownTool,
    /// A person must say yes first. The transport asks and calls the tool again with the same arguments and the answer.
    Ask(Form),
}

/// What a person is asked: one sentence or two, and one box to tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Fixed copy and opaque ids.
    pub message: String,
    /// Stands at the box.
    pub field_title: &'static str,
    /// What a yes is good for: the action, its item, the item's digest. It comes back with the answer.
    pub binding: String,
}

/// What became of a form, and what it was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormAnswer {
    pub given: FormOutcome,
    /// The binding of the form that was shown.
    pub binding: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormOutcome {
    /// Accepted with the box ticked. Nothing else is a yes.
    Confirmed,
    /// Accepted, but the box isn't ticked, is missing, or isn't a boolean.
    NotConfirmed,
    Declined,
    Cancelled,
    /// Nobody answered in time, or the client couldn't put the question.
    Unanswered,
}

/// What comes with a call besides its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallContext {
    pub client: ClientTraits,
    /// `None` at the first call of a tool.
    pub answer: Option<FormAnswer>,
}

/// How long a person has for a form, where nobody says otherwise.
pub const FORM_LIMIT: Duration = Duration::from_secs(10 * 60);

pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = ToolAnswer> + Send + 'a>>;

/// The bridge, as a transport sees it.
pub trait ToolHost: Send + Sync + 'static {
    /// The server's `instructions`.
    fn instructions(&self) -> String;

    /// The tools in list order, for this client.
    fn tools(&self, client: ClientTraits) -> Vec<ToolSpec>;

    /// A number that is another one whenever other tools are offered than before. Looked at for every list and call.
    fn tools_offered(&self) -> u64 {
        0
    }

    /// Whether an answer of this tool goes out as `structuredContent` too.
    fn has_output_schema(&self, name: &str, client: ClientTraits) -> bool {
        self.tools(client).iter().any(|tool| tool.name == name && tool.output_schema.is_some())
    }

    /// How long a person has for a form.
    fn form_limit(&self) -> Duration {
        FORM_LIMIT
    }

    /// Answers one call. Dropping the future gives up waiting; it never stops work that was begun.
    fn call<'a>(&'a self, name: &'a str, arguments: Map<String, Value>, cx: CallContext) -> AnswerFuture<'a>;
}
