//! A person's decision, its form, and what is told of a pause, changed in one fact.

use serde_json::{Value, json};

use crate::evidence::{Evidence, JournalLine, Way, object_of};
use crate::power::change::{changed, message, position, word};
use crate::power::mutant::Mutant;

const DECIDED: &[&str] = &["decided-by-a-person"];
const FORM: &[&str] = &["forms"];
const TOLD: &[&str] = &["attention-projection"];

pub fn mutants() -> Vec<Mutant> {
    let mut all = vec![
        Mutant::new(
            "attended/declined-and-done",
            "a person declined, and it was decided all the same",
            DECIDED,
            |green| yes(green, |answer| answer["action"] = "decline".into()),
        ),
        Mutant::new(
            "attended/unconfirmed-and-done",
            "the box wasn't ticked, and it was decided all the same",
            DECIDED,
            |green| yes(green, |answer| answer["content"]["confirmed"] = false.into()),
        ),
        Mutant::new("attended/yes-as-text", "the yes was a text, and it was decided all the same", DECIDED, |green| {
            yes(green, |answer| answer["content"]["confirmed"] = "true".into())
        }),
        Mutant::new(
            "attended/another-item",
            "what was decided is another item than the one that was confirmed",
            DECIDED,
            |green| {
                of_decision(green, |line| {
                    let folder = line.text("run_dir").map(|path| format!("{path}-other"));
                    line.0["run_dir"] = json!(folder);
                })
            },
        ),
        Mutant::new(
            "attended/another-action",
            "what was decided is another action than the one that was confirmed",
            DECIDED,
            |green| {
                one_decision(green)?;
                let now = if green.journal.iter().any(|line| line.text("action") == Some("reject")) {
                    "escalate"
                } else {
                    "reject"
                };
                of_decision(green, |line| line.0["action"] = now.into())
            },
        ),
        Mutant::new(
            "attended/another-pause",
            "what was decided is another pause than the one that was confirmed",
            DECIDED,
            |green| of_decision(green, |line| line.0["capability_digest"] = "sha256:0".into()),
        ),
        Mutant::new("attended/told-otherwise", "the answer's status isn't what was decided", DECIDED, |green| {
            let at = position(green, |line| line.event() == "decision")?;
            one_decision(green)?;
            let status = green.journal[at].text("status")?.to_owned();
            decision_answer(green, &status)?;
            of_decision(green, |line| {
                line.0["status"] = if status == "rejected" { "escalated" } else { "rejected" }.into()
            })
        }),
        Mutant::new("attended/saved-twice", "a run that was let go on saves twice", &["actuated-once"], |green| {
            (green.after.effects.is_some()).then_some(())?;
            let goes_on = |line: &JournalLine| {
                line.event() == "decision" && matches!(line.text("action"), Some("continue" | "skip"))
            };
            let run = green.journal.iter().find(|line| goes_on(line))?.run_id()?.to_owned();
            let at = position(green, |line| line.is_effect() && line.run_id() == Some(&run))?;
            crate::power::change::insert(green, at, green.journal[at].clone())
        }),
        Mutant::new("attended/a-form-for-two-things", "a form asks for more than one yes", FORM, |green| {
            form(green, |form| {
                form["requestedSchema"]["properties"]["always"] = json!({"type": "boolean"});
            })
        }),
        Mutant::new("attended/a-form-for-words", "a form asks for a text", FORM, |green| {
            form(green, |form| form["requestedSchema"]["properties"]["confirmed"]["type"] = "string".into())
        }),
        Mutant::new("attended/a-form-that-may-stay-empty", "a form's yes isn't required", FORM, |green| {
            form(green, |form| form["requestedSchema"]["required"] = json!([]))
        }),
        Mutant::new("attended/a-form-about-nothing", "a form's message names nothing", FORM, |green| {
            form(green, |form| form["message"] = "Please confirm.".into())
        }),
        Mutant::new(
            "attended/bridges-without-number",
            "a server starts one bridge after the other",
            &["one-bridge"],
            |green| {
                let at = position(green, |line| line.event() == "bridge" && line.text("op") == Some("start"))?;
                changed(green, |evidence| {
                    for _ in 0..8 {
                        let line = evidence.journal[at].clone();
                        evidence.journal.push(line);
                    }
                    Some(())
                })
            },
        ),
    ];
    for (key, value) in [
        ("observed_text", json!("Patient: A. B.")),
        ("path", json!("runs/run-1")),
        ("signature", json!("hmac")),
        ("screenshot", json!("step_3.png")),
    ] {
        all.push(Mutant::new(
            format!("attended/item-with-{key}"),
            format!("an item has a key {key}"),
            TOLD,
            move |green| item(green, |item| item[key] = value.clone()),
        ));
    }
    all.push(Mutant::new("attended/item-of-no-category", "an item's category is a word of its own", TOLD, |green| {
        item(green, |item| item["category"] = "odd".into())
    }));
    all.push(Mutant::new("attended/item-in-its-own-words", "an item says its screen's own words", TOLD, |green| {
        let listed = |green: &Evidence| two_items(green);
        listed(green)?;
        item(green, |item| item["headline"] = "The banner says A. B.".into())
    }));
    all
}

