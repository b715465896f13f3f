//! A course as a report: the same assembly as a played shape, with what was really seen.

use serde_json::{Map, Value, json};

use super::checks::Verdict;
use super::contracts::Found;
use super::course::{End, Told};
use super::tutorial::{self, STEPS};
use crate::SCREEN_CANARY;
use crate::canonical::{canonical, sha256_hex};
use crate::report::{Facts, Profile, Shape, Subject, assemble};

/// The report of a course, and the shape that it has.
pub fn report(told: &Told, subject: &Subject) -> (Shape, Value) {
    let shape = shape(told.end, subject.profile);
    let mut report = assemble(shape, subject, subject.profile, &facts(told, subject));
    if let Some(halt) = report["halt"].as_object_mut() {
        let seen = told.seen.iter().map(String::as_str).chain([SCREEN_CANARY]);
        halt.insert("observed_texts".into(), seen.collect());
    }
    (shape, report)
}

fn shape(end: End, profile: Option<Profile>) -> Shape {
    match (end, profile) {
        (End::Done, None) => Shape::NoProfileSuccess,
        (_, None) => Shape::NoProfileHalt,
        (End::Done, Some(Profile::Demo)) => Shape::CompletedUnverified,
        (End::Done, Some(_)) => Shape::Verified,
        (End::Stopped(_), _) => Shape::HaltedBeforeEffect,
        (End::WrongRecord, _) => Shape::RejectedPolicy,
        (End::Broken, _) => Shape::FailedPlatform,
        (End::InDoubt(_), _) => Shape::ReconciliationRequired,
    }
}

fn facts(told: &Told, subject: &Subject) -> Facts {
    let verified = |result: &&Value| result["identity"]["status"] == "verified";
    let armed = STEPS.iter().take(told.results.len()).filter(|step| step.identity.is_some()).count();
    let confirmed = told.effects.iter().filter(|effect| effect.found == Found::Present).count();
    let reached = told.results.len() == STEPS.len();
    let governed = matches!(subject.profile, Some(Profile::Standard | Profile::Regulated));
    let rungs = told.results.iter().filter(|result| result["ok"] == true && !result["resolution"].is_null()).count();
    Facts {
        journal: if subject.profile.is_some() { journal(told) } else { Vec::new() },
        authorized: true,
        identity: (armed, told.results.iter().filter(verified).count()),
        effect: if reached { (2, confirmed) } else { (0, 0) },
        postconditions: evidence(told, &subject.contract_sha256),
        identity_steps: if governed { tutorial::identity_steps() } else { json!([]) },
        armed: STEPS.iter().filter(|step| step.identity.is_some()).count(),
        rungs: if rungs > 0 { json!({"structural": rungs}) } else { Value::Object(Map::new()) },
        total_ms: told.took.as_secs_f64() * 1000.0,
        results: told.results.clone(),
    }
}

/// One entry for the save, once it was come to and its action begun.
fn journal(told: &Told) -> Vec<Value> {
    let Some(save) = told.results.get(STEPS.len() - 1).filter(|save| save["delivery_attempted"] == true) else {
        return Vec::new();
    };
    let worst = told.effects.last().map_or(Found::Unknown, |effect| effect.found);
    vec![json!({
        "step_id": save["step_id"],
        "intent": save["intent"],
        "consequential": true,
        "intended_effect_contract_hashes": save["effect_contract_hashes"],
        "attempt_state": if save["delivery_uncertainty"].is_null() { "delivered" } else { "delivery_uncertain" },
        "observed_effect": worst.word(),
        "effect_verified": save["effect_verified"],
        "approved_unverified": false,
        "verification_performed": !told.effects.is_empty(),
        "observed_at": save["delivery_uncertainty"]["observed_at"],
        "collateral_reconciliation_actions": 0,
    })]
}

/// The envelope's evidence: an entry for each check of each executed step, bound by the digests that the real program holds it against.
fn evidence(told: &Told, contract: &str) -> Vec<Value> {
    let steps = told.verdicts.iter().zip(&STEPS).enumerate();
    steps
        .flat_map(|(index, (verdicts, step))| {
            let action = step.action.word();
            let kind = if action == "type" { "intrinsic_input_readback" } else { "explicit_predicate" };
            let step_sha256 = step_digest(contract, index, action);
            verdicts.iter().enumerate().map(move |(at, verdict)| {
                json!({
                    "result_index": index,
                    "workflow_contract_sha256": contract,
                    "step_index": index,
                    "step_contract_sha256": step_sha256,
                    "action_kind": action,
                    "actuation_path": "gui",
                    "contract_kind": kind,
                    "contract_index": at,
                    "contract_sha256": contract_digest(contract, &step_sha256, action, kind, at),
                    "verdict": Verdict::word(*verdict),
                })
            })
        })
        .collect()
}

fn step_digest(contract: &str, index: usize, action: &str) -> String {
    sha256_hex(canonical(&json!({
        "domain": "openadapt.postcondition-step/v1",
        "workflow_contract_sha256": contract,
        "step_index": index,
        "action_kind": action,
    })))
}

fn contract_digest(contract: &str, step: &str, action: &str, kind: &str, at: usize) -> String {
    sha256_hex(canonical(&json!({
        "domain": "openadapt.postcondition-contract/v1",
        "workflow_contract_sha256": contract,
        "step_contract_sha256": step,
        "action_kind": action,
        "actuation_path": "gui",
        "contract_kind": kind,
        "contract_index": at,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a report of the real program.
    const CONTRACT: &str = "327caff579162ecdad8fa903d945c5fe30f7e8366c5282496f559d3c92a5433f";

    #[test]
    fn the_digests_of_a_check_are_those_that_the_real_program_wrote() {
        let step = step_digest(CONTRACT, 0, "click");
        assert_eq!(step, "21ddda5999575a53b52776499089d7316101f9690fed94bb243d21bbd4b9f9a1");
        assert_eq!(
            contract_digest(CONTRACT, &step, "click", "explicit_predicate", 1),
            "7f8b1a8276948188cb917deb679ec04b8c882933dace5858eefbe3fb94ba493e"
        );
        let typed = step_digest(CONTRACT, 4, "type");
        assert_eq!(
            contract_digest(CONTRACT, &typed, "type", "intrinsic_input_readback", 0),
            "db2b6935dd09a4f131f19e53ea705ec117e318ae106245adb33258ec17c34a97"
        );
    }
}
