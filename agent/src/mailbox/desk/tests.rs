//! Commands in every order: none is carried out twice, none for an account that nobody allowed, none after an unknown end.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::mailbox::command::ChatApp;

/// Counts what reaches it.
#[derive(Default)]
struct Counting {
    steps: Vec<(RecordingTool, Step)>,
    unknown: bool,
}

impl Recorder for &mut Counting {
    fn step(&mut self, tool: RecordingTool, step: &Step) -> Told {
        self.steps.push((tool, step.clone()));
        match step {
            Step::Click(_) if self.unknown => Told::Unknown,
            Step::Continue => Told::Answer(object(json!({"recorded": true}))),
            _ => Told::Answer(object(json!({"status": "ok"}))),
        }
    }
}

struct Saying(bool);

impl Person for Saying {
    fn allows(&mut self, _: ChatApp, _: bool) -> bool {
        self.0
    }

    fn has_typed(&mut self, _: bool) -> bool {
        self.0
    }
}

fn sub(letter: char) -> String {
    letter.to_string().repeat(64)
}

fn command(id: &str, tool: &str, args: Value, sub: &str) -> Map<String, Value> {
    object(json!({"tool": tool, "command_id": id, "args": args, "oauth_sub_sha256": sub, "client_display": "ChatGPT"}))
}

fn refusal(turn: &Turn) -> Option<Refusal> {
    if let Turn::Answer(_, Said::Refused(refusal)) = turn { Some(*refusal) } else { None }
}

fn allow<R: Recorder, P: Person>(desk: &mut Desk<R, P>, id: &str, sub: &str) {
    let Turn::Allow(_, envelope) = desk.take(command(id, "bind_pack", json!({}), sub)) else {
        panic!("nobody was asked")
    };
    desk.allowed(&envelope);
}

#[test]
fn nothing_is_done_for_an_account_that_nobody_allowed() {
    let mut recorder = Counting::default();
    let mut desk = Desk::new(&mut recorder, Saying(true));
    assert_eq!(refusal(&desk.take(command("1", "observe", json!({}), &sub('a')))), Some(Refusal::NotAllowed));
    allow(&mut desk, "2", &sub('a'));
    assert!(matches!(desk.take(command("3", "observe", json!({}), &sub('a'))), Turn::Answer(_, Said::Done(_))));
    assert_eq!(
        refusal(&desk.take(command("4", "click", json!({"node_id": "n_1"}), &sub('b')))),
        Some(Refusal::NotAllowed)
    );
    allow(&mut desk, "5", &sub('b'));
    assert_eq!(refusal(&desk.take(command("6", "observe", json!({}), &sub('a')))), Some(Refusal::NotAllowed));
    assert_eq!(recorder.steps.len(), 1);
}

#[test]
fn a_person_who_says_no_allows_nothing() {
    let mut recorder = Counting::default();
    let mut desk = Desk::new(&mut recorder, Saying(false));
    assert_eq!(refusal(&desk.take(command("1", "bind_pack", json!({}), &sub('a')))), Some(Refusal::Denied));
    assert_eq!(refusal(&desk.take(command("2", "observe", json!({}), &sub('a')))), Some(Refusal::NotAllowed));
    let mut other = command("3", "bind_pack", json!({}), &sub('a'));
    other.insert("client_display".to_owned(), "Somebody".into());
    assert_eq!(refusal(&desk.take(other)), Some(Refusal::InvalidAllow));
}

#[test]
fn typing_is_refused_and_a_pause_is_continued_by_observing() {
    let mut recorder = Counting::default();
    let mut desk = Desk::new(&mut recorder, Saying(true));
    allow(&mut desk, "1", &sub('a'));
    for (id, tool) in [("2", "type"), ("3", "type_text")] {
        assert_eq!(refusal(&desk.take(command(id, tool, json!({"text": "x"}), &sub('a')))), Some(Refusal::TypeRefused));
    }
    let turn = desk.take(command("4", "pause_for_input", json!({"param": "note"}), &sub('a')));
    assert_eq!(
        turn,
        Turn::Answer(CommandId::parse("4").unwrap(), Said::Done(object(json!({"recorded": true, "param": "note"}))))
    );
    let tools: Vec<_> = recorder.steps.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(tools, [RecordingTool::PauseForInput, RecordingTool::ContinueInput]);
}

#[test]
fn a_click_takes_a_node_and_nothing_else_and_admit_is_no_command() {
    let mut recorder = Counting::default();
    let mut desk = Desk::new(&mut recorder, Saying(true));
    allow(&mut desk, "1", &sub('a'));
    for (id, tool, args) in [
        ("2", "click", json!({"x": 1, "y": 1})),
        ("3", "click", json!({})),
        ("4", "admit", json!({})),
        ("5", "screen", json!({})),
        ("6", "run_workflow", json!({})),
        ("7", "continue_input", json!({})),
    ] {
        assert_eq!(refusal(&desk.take(command(id, tool, args, &sub('a')))), Some(Refusal::InvalidEnvelope), "{tool}");
    }
    assert!(recorder.steps.is_empty());
}

