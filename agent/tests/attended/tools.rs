//! Which tools there are in which mode, and what the reading ones answer.

use openadapt_agent::bridge::host::{ToolAnswer, ToolHost};
use serde_json::{Value, json};

use crate::world::{ASKS, RUN, SILENT, World, attention_id, block_on, first_call, item};

const READS: [&str; 2] = ["list_needs_attention", "get_attention_item"];

fn names(bridge: &impl ToolHost, client: openadapt_agent::bridge::host::ClientTraits) -> Vec<String> {
    bridge.tools(client).into_iter().map(|tool| tool.name).collect()
}

#[test]
fn a_server_without_decisions_reads_the_queue_and_knows_no_decision_tool() {
    let world = World::new();
    let bridge = world.read_only();
    assert_eq!(
        names(&bridge, ASKS),
        [&["list_workflows", "get_run", "get_workflow", "get_run_report"][..], &READS].concat()
    );
    for tool in ["continue_attention", "skip_attention", "reject_attention", "teach_attention", "escalate_attention"] {
        assert_eq!(block_on(first_call(&bridge, tool, &json!({}))), ToolAnswer::UnknownTool, "{tool}");
    }
}

#[test]
fn decisions_are_listed_in_order_and_only_for_a_client_that_can_ask_a_person() {
    let world = World::new();
    let script = world.bridge_script(true, &Value::Null, "{}");
    let contract = ["list_workflows", "run_workflow", "get_run", "get_workflow", "get_run_report"];
    let first = [&contract[..], &READS].concat();
    let recorded = ["reject_attention", "teach_attention", "escalate_attention"];
    let bridge = world.attended(&script, false);
    assert_eq!(names(&bridge, ASKS), [&first[..], &recorded].concat());
    assert_eq!(names(&bridge, SILENT), first);
    assert!(world.bridge_is_untouched());
    let live = world.attended(&script, true);
    assert_eq!(names(&live, ASKS), [&first[..], &["continue_attention", "skip_attention"], &recorded].concat());
}

#[test]
fn a_deployment_whose_bridge_is_not_live_offers_nothing_that_goes_on_in_the_app() {
    let world = World::new();
    let bridge = world.attended(&world.bridge_script(false, &Value::Null, "{}"), true);
    assert!(!names(&bridge, ASKS).iter().any(|name| name == "continue_attention" || name == "skip_attention"));
    assert_eq!(block_on(first_call(&bridge, "continue_attention", &json!({}))), ToolAnswer::UnknownTool);
}

#[test]
fn the_queue_says_what_waits_and_holds_under_its_schema() {
    let world = World::new();
    let bridge = world.attended(&world.bridge_script(false, &Value::Null, "{}"), false);
    let ToolAnswer::Object(list) = block_on(first_call(&bridge, "list_needs_attention", &json!({}))) else {
        panic!("a list was expected")
    };
    let list = Value::from(list);
    schemas::Schema::AttentionList.check(&list).unwrap();
    assert_eq!((&list["open_count"], &list["actions_enabled"]), (&json!(1), &json!(true)));
    assert_eq!(list["live_actions_ready"], false);
    assert_eq!(list["items"][0], block_on(item(&bridge, RUN)));
    assert_eq!(list["items"][0]["id"], json!(attention_id(RUN)));
}

#[test]
fn arguments_that_do_not_fit_get_the_usage_and_are_not_repeated() {
    let world = World::new();
    let bridge = world.attended(&world.bridge_script(false, &Value::Null, "{}"), false);
    for (tool, arguments) in [
        ("list_needs_attention", json!({"planted": "Ada Example"})),
        ("get_attention_item", json!({"attention_id": "../../Ada Example"})),
        ("get_attention_item", json!({})),
        ("reject_attention", json!({"note": "Ada Example"})),
    ] {
        let ToolAnswer::Refused(sentence) = block_on(first_call(&bridge, tool, &arguments)) else {
            panic!("{tool} should refuse {arguments}")
        };
        assert!(sentence.contains(tool) && !sentence.contains("Ada"), "{sentence}");
    }
}
