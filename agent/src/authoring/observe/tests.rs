//! The projection against trees that a session should never send.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use schemas::Schema;
use serde_json::json;

use super::*;

const CANARY: &str = "canary-4f1d";

const WEB: Known = Known { backend: Backend::Web, coach_only: false, recording: true };

fn node(id: u32) -> Value {
    json!({"node_id": format!("n_{id:08x}"), "role": "button", "name": "Save Encounter", "automation_id": "save", "enabled": true,
        "focused": false, "bounds": {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.1}})
}

fn window_of(tree: Vec<Value>) -> Value {
    json!({"backend": "web", "provider": "playwright_ax", "tree": tree, "truncated": false, "coach_only": false,
        "window": {"process_name": "Chromium", "bounds": {"x": 0, "y": 0, "w": 1, "h": 1}, "title": CANARY}})
}

fn told(said: &Value, known: Known) -> Value {
    let object = Value::Object(Observed::project(said, known).to_object());
    if let Err(broken) = Schema::AuthoringObserve.check(&object) {
        panic!("{said} became {object}: {broken}");
    }
    assert!(object.to_string().len() <= BYTES);
    object
}

#[test]
fn a_sound_window_is_told_of_with_what_is_in_it() {
    let object = told(&window_of(vec![node(1), node(2)]), WEB);
    assert_eq!(object["node_count"], 2);
    assert_eq!((&object["agent_drive"], &object["coach_only"]), (&json!(true), &json!(false)));
    assert_eq!(object["tree"][0]["name"], "Save Encounter");
    assert_eq!(object["window"]["process_name"], "Chromium");
    assert_eq!(object.get("reason"), None);
    assert!(!object.to_string().contains(CANARY));
}

#[test]
fn keys_that_are_not_on_the_list_have_no_place_to_stand_in() {
    let mut said = window_of(vec![node(1)]);
    for key in ["value", "text", "title", "url", "screenshot", "ocr", "backend_pixels"] {
        said[key] = CANARY.into();
        said["tree"][0][key] = CANARY.into();
        said["tree"][0]["bounds"][key] = CANARY.into();
    }
    let object = told(&said, WEB);
    assert_eq!(object, told(&window_of(vec![node(1)]), WEB));
}

#[test]
fn a_node_without_a_sound_place_or_state_is_left_out_and_a_label_that_is_somebodys_is_dropped() {
    for (pointer, bad) in [
        ("/bounds/x", json!(-0.1)),
        ("/bounds/w", json!(0.95)),
        ("/bounds/h", json!("0.1")),
        ("/bounds/y", json!(null)),
        ("/enabled", json!(1)),
        ("/focused", json!("no")),
        ("/node_id", json!("n_0000000G")),
        ("/node_id", json!("x")),
        ("/role", json!(7)),
    ] {
        let mut broken = node(1);
        *broken.pointer_mut(pointer).unwrap() = bad;
        let object = told(&window_of(vec![broken, node(2), node(2)]), WEB);
        assert_eq!(
            (&object["node_count"], &object["tree"][0]["node_id"]),
            (&json!(1), &json!("n_00000002")),
            "{pointer}"
        );
    }
    let mut named = node(1);
    named["name"] = "MRN 123456".into();
    named["role"] = "blink".into();
    let object = told(&window_of(vec![named]), WEB);
    assert_eq!((object["tree"][0].get("name"), &object["tree"][0]["role"]), (None, &json!("unknown")));
}

#[test]
fn two_hundred_nodes_and_thirty_two_kibibytes_are_the_most() {
    let many = told(&window_of((0..500).map(node).collect()), WEB);
    assert_eq!((&many["node_count"], &many["truncated"]), (&json!(200), &json!(true)));
    let wide = |id| {
        let mut node = node(id);
        for key in ["name", "automation_id", "control_type"] {
            node[key] = "a".repeat(80).into();
        }
        node
    };
    let large = told(&window_of((0..200).map(wide).collect()), WEB);
    assert_eq!(large["truncated"], true);
    assert!(large["node_count"].as_u64().unwrap() > 50);
    let one_more = large["tree"][0].to_string().len() + 1;
    assert!(large.to_string().len() + one_more > BYTES);
}

