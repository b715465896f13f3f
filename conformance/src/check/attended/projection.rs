//! What the attention tools may say: a closed set of keys, and sentences that depend on nothing but category and status.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::verdict::{Check, Cite, Verdict};
use super::action_of;
use crate::evidence::Evidence;
use crate::evidence::form::asks;

pub const PROJECTION: Check = Check {
    id: "attention-projection",
    sentence: "An attention answer has the known keys and closed words only: no text of a screen, no path, no signature.",
    judge,
};

const ITEM: &[&str] = &[
    "id",
    "created_at",
    "category",
    "headline",
    "next_action",
    "status",
    "human_required",
    "durably_paused",
    "encrypted_pause",
    "observed_text_count",
    "completed_intent_count",
    "before_artifact_id",
    "after_artifact_id",
    "capability",
];
const CAPABILITY: &[&str] = &[
    "digest",
    "expires_at",
    "allowed_actions",
    "delivery_state",
    "source_identity_required",
    "source_identity_status",
];
const DECISION: &[&str] = &[
    "attention_id",
    "decision_id",
    "action",
    "status",
    "success",
    "message",
    "report_success",
    "next_transition",
    "transition_receipt_digest",
];
const CATEGORIES: &[&str] = &[
    "human_required",
    "identity",
    "disambiguation",
    "resolution",
    "unmet_guard",
    "postcondition",
    "effect_refuted",
    "effect_indeterminate",
    "effect_escalated",
    "effect_unverifiable",
    "placeholder_effect",
    "halt",
    "operator_review",
];
/// In what flow-fake writes where the real program keeps text from a screen.
const OF_A_SCREEN: &[&str] = &["screen-canary", "Ada Example", "hmac-sha256:"];

fn judge(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    let mut headlines: BTreeMap<String, Value> = BTreeMap::new();
    let asked = |tool: &str| matches!(tool, "list_needs_attention" | "get_attention_item") || action_of(tool).is_some();
    for exchange in evidence.exchanges.iter().filter(|exchange| exchange.tool.as_deref().is_some_and(asked)) {
        let Some(frame) = exchange.answer else { continue };
        verdict.saw();
        let cites = [Cite::Frame(exchange.request), Cite::Frame(frame)];
        let text = &evidence.frames[frame].text;
        for word in OF_A_SCREEN.iter().copied().chain(world_of(evidence)).filter(|word| text.contains(word)) {
            verdict.fails_at(
                exchange.step,
                format!("no {word:?} in an attention answer"),
                "it is there",
                cites.clone(),
            );
        }
    }
    for (exchange, object) in evidence.tool_results().filter(|(_, object)| !asks(object)) {
        let cites: Vec<Cite> =
            [Some(exchange.request), exchange.answer].into_iter().flatten().map(Cite::Frame).collect();
        let mut problems = Vec::new();
        match exchange.tool.as_deref().unwrap_or_default() {
            "list_needs_attention" => {
                let items = object.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
                items.iter().for_each(|item| problems.extend(item_problems(item, &mut headlines)));
            }
            "get_attention_item" => problems.extend(item_problems(&object, &mut headlines)),
            tool if action_of(tool).is_some() => problems.extend(keys_beyond(&object, DECISION)),
            _ => continue,
        }
        for problem in problems {
            verdict.fails_at(exchange.step, "known keys and closed words", problem, cites.clone());
        }
    }
    verdict
}

fn item_problems(item: &Value, headlines: &mut BTreeMap<String, Value>) -> Vec<String> {
    let mut problems = keys_beyond(item, ITEM);
    let word = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    if !CATEGORIES.contains(&word("category")) {
        problems.push(format!("category {:?}", word("category")));
    }
    if word("id").len() != 24 || !word("id").bytes().all(|byte| byte.is_ascii_hexdigit()) {
        problems.push(format!("id {:?}", word("id")));
    }
    if let Some(capability) = item.get("capability").filter(|capability| !capability.is_null()) {
        problems.extend(keys_beyond(capability, CAPABILITY));
    }
    let words = Value::from([word("headline"), word("next_action")].map(Value::from).to_vec());
    let before = headlines.entry(format!("{} {}", word("category"), word("status"))).or_insert_with(|| words.clone());
    if *before != words {
        problems.push(format!("two sentences for one category and status: {before} and {words}"));
    }
    problems
}

fn keys_beyond(object: &Value, known: &[&str]) -> Vec<String> {
    let keys = object.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| !known.contains(&key.as_str())).map(|key| format!("a key {key:?}")).collect()
}

/// The world's own folder: whatever names it names a path of this computer.
fn world_of(evidence: &Evidence) -> Option<&str> {
    evidence.files.first()?.path.to_str().filter(|path| path.len() > 3)
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{fails, holds};
    use super::super::sample::{decided, listed, set_item, set_result};
    use super::*;
    use serde_json::json;

    #[test]
    fn the_samples_hold() {
        holds(&PROJECTION, &listed());
        holds(&PROJECTION, &decided());
    }

    #[test]
    fn a_key_a_word_or_a_sentence_too_many_fails() {
        for (key, value) in [
            ("reason", json!("x")),
            ("category", json!("delivery_uncertain")),
            ("id", json!("run-1")),
            ("headline", json!("screen-canary Ada Example")),
            ("capability", json!({"digest": "sha256:1", "signature": "s"})),
        ] {
            let mut evidence = listed();
            set_item(&mut evidence, key, value);
            fails(&PROJECTION, &evidence);
        }
    }

    #[test]
    fn a_decision_that_says_more_than_it_may_fails() {
        for (key, value) in [("operator", json!("root")), ("message", json!("in /w/runs/openadapt-agent"))] {
            let mut evidence = decided();
            set_result(&mut evidence, key, value);
            fails(&PROJECTION, &evidence);
        }
    }
}
