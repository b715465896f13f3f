//! A shape and a subject become a full report: 77 keys in the real order, envelope and top level equal.

use serde_json::{Map, Value, json};

use super::{Profile, Shape, Subject, results};
use crate::SCREEN_CANARY;

/// Builds the report of `shape` about `subject`, under `profile` (which the shape must allow).
pub fn build(shape: Shape, subject: &Subject, profile: Option<Profile>) -> Value {
    assemble(shape, subject, profile, &facts(shape, profile))
}

/// The report of `shape` with these facts in it.
pub fn assemble(shape: Shape, subject: &Subject, profile: Option<Profile>, facts: &Facts) -> Value {
    let parts = [
        outcome(shape, subject, profile, facts),
        governance(subject, profile),
        qualification(facts),
        course(shape, subject, facts),
    ];
    Value::Object(parts.into_iter().flat_map(object).collect())
}

fn outcome(shape: Shape, subject: &Subject, profile: Option<Profile>, facts: &Facts) -> Value {
    let verified = shape == Shape::Verified;
    let completed = matches!(shape, Shape::Verified | Shape::CompletedUnverified | Shape::RolledBack);
    let transaction = shape.transaction();
    json!({
        "workflow_name": subject.workflow_name,
        "started_at": subject.started_at,
        "execution_profile": profile,
        "execution_outcome": shape.execution(),
        "production_eligible": verified,
        "execution_completed": profile.map(|_| completed),
        "outcome_envelope": profile.map(|profile| envelope(shape, profile, completed, subject, facts)),
        "transaction_outcome": transaction,
        "transaction_billable": transaction.map(|_| verified),
        "transaction_platform_fault": transaction.map(|name| name == "FAILED_PLATFORM"),
        "effect_journal": facts.journal,
        "idempotency_key": null,
        "idempotent_replay": false,
        "canceled": shape == Shape::Canceled,
        "execution_target_kind": "web",
        "recorded_surface": null,
        "surface_override": false,
        "execution_origin": subject.url.as_deref().map(origin),
        "execution_entry_url": subject.url,
    })
}

fn governance(subject: &Subject, profile: Option<Profile>) -> Value {
    json!({
        "bundle_content_digest": subject.content_digest,
        "workflow_contract_sha256": subject.contract_sha256,
        "source_recording_sha256": null,
        "parameter_schema_sha256": subject.parameters_sha256,
        "governed_authorization_id": subject.run_id,
        "governed_approval_source": subject.approval_source,
        "governed_authorization_created_at": subject.started_at,
        "governed_policy_name": subject.policy,
        "governed_policy_contract_sha256": subject.policy_sha256(),
        "governed_minimum_effect_tier": profile.and_then(Profile::minimum_tier),
        "governed_qualified_effect_requirements": [],
        "governed_runtime_inputs_digest": subject.inputs_sha256(),
        "run_id_sha256": subject.run_id_sha256(),
    })
}

/// Keys that only a qualification campaign fills, and the lists that stand behind them.
fn qualification(facts: &Facts) -> Value {
    json!({
        "governed_qualification_project_id": null,
        "governed_qualification_project_revision": null,
        "governed_qualification_project_contract_sha256": null,
        "governed_qualification_campaign_id_sha256": null,
        "governed_qualification_case_id_sha256": null,
        "governed_qualification_case_input_sha256": null,
        "governed_qualification_run_id_sha256": null,
        "governed_qualification_case_kind": null,
        "governed_qualification_case_action_paths": {},
        "governed_qualification_fault_driver_id": null,
        "governed_qualification_fault_driver_contract_sha256": null,
        "governed_qualification_fault_driver_key_id": null,
        "governed_qualification_fault_step_id_sha256": null,
        "qualification_evidence_only": false,
        "qualification_fault_mutations": [],
        "observed_application_sha256": null,
        "observed_application_version_sha256": null,
        "observed_session_sha256": null,
        "observed_environment_digest": null,
        "observed_environment_binding_sha256": null,
        "qualification_environment_observer_id": null,
        "qualification_environment_observer_contract_sha256": null,
        "governed_authorized_effect_contracts": {},
        "required_identity_step_ids": facts.identity_steps,
        "approved_unverified_effect_step_ids": [],
    })
}

fn course(shape: Shape, subject: &Subject, facts: &Facts) -> Value {
    let success = matches!(shape, Shape::Verified | Shape::CompletedUnverified | Shape::NoProfileSuccess);
    json!({
        "params": subject.params,
        "results": facts.results,
        "success": success,
        "terminal_outcome": null,
        "visited_states": [],
        "program_transition_evidence": [],
        "business_decision_evidence": [],
        "program_exception_evidence": [],
        "attended_program_transition_evidence": [],
        "halt": halt(shape, &facts.results),
        "rung_counts": facts.rungs,
        "heal_count": 0,
        "model_calls": 0,
        "external_network_calls": "observed",
        "est_model_cost_usd": 0.0,
        "total_ms": facts.total_ms,
        "identity_applicable_steps": facts.armed,
        "identity_armed_steps": facts.armed,
        "identity_unarmed": [],
        "screenshots_may_leave_box": false,
    })
}

