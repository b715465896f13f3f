//! What a form asks, and whom.

use serde_json::Value;

use super::super::verdict::{Check, Cite, Verdict};
use super::{Seen, action_of, attended_calls, calls_of, forms, text};
use crate::evidence::form::Shown;
use crate::evidence::{Evidence, Exchange, Way};
use crate::scenario::form::Asked;

pub const FORMS: Check = Check {
    id: "forms",
    sentence: "A form is shown only for an open decision and to a client that shows forms; it names the action and the item, and asks for one boolean.",
    judge,
};

/// What is wrong with the forms of a call that a scenario waited for.
pub fn problems(evidence: &Evidence, asked: &Asked, frames: &[usize]) -> Vec<(String, String, Cite)> {
    let shown = frames.iter().filter_map(|frame| Some((*frame, Shown::of(&evidence.message(*frame)?)?.object())));
    shown
        .filter_map(|(frame, form)| {
            let mismatch = asked.expect.as_ref()?.mismatch(&form)?;
            Some((format!("the form's {}: {}", mismatch.at, mismatch.expected), mismatch.actual, Cite::Frame(frame)))
        })
        .collect()
}

fn judge(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    for form in forms(evidence) {
        verdict.saw();
        for (expected, actual) in faults(evidence, &form) {
            verdict.fails(expected, actual, [Cite::Frame(form.frame)]);
        }
    }
    if attended_calls(evidence).next().is_some() {
        verdict.saw();
    }
    verdict
}

fn faults(evidence: &Evidence, form: &Seen) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    let decisions = calls_of(evidence, form);
    let calls = if decisions.is_empty() { runs_of(evidence, form) } else { decisions.clone() };
    if calls.is_empty() {
        faults.push(("a form while a decision waits for it", "no such call is open".into()));
    }
    if calls.iter().any(|call| !shows_forms(evidence, &call.server, call.request)) {
        faults.push(("a form to a client that shows forms", "the client declared none".into()));
    }
    if let (Some(id), Some(at)) = (&form.shown.id, calls.iter().find_map(|call| call.cancelled))
        && !taken_back(evidence, id, at)
    {
        faults.push(("a form taken back when its call is cancelled", "no notifications/cancelled for it".into()));
    }
    let message = form.shown.message();
    let named = |call: &&&Exchange| {
        let words = words_of(call.tool.as_deref().and_then(action_of).unwrap_or_default());
        let action = words.iter().any(|word| message.to_lowercase().contains(word));
        text(call, "attention_id").is_some_and(|item| message.contains(item)) && action
    };
    if !decisions.is_empty() && !decisions.iter().any(|call| named(&call)) {
        faults.push(("a message that names the action and the item", message.into()));
    }
    let schema = form.shown.form.get("requestedSchema").cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let one = properties.is_some_and(|fields| fields.len() == 1)
        && schema.pointer("/properties/confirmed/type").and_then(Value::as_str) == Some("boolean")
        && schema.get("required") == Some(&serde_json::json!(["confirmed"]));
    if !one {
        faults.push(("one required boolean, confirmed", schema.to_string()));
    }
    faults
}

/// A run that a reviewer refused may be put to a person as well: it stands open, and the form names its workflow. So may a draft.
fn runs_of<'e>(evidence: &'e Evidence, form: &Seen) -> Vec<&'e Exchange> {
    let server = &evidence.frames[form.frame].server;
    let open = |call: &&Exchange| {
        let unanswered = call.answer.is_none_or(|answer| answer >= form.frame);
        call.request < form.frame && call.server == *server && unanswered
    };
    let message = form.shown.message();
    let about = |call: &&Exchange| match call.tool.as_deref() {
        Some("run_workflow") => text(call, "workflow").is_some_and(|workflow| message.contains(workflow)),
        Some("admit") => message.contains("draft"),
        _ => false,
    };
    evidence.exchanges.iter().filter(open).filter(about).collect()
}

