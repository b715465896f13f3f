//! What `admission status` tells: one JSON object, or one line for each target. Only the two states, and the class of the evidence.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::reason::{State, Verdict, state, word};
use super::release::Told;
use super::shape::spelled;
use super::status::{Status, Verification};
use super::workflow::Judged;

const SCHEMA: &str = "openadapt-agent.admission-status/v1";

pub fn json(status: &Status) -> Value {
    let targets: Vec<_> =
        status.targets.iter().map(|(id, verdict)| judged(*verdict, [("id", json!(id.as_str()))])).collect();
    json!({
        "schema_version": SCHEMA,
        "checked_at": spelled(status.checked_at),
        "ledger": {
            "source": status.ledger.source,
            "sha256": status.ledger.sha256,
            "source_commit": status.ledger.source_commit,
            "age_basis": if status.ledger.is_file { "file_of_unknown_age" } else { "read_now" },
        },
        "state": state(status.verdict).as_str(),
        "reason": word(status.verdict),
        "verification": verification(status.verification),
        "release": status.release.as_ref().map(release),
        "target": status.target.as_str(),
        "targets": targets,
        "product_wide": status.product_wide(),
        "workflows": status.workflows.iter().map(workflow).collect::<Vec<_>>(),
        "workflow_list": status.workflow_list.map(|listed| listed.map_or_else(super::Reason::as_str, |()| "read")),
        "installed": {
            "version": status.installed.version,
            "artifact_sha256": status.installed.artifact_sha256,
        },
    })
}

/// One line for each target and workflow. A plus sign marks the one that was asked about.
pub fn text(status: &Status) -> String {
    let mut out = String::new();
    for (id, verdict) in &status.targets {
        let asked = *id == status.target;
        let told = status.release.as_ref().filter(|_| asked);
        let evidence = told.map(|told| format!(" ({})", evidence_class(&told.evidence_class))).unwrap_or_default();
        let mark = if asked { "+" } else { " " };
        let _ = writeln!(out, "{mark} {:<10} {}{evidence}", id.as_str(), line(*verdict));
    }
    for (number, judged) in (1..).zip(&status.workflows) {
        let class = judged.evidence_class.as_deref().map(evidence_class).unwrap_or("evidence of no known class");
        let version = judged.bundle_version.as_deref().filter(|version| is_plain(version)).unwrap_or("-");
        let _ = writeln!(out, "  workflow {number} {version} {} ({class})", line(judged.verdict));
    }
    if let Some(Err(reason)) = status.workflow_list {
        let _ = writeln!(out, "  workflows  {} ({})", State::NotActivelyAdmitted.as_str(), reason.as_str());
    }
    out
}

fn line(verdict: Verdict) -> String {
    match verdict {
        Ok(()) => State::Admitted.as_str().to_owned(),
        Err(reason) => format!("{}: {}", State::NotActivelyAdmitted.as_str(), reason.as_str()),
    }
}

fn evidence_class(class: &str) -> &'static str {
    match class {
        "remote-safe-synthetic" => "synthetic evidence, not a customer job",
        "private-customer" => "private customer evidence",
        _ => "evidence of no known class",
    }
}

fn is_plain(text: &str) -> bool {
    text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

fn verification(verification: Verification) -> &'static str {
    match verification {
        Verification::Full => "full",
        Verification::ProjectionOnly => "projection_only",
        Verification::None => "none",
    }
}

fn release(told: &Told) -> Value {
    json!({
        "version": told.version,
        "tag": told.tag,
        "sequence": told.sequence,
        "admission_id_sha256": told.admission_id,
        "evidence_class": told.evidence_class,
        "expires_at": told.expires_at,
    })
}

fn workflow(row: &Judged) -> Value {
    let told = [
        ("object_sha256", json!(row.object_sha256)),
        ("bundle_version", json!(row.bundle_version)),
        ("evidence_class", json!(row.evidence_class)),
    ];
    judged(row.verdict, told)
}

fn judged<const N: usize>(verdict: Verdict, told: [(&str, Value); N]) -> Value {
    let mut object: Map<String, Value> = told.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    object.insert("state".to_owned(), state(verdict).as_str().into());
    object.insert("reason".to_owned(), word(verdict).into());
    object.into()
}
