//! Which clients and checkers there are, and what each must have seen.

use serde_json::Value;

pub struct Client {
    pub name: &'static str,
    /// For a person: whose it is.
    pub about: &'static str,
    pub runner: Runner,
    /// The script and its words.
    pub words: &'static [&'static str],
    pub wants: &'static [Want],
}

pub enum Runner {
    /// A virtual environment, by the name of its requirements file.
    Python(&'static str),
    Node,
}

/// A member of what a client says, and what it must be.
pub enum Want {
    Text(&'static str, &'static str),
    Number(&'static str, u64),
    Yes(&'static str),
    /// A list that holds this.
    Holds(&'static str, &'static str),
    /// An error in the protocol, or a result that says so.
    Refused(&'static str),
}

use Want::{Holds, Number, Refused, Text, Yes};

/// Lists, runs, looks up, is told of progress, and answers a form.
const WHOLE: &[Want] = &[
    Holds("tools", "run_workflow"),
    Holds("tools", "reject_attention"),
    Number("workflows", 1),
    Text("saved", "done"),
    Text("again", "done"),
    Refused("unknown"),
    Number("elicited", 1),
    Text("decision", "rejected"),
    Yes("progress"),
];

/// Has no person to show a form to.
const WITHOUT_FORMS: &[Want] = &[
    Holds("tools", "run_workflow"),
    Number("workflows", 1),
    Text("saved", "done"),
    Text("again", "done"),
    Refused("unknown"),
];

const CHECKED: &[Want] = &[Yes("content")];

const fn client(
    name: &'static str,
    about: &'static str,
    runner: Runner,
    words: &'static [&'static str],
    wants: &'static [Want],
) -> Client {
    Client { name, about, runner, words, wants }
}

pub const CLIENTS: &[Client] = &[
    client("python-sdk-1", "Python SDK 1.30", Runner::Python("mcp1"), &["mcp1.py"], WHOLE),
    client("python-sdk-2-legacy", "Python SDK 2.3, initialize", Runner::Python("mcp2"), &["mcp2.py", "legacy"], WHOLE),
    client(
        "python-sdk-2-modern",
        "Python SDK 2.3, 2026-07-28",
        Runner::Python("mcp2"),
        &["mcp2.py", "2026-07-28"],
        WHOLE,
    ),
    client("python-sdk-2-auto", "Python SDK 2.3, as it likes", Runner::Python("mcp2"), &["mcp2.py", "auto"], WHOLE),
    client("fastmcp", "fastmcp 4.2", Runner::Python("fast"), &["fast.py"], WHOLE),
    client("typescript-sdk-1", "TypeScript SDK 1.32", Runner::Node, &["sdk1.mjs"], WHOLE),
    client("typescript-sdk-2-legacy", "TypeScript SDK 2.4, initialize", Runner::Node, &["sdk2.mjs", "legacy"], WHOLE),
    client("typescript-sdk-2-auto", "TypeScript SDK 2.4, as it likes", Runner::Node, &["sdk2.mjs", "auto"], WHOLE),
    client(
        "inspector-legacy",
        "MCP inspector 2.12, initialize",
        Runner::Node,
        &["inspector.mjs", "legacy"],
        WITHOUT_FORMS,
    ),
    client(
        "inspector-auto",
        "MCP inspector 2.12, as it likes",
        Runner::Node,
        &["inspector.mjs", "auto"],
        WITHOUT_FORMS,
    ),
    client(
        "inspector-modern",
        "MCP inspector 2.12, 2026-07-28",
        Runner::Node,
        &["inspector.mjs", "modern"],
        WITHOUT_FORMS,
    ),
    client("mcporter", "mcporter 0.12", Runner::Node, &["mcporter.mjs"], WITHOUT_FORMS),
    client(
        "suite-2025-11-25",
        "official conformance suite, 2025-11-25",
        Runner::Node,
        &["suite.mjs", "2025-11-25"],
        CHECKED,
    ),
    client(
        "suite-2026-07-28",
        "official conformance suite, 2026-07-28",
        Runner::Node,
        &["suite.mjs", "2026-07-28"],
        CHECKED,
    ),
    client("stdio-test", "mcp-stdio-test 0.1", Runner::Python("checkers"), &["checkers.py", "stdio-test"], CHECKED),
    client("contract-test", "mcp-contract 0.6", Runner::Python("checkers"), &["checkers.py", "contract"], CHECKED),
    client("quality-test", "mcp-quality 0.7", Runner::Python("checkers"), &["checkers.py", "quality"], CHECKED),
    client("fuzzer", "mcp-fuzzer 0.7", Runner::Python("fuzzer"), &["checkers.py", "fuzzer"], CHECKED),
];

impl Want {
    /// What is wrong with what was told.
    pub fn missing_in(&self, told: &Value) -> Option<String> {
        let (key, wanted, is_so) = match self {
            Text(key, text) => (key, format!("{text:?}"), told[*key] == *text),
            Number(key, number) => (key, number.to_string(), told[*key] == *number),
            Yes(key) => (key, "true".to_owned(), told[*key] == true),
            Holds(key, item) => (key, format!("a list with {item:?}"), holds(&told[*key], item)),
            Refused(key) => (key, "a refusal".to_owned(), !told[*key].is_null() && told[*key] != "taken"),
        };
        (!is_so).then(|| format!("{key} is {}, not {wanted}", told[*key]))
    }
}

impl Client {
    /// What it saw, in words.
    pub fn summary(&self, told: &Value) -> String {
        let known = ["protocol", "saved", "again", "elicited", "decision", "progress", "passed", "not_offered", "said"];
        let facts = known.iter().filter(|key| !told[**key].is_null()).map(|key| match &told[*key] {
            Value::String(text) => format!("{key} {text}"),
            other => format!("{key} {other}"),
        });
        let tools = told["tools"].as_array().map(|tools| format!("{} tools", tools.len()));
        tools.into_iter().chain(facts).collect::<Vec<_>>().join(", ")
    }
}

fn holds(list: &Value, item: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|one| one == item))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_unique_and_everybody_wants_something() {
        let names: BTreeSet<&str> = CLIENTS.iter().map(|client| client.name).collect();
        assert_eq!(names.len(), CLIENTS.len());
        assert!(CLIENTS.iter().all(|client| !client.wants.is_empty()));
    }

    #[test]
    fn a_client_that_said_nothing_or_something_else_is_not_content() {
        let good = json!({"tools": ["run_workflow", "reject_attention"], "workflows": 1, "saved": "done", "again": "done",
            "unknown": -32602, "elicited": 1, "decision": "rejected", "progress": true});
        let missing = |told: &Value| WHOLE.iter().filter_map(|want| want.missing_in(told)).count();
        assert_eq!(missing(&good), 0);
        assert_eq!(missing(&Value::Null), WHOLE.len());
        for key in ["tools", "workflows", "saved", "again", "unknown", "elicited", "decision", "progress"] {
            let mut less = good.clone();
            less[key] = json!("taken");
            assert!(missing(&less) > 0, "{key}");
        }
    }
}
