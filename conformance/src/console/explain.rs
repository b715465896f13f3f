//! A scenario in words.

use crate::requirement::Catalogue;
use crate::scenario::Scenario;
use crate::scenario::model::{Mode, RunsFolder};

pub fn explain(scenario: &Scenario, catalogue: &Catalogue) -> String {
    let mut text = format!("{}\n{}\n\nIt proves:\n", scenario.id, scenario.title);
    for id in &scenario.proves {
        match catalogue.get(id) {
            Some(row) => text.push_str(&format!("  {id}\n    {}\n    ({})\n", row.sentence(), row.source)),
            None => text.push_str(&format!("  {id}\n    (no such requirement)\n")),
        }
    }
    text.push_str(&format!("\nThe world: {}\n", world(scenario)));
    text.push_str("\nFlow plays:\n");
    for step in scenario.flow.steps.iter().flatten() {
        text.push_str(&format!("  {step}\n"));
    }
    for play in scenario.flow.plays.iter().flatten() {
        let when = play.get("when").map_or_else(|| "always".to_owned(), |when| format!("when {when}"));
        text.push_str(&format!("  {when}: {}\n", play.get("steps").unwrap_or(&serde_json::Value::Null)));
    }
    if !scenario.actions.is_empty() {
        text.push_str("\nThen, in order:\n");
    }
    for (index, action) in scenario.actions.iter().enumerate() {
        text.push_str(&format!("  {}. {}\n", index + 1, action.headline()));
        if let Some(note) = action.note() {
            text.push_str(&format!("     {note}\n"));
        }
        for (what, value) in wanted(action) {
            text.push_str(&format!("     {what} {value}\n"));
        }
    }
    let after = serde_json::to_value(&scenario.after).unwrap_or_default();
    let said: Vec<String> = after
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| {
            !value.is_null() && **value != serde_json::json!([]) && **value != serde_json::json!(false)
        })
        .map(|(key, value)| format!("  {}: {value}\n", key.replace('_', " ")))
        .collect();
    if !said.is_empty() {
        text.push_str(&format!("\nAfterwards:\n{}", said.concat()));
    }
    text
}

fn world(scenario: &Scenario) -> String {
    let world = &scenario.world;
    let mode = match world.mode {
        Mode::Production => "a production server",
        Mode::ReadOnly => "a read-only server",
        Mode::Attended => "an attended server",
        Mode::AllowRun => "a server with --allow-run",
        Mode::Bare => "a bare serve",
    };
    let count = match world.servers {
        0 => "no server at first, later ".to_owned(),
        1 => String::new(),
        many => format!("{many} times "),
    };
    let folder = match world.runs {
        RunsFolder::Flag => "",
        RunsFolder::Env => ", its runs folder told by the environment",
        RunsFolder::Default => ", in the default runs folder",
    };
    let bundles: Vec<String> = world
        .bundles()
        .into_iter()
        .map(|bundle| match bundle.fault {
            Some(fault) => format!("{} ({fault:?})", bundle.dir),
            None => bundle.dir,
        })
        .collect();
    let timeout = world.server.timeout_s.map(|seconds| format!(", a timeout of {seconds} s")).unwrap_or_default();
    format!("{count}{mode}{folder}{timeout}; bundles: {}", bundles.join(", "))
}

/// What an action expects, from its own written form.
fn wanted(action: &crate::scenario::Action) -> Vec<(&'static str, String)> {
    const TOLD: &[(&str, &str)] = &[
        ("args", "with"),
        ("expect", "expects"),
        ("absent", "without"),
        ("refused", "is refused:"),
        ("error", "is an error:"),
        ("answers", "answers"),
        ("exit", "exits"),
        ("stderr", "stderr"),
        ("capture", "keeps"),
        ("count", "of which"),
        ("same", "all with the same"),
        ("tools", "expects"),
        ("set", "sets"),
    ];
    let written = serde_json::to_value(action).unwrap_or_default();
    TOLD.iter()
        .filter_map(|(key, word)| {
            let value = written.get(key)?;
            let empty = value.is_null()
                || value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(|o| o.is_empty());
            (!empty).then(|| (*word, value.to_string()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::expand::expand;

    #[test]
    fn a_scenario_in_words() {
        let text = r#"
            id = "outcomes/timeout"
            title = "A timeout after the save is uncertain"
            proves = ["RES-timeout"]
            [world]
            timeout_s = 1
            servers = 2
            [flow]
            steps = ["run_dir", "effect", { hang = "until-killed" }]
            [[do]]
            call = "run_workflow"
            args = { workflow = "triage" }
            expect = { reason = "timed_out" }
            note = "The save is made, and Flow never ends."
            [[do]]
            gone = "flow"
            [after]
            launches = 1
        "#;
        let scenario = expand("f", text).unwrap().remove(0);
        insta::assert_snapshot!(explain(&scenario, &Catalogue::default()));
    }
}
