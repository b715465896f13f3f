//! The effects that the save must have, and what the record store says about each.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::records::{Records, Site};
use super::tutorial::{KEY, KIND, PATIENT};
use crate::canonical::{canonical, sha256_hex};

/// How long a record may take to appear once the screen says that it is saved.
const PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(50);
const VERIFIER: &str = "sha256:9a8b7c6d5e4f30211203f4e5d6c7b8a99a8b7c6d5e4f30211203f4e5d6c7b8a9";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Present,
    Absent,
    Conflicting,
    /// The store couldn't be read.
    Unknown,
}

/// One effect and what was found of it.
#[derive(Debug, Clone)]
pub struct Checked {
    pub hash: String,
    pub kind: &'static str,
    pub found: Found,
}

/// The effects of a run with this note: exactly one record under the workflow's key, and the note in it.
pub fn effects(note: &str) -> [Value; 2] {
    let selector = json!({"patient_id": PATIENT, "type": KIND, "source": "replay", "key": KEY});
    [
        effect("record_written", &selector, Value::Null, Value::Null, json!(KEY)),
        effect("field_equals", &selector, json!("note"), json!(note), Value::Null),
    ]
}

pub fn hashes(note: &str) -> Vec<String> {
    effects(note).iter().map(hash).collect()
}

/// Reads the store until both effects are there, or the patience ends; stops at the first that isn't confirmed.
pub fn verify(site: &Site, before: &Records, note: &str) -> (Vec<Checked>, Option<Records>) {
    let began = Instant::now();
    loop {
        let records = site.records().ok();
        let checked = check(records.as_ref(), before, note);
        if checked.iter().all(|one| one.found == Found::Present) || began.elapsed() > PATIENCE {
            return (checked, records);
        }
        thread::sleep(POLL);
    }
}

fn check(records: Option<&Records>, before: &Records, note: &str) -> Vec<Checked> {
    let [written, field] = effects(note);
    let mut checked = vec![Checked { hash: hash(&written), kind: "record_written", found: row(records, before) }];
    if checked[0].found == Found::Present {
        let same = records.is_some_and(|records| {
            records
                .rows
                .iter()
                .filter(|row| is_ours(row))
                .all(|row| row["note"].as_str().is_some_and(|kept| lines(kept) == lines(note)))
        });
        let found = if same { Found::Present } else { Found::Conflicting };
        checked.push(Checked { hash: hash(&field), kind: "field_equals", found });
    }
    checked
}

fn row(records: Option<&Records>, before: &Records) -> Found {
    let Some(records) = records else { return Found::Unknown };
    if records.lost_since(before) {
        return Found::Conflicting;
    }
    match records.rows.iter().filter(|row| is_ours(row)).count() {
        0 => Found::Absent,
        1 => Found::Present,
        _ => Found::Conflicting,
    }
}

fn is_ours(row: &Value) -> bool {
    row["patient_id"] == PATIENT && row["type"] == KIND && row["source"] == "replay" && row["key"] == KEY
}

/// A text area has one kind of line end.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

impl Checked {
    pub fn evidence(&self) -> Value {
        let verdict = match self.found {
            Found::Present => "confirmed",
            Found::Unknown => "indeterminate",
            Found::Absent | Found::Conflicting => "refuted",
        };
        json!({
            "effect_contract_hash": self.hash,
            "substrate": "rest",
            "verifier_identity": VERIFIER,
            "verification_tier": 1,
            "initial_verdict": verdict,
            "final_verdict": verdict,
            "reconciliation_completed": false,
            "reconciliation_actions": 0,
            "observed_effect": self.found.word(),
        })
    }

    /// The line for people.
    pub fn line(&self) -> String {
        let said = match self.found {
            Found::Present => "CONFIRMED",
            Found::Unknown => "INDETERMINATE",
            Found::Absent | Found::Conflicting => "REFUTED → ESCALATED",
        };
        format!("[rest] {}: {said}", self.kind)
    }
}

impl Found {
    pub fn word(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Conflicting => "conflicting",
            Self::Unknown => "unknown",
        }
    }
}

fn effect(kind: &str, selector: &Value, field: Value, value: Value, key: Value) -> Value {
    json!({
        "kind": kind,
        "match": selector,
        "field": field,
        "value": value,
        "expected_count": 1,
        "idempotency_key": key,
        "key_field": "key",
        "forbid_collateral_loss": true,
    })
}

/// The real program hashes ASCII-escaped JSON here.
fn hash(effect: &Value) -> String {
    let mut escaped = String::new();
    for unit in canonical(effect).encode_utf16() {
        match u8::try_from(unit).ok().filter(|byte| (b' '..=b'~').contains(byte)) {
            Some(plain) => escaped.push(char::from(plain)),
            None => escaped.push_str(&format!("\\u{unit:04x}")),
        }
    }
    format!("sha256:{}", sha256_hex(escaped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(rows: &[Value]) -> Records {
        Records { rows: rows.to_vec(), rejected: 0 }
    }

    fn ours(id: u64, note: &str) -> Value {
        json!({"id": id, "patient_id": "p1", "type": "Triage", "note": note, "source": "replay", "key": KEY})
    }

    fn found(records: Option<&Records>, before: &Records) -> Vec<Found> {
        check(records, before, "x").into_iter().map(|one| one.found).collect()
    }

    #[test]
    fn the_hashes_are_those_that_the_real_program_wrote_for_the_same_effects() {
        assert_eq!(
            hashes("Made-up note for normal"),
            [
                "sha256:de1ec3dd32c33b1683a590f55d45fea21a5a4290687eac7f350df7842e84815b",
                "sha256:2e2213e4dcae558d84767630a57d38c231ab93a45cf90f93c29325485b7a36b3"
            ]
        );
    }

    #[test]
    fn text_beyond_ascii_is_hashed_escaped_as_python_does_it() {
        // json.dumps of the effect with this note, hashed by Python.
        assert_eq!(
            hashes("é 🩺 \"q\" \u{7f}")[1],
            "sha256:cbaba722751b3cdaf2c2d64c6c30104b8173653fe231a488e5141bb0f7fc70b6"
        );
    }

    #[test]
    fn one_record_with_the_note_is_both_effects() {
        assert_eq!(found(Some(&store(&[ours(1, "x")])), &store(&[])), [Found::Present, Found::Present]);
    }

    #[test]
    fn no_record_another_note_and_two_records_are_told_apart() {
        assert_eq!(found(Some(&store(&[])), &store(&[])), [Found::Absent]);
        assert_eq!(found(Some(&store(&[ours(1, "")])), &store(&[])), [Found::Present, Found::Conflicting]);
        assert_eq!(found(Some(&store(&[ours(1, "x"), ours(2, "x")])), &store(&[])), [Found::Conflicting]);
        assert_eq!(found(None, &store(&[])), [Found::Unknown]);
    }

    #[test]
    fn a_record_of_somebody_else_that_is_lost_is_a_conflict() {
        let theirs =
            json!({"id": 1, "patient_id": "p1", "type": "Consult", "note": "y", "source": "other", "key": null});
        assert_eq!(found(Some(&store(&[ours(2, "x")])), &store(&[theirs])), [Found::Conflicting]);
    }

    #[test]
    fn line_ends_are_those_of_a_text_area() {
        let kept = store(&[ours(1, "a\nb\nc")]);
        assert!(check(Some(&kept), &store(&[]), "a\r\nb\rc").iter().all(|one| one.found == Found::Present));
    }
}
