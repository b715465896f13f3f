//! Is this evidence of that scenario? What was done and what was expected must be the body's own, wherever the body says it outright.

use serde::Serialize;
use serde_json::Value;

use crate::evidence::Evidence;
use crate::scenario::Scenario;

/// Why not, or nothing.
pub fn differs(evidence: &Evidence, scenario: &Scenario) -> Option<String> {
    if evidence.title != scenario.title || evidence.proves != scenario.proves {
        return Some("its title or what it proves is another".to_owned());
    }
    let whole = evidence.stopped.is_none();
    let (done, written) = (evidence.steps.len(), scenario.actions.len());
    if done > written || (whole && done < written) {
        return Some(format!("{done} actions were done, and it has {written}"));
    }
    for (index, (step, action)) in evidence.steps.iter().zip(&scenario.actions).enumerate() {
        if !fills(&json(action), &json(&step.action)) {
            return Some(format!("action {} isn't the one that was written", index + 1));
        }
    }
    // An empty [after] stands where the world never came to its end.
    let after = fills(&json(&scenario.after), &json(&evidence.after));
    (whole && !after).then(|| "[after] isn't the one that was written".to_owned())
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A text with a variable in it may have become anything; everything else is as it was written.
fn fills(written: &Value, filled: &Value) -> bool {
    match (written, filled) {
        (Value::String(text), _) if text.contains('$') => true,
        (Value::Array(written), Value::Array(filled)) => {
            written.len() == filled.len() && written.iter().zip(filled).all(|(written, filled)| fills(written, filled))
        }
        (Value::Object(written), Value::Object(filled)) => {
            let plain = |key: &&String| !key.contains('$');
            written.len() == filled.len()
                && written
                    .iter()
                    .filter(|(key, _)| plain(key))
                    .all(|(key, value)| filled.get(key).is_some_and(|filled| fills(value, filled)))
        }
        (written, filled) => written == filled,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_variable_may_become_anything_and_nothing_else_may_change() {
        let written = json!({"a": "$rid", "b": ["x-$run", 2], "c": {"d": true}});
        assert!(fills(&written, &json!({"a": 7, "b": ["x-1", 2], "c": {"d": true}})));
        for other in [
            json!({"a": 7, "b": ["x-1", 3], "c": {"d": true}}),
            json!({"a": 7, "b": ["x-1", 2], "c": {"d": false}}),
            json!({"a": 7, "b": ["x-1"], "c": {"d": true}}),
            json!({"a": 7, "b": ["x-1", 2]}),
        ] {
            assert!(!fills(&written, &other), "{other}");
        }
    }
}
