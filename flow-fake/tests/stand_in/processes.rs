//! Processes: holds, hangs, signals, noise, children that outlive Flow, and killing those around it.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::json;

use super::world::{World, ended, runs, wait_until};

fn pid_of(child: &Child) -> Pid {
    Pid::from_child(child)
}

fn signal_of(mut child: Child) -> Option<i32> {
    child.wait().unwrap().signal()
}

#[test]
fn a_hold_waits_for_its_release() {
    let world = World::new();
    let mut child = world.start(json!(["run_dir", {"hold": "before-save"}, "effect", {"exit": 5}]));
    assert_eq!(world.await_event("held")["name"], "before-save");
    world.release("another");
    assert!(child.try_wait().unwrap().is_none());
    assert!(!world.events().contains(&"effect".to_owned()));
    world.release("before-save");
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!(world.events(), ["launch", "run_dir", "held", "released", "effect", "exit"]);
}

#[test]
fn a_hold_ends_when_its_world_goes_away() {
    let world = World::new();
    let mut child = world.start(json!([{"hold": "h"}]));
    world.await_event("held");
    std::fs::remove_dir_all(world.control()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(64));
}

#[test]
fn a_hold_without_a_control_folder_is_a_bad_script() {
    let world = World::new();
    let output = world.launch(json!([{"hold": "h"}])).env_remove("FLOW_FAKE_CONTROL").output().unwrap();
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn a_hang_ends_by_a_signal_only() {
    let world = World::new();
    let mut child = world.start(json!(["run_dir", {"hang": "until-killed"}, {"exit": 0}]));
    world.await_event("held");
    assert!(child.try_wait().unwrap().is_none());
    kill_process(pid_of(&child), Signal::TERM).unwrap();
    assert_eq!(signal_of(child), Some(15));
    assert!(world.run_dir().join(".durable_run.claim").exists() && !world.run_dir().join("report.json").exists());
}

#[test]
fn a_hang_can_ignore_a_polite_end() {
    let world = World::new();
    let mut child = world.start(json!([{"hang": {"ignore_sigterm": true}}]));
    world.await_event("held");
    for _ in 0..3 {
        kill_process(pid_of(&child), Signal::TERM).unwrap();
    }
    // A signal that is ignored leaves nothing to wait for: a second process that gets it and dies shows that time passed.
    let other = world.start(json!([{"hang": "until-killed"}]));
    wait_until("both", || world.events().iter().filter(|event| *event == "held").count() == 2);
    kill_process(pid_of(&other), Signal::TERM).unwrap();
    assert_eq!(signal_of(other), Some(15));
    assert!(child.try_wait().unwrap().is_none());
    kill_process(pid_of(&child), Signal::KILL).unwrap();
    assert_eq!(signal_of(child), Some(9));
}

#[test]
fn a_signal_step_dies_by_that_signal_and_says_so_before() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11)] {
        let world = World::new();
        let child = world.start(json!([{"signal": name}]));
        assert_eq!(signal_of(child), Some(number));
        let line = world.line("exit");
        assert_eq!((&line["signal"], &line["code"]), (&json!(name), &json!(null)));
    }
}

#[test]
fn text_goes_where_it_is_told() {
    let ended = World::new().play(json!([{"stdout": "out é\n"}, {"stderr": "err"}, {"exit": 9}]));
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(9), "out é\n", "err"));
}

#[test]
fn noise_is_counted_to_the_byte() {
    let world = World::new();
    let noise = |to: &str, kind: &str, bytes: u64| json!({"noise": {"to": to, "kind": kind, "bytes": bytes}});
    let output =
        world.launch(json!([noise("stdout", "binary", 300_001), noise("stderr", "newlines", 7)])).output().unwrap();
    assert_eq!((output.stdout.len(), output.stderr.as_slice()), (300_001, b"\n\n\n\n\n\n\n".as_slice()));
    assert!(String::from_utf8(output.stdout).is_err());
    let output = world.launch(json!([noise("stdout", "text", 1000)])).output().unwrap();
    assert!(output.stdout.len() == 1000 && output.stdout.is_ascii());
}

