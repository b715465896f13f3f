//! `certify`: passes every bundle that loads. The stand-in holds no policy.

use std::path::Path;

use super::{argparse, flags, help};
use crate::launch::Bundle;
use crate::output::{self, Pipe};
use crate::play::traceback_text;

pub fn certify(args: &[String]) -> u8 {
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
    output::line(
        Pipe::Stdout,
        &format!(
            "PASS: workflow '{}' vs policy '{policy}' ({} steps)\n  the policy finds nothing to refuse",
            bundle.name, bundle.steps
        ),
    );
    0
}