#[test]
fn after_an_unknown_click_nothing_is_done_any_more() {
    let mut recorder = Counting { unknown: true, ..Counting::default() };
    let mut desk = Desk::new(&mut recorder, Saying(true));
    allow(&mut desk, "1", &sub('a'));
    let unknown = Some(Refusal::ReconciliationRequired);
    assert_eq!(refusal(&desk.take(command("2", "click", json!({"node_id": "n_1"}), &sub('a')))), unknown);
    for (id, tool) in [("3", "observe"), ("4", "halt"), ("5", "bind_pack")] {
        assert_eq!(refusal(&desk.take(command(id, tool, json!({}), &sub('a')))), unknown);
    }
    assert_eq!(recorder.steps.len(), 1);
}

/// 10,000 envelopes, in mailboxes of up to twenty: no command twice, nothing for a stranger, and every answer is a closed word.
#[test]
fn whatever_a_mailbox_hands_over_is_done_once_and_for_the_allowed_account_alone() {
    let mut runner = TestRunner::new(Config { cases: 1_000, failure_persistence: None, ..Config::default() });
    let carried_out = std::cell::Cell::new(0_usize);
    let strategy = (proptest::collection::vec(envelope(), 10..20), any::<bool>(), any::<bool>());
    runner
        .run(&strategy, |(envelopes, yes, unknown)| {
            let mut recorder = Counting { unknown, ..Counting::default() };
            let mut desk = Desk::new(&mut recorder, Saying(yes));
            let (mut allowed, mut expected, mut unknown_click) = (None, 0, false);
            let mut ids: BTreeMap<String, u32> = BTreeMap::new();
            // An account that is allowed at once, in every other mailbox: else hardly anything would get through.
            let first = command("first", "bind_pack", json!({}), &sub('a'));
            for envelope in [first].into_iter().chain(envelopes) {
                let text = |key: &str| envelope.get(key).and_then(Value::as_str).map(str::to_owned);
                let (id, tool, sub) = (text("command_id"), text("tool"), text("oauth_sub_sha256"));
                let before = desk.recorder.steps.len();
                let turn = desk.take(envelope.clone());
                let new = desk.recorder.steps.len() - before;
                if let Turn::Allow(_, envelope) = &turn {
                    allowed = sub.clone();
                    desk.allowed(envelope);
                }
                if new > 0 {
                    prop_assert!(yes && sub.is_some() && sub == allowed, "a stranger's command was carried out");
                    prop_assert!(!unknown_click, "something was done after an unknown end");
                    *ids.entry(id.unwrap_or_default()).or_default() += 1;
                    expected += 1;
                    unknown_click |= unknown && tool.as_deref() == Some("click");
                }
                prop_assert!(new <= 2);
            }
            prop_assert!(ids.values().all(|count| *count == 1), "a command was carried out twice");
            carried_out.set(carried_out.get() + expected);
            Ok(())
        })
        .unwrap();
    assert!(carried_out.get() > 100, "only {} commands got through: the envelopes show nothing", carried_out.get());
}

fn envelope() -> impl Strategy<Value = Map<String, Value>> {
    let tools = proptest::sample::select(vec![
        ("bind_pack", json!({})),
        ("bind_pack", json!({})),
        ("observe", json!({})),
        ("observe", json!({"more": 1})),
        ("click", json!({"node_id": "n_00000001"})),
        ("click", json!({"node_id": "n_00000001"})),
        ("click", json!({"x": 1, "y": 2})),
        ("type", json!({"text": "x"})),
        ("start_record", json!({})),
        ("pause_for_input", json!({"param": "note"})),
        ("halt", json!({})),
        ("admit", json!({})),
        ("delete_everything", json!({})),
    ]);
    let id = prop_oneof![8 => (0..40_u8).prop_map(|id| json!(format!("cmd-{id}"))), 1 => Just(json!("")), 1 => Just(json!(7)), 1 => Just(json!("a b"))];
    let sub = prop_oneof![6 => Just(json!(sub('a'))), 2 => Just(json!(sub('b'))), 1 => Just(json!("short")), 1 => Just(json!(null))];
    let app = prop_oneof![5 => Just(json!("ChatGPT")), 2 => Just(json!("Claude")), 1 => Just(json!("Somebody")), 1 => Just(json!(1))];
    let version = prop_oneof![4 => Just(None), 2 => Just(Some(json!("openadapt.authoring.command/v1"))), 1 => Just(Some(json!("v2")))];
    (tools, id, sub, app, version, proptest::bool::weighted(0.05)).prop_map(
        |((tool, args), id, sub, app, version, more)| {
            let mut envelope = object(
                json!({"tool": tool, "command_id": id, "args": args, "oauth_sub_sha256": sub, "client_display": app}),
            );
            if let Some(version) = version {
                envelope.insert("schema_version".to_owned(), version);
            }
            if more {
                envelope.insert("more".to_owned(), json!("x"));
            }
            envelope
        },
    )
}
