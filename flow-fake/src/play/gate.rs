//! The lines that Flow prints before it starts or refuses.

use crate::launch::Bundle;
use crate::report::Subject;
use crate::script::Gate;

/// The checks in Flow's order, with the detail of one that passes.
const CHECKS: [(&str, &str); 8] = [
    ("Execution profile", "the settings meet the profile"),
    ("Certification passed", "the policy finds nothing to refuse"),
    ("Identity coverage", "every step that needs it checks the record"),
    ("Effect coverage", "every step that writes checks what it wrote"),
    ("Approval fallback", "no write is left without a check"),
    ("Interstitial admission", "no pop-up is handled on its own"),
    ("Encrypted bundle", "encryption is as required"),
    ("Sealed manifest + version pin", "the seal holds"),
];

/// A refusal in one line.
pub fn refusal(reason: &str) -> String {
    format!("run REFUSED: {reason}. Nothing was executed.")
}

/// The gate report, without a last line end.
pub fn text(gate: &Gate, bundle: &Bundle, subject: &Subject) -> String {
    let refused: &[String] = match gate {
        Gate::Admit => &[],
        Gate::Refuse(titles) => titles,
    };
    let verdict = if refused.is_empty() { "ADMIT" } else { "REFUSE" };
    let under = subject.profile.map(|profile| format!("under '{}' profile ", profile.name())).unwrap_or_default();
    let mut lines =
        vec![format!("{verdict}: workflow '{}' {under}vs policy '{}'", subject.workflow_name, subject.policy)];
    let unknown = refused.iter().filter(|title| !CHECKS.iter().any(|(known, _)| known == title));
    let known = CHECKS
        .iter()
        .filter(|(title, _)| *title != "Execution profile" || subject.profile.is_some() || is_in(refused, title));
    for (title, detail) in known.copied().chain(unknown.map(|title| (title.as_str(), ""))) {
        lines.extend(check_lines(title, detail, is_in(refused, title), bundle));
    }
    lines.push(if refused.is_empty() {
        "  -> ADMITTED: all fail-closed gates satisfied.".into()
    } else {
        format!("  -> RUN REFUSED (fail-closed): {}. Nothing was executed.", refused.join(", "))
    });
    lines.join("\n")
}

fn check_lines(title: &str, detail: &str, refused: bool, bundle: &Bundle) -> Vec<String> {
    let open_templates = title == "Encrypted bundle" && bundle.has_templates;
    let (mark, detail) = match (refused, open_templates) {
        (true, _) => ("REFUSE", "played refusal"),
        (false, true) => ("WARN", "pictures in the bundle are not encrypted"),
        (false, false) => ("PASS", detail),
    };
    let mut lines = vec![format!("  [{mark}] {title}: {detail}")];
    if refused && title.ends_with("coverage") {
        lines.push("         steps: step_001".into());
    }
    lines
}

fn is_in(titles: &[String], title: &str) -> bool {
    titles.iter().any(|refused| refused == title)
}