/// Changes the only accepted form's answer, where one decision followed.
fn yes(green: &Evidence, how: impl Fn(&mut Value)) -> Option<Evidence> {
    one_decision(green)?;
    let accepted = |frame: &crate::evidence::Frame| {
        frame.way == Way::Sent && frame.text.contains("\"confirmed\":true") && frame.text.contains("\"accept\"")
    };
    let mut frames = (0..green.frames.len()).filter(|at| accepted(&green.frames[*at]));
    let at = frames.next()?;
    frames.next().is_none().then_some(())?;
    message(green, at, |message| {
        let legacy = message.get("result").is_some_and(|result| result.get("action").is_some());
        if legacy {
            how(&mut message["result"]);
            return Some(());
        }
        let answers = message.pointer_mut("/params/inputResponses")?.as_object_mut()?;
        how(answers.values_mut().next()?);
        Some(())
    })
}

fn one_decision(green: &Evidence) -> Option<()> {
    (green.journal.iter().filter(|line| line.event() == "decision").count() == 1).then_some(())
}

fn of_decision(green: &Evidence, how: impl Fn(&mut JournalLine)) -> Option<Evidence> {
    one_decision(green)?;
    (green.after.journal.is_empty()).then_some(())?;
    let at = position(green, |line| line.event() == "decision")?;
    changed(green, |evidence| {
        how(&mut evidence.journal[at]);
        Some(())
    })
}

/// There is an answer that tells this status.
fn decision_answer(green: &Evidence, status: &str) -> Option<()> {
    green
        .tool_results()
        .any(|(_, object)| word(&object, "status") == status && object.get("decision_id").is_some())
        .then_some(())
}

/// Changes the first form that was shown.
fn form(green: &Evidence, how: impl Fn(&mut Value)) -> Option<Evidence> {
    let shown = |frame: &crate::evidence::Frame| {
        frame.way == Way::Received
            && frame.text.contains("\"elicitation/create\"")
            && frame.text.contains("requestedSchema")
    };
    let at = (0..green.frames.len()).find(|at| shown(&green.frames[*at]))?;
    // Forms of a run that waits are named by their workflow, and are another matter.
    green
        .exchanges
        .iter()
        .any(|call| call.tool.as_deref().is_some_and(|tool| tool.ends_with("_attention")))
        .then_some(())?;
    message(green, at, |message| {
        if message.get("method").is_some() {
            how(message.get_mut("params")?);
            return Some(());
        }
        let asked = message.pointer_mut("/result/inputRequests")?.as_object_mut()?;
        how(asked.values_mut().next()?.get_mut("params")?);
        Some(())
    })
}

/// Changes the last item of the first list, in both of its copies.
fn item(green: &Evidence, how: impl Fn(&mut Value)) -> Option<Evidence> {
    let call = green
        .exchanges
        .iter()
        .find(|call| call.tool.as_deref() == Some("list_needs_attention") && call.answer.is_some())?;
    message(green, call.answer?, |message| {
        let mut list = object_of(message.get("result")?);
        how(list.get_mut("items")?.as_array_mut()?.last_mut()?);
        message["result"]["content"][0]["text"] = list.to_string().into();
        if message["result"].get("structuredContent").is_some() {
            message["result"]["structuredContent"] = list;
        }
        Some(())
    })
}

/// Two items of one category and status stand in one list.
fn two_items(green: &Evidence) -> Option<()> {
    let lists = green.tool_results().filter(|(call, _)| call.tool.as_deref() == Some("list_needs_attention"));
    let same = |list: Value| {
        let items = list.get("items")?.as_array()?;
        let (last, rest) = items.split_last()?;
        rest.iter()
            .any(|item| {
                word(item, "category") == word(last, "category") && word(item, "status") == word(last, "status")
            })
            .then_some(())
    };
    lists.map(|(_, list)| list).next().and_then(same)
}
