//! What a person reads of actions: the contract's own sentences, closed words, times and digests.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::contract::copy::copy_for;
use crate::contract::ids::{RequestId, RunId};
use crate::contract::outcome::NextStep;
use crate::contract::reason::Reason;
use crate::lifecycle::facts::LifecycleFacts;
use crate::lifecycle::store::{Action, Counter, EventRow, Listed, Receipt, ReceiptRead};
use crate::lifecycle::{Store, StoreFault};

/// One run, as it is told to a person.
pub struct Told {
    action: Action,
    events: Vec<EventRow>,
    receipts: Vec<(ReceiptRead, String)>,
}

impl Told {
    pub fn of(store: &Store, run_id: &RunId) -> Result<Option<Self>, StoreFault> {
        let Some(known) = store.find(run_id)? else { return Ok(None) };
        let receipts = store.receipts(&known.action)?;
        let events = store.events(run_id, 0)?;
        Ok(Some(Self { action: known.action, events, receipts }))
    }

    fn newest(&self) -> Option<&Receipt> {
        match self.receipts.last() {
            Some((ReceiptRead::Valid(receipt), _)) => Some(receipt),
            _ => None,
        }
    }

    /// The same word that get_run says of a run, as far as files of Flow don't say more by now. A decision about one has none.
    fn reason(&self) -> Option<Reason> {
        match self.receipts.last() {
            _ if !self.action.tool.is_run() => None,
            Some((ReceiptRead::Valid(receipt), _)) => receipt.run().map(|result| result.reason),
            Some((ReceiptRead::Corrupt { .. }, _)) => Some(Reason::ResultUnreadable),
            None => Some(Reason::Running),
        }
    }

    /// What a decision came to.
    fn decision(&self) -> &'static str {
        self.newest().map_or("open", |receipt| receipt.result.word())
    }

    pub fn to_object(&self, show_request_id: bool) -> Map<String, Value> {
        let facts = LifecycleFacts::of(&self.action, self.newest());
        let receipts: Vec<Value> =
            self.receipts.iter().map(|(receipt, digest)| receipt_object(receipt, digest)).collect();
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("run_id", self.action.run_id().as_str().into());
        put("tool", self.action.tool.as_str().into());
        put("workflow", self.action.workflow.as_deref().into());
        put("mode", self.action.mode.as_str().into());
        put("phase", self.action.phase.as_str().into());
        match self.reason() {
            Some(reason) => {
                let row = reason.row();
                put("outcome", row.outcome.as_str().into());
                put("reason", reason.as_str().into());
                put("safe_to_retry", row.safe_to_retry.into());
                put("record_changed", row.record_changed.as_str().into());
                put("next_step", row.next_step.as_str().into());
                put("next_action", copy_for(reason).next_action.into());
                put("what_a_person_can_do", for_a_person(reason).into());
            }
            None => {
                put("decision", self.decision().into());
            }
        }
        put("lifecycle", facts.to_object().into());
        put("receipts", receipts.into());
        put("events", json!(self.events));
        if show_request_id {
            put("request_id", self.action.request_id.as_ref().map(RequestId::as_str).into());
        }
        object
    }

    pub fn to_text(&self, show_request_id: bool) -> String {
        let (reason, facts) = (self.reason(), LifecycleFacts::of(&self.action, self.newest()));
        let run_id = self.action.run_id();
        let mut text = match reason.map(|reason| (reason, copy_for(reason))) {
            Some((reason, copy)) => {
                format!(
                    "{run_id}: {} ({})\n\n{}\n{}\n\n",
                    copy.label,
                    reason.as_str(),
                    copy.what_happened,
                    copy.next_action
                )
            }
            None => format!("{run_id}: {}, {}\n\n", self.action.tool.as_str(), self.decision()),
        };
        let mut say = |line: String| {
            // Writing to a text can't fail.
            let _ = writeln!(text, "{line}");
        };
        let word = |word: Option<&'static str>| word.unwrap_or("-");
        say(format!(
            "permission {}, execution {}, delivery {}, policy {}{}{}",
            word(facts.permission.map(|word| word.as_str())),
            word(facts.execution.map(|word| word.as_str())),
            facts.delivery.as_str(),
            facts.policy_version,
            facts.attempt.map(|attempt| format!(", attempt {attempt}")).unwrap_or_default(),
            facts.code.map(|code| format!(", {}", code.as_str())).unwrap_or_default(),
        ));
        if show_request_id && let Some(request_id) = &self.action.request_id {
            say(format!("request_id {request_id}"));
        }
        say("\nWhat happened when".to_owned());
        self.events.iter().for_each(|event| say(format!("  {}", event_line(event))));
        say("\nReceipts".to_owned());
        for (receipt, digest) in &self.receipts {
            say(match receipt {
                ReceiptRead::Valid(receipt) => {
                    format!(
                        "  {}  {}  {}  {}",
                        receipt.revision,
                        receipt.recorded_at,
                        receipt.result.word(),
                        short(digest)
                    )
                }
                ReceiptRead::Corrupt { revision } => format!("  {revision}  can't be believed  {}", short(digest)),
            });
        }
        if self.receipts.is_empty() {
            say("  none yet".to_owned());
        }
        if let Some(reason) = reason {
            say(format!("\nWhat a person can do now\n  {}", for_a_person(reason)));
        }
        text
    }
}

