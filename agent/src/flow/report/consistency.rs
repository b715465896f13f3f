//! Whether a report agrees with itself. One that doesn't is never `done` and never "nothing written".

use serde_json::{Map, Value};

use super::members::Members;
use crate::contract::evidence::{ApprovalMode, ExecutionOutcome, ReportFacts, TransactionOutcome};

/// Members that stand both in the report and in its envelope, by their name in each.
const TWICE_SAID: [(&str, &str); 5] = [
    ("execution_profile", "profile"),
    ("production_eligible", "production_eligible"),
    ("execution_completed", "execution_completed"),
    ("model_calls", "model_calls"),
    ("external_network_calls", "external_network_calls"),
];
const PROFILES: [&str; 3] = ["demo", "standard", "regulated"];

/// The facts of a report that agrees with itself.
pub fn facts(report: &Members) -> Option<ReportFacts> {
    let execution = word(report.value("execution_outcome"), ExecutionOutcome::parse)?;
    let transaction = word(report.value("transaction_outcome"), TransactionOutcome::parse)?;
    let success = boolean(report.value("success"))?;
    let profile = word(report.value("execution_profile"), known_profile)?;
    let eligible = boolean(report.value("production_eligible"))?;
    let agrees = outcomes_agree(execution, transaction, success)
        && eligibility_agrees(execution, profile, eligible)
        && envelope_agrees(report, execution);
    let (decision, mode) = approval(report.value("approval"))?;
    agrees.then(|| ReportFacts {
        transaction,
        execution,
        success,
        approval_required: decision == Some("approval_required"),
        approval_mode: mode.and_then(ApprovalMode::parse),
        model_calls: report.value("model_calls").and_then(Value::as_u64),
    })
}

/// The decision and the mode. A newer Flow may use words that aren't known here, but no other type.
fn approval(value: Option<&Value>) -> Option<(Option<&str>, Option<&str>)> {
    let Some(value) = value else { return Some((None, None)) };
    let members = value.as_object()?;
    let text = |key| match members.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(word) => word.as_str().map(Some),
    };
    Some((text("decision")?, text("mode")?))
}

fn outcomes_agree(
    execution: Option<ExecutionOutcome>,
    transaction: Option<TransactionOutcome>,
    success: Option<bool>,
) -> bool {
    let coarse_verified = execution == Some(ExecutionOutcome::Verified);
    let verified = transaction == Some(TransactionOutcome::Verified);
    let success_agrees = match execution {
        Some(ExecutionOutcome::Verified) => success == Some(true),
        Some(ExecutionOutcome::Halted | ExecutionOutcome::Failed | ExecutionOutcome::RolledBack) => {
            success == Some(false)
        }
        Some(ExecutionOutcome::CompletedUnverified) => success.is_some(),
        None => true,
    };
    let no_effect_agrees = !transaction.is_some_and(TransactionOutcome::proves_no_effect)
        || (success != Some(true)
            && !matches!(execution, Some(ExecutionOutcome::CompletedUnverified | ExecutionOutcome::RolledBack)));
    coarse_verified == verified && success_agrees && no_effect_agrees
}

/// Only a profile that demands proof can end verified, and only a verified run is eligible.
fn eligibility_agrees(
    execution: Option<ExecutionOutcome>,
    profile: Option<&'static str>,
    eligible: Option<bool>,
) -> bool {
    let verified = execution == Some(ExecutionOutcome::Verified);
    let proving_profile = matches!(profile, Some("standard" | "regulated"));
    (!verified || proving_profile) && (eligible != Some(true) || verified)
}

fn envelope_agrees(report: &Members, execution: Option<ExecutionOutcome>) -> bool {
    let envelope = match report.value("outcome_envelope") {
        None => return execution.is_none(),
        Some(Value::Object(envelope)) => envelope,
        Some(_) => return false,
    };
    let outcome = envelope.get("outcome").and_then(Value::as_str);
    outcome == execution.map(ExecutionOutcome::as_str)
        && TWICE_SAID.iter().all(|(outside, inside)| match report.get(outside) {
            Some(said) => envelope.get(*inside) == Some(said),
            None => true,
        })
        && (execution != Some(ExecutionOutcome::Verified) || every_contract_passed(envelope))
}

fn every_contract_passed(envelope: &Map<String, Value>) -> bool {
    match (envelope.get("required_contracts"), envelope.get("passed_contracts")) {
        (None, None) => true,
        (Some(Value::Object(required)), Some(Value::Object(passed))) => required == passed,
        _ => false,
    }
}

/// The outer `None` is a value that isn't of the closed set; the inner one is a member left out.
fn word<T>(value: Option<&Value>, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    match value {
        None => Some(None),
        Some(value) => value.as_str().and_then(parse).map(Some),
    }
}

/// As [`word`].
fn boolean(value: Option<&Value>) -> Option<Option<bool>> {
    match value {
        None => Some(None),
        Some(value) => value.as_bool().map(Some),
    }
}

fn known_profile(text: &str) -> Option<&'static str> {
    PROFILES.into_iter().find(|profile| *profile == text)
}
