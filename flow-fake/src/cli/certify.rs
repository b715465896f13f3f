//! `certify`: passes, unless the script names violations.

use std::path::Path;

use super::own::Settings;
use super::{argparse, flags, help, script_fault};
use crate::launch::Bundle;
use crate::output::{self, Pipe};
use crate::play::traceback_text;

pub fn certify(settings: &Settings, args: &[String]) -> u8 {
    let parsed = match argparse::parse(&flags::CERTIFY, args) {
        Ok(parsed) => parsed,
        Err(stop) => return help::stop(&flags::CERTIFY, &stop),
    };
    let path = Path::new(parsed.positional(0));
    let Some(policy) = parsed.value("--policy").or(parsed.value("--config")) else {
        output::line(Pipe::Stderr, "certify needs --policy or --config");
        return 1;
    };
    let Ok(bundle) = Bundle::load(path) else {
        output::write(Pipe::Stderr, traceback_text("ValueError: the bundle can't be loaded").as_bytes());
        return 1;
    };
    let script = match settings.load_script(Some(path)) {
        Ok(script) => script.unwrap_or_default(),
        Err(error) => return script_fault(&error),
    };
    let violations = &script.certify.violations;
    let subject = format!("workflow '{}' vs policy '{policy}' ({} steps)", bundle.name, bundle.steps);
    if violations.is_empty() {
        output::line(Pipe::Stdout, &format!("PASS: {subject}\n  the policy finds nothing to refuse"));
        return 0;
    }
    let lines: Vec<String> = violations.iter().map(|rule| format!("  - ({rule}) [step_001] played violation")).collect();
    output::line(Pipe::Stdout, &format!("FAIL: {subject}\n  {} violation(s):\n{}", lines.len(), lines.join("\n")));
    2
}
