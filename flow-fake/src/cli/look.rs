//! `look`: pictures of pages in a real browser, for documentation.

use std::io;

use super::fault;
use crate::drive::{self, Look};

const FORMAT: &str = "docs/flow-fake.md has the format: a JSON list on stdin, an entry for each picture";

pub fn take(args: &[String]) -> u8 {
    if !args.is_empty() {
        return fault("`look` takes no arguments", FORMAT);
    }
    let looks: Vec<Look> = match serde_json::from_reader(io::stdin().lock()) {
        Ok(looks) => looks,
        Err(error) => return fault(&format!("that is no list of pictures: {error}"), FORMAT),
    };
    let found = match drive::find() {
        Ok(found) => found,
        Err(missing) => return fault(&missing.to_string(), "cargo run -p conformance -- setup-browser"),
    };
    match drive::take(&found, &looks) {
        Ok(()) => 0,
        Err(trouble) => fault(&trouble.to_string(), "the pages must be on this computer, and answer within seconds"),
    }
}