#[test]
fn endless_noise_holds_up_a_flow_that_nobody_drains() {
    let world = World::new();
    let mut child =
        world.start(json!([{"noise": {"to": "stderr", "kind": "text", "endless": true}}, "effect", {"exit": 0}]));
    world.await_event("launch");
    let mut stderr = child.stderr.take().unwrap();
    let mut first = [0; 1];
    stderr.read_exact(&mut first).unwrap();
    // The pipe is full now or soon, and the effect is not reached while it is.
    assert!(!world.events().contains(&"effect".to_owned()));
    assert!(child.try_wait().unwrap().is_none());
    let drained = std::io::copy(&mut stderr, &mut std::io::sink()).unwrap();
    assert!(drained > 1_000_000, "{drained}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(world.events().contains(&"effect".to_owned()));
}

#[test]
fn a_reader_that_left_does_not_stop_flow() {
    let world = World::new();
    let mut child = world.start(json!([
        {"noise": {"to": "stdout", "kind": "text", "endless": true}}, {"noise": {"to": "stderr", "kind": "text", "bytes": 10_000_000}},
        "run_dir", {"report": "verified"}
    ]));
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_grandchild_outlives_flow_and_holds_its_pipes_until_it_is_released() {
    let world = World::new();
    let mut child = world.start(json!([{"grandchild": {"name": "g1", "holds": ["stdout"]}}, {"exit": 0}]));
    let mut stdout = child.stdout.take().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let pid = world.line("grandchild")["child_pid"].as_u64().unwrap();
    assert!(runs(pid));
    let reader = std::thread::spawn(move || stdout.read_to_end(&mut Vec::new()).unwrap());
    assert!(!reader.is_finished());
    world.release("g1");
    assert_eq!(reader.join().unwrap(), 0);
    wait_until("the grandchild's end", || !runs(pid));
}

#[test]
fn a_grandchild_that_holds_nothing_lets_the_pipes_close() {
    let world = World::new();
    let ended = ended(world.launch(json!([{"grandchild": {"name": "g"}}, {"stdout": "done"}])).output().unwrap());
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "done"));
    assert!(runs(world.line("grandchild")["child_pid"].as_u64().unwrap()));
    world.release("g");
}

#[test]
fn a_kill_of_flows_group_reaches_a_grandchild_unless_it_has_its_own() {
    for own_group in [false, true] {
        let world = World::new();
        let steps = json!([{"grandchild": {"name": "g", "own_group": own_group}}, {"hang": "until-killed"}]);
        let child = world.launch(steps).process_group(0).spawn().unwrap();
        world.await_event("held");
        let grandchild = world.line("grandchild")["child_pid"].as_u64().unwrap();
        kill_process_group(pid_of(&child), Signal::KILL).unwrap();
        assert_eq!(signal_of(child), Some(9));
        if own_group {
            assert!(runs(grandchild));
            world.release("g");
        }
        wait_until("the grandchild's end", || !runs(grandchild));
    }
}

#[test]
fn the_keeper_is_killed_and_flow_goes_on() {
    let world = World::new();
    let flow = world.launch(json!([{"kill": "keeper"}, "effect", {"exit": 0}]));
    let line = format!("{} run alpha --run-dir run & wait", env!("CARGO_BIN_EXE_flow-fake"));
    let mut keeper = Command::new("sh");
    keeper.args(["-c", &line]).current_dir(world.path("")).stdin(Stdio::null()).stdout(Stdio::null());
    flow.get_envs().for_each(|(key, value)| {
        value.map(|value| keeper.env(key, value));
    });
    let keeper = keeper.spawn().unwrap();
    let pid = keeper.id();
    assert_eq!(signal_of(keeper), Some(9));
    world.await_event("exit");
    let line = world.line("killing");
    assert_eq!((&line["target"], &line["pids"]), (&json!("keeper"), &json!([pid])));
    assert_eq!(world.events(), ["launch", "killing", "effect", "exit"]);
}

#[test]
fn the_server_is_told_by_its_pid_and_is_dead_before_the_play_goes_on() {
    let world = World::new();
    let server = Command::new("sleep").arg("600").spawn().unwrap();
    std::fs::write(world.control().join("server.pid"), format!("{}\n", server.id())).unwrap();
    let ended = world.play(json!([{"kill": "server"}, "effect", {"exit": 0}]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!runs(server.id().into()));
    assert_eq!(world.line("killing")["pids"], json!([server.id()]));
    assert_eq!(signal_of(server), Some(9));
}
