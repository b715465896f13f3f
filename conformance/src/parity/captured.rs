//! The stand-in's table of shapes: which of them a real run stood model for, and the outline that it left.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::outline::Outline;
use super::portrait::Portrait;

/// The table's name in the folder of shapes.
const TABLE: &str = "table.json";

/// One document that the stand-in writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The name of the shape; of a captured one also the name of its outline's file.
    pub shape: String,
    /// The file in a run folder.
    pub file: String,
    pub origin: Origin,
    /// The bodies in which the real program left it; of a derived one none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// Why a derived one isn't captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Captured,
    Derived,
}

/// Writes the outline of each captured shape whose bodies were all played. How many.
pub fn refresh(folder: &Path, left: &BTreeMap<String, &Portrait>) -> io::Result<usize> {
    let rows: Vec<Row> = serde_json::from_slice(&fs::read(folder.join(TABLE))?)?;
    let mut written = 0;
    for row in rows.iter().filter(|row| row.origin == Origin::Captured) {
        let Some(outline) = union(row, left) else { continue };
        fs::write(
            folder.join(format!("{}.json", row.shape)),
            format!("{}\n", serde_json::to_string_pretty(&outline)?),
        )?;
        written += 1;
    }
    Ok(written)
}

/// What a document looked like in any of its bodies; nothing where one of them left none.
fn union(row: &Row, left: &BTreeMap<String, &Portrait>) -> Option<Outline> {
    let mut whole = Outline::default();
    for body in &row.from {
        let outline = left.get(body)?.outlines.get(&row.file)?;
        for (pointer, seen) in &outline.0 {
            let own = whole.0.entry(pointer.clone()).or_default();
            own.types.extend(seen.types.iter().cloned());
            own.words.extend(seen.words.iter().cloned());
        }
    }
    (!row.from.is_empty()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_captured_shape_is_what_its_bodies_left_and_a_missing_body_leaves_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let row = |shape: &str, from: &[&str]| json!({"shape": shape, "file": "report.json", "origin": "captured", "from": from});
        let table = json!([row("both", &["a", "b"]), row("gone", &["a", "c"])]);
        fs::write(folder.path().join(TABLE), table.to_string()).unwrap();
        let of = |report| Portrait {
            outlines: [("report.json".to_owned(), Outline::of(&report))].into(),
            ..Portrait::default()
        };
        let (a, b) = (of(json!({"halt": null})), of(json!({"halt": {"reason": "secret"}})));
        let left = BTreeMap::from([("a".to_owned(), &a), ("b".to_owned(), &b)]);
        assert_eq!(refresh(folder.path(), &left).unwrap(), 1);
        let both: Outline = serde_json::from_slice(&fs::read(folder.path().join("both.json")).unwrap()).unwrap();
        assert_eq!(both.0["/halt"].text(), "null|object");
        assert!(!folder.path().join("gone.json").exists());
    }
}
