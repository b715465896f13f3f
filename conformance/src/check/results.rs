//! The shape of what tools answer.

use serde_json::Value;

use super::schema::violations;
use super::verdict::{Blame, Check, Cite, Verdict};
use crate::evidence::form::asks;
use crate::evidence::{Evidence, Exchange};
use schemas::Schema;

pub const SHAPE: Check = Check {
    id: "result-shape",
    sentence: "A run result is valid under the strict schema of the contract, and its text is the same JSON.",
    judge: shape,
};

pub const ADVERTISED: Check = Check {
    id: "advertised-schema",
    sentence: "A tool's structured content is valid under the output schema that the tool advertises.",
    judge: advertised,
};

/// Tools whose result is a run result.
fn answers_with_a_run(tool: &str) -> bool {
    matches!(tool, "run_workflow" | "get_run")
}

/// Tools whose text is JSON, whether it stands as structured content, too, or not.
fn answers_with_json(tool: &str) -> bool {
    answers_with_a_run(tool)
        || is_older_run_tool(tool)
        || matches!(tool, "get_workflow" | "get_run_report" | "observe")
        || records(tool)
}

/// The recording tools, besides the one that looks at the window.
pub fn records(tool: &str) -> bool {
    matches!(
        tool,
        "start_record"
            | "click"
            | "halt"
            | "type"
            | "pause_for_input"
            | "continue_input"
            | "stop_record"
            | "compile"
            | "admit"
            | "get_command_result"
            | "set_coach"
            | "get_coach"
            | "bind_status"
            | "screen"
    )
}

/// The deprecated tool of one workflow: the name of each is `run_` and an opaque id.
pub fn is_older_run_tool(tool: &str) -> bool {
    tool.starts_with("run_workflow_")
}

fn shape(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let mut verdict = verdict.due(calls_answered(evidence));
    for exchange in evidence.exchanges.iter().filter(|exchange| exchange.method == "tools/call") {
        let (Some(frame), Some(answer)) = (exchange.answer, evidence.answer(exchange)) else { continue };
        verdict.saw();
        let Some(result) = answer.get("result").filter(|result| !asks(result)) else { continue };
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        let advertised = !is_error && schema_of(evidence, exchange).is_some();
        for (expected, actual) in problems(exchange, result, advertised) {
            verdict.fails_at(exchange.step, expected, actual, [Cite::Frame(exchange.request), Cite::Frame(frame)]);
        }
    }
    verdict
}

/// `advertised`: the tool is listed with an output schema, so a result has structured content.
fn problems(exchange: &Exchange, result: &Value, advertised: bool) -> Vec<(String, String)> {
    let problem = |expected: &str, actual: String| vec![(expected.to_owned(), actual)];
    let Some(text) = result.pointer("/content/0/text").and_then(Value::as_str) else {
        return problem("a text as the first item of content", result["content"].to_string());
    };
    let structured = result.get("structuredContent");
    if result.get("isError") == Some(&Value::Bool(true)) {
        return match structured {
            Some(_) => problem("no structuredContent beside isError", "there is one".into()),
            None => Vec::new(),
        };
    }
    let tool = exchange.tool.as_deref().unwrap_or_default();
    let mut found = Vec::new();
    let said: Value = match serde_json::from_str(text) {
        Ok(said) => said,
        Err(error) if structured.is_some() || answers_with_json(tool) => {
            return problem("the text is JSON", error.to_string());
        }
        Err(_) => return found,
    };
    match structured {
        None if advertised => return problem("structuredContent", "none".into()),
        Some(structured) if *structured != said => {
            found.push(("the text holds the same JSON as structuredContent".to_owned(), said.to_string()));
        }
        _ => {}
    }
    let structured = structured.unwrap_or(&said);
    let schema = match tool {
        "list_workflows" => Schema::WorkflowList,
        "get_workflow" => Schema::OlderWorkflow,
        "get_run_report" => Schema::OlderRun,
        tool if is_older_run_tool(tool) => Schema::OlderRun,
        tool if answers_with_a_run(tool) => Schema::RunResultStrict,
        "observe" => Schema::AuthoringObserve,
        tool if records(tool) => Schema::RecordingResult,
        _ => return found,
    };
    if let Err(broken) = schema.check(structured) {
        found.push((format!("valid under {}.json", schema.stem()), broken.to_string()));
    }
    found
}

