//! The tables of the command line: verbs, their options and arities.

use super::argparse::{Flag, Takes, Verb};
use crate::report::Profile;

const SURFACES: &[&str] = &["web", "windows", "macos", "linux", "rdp", "citrix"];
const EFFECTS: &[&str] = &["none", "rest", "fhir", "sql", "file", "document-hash"];

const fn switch(name: &'static str) -> Flag {
    Flag { name, takes: Takes::Nothing }
}

const fn value(name: &'static str) -> Flag {
    Flag { name, takes: Takes::Value }
}

const fn values(name: &'static str) -> Flag {
    Flag { name, takes: Takes::Values }
}

const fn one_of(name: &'static str, choices: &'static [&'static str]) -> Flag {
    Flag { name, takes: Takes::OneOf(choices) }
}

pub const RUN: Verb = Verb {
    prog: "openadapt-flow run",
    positionals: &["bundle"],
    flags: &[
        one_of("--profile", &Profile::NAMES),
        value("--url"),
        value("--run-dir"),
        values("--param"),
        value("--params-file"),
        switch("--allow-model-grounding"),
        value("--save-healed-to"),
        switch("--headed"),
        value("--record-video"),
        value("--policy"),
        switch("--approve-unverified-writes"),
        switch("--strict-templates"),
        switch("--allow-unencrypted"),
        value("--pin-digest"),
        value("--pin-version"),
        value("--managed-dispatch-file"),
        value("--qualification-trust"),
        value("--execute-url"),
        value("--execute-token"),
        value("--execute-environment-id"),
        value("--code-trust"),
        value("--code-runtime-environment-digest"),
        switch("--allow-trusted-code"),
        value("--process-receipt-private-key"),
        value("--process-receipt-issuer-key-id"),
        value("--process-environment-id"),
        value("--process-runner-id"),
        value("--qualification-authority-file"),
        switch("--dry-run"),
        switch("--explain"),
        switch("--report"),
        one_of("--backend", SURFACES),
        value("--agent-url"),
        value("--macos-app"),
        value("--macos-window-title"),
        value("--linux-app"),
        value("--linux-window-title"),
        switch("--linux-allow-physical-input"),
        value("--rdp-host"),
        value("--rdp-window"),
        value("--rdp-window-title"),
        value("--rdp-readiness-text"),
        switch("--allow-surface-override"),
        value("--config"),
        one_of("--effects-kind", EFFECTS),
        value("--effects-base-url"),
        value("--effects-root"),
        switch("--api-actuator"),
        value("--api-base-url"),
        switch("--durable"),
        values("--worklist"),
        value("--attest-contract"),
        value("--attest-sign-key"),
        value("--attest-audit-log"),
        value("--attest-pre-state"),
    ],
};

pub const CERTIFY: Verb =
    Verb { prog: "openadapt-flow certify", positionals: &["bundle"], flags: &[value("--policy"), value("--config")] };

pub const APPROVE: Verb = Verb {
    prog: "openadapt-flow approve",
    positionals: &["run_dir"],
    flags: &[value("--approver"), value("--resolution"), switch("--authorize-uncertain-retry")],
};

pub const RESUME: Verb = Verb {
    prog: "openadapt-flow resume",
    positionals: &["run_dir"],
    flags: &[
        value("--url"),
        switch("--headed"),
        switch("--require-approval"),
        switch("--report"),
        values("--param"),
        value("--params-file"),
        value("--qualification-authority-file"),
        one_of("--backend", SURFACES),
        value("--config"),
        one_of("--effects-kind", EFFECTS),
        value("--effects-base-url"),
        value("--effects-root"),
    ],
};

/// Verbs of the real program, in its order.
pub const COMMANDS: [&str; 43] = [
    "record",
    "demo-record",
    "tutorial",
    "compile",
    "induce",
    "for-each",
    "compose",
    "process",
    "replay",
    "run",
    "resume",
    "approve",
    "bench",
    "benchmark",
    "lint",
    "scaffold-verifier",
    "explain",
    "visualize",
    "seal",
    "certify",
    "qualify",
    "propose-qualification",
    "disambiguate",
    "emit-skill",
    "emit-mcp",
    "teach",
    "repair",
    "connect",
    "login",
    "sanitize",
    "review-sanitized",
    "materialize-approved",
    "approve-sanitized",
    "validate-hosted",
    "push",
    "report-break",
    "report-run",
    "console",
    "serve-execute",
    "serve-reward",
    "business-decisions",
    "connector",
    "admit",
];

/// Whether a word is a verb of the real program that the stand-in has no part in.
pub fn is_not_played(word: &str) -> bool {
    COMMANDS.contains(&word) && !matches!(word, "run" | "certify" | "approve" | "resume")
}
