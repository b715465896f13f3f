//! Where two portraits differ: the place, and both sides' shapes.

use std::collections::BTreeSet;

use serde::Serialize;

use super::portrait::Portrait;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// A process, a file, or a file and a JSON pointer into it.
    pub at: String,
    pub stand_in: String,
    pub real: String,
}

const NOTHING: &str = "nothing";

/// Every difference, in order. A key below one that is already told of isn't told again.
pub fn differences(stand_in: &Portrait, real: &Portrait) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut tell = |at: String, stand_in: Option<String>, real: Option<String>| {
        if stand_in != real {
            let or_nothing = |side: Option<String>| side.unwrap_or_else(|| NOTHING.to_owned());
            found.push(Difference { at, stand_in: or_nothing(stand_in), real: or_nothing(real) });
        }
    };
    for name in both(stand_in.exits.keys(), real.exits.keys()) {
        tell(format!("exit of {name}"), stand_in.exits.get(name).cloned(), real.exits.get(name).cloned());
    }
    for name in both(stand_in.files.iter(), real.files.iter()) {
        let there = |side: &Portrait| side.files.contains(name).then(|| "a file".to_owned());
        tell(name.clone(), there(stand_in), there(real));
    }
    for (name, ours) in &stand_in.outlines {
        let Some(theirs) = real.outlines.get(name) else { continue };
        let mut told: Vec<&str> = Vec::new();
        for pointer in both(ours.0.keys(), theirs.0.keys()) {
            let (a, b) = (ours.0.get(pointer), theirs.0.get(pointer));
            if a == b || told.iter().any(|above| is_below(pointer, above)) {
                continue;
            }
            if a.is_none() || b.is_none() {
                told.push(pointer);
            }
            tell(format!("{name} {pointer}"), a.map(|seen| seen.text()), b.map(|seen| seen.text()));
        }
    }
    for place in &real.unfit {
        tell(
            format!("schema of report.json {place}"),
            Some("as the schema says".into()),
            Some("something else".into()),
        );
    }
    found
}

fn is_below(pointer: &str, above: &str) -> bool {
    pointer.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

fn both<'a>(a: impl Iterator<Item = &'a String>, b: impl Iterator<Item = &'a String>) -> BTreeSet<&'a String> {
    a.chain(b).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::outline::Outline;
    use super::*;

    fn portrait(report: &Value) -> Portrait {
        Portrait {
            exits: [("run 1".to_owned(), "exited 0".to_owned())].into(),
            files: ["report.json".to_owned()].into(),
            outlines: [("report.json".to_owned(), Outline::of(report))].into(),
            unfit: Vec::new(),
        }
    }

    #[test]
    fn another_key_type_word_code_file_and_schema_are_each_told_with_both_shapes() {
        let ours = portrait(&json!({"success": true, "halt": null, "risk": "reversible", "new": {"a": 1}}));
        assert_eq!(differences(&ours, &ours), []);
        let mut theirs = portrait(&json!({"success": 1, "halt": {"reason": "secret"}, "risk": "irreversible"}));
        theirs.exits.insert("run 1".into(), "exited 1".into());
        theirs.files.insert("REPORT.md".into());
        theirs.unfit.push("/success".into());
        let found = differences(&ours, &theirs);
        let places: Vec<&str> = found.iter().map(|difference| difference.at.as_str()).collect();
        assert_eq!(
            places,
            [
                "exit of run 1",
                "REPORT.md",
                "report.json /halt",
                "report.json /halt/reason",
                "report.json /new",
                "report.json /risk",
                "report.json /success",
                "schema of report.json /success"
            ]
        );
        assert!(!format!("{found:?}").contains("secret"));
        assert_eq!(
            (found[5].stand_in.as_str(), found[5].real.as_str()),
            ("string (reversible)", "string (irreversible)")
        );
    }
}