pub fn list(rows: &[Listed]) -> String {
    if rows.is_empty() {
        return "No actions.\n".to_owned();
    }
    let mut text = String::new();
    for row in rows {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
        let _ = writeln!(
            text,
            "{}  {}  {}  {}  {}  {}  {}{}",
            row.started_at,
            row.run_id,
            row.phase,
            word(&row.execution),
            word(&row.reason),
            word(&row.workflow),
            row.tool,
            row.request_id.as_ref().map(|id| format!("  {id}")).unwrap_or_default(),
        );
    }
    text
}

pub fn counters(rows: &[Counter]) -> String {
    if rows.is_empty() {
        return "No reviewer has refused anything.\n".to_owned();
    }
    let line = |row: &Counter| {
        format!("policy {}: {} in a row, {} in total\n", row.policy_version, row.consecutive, row.total)
    };
    rows.iter().map(line).collect()
}

/// A closed table.
const fn for_a_person(reason: Reason) -> &'static str {
    match reason.row().next_step {
        NextStep::None => "Nothing.",
        NextStep::WaitForPerson => "Decide about the paused run, in an attended client or in Flow's own console.",
        NextStep::CheckRecord => "Check the record in the app. Nothing runs again for this request.",
        NextStep::FixInputs => "Nothing. The caller corrects what it sends.",
        NextStep::FixSetup => "Correct the setup that the reason names; the caller may send the same request again.",
        NextStep::Retry => "Nothing. The caller may send the same request again.",
        NextStep::CallGetRun => "Wait. It isn't over.",
    }
}

fn receipt_object(receipt: &ReceiptRead, digest: &str) -> Value {
    match receipt {
        ReceiptRead::Valid(receipt) => json!({
            "revision": receipt.revision,
            "execution": receipt.execution,
            "reason": receipt.result.word(),
            "code": receipt.code,
            "executor_started": receipt.executor_started,
            "executor_end": receipt.executor_end,
            "recovered": receipt.recovered,
            "recorded_at": receipt.recorded_at,
            "digest": digest,
        }),
        ReceiptRead::Corrupt { revision } => json!({ "revision": revision, "corrupt": true, "digest": digest }),
    }
}

fn event_line(event: &EventRow) -> String {
    let words = [&event.permission, &event.execution, &event.reason, &event.code, &event.executor, &event.status];
    let words: Vec<&str> = words.into_iter().filter_map(|word| word.as_deref()).collect();
    format!("{}  {}  {}", event.at, event.event, words.join(" ")).trim_end().to_owned()
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}