#[test]
fn remote_windows_and_whatever_isnt_the_pinned_one_have_no_tree() {
    for backend in [Backend::Windows, Backend::Rdp, Backend::Citrix] {
        let mut said = window_of(vec![node(1)]);
        said["backend"] = backend.as_str().into();
        let object = told(&said, Known { backend, ..WEB });
        assert_eq!((&object["node_count"], &object["reason"]), (&json!(0), &json!("empty_projection")));
        assert_eq!(object["agent_drive"], true);
    }
    for said in [json!(null), json!([]), json!({"backend": "amiga"}), window_of(vec![node(1)])] {
        let known = Known { backend: Backend::Macos, ..WEB };
        let object = told(&said, known);
        assert_eq!((&object["backend"], &object["coach_only"]), (&json!("windows"), &json!(true)), "{said}");
        assert_eq!((&object["agent_drive"], &object["node_count"]), (&json!(false), &json!(0)));
    }
    assert_eq!(told(&window_of(vec![node(1)]), Known { coach_only: true, ..WEB })["node_count"], 0);
}

/// 20,000 trees: nothing outside the wire schema, no canary, no panic.
#[test]
fn whatever_a_session_says_only_the_wire_leaves() {
    let mut runner = TestRunner::new(Config { cases: 20_000, failure_persistence: None, ..Config::default() });
    let cell = std::cell::Cell::new(0_usize);
    runner
        .run(&(any_window(), any_known()), |(said, known)| {
            let object = told(&said, known);
            prop_assert!(!object.to_string().contains(CANARY));
            cell.set(cell.get() + object["tree"].as_array().map_or(0, Vec::len));
            Ok(())
        })
        .unwrap();
    assert!(cell.get() > 5_000, "only {} nodes came through: the trees show nothing", cell.get());
}

fn any_known() -> impl Strategy<Value = Known> {
    (
        proptest::sample::select([&[Backend::Web; 12][..], Backend::ALL].concat()),
        proptest::bool::weighted(0.1),
        any::<bool>(),
    )
        .prop_map(|(backend, coach_only, recording)| Known { backend, coach_only, recording })
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(format!("{CANARY}@somewhere"))),
        Just(json!(format!("say {CANARY} 99887766"))),
        Just(json!("Save Encounter")),
        "[A-Za-z0-9 ._-]{0,12}".prop_map(Value::from),
        ".{0,100}".prop_map(Value::from),
        Just(json!("x".repeat(5000))),
    ]
}

fn odd() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        any::<i64>().prop_map(Value::from),
        text()
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    proptest::sample::select(
        ["node_id", "role", "name", "bounds", "enabled", "tree", "window", "title", "value", "backend", CANARY]
            .map(str::to_owned)
            .to_vec(),
    )
}

fn fraction() -> impl Strategy<Value = Value> {
    prop_oneof![12 => (0.0..0.5_f64).prop_map(|n| json!(n)), 1 => any::<f64>().prop_map(|n| json!(n)), 1 => odd()]
}

fn any_node() -> impl Strategy<Value = Value> {
    let id = prop_oneof![8 => any::<u32>().prop_map(|id| json!(format!("n_{id:08x}"))), 1 => text()];
    let role = prop_oneof![6 => proptest::sample::select(vec!["button", "text_input", "link", "made_up"]).prop_map(Value::from), 1 => odd()];
    let flag = || prop_oneof![10 => any::<bool>().prop_map(Value::from), 1 => odd()];
    let bounds = (fraction(), fraction(), fraction(), fraction())
        .prop_map(|(x, y, w, h)| json!({"x": x, "y": y, "w": w, "h": h, "text": CANARY}));
    let words = (text(), text(), text(), text());
    let sound = (id, role, (flag(), flag()), bounds, words).prop_map(|(id, role, (enabled, focused), bounds, (a, b, c, d))| {
        json!({"node_id": id, "role": role, "enabled": enabled, "focused": focused, "bounds": bounds, "name": a, "control_type": b,
            "class_name": c, "automation_id": d, "value": CANARY, "text": CANARY})
    });
    prop_oneof![9 => sound, 1 => odd()]
}

fn any_window() -> impl Strategy<Value = Value> {
    let backend =
        proptest::sample::select(vec!["web", "web", "web", "macos", "linux", "windows", "rdp", "citrix", "amiga"]);
    let window = prop_oneof![
        Just(json!({"process_name": "Chromium", "title": CANARY, "bounds": {"x": 0, "y": 0, "w": 1, "h": 1}})),
        Just(json!({"process_name": CANARY.repeat(9), "bounds": {"x": 0, "y": 0, "w": 1, "h": 1}})),
        odd(),
    ];
    let tree = proptest::collection::vec(any_node(), 0..8);
    let sound = (backend, window, tree, any::<bool>(), odd()).prop_map(|(backend, window, tree, truncated, more)| {
        json!({"backend": backend, "provider": "playwright_ax", "window": window, "tree": tree, "truncated": truncated, "url": CANARY,
            "more": more, "screenshot": CANARY})
    });
    prop_oneof![9 => sound, 1 => odd()]
}
