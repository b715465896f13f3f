//! tests of the module beside it

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::*;
use crate::lifecycle::contracts::Executor;
use crate::lifecycle::testing;

struct World(testing::World);

impl World {
    fn new() -> Self {
        Self(testing::World::new())
    }

    fn dispatch(&self) -> Dispatch<'_> {
        self.0.store.dispatch()
    }

    /// A committed intent and its order.
    fn commit(&self) -> Intent {
        self.commit_with(|_| None)
    }

    /// The same with one more word in the command line.
    fn commit_with(&self, word: impl FnOnce(&RunId) -> Option<String>) -> Intent {
        let (action, token) = self.0.dispatched(&self.0.new_action(RunId::random().as_str(), 1));
        let run_id = action.run_id().clone();
        let of = Origin {
            request_id: None,
            workflow: Some("add_note".to_owned()),
            mode: Mode::Production,
            started_at: utc_now(),
            attempt: None,
            sandbox: None,
        };
        let argv = ["flow", "run"].map(str::to_owned).into_iter().chain(word(&run_id)).collect();
        let run_dir = self.0.store.root().run_dir(&run_id);
        let order = Order { run_id, argv, run_dir, time_limit_ms: 600_000, of };
        self.dispatch().order(order, self.0.store.server_id(), &token, Some(b"{\"note\": \"secret\"}")).unwrap()
    }

    fn enter(&self, run_id: &RunId) -> Entry {
        enter(&self.dispatch().folder(run_id)).unwrap()
    }

    fn entered(&self, run_id: &RunId) -> Entered {
        match self.enter(run_id) {
            Entry::Entered(entered) => *entered,
            other => panic!("{other:?}"),
        }
    }

    fn keeper(&self, intent: &Intent) -> Keeper {
        self.dispatch().keeper(&intent.order.run_id, intent.token.as_str()).unwrap()
    }

    fn ended(&self) -> Intent {
        let intent = self.commit();
        self.entered(&intent.order.run_id).leave_facts(&facts_at_noon()).unwrap();
        intent
    }

    fn edit(&self, run_id: &RunId, name: &str, change: impl FnOnce(&mut Value)) {
        let path = self.dispatch().folder(run_id).join(name);
        let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut value);
        fs::write(path, value.to_string()).unwrap();
    }
}

fn facts_at_noon() -> ExitFacts {
    ExitFacts {
        end: FlowEnd::Exited(0),
        timed_out: false,
        started_at: Some("2026-11-29T12:00:00.000000+00:00".to_owned()),
        ended_at: "2026-11-29T12:00:01.200000+00:00".to_owned(),
        seconds: 1.2,
        report_sha256: Some("ab".repeat(32)),
    }
}

#[test]
fn a_keeper_is_alive_while_it_holds_its_folder_and_leaves_facts_or_none() {
    let world = World::new();
    let intent = world.commit();
    let run_id = &intent.order.run_id;
    let entered = world.entered(run_id);
    assert_eq!(*entered.intent(), intent);
    assert_eq!(world.keeper(&intent), Keeper::Alive);
    entered.leave_facts(&facts_at_noon()).unwrap();
    drop(entered);
    assert_eq!(world.keeper(&intent), Keeper::Exited(facts_at_noon()));
    let silent = world.commit();
    drop(world.entered(&silent.order.run_id));
    assert_eq!(world.keeper(&silent), Keeper::Gone);
}

