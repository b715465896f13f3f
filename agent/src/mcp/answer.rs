//! What the bridge says, in MCP's shapes.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::bridge::host::ToolSpec;

/// The sentence for a tool that panicked. The cause stands in the server's own log.
pub const FAILED_SAFELY: &str =
    "The tool stopped on an internal fault and failed safely. The operator finds more in the server's own log.";

/// For a client that declared no forms.
pub const NO_FORMS: &str = "This tool needs a yes from the person at the computer, and this client can't show the form that \
    asks for it. Nothing was submitted.";

/// For a `requestState` that is forged, spent, or of another call or process, and for an answer that comes without one.
pub const FORM_NOT_OPEN: &str = "The answer belongs to no form that is open for this call, so nothing was submitted. Call the \
    tool again without requestState and inputResponses, and the person is asked again.";

/// `structuredContent` is for tools with an output schema only.
pub fn object(object: Map<String, Value>, has_output_schema: bool) -> CallToolResult {
    let object = Value::Object(object);
    let mut result = CallToolResult::success(vec![ContentBlock::text(format!("{object:#}"))]);
    result.is_error = None;
    result.structured_content = has_output_schema.then_some(object);
    result
}

pub fn refused(sentence: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(json!({ "error": sentence }).to_string())])
}

/// A row of `tools/list` with every key as the bridge has it.
pub fn tool(spec: ToolSpec) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), spec.name.into());
    tool.insert("title".to_owned(), spec.title.into());
    tool.insert("description".to_owned(), spec.description.into());
    tool.insert("inputSchema".to_owned(), spec.input_schema);
    if let Some(schema) = spec.output_schema {
        tool.insert("outputSchema".to_owned(), schema);
    }
    tool.insert(
        "annotations".to_owned(),
        json!({
            "readOnlyHint": spec.annotations.read_only,
            "destructiveHint": spec.annotations.destructive,
            "idempotentHint": spec.annotations.idempotent,
            "openWorldHint": spec.annotations.open_world,
        }),
    );
    if let Some(meta) = spec.meta {
        tool.insert("_meta".to_owned(), Value::Object(meta));
    }
    Value::Object(tool)
}
