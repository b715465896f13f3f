//! One file, many scenarios: cases and axes, and the `{{name}}` that stand for their values.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::id::{ScenarioId, slug};
use super::model::Scenario;

/// A file that is no scenario, or no family of scenarios.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct BadScenario {
    pub file: String,
    pub problem: String,
}

/// Every scenario of one TOML file.
pub fn expand(file: &str, text: &str) -> Result<Vec<Scenario>, BadScenario> {
    parse(text).map_err(|problem| BadScenario { file: file.to_owned(), problem })
}

fn parse(text: &str) -> Result<Vec<Scenario>, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut family = json_object(table)?;
    let cases = take_cases(&mut family)?;
    let axes = take_matrix(&mut family)?;
    let base = family.get("id").and_then(Value::as_str).ok_or("id is missing")?.to_owned();
    let base = ScenarioId::parse(&base).map_err(|error| error.to_string())?;

    let mut scenarios = Vec::new();
    for variant in variants(&cases, &axes) {
        let mut id = base.clone();
        for name in &variant.names {
            id = id.variant(name).map_err(|error| error.to_string())?;
        }
        let mut written = Value::Object(family.clone());
        fill(&mut written, &variant.values).map_err(|problem| format!("{id}: {problem}"))?;
        if let Some(object) = written.as_object_mut() {
            object.insert("id".into(), id.as_str().into());
            add_requirements(object, variant.values.get("proves"))?;
        }
        let scenario: Scenario = serde_json::from_value(written).map_err(|error| format!("{id}: {error}"))?;
        if scenario.proves.is_empty() {
            return Err(format!("{id}: proves no requirement"));
        }
        scenarios.push(scenario);
    }
    let mut ids: Vec<_> = scenarios.iter().map(|scenario| &scenario.id).collect();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two variants are called {}", pair[0])),
        None => Ok(scenarios),
    }
}

#[derive(Debug, Clone, Default)]
struct Variant {
    names: Vec<String>,
    values: BTreeMap<String, Value>,
}

fn variants(cases: &[Map<String, Value>], axes: &[(String, Vec<Value>)]) -> Vec<Variant> {
    let mut variants = vec![Variant::default()];
    for (axis, values) in axes {
        variants = variants
            .iter()
            .flat_map(|variant| {
                values.iter().map(move |value| {
                    let mut variant = variant.clone();
                    variant.names.push(name_of(value));
                    variant.values.insert(axis.clone(), value.clone());
                    variant
                })
            })
            .collect();
    }
    if cases.is_empty() {
        return variants;
    }
    variants
        .iter()
        .flat_map(|variant| {
            cases.iter().map(move |case| {
                let mut variant = variant.clone();
                variant.names.push(case.get("name").map(name_of).unwrap_or_default());
                variant.values.extend(case.clone());
                variant
            })
        })
        .collect()
}

fn take_cases(family: &mut Map<String, Value>) -> Result<Vec<Map<String, Value>>, String> {
    let Some(cases) = family.remove("case") else { return Ok(Vec::new()) };
    let cases = cases.as_array().ok_or("case is a list of tables: [[case]]")?;
    cases
        .iter()
        .map(|case| match case.as_object() {
            Some(case) if case.contains_key("name") => Ok(case.clone()),
            _ => Err("each [[case]] has a name".to_owned()),
        })
        .collect()
}

fn take_matrix(family: &mut Map<String, Value>) -> Result<Vec<(String, Vec<Value>)>, String> {
    let Some(matrix) = family.remove("matrix") else { return Ok(Vec::new()) };
    let matrix = matrix.as_object().ok_or("matrix is a table: [matrix]")?;
    matrix
        .iter()
        .map(|(axis, values)| match values.as_array() {
            Some(values) if !values.is_empty() => Ok((axis.clone(), values.clone())),
            _ => Err(format!("matrix.{axis} is a list with at least one value")),
        })
        .collect()
}

fn name_of(value: &Value) -> String {
    match value {
        Value::String(text) => slug(text),
        Value::Object(table) => table.get("name").map(name_of).unwrap_or_default(),
        other => slug(&other.to_string()),
    }
}

fn add_requirements(object: &mut Map<String, Value>, more: Option<&Value>) -> Result<(), String> {
    let Some(more) = more else { return Ok(()) };
    let more = more.as_array().ok_or("proves is a list")?;
    match object.entry("proves").or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(proves) => proves.extend(more.iter().cloned()),
        _ => return Err("proves is a list".into()),
    }
    Ok(())
}

