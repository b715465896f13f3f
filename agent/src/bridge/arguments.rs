//! Arguments of the contract's tools, parsed once. What doesn't fit is answered by the tool's usage and never repeated.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::contract::ids::{RequestId, RunId};

const DEFAULT_WAIT: Duration = Duration::from_secs(60);
const LONGEST_WAIT: u64 = 600;

/// The arguments don't have the shape of the tool's input schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misshapen;

#[derive(Debug, PartialEq)]
pub struct RunWorkflowArguments {
    pub workflow: String,
    pub inputs: Map<String, Value>,
    pub request_id: RequestId,
    pub wait: Duration,
}

#[derive(Debug, PartialEq)]
pub struct GetRunArguments {
    pub run_id: RunId,
    pub wait: Duration,
}

impl RunWorkflowArguments {
    pub fn parse(mut arguments: Map<String, Value>) -> Result<Self, Misshapen> {
        let workflow = text(arguments.remove("workflow"))?;
        let request_id = RequestId::parse(&text(arguments.remove("request_id"))?).map_err(|_| Misshapen)?;
        let Some(Value::Object(inputs)) = arguments.remove("inputs") else { return Err(Misshapen) };
        let wait = wait(arguments.remove("wait_seconds"))?;
        nothing_more(&arguments)?;
        Ok(Self { workflow, inputs, request_id, wait })
    }
}

impl GetRunArguments {
    pub fn parse(mut arguments: Map<String, Value>) -> Result<Self, Misshapen> {
        let run_id = RunId::parse(&text(arguments.remove("run_id"))?).map_err(|_| Misshapen)?;
        let wait = wait(arguments.remove("wait_seconds"))?;
        nothing_more(&arguments)?;
        Ok(Self { run_id, wait })
    }
}

pub fn nothing_more(arguments: &Map<String, Value>) -> Result<(), Misshapen> {
    if arguments.is_empty() { Ok(()) } else { Err(Misshapen) }
}

fn text(value: Option<Value>) -> Result<String, Misshapen> {
    if let Some(Value::String(text)) = value { Ok(text) } else { Err(Misshapen) }
}

/// A whole number of seconds, however JSON spells it: `5` and `5.0` are the same integer to JSON Schema.
fn wait(value: Option<Value>) -> Result<Duration, Misshapen> {
    let Some(value) = value else { return Ok(DEFAULT_WAIT) };
    let seconds = value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        (0.0..=LONGEST_WAIT as f64).contains(&number).then_some(number as u64)
    });
    seconds.filter(|seconds| *seconds <= LONGEST_WAIT).map(Duration::from_secs).ok_or(Misshapen)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("an object was expected") };
        object
    }

    #[test]
    fn a_run_needs_workflow_inputs_and_request_id_and_waits_a_minute_by_default() {
        let parsed = RunWorkflowArguments::parse(object(json!({"workflow": "w", "inputs": {}, "request_id": "abcd"})));
        assert_eq!(parsed.map(|arguments| arguments.wait), Ok(DEFAULT_WAIT));
    }

    #[test]
    fn whatever_is_missing_extra_or_of_another_type_is_misshapen() {
        for bad in [
            json!({}),
            json!({"workflow": "w", "inputs": {}}),
            json!({"workflow": 1, "inputs": {}, "request_id": "abcd"}),
            json!({"workflow": "w", "inputs": [], "request_id": "abcd"}),
            json!({"workflow": "w", "inputs": {}, "request_id": "abcd\n"}),
            json!({"workflow": "w", "inputs": {}, "request_id": "abcd", "wait_seconds": 601}),
            json!({"workflow": "w", "inputs": {}, "request_id": "abcd", "wait_seconds": -1}),
            json!({"workflow": "w", "inputs": {}, "request_id": "abcd", "wait_seconds": 1.5}),
            json!({"workflow": "w", "inputs": {}, "request_id": "abcd", "wait_seconds": null}),
            json!({"workflow": "w", "inputs": {}, "request_id": "abcd", "wait_seconds": "5"}),
            json!({"workflow": "w", "inputs": {}, "request_id": "abcd", "more": 1}),
        ] {
            assert_eq!(RunWorkflowArguments::parse(object(bad.clone())), Err(Misshapen), "{bad}");
        }
    }

    #[test]
    fn an_integer_may_be_spelt_with_a_fraction_of_zero() {
        let parsed = GetRunArguments::parse(object(json!({"run_id": "run-a", "wait_seconds": 5.0})));
        assert_eq!(parsed.map(|arguments| arguments.wait), Ok(Duration::from_secs(5)));
    }
}
