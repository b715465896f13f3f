//! A value held against a schema: accepted, or refused where it is wrong.

use schemas::Schema;
use serde_json::Value;

pub fn accepts(schema: Schema, value: &Value) {
    if let Err(violations) = schema.check(value) {
        panic!("{schema:?} refuses {value}: {violations}");
    }
}

/// The refusal must point at `instance_path`.
pub fn refuses(schema: Schema, value: &Value, instance_path: &str) {
    refuses_by(schema, value, instance_path, "");
}

/// The refusal must point at `instance_path` and come from a keyword whose path ends with `keyword`.
pub fn refuses_by(schema: Schema, value: &Value, instance_path: &str, keyword: &str) {
    let violations = schema.check(value).expect_err(&format!("{schema:?} accepts {value}"));
    let meant = violations
        .iter()
        .any(|violation| violation.instance_path == instance_path && violation.schema_path.ends_with(keyword));
    assert!(meant, "{schema:?}: {instance_path} {keyword} is not among: {violations}");
}
