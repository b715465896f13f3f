//! Arguments of the older tools, parsed once.

use serde_json::{Map, Value};

use super::tools::url_argument;
use crate::bridge::arguments::{Misshapen, nothing_more};
use crate::cli::OlderOptions;
use crate::service::OlderRun;
use crate::workflows::{InputKind, Omitted, Workflow};

/// An address is no longer than this, in bytes.
const URL_LIMIT: usize = 2048;

pub fn workflow(mut arguments: Map<String, Value>) -> Result<String, Misshapen> {
    only_text(arguments.remove("workflow"), &arguments)
}

pub fn run_id(mut arguments: Map<String, Value>) -> Result<String, Misshapen> {
    only_text(arguments.remove("run_id"), &arguments)
}

/// Every value is text, as it always was with these tools. What the text stands for is checked as run_workflow checks it.
pub fn run(
    workflow: &Workflow,
    mut arguments: Map<String, Value>,
    omitted: Omitted,
    options: OlderOptions,
) -> Result<OlderRun, Misshapen> {
    let url = match arguments.remove(&url_argument(workflow)) {
        None => None,
        Some(Value::String(text)) if !options.url_override || is_address(&text) => Some(text),
        Some(_) => return Err(Misshapen),
    };
    let mut inputs = Map::new();
    for (name, spec) in workflow.card.inputs.iter() {
        match arguments.remove(name) {
            Some(Value::String(text)) => drop(inputs.insert(name.to_owned(), typed(spec.kind, text))),
            None if omitted == Omitted::FilledFromRecording => {}
            _ => return Err(Misshapen),
        }
    }
    nothing_more(&arguments)?;
    Ok(OlderRun { workflow_id: workflow.public_id.clone(), inputs, url })
}

fn only_text(value: Option<Value>, rest: &Map<String, Value>) -> Result<String, Misshapen> {
    nothing_more(rest)?;
    if let Some(Value::String(text)) = value { Ok(text) } else { Err(Misshapen) }
}

/// Text that isn't of the kind stays text, and is then refused as an input of the wrong kind.
fn typed(kind: InputKind, text: String) -> Value {
    let parsed = match kind {
        InputKind::Text => None,
        InputKind::Number => serde_json::from_str(&text).ok().map(Value::Number),
        InputKind::Boolean => text.parse().ok().map(Value::Bool),
    };
    parsed.unwrap_or(Value::String(text))
}

/// A web address and nothing else: a browser would open a local file, too.
fn is_address(text: &str) -> bool {
    let web = ["http://", "https://"].iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
    web && text.len() <= URL_LIMIT && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_web_addresses_are_addresses() {
        for good in ["http://127.0.0.1:8000/?fault=ok#tasks", "https://clinic.example/"] {
            assert!(is_address(good), "{good}");
        }
        let long = format!("http://{}", "x".repeat(URL_LIMIT));
        for bad in
            ["", "http://", "file:///etc/hostname", "javascript:0", "--headed", "http://a b", "http://a\n", &long]
        {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn text_becomes_what_it_stands_for_where_it_stands_for_something() {
        for (kind, text, value) in [
            (InputKind::Text, "7", json!("7")),
            (InputKind::Number, "7", json!(7)),
            (InputKind::Number, "2.50", json!(2.5)),
            (InputKind::Number, "seven", json!("seven")),
            (InputKind::Boolean, "true", json!(true)),
            (InputKind::Boolean, "yes", json!("yes")),
        ] {
            assert_eq!(typed(kind, text.to_owned()), value, "{text}");
        }
    }

    #[test]
    fn one_text_and_nothing_else() {
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        assert_eq!(run_id(object(json!({"run_id": "x"}))), Ok("x".to_owned()));
        for bad in [json!({}), json!({"run_id": 1}), json!({"run_id": "x", "more": 1}), json!({"workflow": "x"})] {
            assert_eq!(run_id(object(bad.clone())), Err(Misshapen), "{bad}");
        }
    }
}