fn object(part: Value) -> Map<String, Value> {
    match part {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The steps whose identity must verify: both, in a governed run.
pub fn identity_steps(profile: Option<Profile>) -> Value {
    match profile {
        Some(Profile::Standard | Profile::Regulated) => json!([results::NAVIGATION.0, results::SAVE.0]),
        _ => json!([]),
    }
}

/// What differs between reports of one shape: results, journal, and the counts (required, passed) of a standard run.
#[derive(Debug)]
pub struct Facts {
    pub results: Vec<Value>,
    pub journal: Vec<Value>,
    pub authorized: bool,
    pub identity: (usize, usize),
    pub effect: (usize, usize),
    /// The envelope's evidence of checked postconditions.
    pub postconditions: Vec<Value>,
    /// Ids of the steps whose identity had to verify.
    pub identity_steps: Value,
    /// How many steps of the workflow know their record.
    pub armed: usize,
    pub rungs: Value,
    pub total_ms: f64,
}

fn facts(shape: Shape, profile: Option<Profile>) -> Facts {
    use results::{NAVIGATION, SAVE, done, journal_entry};
    let opened = || done(NAVIGATION, true);
    let (results, journal, identity, effect) = match shape {
        Shape::Verified | Shape::CompletedUnverified => {
            (vec![opened(), results::saved()], vec![journal_entry("present", Some(true), 0)], (2, 2), (1, 1))
        }
        Shape::HaltedBeforeEffect | Shape::Canceled => (vec![results::ambiguous()], vec![], (1, 0), (0, 0)),
        Shape::ReconciliationRequired => {
            (vec![opened(), results::save_in_doubt()], vec![journal_entry("unknown", None, 0)], (2, 2), (1, 0))
        }
        Shape::RejectedPolicy => (vec![results::wrong_record()], vec![], (1, 0), (0, 0)),
        Shape::RejectedPolicyAuthorization => (vec![results::unauthorized()], vec![], (0, 0), (0, 0)),
        Shape::FailedPlatform => (vec![results::broken()], vec![], (1, 1), (0, 0)),
        Shape::RolledBack => {
            (vec![opened(), results::compensated()], vec![journal_entry("present", Some(true), 1)], (2, 2), (1, 0))
        }
        Shape::NoProfileSuccess => (vec![done(NAVIGATION, false), done(SAVE, false)], vec![], (0, 0), (0, 0)),
        Shape::NoProfileHalt => (vec![done(NAVIGATION, false), results::plain_halt()], vec![], (0, 0), (0, 0)),
    };
    Facts {
        results,
        journal,
        authorized: shape != Shape::RejectedPolicyAuthorization,
        identity,
        effect,
        postconditions: Vec::new(),
        identity_steps: identity_steps(profile),
        armed: 2,
        rungs: json!({}),
        total_ms: 1234.5,
    }
}

fn envelope(shape: Shape, profile: Profile, completed: bool, subject: &Subject, facts: &Facts) -> Value {
    let governed = profile != Profile::Demo;
    let identity = if governed { facts.identity } else { (0, 0) };
    let authorized = governed && facts.authorized;
    let rolled_back = shape == Shape::RolledBack;
    let passed = facts.postconditions.iter().filter(|item| item["verdict"] == "passed").count();
    let classes = [
        (authorized, "authorization"),
        (rolled_back, "compensation"),
        (facts.effect.1 > 0 && facts.effect.1 == facts.effect.0, "effect_tier_1"),
        (facts.identity.1 > 0, "identity"),
        (passed > 0, "postcondition"),
    ];
    let classes: Vec<&str> = classes.into_iter().filter_map(|(has, name)| has.then_some(name)).collect();
    let mut head = json!({
        "version": "openadapt.execution-outcome/v1",
        "outcome": shape.execution(),
        "profile": profile,
        "production_eligible": shape == Shape::Verified,
        "execution_completed": completed,
        "required_contracts": counts(governed, identity.0, facts.postconditions.len(), facts.effect.0),
        "passed_contracts": counts(authorized, identity.1, passed, facts.effect.1),
    });
    if !facts.postconditions.is_empty() {
        head["workflow_contract_sha256"] = json!(subject.contract_sha256);
        head["postcondition_evidence"] = json!(facts.postconditions);
    }
    let tail = json!({
        "evidence_classes": classes,
        "model_calls": 0,
        "external_network_calls": "observed",
        "compensation_actions": u8::from(rolled_back),
    });
    Value::Object([head, tail].into_iter().flat_map(object).collect())
}

fn counts(authorization: bool, identity: usize, postcondition: usize, effect: usize) -> Value {
    json!({
        "authorization": u8::from(authorization),
        "identity": identity,
        "postcondition": postcondition,
        "effect": effect,
    })
}

/// A live halt has a halt object; a finished, compensated or early refused run has none.
fn halt(shape: Shape, results: &[Value]) -> Value {
    let none = matches!(shape, Shape::RolledBack | Shape::RejectedPolicyAuthorization);
    let Some((last, before)) = results.split_last().filter(|(last, _)| !none && last["ok"] == false) else {
        return Value::Null;
    };
    json!({
        "state_id": last["step_id"],
        "intent": last["intent"],
        "reason": last["error"],
        "outcome": "halt",
        "observed_texts": [SCREEN_CANARY],
        "completed_intents": before.iter().map(|result| result["intent"].clone()).collect::<Vec<_>>(),
    })
}

/// Scheme and authority of a URL.
fn origin(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.split(['/', '?', '#']).next().unwrap_or_default()),
        None => url.to_owned(),
    }
}
