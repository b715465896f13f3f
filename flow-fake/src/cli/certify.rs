//! `certify`: passes every bundle that loads, unless the script says otherwise. The stand-in holds no policy.

use std::path::Path;

use serde_json::json;

use super::own::Settings;
use super::{argparse, fault, flags, help, script_fault};
use crate::launch::{self, Bundle};
use crate::output::{self, Pipe};
use crate::play::traceback_text;
use crate::script::{CertifySpec, ScriptError};

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
    let written = settings.open_journal().and_then(|mut journal| {
        let facts = json!({"argv": super::run::whole_command_line(), "bundle": launch::folder_name(path)});
        journal.about_nothing("certify", facts).map_err(|source| ScriptError::Io { name: "journal", source })
    });
    if let Err(error) = written {
        return fault(&error.to_string(), &error.hint());
    }
    let Ok(bundle) = Bundle::load(path) else {
        output::write(Pipe::Stderr, traceback_text("ValueError: the bundle can't be loaded").as_bytes());
        return 1;
    };
    match settings.load_script(Some(path)) {
        Ok(script) => answer(&script.map(|script| script.certify).unwrap_or_default(), &bundle, policy),
        Err(error) => script_fault(&error),
    }
}

fn answer(spec: &CertifySpec, bundle: &Bundle, policy: &str) -> u8 {
    let passed = || {
        let (name, steps) = (&bundle.name, bundle.steps);
        format!("PASS: workflow '{name}' vs policy '{policy}' ({steps} steps)\n  the policy finds nothing to refuse\n")
    };
    output::write(Pipe::Stdout, spec.stdout.clone().unwrap_or_else(passed).as_bytes());
    output::write(Pipe::Stderr, spec.stderr.as_bytes());
    if spec.hang {
        loop {
            std::thread::park();
        }
    }
    spec.exit
}