fn advertised(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    for exchange in evidence.exchanges.iter().filter(|exchange| exchange.method == "tools/call") {
        let Some((frame, structured)) = structured(evidence, exchange) else { continue };
        let Some((list, schema)) = schema_of(evidence, exchange) else { continue };
        verdict.saw();
        let cites = [Cite::Frame(list), Cite::Frame(frame)];
        match violations(&schema, &structured) {
            Ok(broken) if broken.is_empty() => {}
            Ok(broken) => {
                verdict.fails_at(exchange.step, "valid under the advertised outputSchema", broken.join("; "), cites);
            }
            Err(error) => {
                verdict.blames(Blame::Implementation, exchange.step, "an outputSchema that compiles", error, cites);
            }
        }
    }
    verdict
}

fn structured(evidence: &Evidence, exchange: &Exchange) -> Option<(usize, Value)> {
    let answer = evidence.answer(exchange)?;
    Some((exchange.answer?, answer.pointer("/result/structuredContent")?.clone()))
}

/// The tool list's frame, and the output schema that it shows for this exchange's tool.
fn schema_of(evidence: &Evidence, exchange: &Exchange) -> Option<(usize, Value)> {
    let list = evidence.exchanges.get(evidence.server(&exchange.server)?.tools?)?;
    let answer = evidence.answer(list)?;
    let tools = answer.pointer("/result/tools")?.as_array()?;
    let tool = tools.iter().find(|tool| tool.get("name").and_then(Value::as_str) == exchange.tool.as_deref())?;
    Some((list.answer?, tool.get("outputSchema")?.clone()))
}

fn calls_answered(evidence: &Evidence) -> bool {
    evidence.exchanges.iter().any(|exchange| exchange.method == "tools/call" && exchange.answer.is_some())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, holds, saved, set_result};
    use super::*;
    use serde_json::json;

    #[test]
    fn the_sample_holds() {
        holds(&SHAPE, &saved());
        holds(&ADVERTISED, &saved());
    }

    #[test]
    fn a_result_that_breaks_the_contracts_row_fails() {
        let mut evidence = saved();
        set_result(&mut evidence, "safe_to_retry", json!(true));
        assert!(fails(&SHAPE, &evidence)[0].expected.contains("run-result-strict"));
    }

    #[test]
    fn a_text_that_says_something_else_fails() {
        let mut evidence = saved();
        let frame = evidence.exchanges[2].answer.unwrap();
        let mut answer = evidence.message(frame).unwrap();
        answer["result"]["content"][0]["text"] = "{}".into();
        evidence.frames[frame].text = answer.to_string();
        assert!(fails(&SHAPE, &evidence)[0].expected.contains("same JSON"));
    }

    #[test]
    fn an_error_with_structured_content_fails_and_so_does_a_success_without() {
        for change in [json!({"isError": true}), json!({"structuredContent": null})] {
            let mut evidence = saved();
            let frame = evidence.exchanges[2].answer.unwrap();
            let mut answer = evidence.message(frame).unwrap();
            crate::run::bundle::merge_patch(&mut answer["result"], &change);
            evidence.frames[frame].text = answer.to_string();
            assert_eq!(fails(&SHAPE, &evidence).len(), 1, "{change}");
        }
    }

    #[test]
    fn an_answer_of_an_older_tool_is_held_against_its_schema_though_no_list_shows_one() {
        for (tool, text) in [
            ("get_workflow", "{}"),
            ("get_run_report", "{}"),
            ("run_workflow_0123456789abcdef01234567", "{}"),
            ("run_workflow_0123456789abcdef01234567", "saved"),
        ] {
            let mut evidence = saved();
            evidence.exchanges[2].tool = Some(tool.into());
            let frame = evidence.exchanges[2].answer.unwrap();
            let mut answer = evidence.message(frame).unwrap();
            answer["result"] = json!({"content": [{"type": "text", "text": text}]});
            evidence.frames[frame].text = answer.to_string();
            fails(&SHAPE, &evidence);
        }
    }

    #[test]
    fn a_result_that_the_tools_own_schema_refuses_fails() {
        let mut evidence = saved();
        set_result(&mut evidence, "outcome", json!("finished"));
        assert!(fails(&ADVERTISED, &evidence)[0].actual.contains("/outcome"));
    }
}