#[test]
fn every_file_of_a_dispatch_is_private() {
    let world = World::new();
    let intent = world.ended();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = world.dispatch().folder(&intent.order.run_id);
    assert_eq!(mode(folder.clone()), 0o700);
    for name in [INTENT, EXIT, LOCK] {
        assert_eq!(mode(folder.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(world.dispatch().params_file(&intent.order.run_id)), 0o600);
}

#[test]
fn a_dispatch_is_claimed_once_with_its_own_token_only() {
    let world = World::new();
    let intent = world.commit();
    let (run_id, actions) = (&intent.order.run_id, world.0.store.actions());
    assert!(!actions.claim(run_id, &"0".repeat(32), Executor::Flow).unwrap());
    assert!(actions.claim(run_id, intent.token.as_str(), Executor::Flow).unwrap());
    assert!(!actions.claim(run_id, intent.token.as_str(), Executor::Flow).unwrap());
}

#[test]
fn of_keepers_and_revokers_at_once_exactly_one_wins() {
    use crate::contract::reason::Reason;
    let world = World::new();
    for _ in 0..20 {
        let intent = world.commit();
        let run_id = &intent.order.run_id;
        let action = world.0.found(run_id);
        let sealing = testing::sealing(&action, Reason::PlatformError, false);
        let actions = world.0.store.actions();
        let won: Vec<bool> = std::thread::scope(|scope| {
            let claim = || actions.claim(run_id, intent.token.as_str(), Executor::Flow).unwrap();
            let revoke = || actions.revoke(&action, &sealing).unwrap();
            let threads = [scope.spawn(claim), scope.spawn(claim), scope.spawn(revoke), scope.spawn(revoke)];
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
    }
}

#[test]
fn an_order_that_cant_be_read_or_is_about_another_run_is_carried_out_by_nobody() {
    let world = World::new();
    let (intent, other) = (world.commit(), world.commit());
    let file = |intent: &Intent| world.dispatch().folder(&intent.order.run_id).join(INTENT);
    let stranger = fs::read(file(&other)).unwrap();
    for bad in [&b""[..], b"{}", &stranger] {
        fs::write(file(&intent), bad).unwrap();
        assert!(matches!(world.enter(&intent.order.run_id), Entry::NoOrder));
    }
    world.edit(&other.order.run_id, INTENT, |intent| intent["attempt"] = 1.into());
    assert!(matches!(world.enter(&other.order.run_id), Entry::NoOrder), "half an attempt");
}

#[test]
fn exit_facts_that_cant_be_read_are_none() {
    for bad in ["", "{}", "[]", "{\"end\": \"exited\", \"code\": 0}"] {
        let world = World::new();
        let intent = world.ended();
        fs::write(world.dispatch().folder(&intent.order.run_id).join(EXIT), bad).unwrap();
        assert_eq!(world.keeper(&intent), Keeper::Gone, "{bad}");
    }
}

#[test]
fn exit_facts_of_another_token_kind_or_run_or_with_two_ends_are_none() {
    let never = |facts: &mut Value| {
        for (key, value) in [("end", json!("never_started")), ("code", json!(null)), ("report_sha256", json!(null))] {
            facts[key] = value;
        }
    };
    for (key, other) in [
        ("token", json!("0".repeat(32))),
        ("token", json!(null)),
        ("schema", json!("openadapt-agent.exit/v2")),
        ("run_id", json!("run-another")),
        ("signal", json!(9)),
        ("code", json!(null)),
        ("end", json!("signaled")),
        ("end", json!("never_started")),
        ("started_at", json!(null)),
        ("started_at", json!("now")),
        ("seconds", json!(-1.0)),
    ] {
        let world = World::new();
        let intent = world.ended();
        let run_id = &intent.order.run_id;
        world.edit(run_id, EXIT, |facts| facts["new"] = 1.into());
        assert_eq!(world.keeper(&intent), Keeper::Exited(facts_at_noon()));
        world.edit(run_id, EXIT, |facts| facts[key] = other.clone());
        assert_eq!(world.keeper(&intent), Keeper::Gone, "{key}: {other}");
    }
    let world = World::new();
    let intent = world.ended();
    let run_id = &intent.order.run_id;
    world.edit(run_id, EXIT, never);
    assert_eq!(world.keeper(&intent), Keeper::Gone, "what never started has no start");
}

/// What the contract issue's agent left: a claim in a file.
mod older {
    use super::*;
    use crate::runs::dispatch::older::{OlderState, Revocation};

    fn claim(world: &World, run_id: &RunId, text: &str) {
        let folder = world.0.store.root().dispatch().private_sub(run_id.as_str()).unwrap();
        folder.write_durable("claim.json", text.as_bytes()).unwrap();
    }

    #[test]
    fn what_was_never_committed_can_be_revoked_and_stays_revoked() {
        let (world, run_id) = (World::new(), RunId::random());
        let me = world.0.store.server_id();
        assert_eq!(world.dispatch().older_state(&run_id).unwrap(), OlderState::Unclaimed);
        for _ in 0..2 {
            assert_eq!(world.dispatch().revoke_older(&run_id, me).unwrap(), Revocation::Revoked);
            assert_eq!(world.dispatch().older_state(&run_id).unwrap(), OlderState::Revoked);
        }
    }

    #[test]
    fn a_claim_that_isnt_a_revocation_of_this_run_counts_as_a_keepers() {
        let keepers = json!({"schema": "openadapt-agent.claim/v1", "run_id": "run-a", "by": "keeper", "token": "0".repeat(32), "pid": 1});
        let anothers = json!({"schema": "openadapt-agent.claim/v1", "run_id": "run-b", "by": "revoked", "server": "x"});
        for text in
            ["", "{}", "{\"by\": \"revoked\"}", &"x".repeat(2 << 20), &keepers.to_string(), &anothers.to_string()]
        {
            let (world, run_id) = (World::new(), RunId::random());
            claim(&world, &run_id, text);
            assert_eq!(world.dispatch().older_state(&run_id).unwrap(), OlderState::Claimed(Keeper::Gone), "{text:.30}");
            let revocation = world.dispatch().revoke_older(&run_id, world.0.store.server_id()).unwrap();
            assert_eq!(revocation, Revocation::KeeperClaimed, "{text:.30}");
        }
    }

    #[test]
    fn an_older_keepers_facts_are_found_by_its_orders_token() {
        let world = World::new();
        let intent = world.ended();
        claim(&world, &intent.order.run_id, "{}");
        let state = world.dispatch().older_state(&intent.order.run_id).unwrap();
        assert_eq!(state, OlderState::Claimed(Keeper::Exited(facts_at_noon())));
    }
}

#[test]
fn a_private_word_is_in_no_intent_and_takes_its_place_in_the_command_line_that_is_started() {
    let world = World::new();
    let dispatch = world.dispatch();
    let order = world.commit_with(|run_id| Some(dispatch.placeholder(run_id))).order;
    dispatch.put_private_word(&order.run_id, "--url=http://secret/").unwrap();
    assert_eq!(dispatch.spelled_out(&order).unwrap(), ["flow", "run", "--url=http://secret/"]);
    let intent = fs::read_to_string(dispatch.folder(&order.run_id).join(INTENT)).unwrap();
    assert!(!intent.contains("secret"));
    let params = world.0.store.root().params();
    let modes = params.names().unwrap().into_iter().map(|name| params.path().join(name).metadata().unwrap());
    assert!(modes.into_iter().all(|facts| facts.permissions().mode() & 0o777 == 0o600));
}

#[test]
fn without_its_private_word_a_command_line_is_not_started() {
    let world = World::new();
    let dispatch = world.dispatch();
    let order = world.commit_with(|run_id| Some(dispatch.placeholder(run_id))).order;
    assert_eq!(dispatch.spelled_out(&order), None);
    dispatch.put_private_word(&order.run_id, "--url=http://secret/").unwrap();
    assert!(dispatch.spelled_out(&order).is_some());
    dispatch.discard_params(&order.run_id).unwrap();
    assert_eq!(dispatch.spelled_out(&order), None);
    assert!(world.0.store.root().params().is_empty().unwrap());
}

#[test]
fn a_private_word_that_was_left_behind_is_found_with_the_inputs() {
    let world = World::new();
    let run_id = world.ended().order.run_id;
    world.dispatch().put_private_word(&run_id, "--url=http://secret/").unwrap();
    let left = world.dispatch().with_params().unwrap();
    assert_eq!(left.len(), 2);
    for (of, name) in left {
        assert_eq!(of, run_id);
        world.dispatch().discard_file(&name).unwrap();
    }
    assert!(world.0.store.root().params().is_empty().unwrap());
}
