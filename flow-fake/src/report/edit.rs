//! From a report step to the bytes of the file: patch, set, remove, then the damage.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Subject, build};
use crate::canonical::unhex;
use crate::script::{Kind, ReportSpec, ScriptError, Start};
use crate::{clock, files};

/// What is put at `report.json`.
#[derive(Debug)]
pub struct Prepared {
    pub bytes: Vec<u8>,
    pub kind: Kind,
    /// The report as a value, when the file holds a whole one.
    pub value: Option<Value>,
}

/// Plays a report step about `subject`.
pub fn prepare(spec: &ReportSpec, subject: &Subject, now: Timestamp) -> Result<Prepared, ScriptError> {
    let (mut bytes, mut value) = match (spec.shape, &spec.bytes, &spec.hex) {
        (Some(shape), _, _) => {
            let mut subject = subject.clone();
            if spec.started_at == Start::Stale {
                subject.started_at = clock::iso(clock::shifted(now, -3600));
            }
            let profile = spec.profile.map_or_else(|| shape.profile_for(subject.profile), |choice| choice.profile());
            let mut report = build(shape, &subject, profile);
            change(spec, &mut report)?;
            (files::pretty(&report), Some(report))
        }
        (None, Some(text), _) => (text.clone().into_bytes(), None),
        (None, None, Some(hex)) => (unhex(hex).unwrap_or_default(), None),
        (None, None, None) => (Vec::new(), None),
    };
    if let Some(levels) = spec.nest {
        bytes = nested(&bytes, levels)?;
        value = None;
    }
    if let Some(length) = spec.pad_to {
        if length < bytes.len() {
            return Err(unplayable(format!("`pad_to` is below the report's {} bytes", bytes.len())));
        }
        bytes.resize(length, b' ');
    }
    if let Some(length) = spec.truncate {
        bytes.truncate(length);
        value = None;
    }
    Ok(Prepared { bytes, kind: spec.kind, value })
}

fn change(spec: &ReportSpec, report: &mut Value) -> Result<(), ScriptError> {
    if let Some(patch) = &spec.patch {
        merge(report, patch);
    }
    for (pointer, value) in &spec.set {
        *slot(report, pointer)? = value.clone();
    }
    for pointer in &spec.remove {
        remove(report, pointer)?;
    }
    Ok(())
}

/// RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.shift_remove(key);
        } else {
            merge(target.entry(key.as_str()).or_insert(Value::Null), value);
        }
    }
}

/// The place that a pointer names; the last key of an object may be new, and `-` appends to a list.
fn slot<'a>(report: &'a mut Value, pointer: &str) -> Result<&'a mut Value, ScriptError> {
    if pointer.is_empty() {
        return Ok(report);
    }
    let (parent, key) = parent_of(report, pointer)?;
    match parent {
        Value::Object(map) => Ok(map.entry(key).or_insert(Value::Null)),
        Value::Array(items) => {
            let at = if key == "-" { items.len() } else { key.parse().unwrap_or(usize::MAX) };
            if at == items.len() {
                items.push(Value::Null);
            }
            items.get_mut(at).ok_or_else(|| nowhere(pointer))
        }
        _ => Err(nowhere(pointer)),
    }
}

fn remove(report: &mut Value, pointer: &str) -> Result<(), ScriptError> {
    let (parent, key) = parent_of(report, pointer)?;
    let removed = match parent {
        Value::Object(map) => map.shift_remove(&key),
        Value::Array(items) => key.parse().ok().filter(|at| *at < items.len()).map(|at: usize| items.remove(at)),
        _ => None,
    };
    removed.map(drop).ok_or_else(|| nowhere(pointer))
}

fn parent_of<'a>(report: &'a mut Value, pointer: &str) -> Result<(&'a mut Value, String), ScriptError> {
    let (parent, key) = pointer.rsplit_once('/').ok_or_else(|| nowhere(pointer))?;
    let parent = report.pointer_mut(parent).ok_or_else(|| nowhere(pointer))?;
    Ok((parent, key.replace("~1", "/").replace("~0", "~")))
}

/// Adds a list so deep that the document has `levels` levels. Done on text: building it as a value would need as deep a stack.
fn nested(report: &[u8], levels: usize) -> Result<Vec<u8>, ScriptError> {
    let Some(body) = report.strip_suffix(b"\n}").filter(|_| levels >= 2) else {
        return Err(unplayable("`nest` needs an object and at least 2 levels".into()));
    };
    let depth = levels - 1;
    let mut bytes = body.to_vec();
    bytes.extend_from_slice(b",\n  \"nested\": ");
    bytes.resize(bytes.len() + depth, b'[');
    bytes.resize(bytes.len() + depth, b']');
    bytes.extend_from_slice(b"\n}");
    Ok(bytes)
}

fn nowhere(pointer: &str) -> ScriptError {
    unplayable(format!("the report has nothing at `{pointer}`"))
}

fn unplayable(problem: String) -> ScriptError {
    ScriptError::Play { name: "report", problem }
}