fn taken_back(evidence: &Evidence, id: &Value, since: usize) -> bool {
    evidence.frames.iter().enumerate().skip(since).filter(|(_, frame)| frame.way == Way::Received).any(|(index, _)| {
        let message = evidence.message(index).unwrap_or_default();
        let cancels = message.get("method").and_then(Value::as_str) == Some("notifications/cancelled");
        cancels && message.pointer("/params/requestId") == Some(id)
    })
}

/// How a message may name an action to a person.
fn words_of(action: &str) -> &'static [&'static str] {
    match action {
        "continue" => &["continue"],
        "skip" => &["skip"],
        "reject" => &["reject", "end this run"],
        "teach" => &["teach", "demonstration"],
        "escalate" => &["escalate", "help", "assistance"],
        _ => &[],
    }
}

/// The client of this request declared that it shows forms.
fn shows_forms(evidence: &Evidence, server: &str, request: usize) -> bool {
    let modern = || {
        let own = evidence.message(request)?;
        own.pointer("/params/_meta/io.modelcontextprotocol~1clientCapabilities").cloned()
    };
    let hello =
        evidence.exchanges.iter().rev().find(|exchange| {
            exchange.method == "initialize" && exchange.server == server && exchange.request < request
        });
    let legacy = || hello.and_then(|exchange| exchange.arguments.get("capabilities").cloned());
    let speaks_modern = evidence.server(server).is_some_and(|server| server.modern);
    let declared = if speaks_modern { modern() } else { legacy() };
    let declared = declared.and_then(|capabilities| capabilities.get("elicitation").cloned());
    declared.is_some_and(|kinds| kinds.get("form").is_some() || kinds.get("url").is_none())
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds, receive};
    use super::super::sample::{decided, modern, set_form};
    use super::*;
    use serde_json::json;

    #[test]
    fn the_samples_hold() {
        holds(&FORMS, &decided());
        holds(&FORMS, &modern());
    }

    #[test]
    fn each_wrong_form_fails() {
        for (pointer, value) in [
            ("/message", json!("Sure?")),
            ("/requestedSchema/properties/confirmed/type", json!("string")),
            ("/requestedSchema/required", json!([])),
            ("/requestedSchema/properties/why", json!({"type": "string"})),
        ] {
            let mut evidence = decided();
            set_form(&mut evidence, pointer, value);
            assert_eq!(fails(&FORMS, &evidence).len(), 1, "{pointer}");
        }
    }

    #[test]
    fn a_form_about_a_refused_run_names_the_workflow_of_an_open_call() {
        let mut evidence = decided();
        evidence.exchanges[2].tool = Some("run_workflow".to_owned());
        evidence.exchanges[2].arguments = json!({"workflow": "triage"});
        set_form(&mut evidence, "/message", json!("The reviewer refused this run of triage. Run it all the same?"));
        holds(&FORMS, &evidence);
        set_form(&mut evidence, "/message", json!("Run it all the same?"));
        assert!(fails(&FORMS, &evidence)[0].actual.contains("no such call"));
    }

    #[test]
    fn a_form_that_outlives_its_cancelled_call_fails() {
        let mut evidence = decided();
        evidence.exchanges[2].answer = None;
        evidence.exchanges[2].cancelled = Some(evidence.frames.len());
        assert!(fails(&FORMS, &evidence)[0].expected.contains("taken back"));
        receive(&mut evidence, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#);
        holds(&FORMS, &evidence);
    }

    #[test]
    fn a_form_to_a_client_without_forms_or_for_a_call_that_was_answered_fails() {
        let mut evidence = decided();
        evidence.exchanges[0].arguments = json!({"capabilities": {"elicitation": {"url": {}}}});
        assert!(fails(&FORMS, &evidence)[0].actual.contains("declared none"));
        let mut evidence = decided();
        evidence.exchanges[2].answer = Some(evidence.exchanges[2].request);
        assert!(fails(&FORMS, &evidence)[0].actual.contains("no such call"));
    }
}
