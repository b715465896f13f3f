//! Run folders of the real Flow, whole and broken, and what the queue shows of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::*;
use crate::flow::canonical::hex;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/samples/flow-1.35.1");
const KEY: [u8; 32] = [7; 32];
/// Stands in every free text of a pause or a report here.
const CANARY: &str = "Ada Example 000123";

struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    /// A run folder of the real Flow, paused, its capability signed anew with a key that is known here.
    fn paused() -> Self {
        let run = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["report.json", "pending_escalation.json", "attended_capability.json"] {
            fs::copy(Path::new(SAMPLES).join("duplicate_record").join(name), run.path(name)).unwrap();
        }
        fs::write(run.path(pause::KEY), KEY).unwrap();
        fs::set_permissions(run.path(pause::KEY), fs::Permissions::from_mode(0o600)).unwrap();
        run.sign();
        run
    }

    fn unpaused(report: &Value) -> Self {
        let run = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(run.path("report.json"), report.to_string()).unwrap();
        run
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut value = serde_json::from_slice(&fs::read(self.path(name)).unwrap()).unwrap();
        change(&mut value);
        fs::write(self.path(name), value.to_string()).unwrap();
    }

    /// Binds the capability to the pause and the transition as they are now, and signs it.
    fn sign(&self) {
        let tree = |name| Tree::parse(&fs::read(self.path(name)).unwrap(), 1 << 20).unwrap();
        let digest = pause::pause_digest(&tree(pause::PENDING)).unwrap();
        self.edit(pause::CAPABILITY, |capability| capability["pause_digest"] = digest.into());
        let transition = pause::transition_digest(&tree(pause::CAPABILITY)).unwrap();
        self.edit(pause::CAPABILITY, |capability| capability["expected_transition_digest"] = transition.into());
        let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).unwrap();
        mac.update(&pause::unsigned_capability(&tree(pause::CAPABILITY)).unwrap().canonical_bytes());
        let signature = format!("hmac-sha256:{}", hex(&mac.finalize().into_bytes()));
        self.edit(pause::CAPABILITY, |capability| capability["signature"] = signature.into());
    }

    fn item(&self) -> Option<AttentionItem> {
        item(AttentionId::of_place("duplicate_record"), &RunDir::open(self.folder.path()))
    }
}

fn sample(name: &str) -> Option<AttentionItem> {
    item(AttentionId::of_place(name), &RunDir::open(&Path::new(SAMPLES).join(name)))
}

/// What the real Flow 1.35.1 projects of the same folder, its sentences left out.
fn as_flow_says(name: &str) -> Value {
    let mut object = sample(name).expect("an item").to_object();
    for ours in ["headline", "next_action"] {
        object.remove(ours);
    }
    object.into()
}

#[test]
fn real_run_folders_give_what_flow_itself_projects() {
    let expected = json!({
        "id": "1e06c55b579ed39b1088b56f", "created_at": "2026-11-29T18:39:02.794372+00:00", "category": "postcondition",
        "status": "pending", "human_required": false, "durably_paused": true, "encrypted_pause": false,
        "observed_text_count": 11, "completed_intent_count": 5, "before_artifact_id": "step-006-before",
        "after_artifact_id": "step-006-after", "capability": null,
    });
    assert_eq!(as_flow_says("timeout_after_save"), expected);
    let expected = json!({
        "id": "009796c030cb4a33f8aa22bd", "created_at": "2026-11-29T19:17:59.030038+00:00",
        "category": "operator_review", "status": "completed_unverified", "human_required": false,
        "durably_paused": false, "encrypted_pause": false, "observed_text_count": 0, "completed_intent_count": 0,
        "before_artifact_id": null, "after_artifact_id": null, "capability": null,
    });
    assert_eq!(as_flow_says("after_continue"), expected);
}

#[test]
fn a_rejected_pause_stays_listed_and_an_approved_one_stays_open() {
    let rejected = sample("after_reject").unwrap();
    assert_eq!((rejected.status, rejected.durably_paused), (Status::Rejected, false));
    let approved = sample("after_approve").unwrap();
    assert_eq!((approved.status, approved.durably_paused), (Status::Approved, true));
}

#[test]
fn a_verified_run_waits_for_nobody_and_neither_does_a_folder_without_a_report() {
    assert_eq!(sample("normal"), None);
    let run = Run::paused();
    fs::remove_file(run.path("report.json")).unwrap();
    assert_eq!(run.item(), None);
}