/// Puts the values in place of `{{name}}` and `{{name.field}}`.
fn fill(value: &mut Value, values: &BTreeMap<String, Value>) -> Result<(), String> {
    match value {
        Value::String(text) if text.contains("{{") => *value = filled(text, values)?,
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, values))?,
        Value::Object(table) => {
            let mut whole = Map::new();
            for (key, mut inner) in std::mem::take(table) {
                fill(&mut inner, values)?;
                let key = match key.contains("{{") {
                    true => as_text(&filled(&key, values)?),
                    false => key,
                };
                whole.insert(key, inner);
            }
            *table = whole;
        }
        _ => {}
    }
    Ok(())
}

fn filled(text: &str, values: &BTreeMap<String, Value>) -> Result<Value, String> {
    if let Some(name) = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"))
        && !name.contains("{{")
    {
        return lookup(name, values);
    }
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or_else(|| format!("{text:?} has {{{{ without }}}}"))?;
        whole.push_str(before);
        whole.push_str(&as_text(&lookup(name, values)?));
        rest = after;
    }
    whole.push_str(rest);
    Ok(Value::String(whole))
}

fn lookup(name: &str, values: &BTreeMap<String, Value>) -> Result<Value, String> {
    let mut parts = name.trim().split('.');
    let first = parts.next().unwrap_or_default();
    let found = values.get(first).and_then(|value| parts.try_fold(value, |value, part| value.get(part)));
    found.cloned().ok_or_else(|| format!("{{{{{name}}}}} is no value of a case or an axis"))
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(table) => table.get("name").map(as_text).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// TOML as JSON. Dates have no meaning in a scenario and are refused.
pub fn json_object(table: toml::Table) -> Result<Map<String, Value>, String> {
    table.into_iter().map(|(key, value)| Ok((key, json(value)?))).collect()
}

fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => return Err(format!("{date} is a TOML date; write it as text")),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(json).collect::<Result<_, _>>()?),
        toml::Value::Table(table) => Value::Object(json_object(table)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FAMILY: &str = r#"
        id = "gate/failed"
        title = "{{title}} is {{code}}"
        proves = ["RES-a"]
        [matrix]
        profile = ["standard", { name = "no profile", word = "none" }]
        [[case]]
        name = "Certification passed"
        title = "T"
        code = 1
        proves = ["RES-b"]
        [[case]]
        name = "other"
        title = "U"
        code = 2
        [flow]
        steps = [{ gate = "{{code}}" }, "{{profile}}"]
    "#;

    #[test]
    fn cases_and_axes_multiply_and_name_the_variants() {
        let ids: Vec<_> = expand("f", FAMILY).unwrap().into_iter().map(|s| s.id.as_str().to_owned()).collect();
        assert_eq!(
            ids,
            [
                "gate/failed/standard/certification-passed",
                "gate/failed/standard/other",
                "gate/failed/no-profile/certification-passed",
                "gate/failed/no-profile/other"
            ]
        );
    }

    #[test]
    fn a_value_keeps_its_type_when_it_stands_alone() {
        let scenarios = expand("f", FAMILY).unwrap();
        assert_eq!(scenarios[0].title, "T is 1");
        assert_eq!(scenarios[0].flow.steps.as_ref().unwrap()[0], json!({"gate": 1}));
        assert_eq!(scenarios[0].flow.steps.as_ref().unwrap()[1], json!("standard"));
    }

    #[test]
    fn a_case_adds_its_requirements_to_the_familys() {
        let scenarios = expand("f", FAMILY).unwrap();
        let names = |index: usize| scenarios[index].proves.iter().map(|id| id.as_str()).collect::<Vec<_>>();
        assert_eq!(names(0), ["RES-a", "RES-b"]);
        assert_eq!(names(1), ["RES-a"]);
    }

    #[test]
    fn unknown_keys_names_and_verbs_are_refused_with_the_file() {
        let base = "id = \"a\"\ntitle = \"t\"\nproves = [\"RES-a\"]\n";
        for (bad, said) in [
            ("colour = 1", "unknown field"),
            ("[world]\ncolour = 1", "unknown field"),
            ("[[do]]\ncall = \"x\"\ncolour = 1", "unknown field"),
            ("[[do]]\nnote = \"x\"", "without a verb"),
            ("[[do]]\ncall = \"x\"\nrelease = \"y\"", "more than one verb"),
            ("[after]\nlaunches = \"{{n}}\"", "is no value"),
        ] {
            let error = expand("some/file.toml", &format!("{base}{bad}")).unwrap_err().to_string();
            assert!(error.starts_with("some/file.toml: ") && error.contains(said), "{bad}: {error}");
        }
    }

    #[test]
    fn a_scenario_that_proves_nothing_is_refused() {
        let error = expand("f", "id = \"a\"\ntitle = \"t\"\nproves = []").unwrap_err();
        assert!(error.problem.contains("proves no requirement"));
    }
}
