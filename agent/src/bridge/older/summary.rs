//! Counts of a report: numbers and booleans only, so that nothing else can be among them.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::contract::evidence::ReportEvidence;
use crate::flow::report;

#[derive(Deserialize)]
struct Counted {
    results: Vec<StepCounted>,
    heal_count: u64,
    model_calls: u64,
    total_ms: f64,
    screenshots_may_leave_box: bool,
}

#[derive(Deserialize)]
struct StepCounted {
    ok: bool,
    skipped: bool,
}

/// Empty where there is no report that agrees with itself.
pub fn summary(report: Option<&[u8]>) -> Map<String, Value> {
    report.and_then(counted).map(Counted::into_object).unwrap_or_default()
}

fn counted(report: &[u8]) -> Option<Counted> {
    let believed = matches!(report::understand(report, None).evidence, ReportEvidence::Consistent(_));
    if believed { serde_json::from_slice(report).ok() } else { None }
}

impl Counted {
    fn into_object(self) -> Map<String, Value> {
        let of = |is: fn(&StepCounted) -> bool| self.results.iter().filter(|step| is(step)).count();
        let object = [
            ("steps_total", self.results.len().into()),
            ("steps_ok", of(|step| step.ok).into()),
            ("steps_skipped", of(|step| step.skipped).into()),
            ("heal_count", self.heal_count.into()),
            ("model_calls", self.model_calls.into()),
            ("total_ms", self.total_ms.into()),
            ("screenshots_may_leave_box", self.screenshots_may_leave_box.into()),
        ];
        object.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const VERIFIED: &[u8] = include_bytes!("../../../../schemas/samples/flow-1.35.1/normal/report.json");

    #[test]
    fn a_report_of_the_real_flow_is_counted() {
        let counts = Value::from(summary(Some(VERIFIED)));
        assert_eq!(counts["steps_total"], counts["steps_ok"]);
        assert!(counts["steps_total"].as_u64() > Some(1), "{counts}");
        assert_eq!(counts.as_object().map(Map::len), Some(7));
    }

    #[test]
    fn what_contradicts_itself_or_has_text_in_the_place_of_a_count_is_not_counted() {
        let changed = |key: &str, value: Value| {
            let mut report: Value = serde_json::from_slice(VERIFIED).unwrap();
            report[key] = value;
            summary(Some(report.to_string().as_bytes()))
        };
        assert!(!changed("terminal_outcome", json!("success")).is_empty());
        for (key, value) in [("heal_count", json!("Ada Example")), ("success", json!(false)), ("results", json!({}))] {
            assert_eq!(changed(key, value), Map::new(), "{key}");
        }
        assert_eq!(summary(None), Map::new());
        assert_eq!(summary(Some(b"{")), Map::new());
    }
}
