//! Scenario files, requirement files and reports are what their schemas say.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use conformance::check::verdict::{Blame, Cite, Failure, Judgement};
use conformance::requirement::Matrix;
use conformance::run::events::{Event, Finished, Judged, Lane, Moment, REPORT_FORMAT, Started, Summary, Told};
use conformance::scenario::ScenarioId;
use conformance::scenario::expand::{expand, json_object};
use conformance::scenario::source::Files;
use schemas::Schema;
use serde_json::{Value, json};

fn as_json(text: &str) -> Value {
    json_object(toml::from_str(text).unwrap()).unwrap().into()
}

fn valid(schema: Schema, value: &Value, name: &str) {
    if let Err(violations) = schema.check(value) {
        panic!("{name}: {violations}");
    }
}

#[test]
fn every_scenario_and_requirement_file_is_valid() {
    let files = Files::embedded();
    let mut count = 0;
    for (name, text) in files.requirements() {
        valid(Schema::Requirement, &as_json(text), name);
        count += 1;
    }
    for (name, text) in files.families() {
        valid(Schema::Scenario, &as_json(text), name);
        count += 1;
    }
    assert!(count > 20, "only {count} files were looked at");
}

#[test]
fn every_example_of_the_guide_is_read() {
    let guide = include_str!("../../scenarios/README.md");
    let blocks: Vec<&str> = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 10, "only {} examples were found", blocks.len());
    const HEAD: &str = "id = \"a\"\ntitle = \"t\"\nproves = [\"RES-a\"]\n";
    for block in blocks {
        let whole = if block.starts_with("id = ") || block.starts_with("[matrix]") {
            format!("{}{block}", if block.starts_with("id = ") { "" } else { HEAD })
        } else {
            format!("{HEAD}{block}")
        };
        valid(Schema::Scenario, &as_json(&whole), block);
        if let Err(error) = expand("guide", &whole) {
            panic!("{error}\n{block}");
        }
    }
}

#[test]
fn what_the_parser_refuses_the_schema_refuses_too() {
    let base = "id = \"a\"\ntitle = \"t\"\nproves = [\"RES-a\"]\n";
    for bad in [
        "colour = 1",
        "[world]\ncolour = 1",
        "[world]\nmode = \"sandbox\"",
        "[[world.bundle]]\nname = \"without a folder\"",
        "[[do]]\ncall = \"x\"\ncolour = 1",
        "[[do]]\nnote = \"no verb\"",
        "[[do]]\ncall = \"x\"\nrelease = \"y\"",
        "[[do]]\nsignal = \"HUP\"\nto = \"server\"",
        "[after]\nlaunches = \"one\"",
        "[[case]]\ntitle = \"without a name\"",
    ] {
        let text = format!("{base}{bad}");
        assert!(expand("f", &text).is_err(), "the parser takes {bad}");
        assert!(Schema::Scenario.check(&as_json(&text)).is_err(), "the schema takes {bad}");
    }
}

fn events() -> [Event; 3] {
    let timeline = vec![Moment { at_us: 7, lane: Lane::Client, text: "ping".into() }];
    let scenario = ScenarioId::parse("a/b").unwrap();
    let failure = Failure {
        check: "expected".into(),
        step: Some(0),
        expected: "x".into(),
        actual: "y".into(),
        cites: vec![Cite::Frame(1), Cite::Journal(0), Cite::File("f".into()), Cite::Server("s1".into())],
        blame: Blame::Implementation,
    };
    let judgement = Judgement {
        scenario: scenario.clone(),
        title: "t".into(),
        proves: Vec::new(),
        failures: vec![failure],
        looked: [("expected".to_owned(), 1)].into(),
        seconds: 0.5,
    };
    let started = Started {
        format: REPORT_FORMAT.into(),
        conformance: "0".into(),
        agent: "a".into(),
        flow: "f".into(),
        scenarios: vec![scenario.clone()],
        unable: vec![scenario],
        unable_why: Some("no browser".into()),
    };
    let told = vec![Told { action: Some("action 1".into()), lines: vec!["line".into()] }];
    [
        Event::Started(started),
        Event::Judged(Judged { judgement, told, timeline }),
        Event::Finished(Finished { summary: Summary::default(), matrix: Matrix::default() }),
    ]
}

#[test]
fn every_line_of_a_report_is_valid_and_a_changed_one_is_not() {
    for event in events() {
        let line = serde_json::to_value(&event).unwrap();
        valid(Schema::ConformanceReport, &line, "a line");
        let mut more = line.clone();
        more["colour"] = json!(1);
        assert!(Schema::ConformanceReport.check(&more).is_err());
        let mut other = line.clone();
        other["event"] = json!("paused");
        assert!(Schema::ConformanceReport.check(&other).is_err());
        // A report that nobody shows has no timelines.
        for key in line.as_object().unwrap().keys().filter(|key| *key != "timeline") {
            let mut less = line.clone();
            less.as_object_mut().unwrap().remove(key);
            assert!(Schema::ConformanceReport.check(&less).is_err(), "without {key}");
        }
    }
}
