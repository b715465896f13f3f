//! The keeper as a process, with shells in the place of Flow.

use std::fs;
use std::time::Duration;

use openadapt_agent::contract::ids::RunId;
use openadapt_agent::contract::outcome::Mode;
use openadapt_agent::contract::reason::Reason;
use openadapt_agent::contract::result::{ResultFacts, RunResult};
use openadapt_agent::lifecycle::sealed::SealedResult;
use openadapt_agent::lifecycle::store::{ReceiptRead, Sealing};
use openadapt_agent::lifecycle::types::Permission;
use openadapt_agent::runs::dispatch::{ExitFacts, FlowEnd};
use openadapt_agent::runs::record::StoredResult;

use crate::world::{DEADLINE, World, within_deadline};

fn never_started(facts: &ExitFacts) -> bool {
    facts.end == FlowEnd::NeverStarted && !facts.timed_out && facts.started_at.is_none()
}

#[test]
fn a_run_that_exits_leaves_its_code_its_report_s_digest_and_what_it_printed() {
    let world = World::new();
    let script = r#"mkdir "$1"; printf '{}' >"$1/report.json"; echo out; echo err >&2; exit 3"#;
    let intent = world.commit(&["/bin/true"], DEADLINE);
    let silent = world.keep(&intent);
    assert_eq!((silent.end, silent.timed_out, silent.report_sha256), (FlowEnd::Exited(0), false, None));
    assert_eq!(world.printed(&intent), ["", ""]);

    let run_dir = world.temp.path().join("runs/run-of-its-own");
    let argv = ["/bin/sh", "-c", script, "sh", run_dir.to_str().unwrap()];
    let intent = world.commit_in(Some(run_dir.clone()), &argv, DEADLINE);
    let facts = world.keep(&intent);
    assert_eq!(facts.end, FlowEnd::Exited(3));
    assert!(facts.started_at.is_some() && facts.seconds > 0.0);
    let of_two_braces = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    assert_eq!(facts.report_sha256.as_deref(), Some(of_two_braces));
    assert_eq!(world.printed(&intent), ["out\n", "err\n"]);
}

#[test]
fn a_run_that_a_signal_ends_leaves_the_signal() {
    let world = World::new();
    let facts = world.keep(&world.commit(&["/bin/sh", "-c", "kill -SEGV $$"], DEADLINE));
    assert_eq!((facts.end, facts.timed_out), (FlowEnd::Signaled(11), false));
}

#[test]
fn a_program_that_isnt_there_never_started() {
    let world = World::new();
    assert!(never_started(&world.keep(&world.commit(&["/no/such/program"], DEADLINE))));
}

#[test]
fn a_run_whose_directory_is_there_already_never_started() {
    let world = World::new();
    let witness = world.temp.path().join("started");
    for make in [|path: &_| fs::create_dir(path), |path: &_| std::os::unix::fs::symlink("nowhere", path)] {
        let intent = world.commit(&["/usr/bin/env", "touch", witness.to_str().unwrap()], DEADLINE);
        make(&intent.order.run_dir).unwrap();
        assert!(never_started(&world.keep(&intent)));
        assert!(!witness.exists());
    }
}

#[test]
fn at_the_time_limit_a_run_that_ignores_sigterm_is_killed_with_its_group() {
    let world = World::new();
    let held = world.fifo("held");
    let script = r#"trap '' TERM; sh -c 'echo up; exec sleep 600' >"$1" & exec sleep 600"#;
    let intent = world.commit(&["/bin/sh", "-c", script, "sh", held.to_str().unwrap()], Duration::from_secs(1));
    // Ends when nobody holds the other side any more.
    let group_ended = std::thread::spawn(move || fs::read_to_string(held).unwrap());
    let facts = world.keep(&intent);
    assert_eq!((facts.end, facts.timed_out), (FlowEnd::Signaled(9), true));
    assert_eq!(within_deadline(move || group_ended.join().unwrap()), "up\n");
}

#[test]
fn a_process_that_outlives_flow_and_holds_its_streams_doesnt_hold_the_keeper() {
    let world = World::new();
    let (up, release) = (world.fifo("up"), world.fifo("release"));
    let script = r#"setsid sh -c 'echo up >"$1"; read line <"$2"' sh "$1" "$2" & read line <"$1"; echo done"#;
    let intent =
        world.commit(&["/bin/sh", "-c", script, "sh", up.to_str().unwrap(), release.to_str().unwrap()], DEADLINE);
    let facts = world.keep(&intent);
    assert_eq!((facts.end, facts.timed_out), (FlowEnd::Exited(0), false));
    assert_eq!(world.printed(&intent)[0], "done\n");
    // It lives: it takes what it waits for.
    within_deadline(move || fs::write(release, "go\n").unwrap());
}

#[test]
fn a_keeper_that_comes_too_late_starts_nothing() {
    let world = World::new();
    let witness = world.temp.path().join("started");
    let intent = world.commit(&["/usr/bin/env", "touch", witness.to_str().unwrap()], DEADLINE);
    let run_id = &intent.order.run_id;
    let action = world.store.actions().find(run_id).unwrap().unwrap().action;
    assert!(world.store.actions().revoke(&action, &never_started_of(run_id)).unwrap());
    let mut keeper = world.spawn_keeper(run_id);
    within_deadline(move || assert!(keeper.wait().unwrap().success()));
    let known = world.store.actions().find(run_id).unwrap().unwrap();
    assert!(known.action.revoked && !known.action.claimed && !witness.exists());
    assert!(matches!(known.receipt, Some(ReceiptRead::Valid(receipt)) if receipt.result.word() == "platform_error"));
}

fn never_started_of(run_id: &RunId) -> Sealing {
    let result = RunResult {
        reason: Reason::PlatformError,
        run_id: Some(run_id.clone()),
        request_id: None,
        workflow: None,
        mode: Mode::Production,
        replayed: false,
        facts: ResultFacts::default(),
    };
    Sealing {
        permission: Some(Permission::Allow),
        result: SealedResult::Run(StoredResult::of(&result).unwrap()),
        code: None,
        executor_started: false,
        executor_end: None,
        started_at: None,
        evidence: serde_json::Map::new(),
    }
}
