//! The rules of a real report, written from the measured facts and sharing nothing with the code that builds reports.

use serde_json::Value;

/// The transaction outcome that a report's own evidence gives.
pub fn transaction(report: &Value) -> &'static str {
    let results = report["results"].as_array().unwrap();
    let coarse = report["execution_outcome"].as_str().unwrap();
    let consequential: Vec<&Value> = results.iter().filter(|result| is_consequential(result)).collect();
    let all_absent = consequential.iter().all(|result| is_proven_absent(result));
    if report.get("managed_result_loss").is_some() {
        return "RECONCILIATION_REQUIRED";
    }
    if coarse == "VERIFIED" {
        return "VERIFIED";
    }
    if results.iter().any(is_unresolved) {
        return "RECONCILIATION_REQUIRED";
    }
    if coarse == "ROLLED_BACK" {
        let settled = consequential.iter().all(|result| is_settled(result));
        return if settled { "ROLLED_BACK" } else { "RECONCILIATION_REQUIRED" };
    }
    if coarse == "COMPLETED_UNVERIFIED" {
        let governed = report["execution_profile"] != "demo";
        return if governed && !all_absent { "RECONCILIATION_REQUIRED" } else { "COMPLETED_UNVERIFIED" };
    }
    if !all_absent {
        return "RECONCILIATION_REQUIRED";
    }
    if results.iter().any(is_policy_rejection) {
        return "REJECTED_POLICY";
    }
    match (report["canceled"] == true, coarse) {
        (true, _) => "CANCELED",
        (false, "HALTED") => "HALTED_BEFORE_EFFECT",
        (false, _) => "FAILED_PLATFORM",
    }
}

/// What Flow holds against an envelope when it loads a report; each broken rule by name.
pub fn broken_rules(report: &Value) -> Vec<&'static str> {
    let envelope = &report["outcome_envelope"];
    if report["execution_profile"].is_null() {
        return rules(&[("no profile, no envelope", envelope.is_null())]);
    }
    let (required, passed) = (&envelope["required_contracts"], &envelope["passed_contracts"]);
    let classes: Vec<&str> =
        envelope["evidence_classes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let counts =
        |of: &Value| ["authorization", "identity", "postcondition", "effect"].map(|key| of[key].as_u64().unwrap());
    let outcome = envelope["outcome"].as_str().unwrap();
    let verified = outcome == "VERIFIED";
    let compensated = envelope["compensation_actions"].as_u64().unwrap() > 0;
    let mut sorted = classes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let equal = |of_report: &str, of_envelope: &str| report[of_report] == envelope[of_envelope];
    rules(&[
        (
            "passed is within required",
            counts(passed).iter().zip(counts(required)).all(|(passed, required)| *passed <= required),
        ),
        (
            "no postconditions are counted",
            required["postcondition"] == 0 && envelope.get("postcondition_evidence").is_none(),
        ),
        ("classes are sorted and unique", sorted == classes),
        ("no postcondition class", !classes.contains(&"postcondition")),
        ("compensation class", classes.contains(&"compensation") == compensated),
        ("compensation outcome", compensated == (outcome == "ROLLED_BACK")),
        ("verified passes all it requires", !verified || passed == required),
        ("verified is governed", !verified || report["execution_profile"] != "demo"),
        ("verified is authorized", !verified || required["authorization"].as_u64() >= Some(1)),
        ("only verified is eligible", (envelope["production_eligible"] == true) == verified),
        (
            "a completion is completed",
            !(verified || outcome == "COMPLETED_UNVERIFIED") || envelope["execution_completed"] == true,
        ),
        ("outcome is the same", equal("execution_outcome", "outcome")),
        ("profile is the same", equal("execution_profile", "profile")),
        ("eligibility is the same", equal("production_eligible", "production_eligible")),
        ("completion is the same", equal("execution_completed", "execution_completed")),
        ("model calls are the same", equal("model_calls", "model_calls")),
        ("network calls are the same", equal("external_network_calls", "external_network_calls")),
        (
            "effect class",
            // Of a save that is confirmed in part, no tier is told.
            !classes.iter().any(|class| class.starts_with("effect")) || passed["effect"].as_u64() > Some(0),
        ),
        (
            "identity class",
            // A demonstration requires none, and says all the same that one was verified.
            report["execution_profile"] == "demo"
                || classes.contains(&"identity") == (passed["identity"].as_u64() > Some(0)),
        ),
        ("authorization class", classes.contains(&"authorization") == (passed["authorization"].as_u64() > Some(0))),
    ])
}

fn rules(rules: &[(&'static str, bool)]) -> Vec<&'static str> {
    rules.iter().filter(|(_, holds)| !holds).map(|(name, _)| *name).collect()
}

fn list<'a>(result: &'a Value, key: &str) -> &'a [Value] {
    result[key].as_array().map_or(&[], Vec::as_slice)
}

fn is_consequential(result: &Value) -> bool {
    result["risk"] == "irreversible"
        || result["risk_review_required"] == true
        || !list(result, "effect_contract_hashes").is_empty()
        || !list(result, "effect_evidence").is_empty()
        || !result["effect_verified"].is_null()
        || result["effect_approved_unverified"] == true
        || !result["delivery_uncertainty"].is_null()
}

fn is_unresolved(result: &Value) -> bool {
    let uncertain =
        !result["delivery_uncertainty"].is_null() && result["delivery_uncertainty"]["resolved_by_contract"] != true;
    uncertain
        || list(result, "effect_evidence").iter().any(|item| {
            item["final_verdict"] == "indeterminate"
                || (item["final_verdict"] == "refuted" && item["observed_effect"] != "absent")
        })
}

fn is_proven_absent(result: &Value) -> bool {
    let evidence = list(result, "effect_evidence");
    let refuted = |item: &Value| item["final_verdict"] == "refuted" && item["observed_effect"] == "absent";
    let complete = !evidence.is_empty() && evidence_hashes(evidence) == hashes(result) && evidence.iter().all(refuted);
    let gate = result["step_id"].as_str().is_some_and(|id| id.starts_with('<'));
    let not_actuated = result["skipped"] == true || gate || result["delivery_attempted"] == false;
    complete || (evidence.is_empty() && not_actuated)
}

fn is_settled(result: &Value) -> bool {
    let evidence = list(result, "effect_evidence");
    evidence_hashes(evidence) == hashes(result)
        && evidence.iter().all(|item| item["reconciliation_completed"] == true || item["final_verdict"] == "confirmed")
}

fn is_policy_rejection(result: &Value) -> bool {
    let gates = ["<profile>", "<authorization>", "<params>", "<idempotency>"];
    let unverified =
        result["ok"] == false && !result["identity"].is_null() && result["identity"]["status"] != "verified";
    result["step_id"].as_str().is_some_and(|id| gates.contains(&id)) || unverified
}

fn hashes(result: &Value) -> Vec<String> {
    let mut hashes: Vec<String> = list(result, "effect_contract_hashes").iter().map(ToString::to_string).collect();
    hashes.sort();
    hashes
}

fn evidence_hashes(evidence: &[Value]) -> Vec<String> {
    let mut hashes: Vec<String> = evidence.iter().map(|item| item["effect_contract_hash"].to_string()).collect();
    hashes.sort();
    hashes
}