#[test]
fn a_rightly_signed_capability_is_shown_as_its_public_part_alone() {
    let capability = Run::paused().item().unwrap().capability.expect("a capability");
    assert!(crate::flow::hex_text::is_sha256(&capability.digest));
    assert_eq!(capability.allowed, [AllowedAction::Reject, AllowedAction::Teach, AllowedAction::Escalate]);
}

#[test]
fn a_capability_that_cannot_be_checked_is_withheld_and_the_item_stays() {
    type Break = fn(&Run);
    let breaks: [(&str, Break); 6] = [
        ("signature", |run| {
            run.edit(pause::CAPABILITY, |it| it["signature"] = json!(format!("hmac-sha256:{}", "0".repeat(64))))
        }),
        ("allowed", |run| run.edit(pause::CAPABILITY, |it| it["allowed_actions"] = json!(["continue"]))),
        ("key", |run| fs::write(run.path(pause::KEY), [8; 32]).unwrap()),
        ("key mode", |run| fs::set_permissions(run.path(pause::KEY), fs::Permissions::from_mode(0o644)).unwrap()),
        ("pause", |run| run.edit(pause::PENDING, |it| it["reason"] = json!("another"))),
        ("no capability", |run| fs::remove_file(run.path(pause::CAPABILITY)).unwrap()),
    ];
    for (what, change) in breaks {
        let run = Run::paused();
        change(&run);
        let item = run.item().expect(what);
        assert_eq!(item.capability, None, "{what}");
        assert!(item.durably_paused, "{what}");
    }
}

#[test]
fn a_pause_that_cannot_be_read_is_an_open_one_of_no_known_category() {
    for text in ["{", "[]", ""] {
        let run = Run::paused();
        fs::write(run.path(pause::PENDING), text).unwrap();
        let item = run.item().unwrap();
        assert_eq!((item.category, item.durably_paused, &item.capability), (Category::OperatorReview, true, &None));
    }
    let run = Run::paused();
    fs::rename(run.path(pause::PENDING), run.path(pause::ENCRYPTED)).unwrap();
    let item = run.item().unwrap();
    assert_eq!((item.status, item.encrypted_pause, item.durably_paused), (Status::Encrypted, true, true));
}

#[test]
fn a_pause_outlives_its_report_and_a_bad_report_alone_is_nothing() {
    let run = Run::paused();
    fs::write(run.path("report.json"), "{").unwrap();
    let item = run.item().unwrap();
    assert_eq!((item.category, item.created_at, item.observed_texts), (Category::Disambiguation, None, 0));
    fs::remove_file(run.path(pause::PENDING)).unwrap();
    assert_eq!(run.item(), None);
}

#[test]
fn nothing_of_what_was_planted_in_pause_report_or_capability_gets_into_an_item() {
    let run = Run::paused();
    run.edit("report.json", |report| {
        report["started_at"] = json!(CANARY);
        report["halt"]["reason"] = json!(CANARY);
        report["halt"]["observed_texts"] = json!([CANARY, CANARY]);
    });
    run.edit(pause::PENDING, |pending| {
        for member in ["category", "status", "reason", "intent"] {
            pending[member] = json!(CANARY);
        }
    });
    run.edit(pause::CAPABILITY, |capability| {
        capability["allowed_actions"] = json!([CANARY, "teach"]);
        for member in ["delivery_state", "expires_at", "expected_next_transition", "pause_id"] {
            capability[member] = json!(CANARY);
        }
        capability["source_identity"] = json!({"status": CANARY, "observed": CANARY});
    });
    run.sign();
    let item = run.item().unwrap();
    let text = Value::from(item.to_object()).to_string();
    assert!(!text.contains("Ada") && !text.contains("000123"), "{text}");
    let capability = item.capability.expect("a capability");
    assert_eq!((capability.allowed, capability.delivery), (vec![AllowedAction::Teach], DeliveryState::Unknown));
    assert_eq!((item.observed_texts, item.created_at), (2, None));
}

#[test]
fn an_item_holds_under_its_schema() {
    for item in [Run::paused().item(), sample("after_continue"), sample("after_reject"), sample("timeout_after_save")] {
        schemas::Schema::AttentionItem.check(&item.unwrap().to_object().into()).unwrap();
    }
}

#[test]
fn a_run_without_a_profile_waits_only_after_it_stopped() {
    let success = Run::unpaused(&json!({"success": true, "halt": null, "results": []}));
    assert_eq!(success.item(), None);
    let refused = Run::unpaused(&json!({"success": false, "halt": null, "results": []}));
    assert_eq!(refused.item(), None);
    let stopped = Run::unpaused(&json!({"success": false, "halt": {"observed_texts": []}, "results": [{"ok": false}]}));
    assert_eq!(stopped.item().map(|item| item.status), Some(Status::Halted));
}
