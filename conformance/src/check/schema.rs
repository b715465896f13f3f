//! Schemas that a server advertises, compiled once for all scenarios that see the same one.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::{Draft, Validator};
use serde_json::Value;

type Compiled = Result<Arc<Validator>, String>;

static CACHE: LazyLock<Mutex<HashMap<String, Compiled>>> = LazyLock::new(Mutex::default);

/// Where `value` breaks `schema`, the first few places; an error where the schema itself can't be used.
pub fn violations(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    let validator = compiled(schema)?;
    Ok(validator.iter_errors(value).take(3).map(|error| format!("{}: {error}", error.instance_path())).collect())
}

fn compiled(schema: &Value) -> Compiled {
    let key = schema.to_string();
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache
        .entry(key)
        .or_insert_with(|| {
            let built = jsonschema::options().with_draft(Draft::Draft202012).build(schema);
            built.map(Arc::new).map_err(|error| error.to_string())
        })
        .clone()
}
