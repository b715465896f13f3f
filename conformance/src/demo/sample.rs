//! Five cases as they come out where all is well, for the tests of terminal and page.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::cases::CASES;
use super::scene::{Demo, Engine, Picture, Said, Sandbox, Scene, Screen, Store, Write};
use crate::check::verdict::Judgement;

pub fn demo() -> Demo {
    let row = |at: usize| json!({"id": 1, "patient_id": "p1", "type": "Triage", "note": CASES[at].note});
    let scenes = vec![
        scene(0, Screen::Saved, &[row(0)], Some(Write { stored: true, told: Some(200) }), "yes"),
        scene(1, Screen::Stopped, &[], None, "no"),
        scene(2, Screen::Saved, &[], Some(Write { stored: false, told: Some(409) }), "unknown"),
        scene(3, Screen::NotSaved, &[row(3)], Some(Write { stored: true, told: None }), "unknown"),
        scene(4, Screen::Nothing, &[], None, "no"),
    ];
    let judgement = Judgement {
        scenario: serde_json::from_value(json!("demo")).unwrap(),
        title: "The five cases".into(),
        proves: Vec::new(),
        failures: Vec::new(),
        looked: BTreeMap::new(),
        seconds: 9.0,
    };
    Demo { agent: "openadapt-agent 0.1.0".into(), scenes, judgement, took: Duration::from_secs(9) }
}

fn scene(at: usize, screen: Screen, rows: &[serde_json::Value], write: Option<Write>, changed: &str) -> Scene {
    let case = CASES[at];
    let pictures = match screen {
        Screen::Nothing => Vec::new(),
        _ => vec![Picture { step: "Open the first referral".into(), png: b"a picture".to_vec() }],
    };
    Scene {
        case,
        screen,
        before: Some(Store::default()),
        after: Some(Store { records: rows.to_vec(), rejected: 0 }),
        writes: write.into_iter().collect(),
        said: Said {
            outcome: case.outcome.into(),
            label: case.outcome.replace('_', " "),
            reason: "a_reason".into(),
            what_happened: "What the agent says in a sentence.".into(),
            record_changed: changed.into(),
            proof: "none".into(),
            safe_to_retry: changed == "no",
            run_id: format!("run-{at}"),
            sandbox: Sandbox { engine: Engine::Driven, fallback: None },
        },
        pictures,
        took: Duration::from_millis(1500),
    }
}
