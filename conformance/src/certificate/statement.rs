//! The statement about a certificate's files: in-toto Statement v1 with the predicate test-result v0.1.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::WHAT_IT_IS;
use super::render::{Measure, claimed};
use super::stored::Stored;
use crate::check::judge;
use crate::run::events::Finished;
use crate::run::variables::hex;

const TYPE: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "https://in-toto.io/attestation/test-result/v0.1";

pub fn statement(stored: &Stored, measure: Measure<'_>, finished: &Finished, files: &[(String, String)]) -> Value {
    let header = &stored.header;
    let passed: Vec<&str> =
        stored.evidence.iter().filter(|evidence| judge(evidence).passed()).map(|one| one.scenario.as_str()).collect();
    let claimed = claimed(header, measure.bodies);
    let rest: Vec<&str> = claimed.iter().map(|body| body.id.as_str()).filter(|id| !passed.contains(id)).collect();
    let mut configuration = vec![
        json!({"name": format!("frozen set {}", header.set), "digest": {"sha256": header.set_sha256}}),
        json!({"name": format!("conformance {}", header.conformance)}),
    ];
    configuration
        .extend(files.iter().map(|(name, text)| json!({"name": name, "digest": {"sha256": sha256(text.as_bytes())}})));
    let clean = finished.summary.failed + finished.summary.unrun == 0;
    json!({
        "_type": TYPE,
        "subject": [
            {"name": format!("openadapt-flow {}", header.flow.version), "digest": {"sha256": header.flow.sha256}},
            {"name": format!("openadapt-agent {}", header.agent.version), "digest": {"sha256": header.agent.sha256}},
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "result": if clean { "PASSED" } else { "FAILED" },
            "configuration": configuration,
            "passedTests": passed,
            "warnedTests": [],
            "failedTests": rest,
            "note": WHAT_IT_IS,
        },
    })
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The files that a statement names, with their digests.
pub fn files_of(statement: &Value) -> Vec<(String, String)> {
    let listed = statement.pointer("/predicate/configuration").and_then(Value::as_array).cloned().unwrap_or_default();
    let named = listed.iter().filter_map(|entry| {
        let name = entry.get("name")?.as_str()?;
        let digest = entry.pointer("/digest/sha256")?.as_str()?;
        (!name.starts_with("frozen set ")).then(|| (name.to_owned(), digest.to_owned()))
    });
    named.collect()
}

/// The digest that a statement gives of a program.
pub fn subject(statement: &Value, name: &str) -> Option<String> {
    let subjects = statement.get("subject")?.as_array()?;
    let own = subjects.iter().find(|subject| subject["name"].as_str().is_some_and(|found| found.starts_with(name)))?;
    own.pointer("/digest/sha256").and_then(Value::as_str).map(str::to_owned)
}
