use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::*;
use crate::runs::server::ServerIdentity;

struct World {
    _temp: tempfile::TempDir,
    root: StoreRoot,
    server: ServerIdentity,
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = StoreRoot::open(&temp.path().join("runs")).unwrap();
        let server = ServerIdentity::start(root.servers()).unwrap();
        Self { _temp: temp, root, server }
    }

    fn dispatch(&self) -> Dispatch<'_> {
        Dispatch::new(&self.root)
    }

    fn order(&self, run_id: &RunId) -> Order {
        let of = Origin {
            request_id: None,
            workflow: Some("add_note".to_owned()),
            mode: Mode::Production,
            started_at: utc_now(),
            attempt: None,
            sandbox: None,
        };
        let argv = vec!["flow".to_owned(), "run".to_owned()];
        Order { run_id: run_id.clone(), argv, run_dir: self.root.run_dir(run_id), time_limit_ms: 600_000, of }
    }

    fn commit(&self, run_id: &RunId) -> Intent {
        self.dispatch().commit(self.order(run_id), self.server.id(), Some(b"{\"note\": \"secret\"}")).unwrap()
    }

    fn enter(&self, run_id: &RunId) -> Entry {
        enter(&self.dispatch().folder(run_id)).unwrap()
    }

    fn claimed(&self, run_id: &RunId) -> Claimed {
        match self.enter(run_id) {
            Entry::Claimed(claimed) => *claimed,
            other => panic!("{other:?}"),
        }
    }

    fn state(&self, run_id: &RunId) -> DispatchState {
        self.dispatch().state(run_id).unwrap()
    }

    fn ended(&self, run_id: &RunId) {
        self.commit(run_id);
        self.claimed(run_id).finish(&facts_at_noon()).unwrap();
    }

    fn edit(&self, run_id: &RunId, name: &str, change: impl FnOnce(&mut Value)) {
        let path = self.dispatch().folder(run_id).join(name);
        let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut value);
        fs::write(path, value.to_string()).unwrap();
    }

    fn has_params(&self, run_id: &RunId) -> bool {
        self.dispatch().params_file(run_id).exists()
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
fn a_run_goes_from_no_intent_to_exit_facts() {
    let (world, run_id) = (World::new(), RunId::random());
    assert_eq!(world.state(&run_id), DispatchState::NoIntent);
    let intent = world.commit(&run_id);
    assert_eq!(world.state(&run_id), DispatchState::Unclaimed);
    let claimed = world.claimed(&run_id);
    assert_eq!(*claimed.intent(), intent);
    assert_eq!(world.state(&run_id), DispatchState::KeeperAlive);
    claimed.finish(&facts_at_noon()).unwrap();
    assert_eq!(world.state(&run_id), DispatchState::Exited(facts_at_noon()));
    assert_eq!(world.dispatch().intent(&run_id).unwrap(), Some(intent));
}

#[test]
fn every_file_of_a_dispatch_is_private() {
    let (world, run_id) = (World::new(), RunId::random());
    world.commit(&run_id);
    world.claimed(&run_id).finish(&facts_at_noon()).unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = world.dispatch().folder(&run_id);
    assert_eq!(mode(folder.clone()), 0o700);
    for name in [INTENT, CLAIM, EXIT, LOCK] {
        assert_eq!(mode(folder.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(world.dispatch().params_file(&run_id)), 0o600);
}

#[test]
fn a_keeper_that_ends_without_facts_died() {
    let (world, run_id) = (World::new(), RunId::random());
    world.commit(&run_id);
    drop(world.claimed(&run_id));
    assert_eq!(world.state(&run_id), DispatchState::KeeperDied);
}

#[test]
fn a_revoked_intent_is_taken_by_no_keeper_and_its_inputs_go() {
    let (world, run_id) = (World::new(), RunId::random());
    world.commit(&run_id);
    assert_eq!(world.dispatch().revoke(&run_id, world.server.id()).unwrap(), Revocation::Revoked);
    assert_eq!(world.state(&run_id), DispatchState::Revoked);
    assert!(matches!(world.enter(&run_id), Entry::TooLate));
    assert!(!world.has_params(&run_id));
    assert_eq!(world.dispatch().revoke(&run_id, world.server.id()).unwrap(), Revocation::Revoked, "again");
}

#[test]
fn what_was_never_committed_can_be_revoked_and_stays_revoked() {
    let (world, run_id) = (World::new(), RunId::random());
    assert_eq!(world.dispatch().revoke(&run_id, world.server.id()).unwrap(), Revocation::Revoked);
    world.commit(&run_id);
    assert!(matches!(world.enter(&run_id), Entry::TooLate));
    assert_eq!(world.state(&run_id), DispatchState::Revoked);
}

#[test]
fn a_claimed_run_cant_be_revoked() {
    let (world, run_id) = (World::new(), RunId::random());
    world.commit(&run_id);
    let claimed = world.claimed(&run_id);
    assert_eq!(world.dispatch().revoke(&run_id, world.server.id()).unwrap(), Revocation::KeeperClaimed);
    assert!(world.has_params(&run_id));
    assert_eq!(world.state(&run_id), DispatchState::KeeperAlive);
    drop(claimed);
}

#[test]
fn of_keepers_and_revokers_at_once_exactly_one_wins() {
    let world = World::new();
    for _ in 0..50 {
        let run_id = RunId::random();
        world.commit(&run_id);
        let (claims, revocations) = std::thread::scope(|scope| {
            let (world, run_id) = (&world, &run_id);
            let keepers: Vec<_> =
                (0..2).map(|_| scope.spawn(move || matches!(world.enter(run_id), Entry::Claimed(_)))).collect();
            let revokers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(move || {
                        world.dispatch().revoke(run_id, world.server.id()).unwrap() == Revocation::Revoked
                    })
                })
                .collect();
            let count = |threads: Vec<std::thread::ScopedJoinHandle<'_, bool>>| {
                threads.into_iter().filter(|_| true).map(|thread| thread.join().unwrap()).filter(|won| *won).count()
            };
            (count(keepers), count(revokers))
        });
        assert!(matches!((claims, revocations), (1, 0) | (0, 2)), "{claims} claims, {revocations} revocations");
    }
}

#[test]
fn an_intent_that_cant_be_read_or_is_about_another_run_is_started_by_nobody() {
    let (world, run_id, other) = (World::new(), RunId::random(), RunId::random());
    world.commit(&run_id);
    world.commit(&other);
    let intent = |run_id| world.dispatch().folder(run_id).join(INTENT);
    let stranger = fs::read(intent(&other)).unwrap();
    for bad in [&b""[..], b"{}", &stranger] {
        fs::write(intent(&run_id), bad).unwrap();
        assert!(matches!(world.enter(&run_id), Entry::NoIntent));
        assert_eq!(world.state(&run_id), DispatchState::Unclaimed);
    }
    assert_eq!(world.dispatch().revoke(&run_id, world.server.id()).unwrap(), Revocation::Revoked);
}

#[test]
fn an_intent_with_half_an_attempt_is_started_by_nobody() {
    let (world, run_id) = (World::new(), RunId::random());
    world.commit(&run_id);
    world.edit(&run_id, INTENT, |intent| intent["attempt"] = 1.into());
    assert!(matches!(world.enter(&run_id), Entry::NoIntent));
}

#[test]
fn a_claim_that_cant_be_read_is_never_taken_for_a_revocation() {
    for bad in ["", "{}", "{\"by\": \"nobody\"}", "{\"by\": \"revoked\"}", &"x".repeat(2 << 20)] {
        let (world, run_id) = (World::new(), RunId::random());
        world.commit(&run_id);
        fs::write(world.dispatch().folder(&run_id).join(CLAIM), bad).unwrap();
        assert_eq!(world.state(&run_id), DispatchState::KeeperDied, "{bad:.20}");
        assert_eq!(world.dispatch().revoke(&run_id, world.server.id()).unwrap(), Revocation::KeeperClaimed);
    }
}

#[test]
fn a_revocation_of_another_kind_version_or_run_counts_as_a_keepers_claim() {
    for (key, other) in [("schema", "openadapt-agent.claim/v2"), ("run_id", "run-another"), ("server", "me")] {
        let (world, run_id) = (World::new(), RunId::random());
        world.commit(&run_id);
        world.dispatch().revoke(&run_id, world.server.id()).unwrap();
        world.edit(&run_id, CLAIM, |claim| claim["new"] = 1.into());
        assert_eq!(world.state(&run_id), DispatchState::Revoked);
        world.edit(&run_id, CLAIM, |claim| claim[key] = other.into());
        assert_eq!(world.state(&run_id), DispatchState::KeeperDied, "{key}");
    }
}

#[test]
fn a_keepers_claim_with_another_token_still_is_a_keepers() {
    let (world, run_id) = (World::new(), RunId::random());
    world.commit(&run_id);
    let claimed = world.claimed(&run_id);
    world.edit(&run_id, CLAIM, |claim| claim["token"] = "0".repeat(32).into());
    assert_eq!(world.dispatch().revoke(&run_id, world.server.id()).unwrap(), Revocation::KeeperClaimed);
    assert_eq!(world.state(&run_id), DispatchState::KeeperAlive);
    drop(claimed);
    assert_eq!(world.state(&run_id), DispatchState::KeeperDied);
}

#[test]
fn exit_facts_that_cant_be_read_are_none() {
    for bad in ["", "{}", "[]", "{\"end\": \"exited\", \"code\": 0}"] {
        let (world, run_id) = (World::new(), RunId::random());
        world.commit(&run_id);
        drop(world.claimed(&run_id));
        fs::write(world.dispatch().folder(&run_id).join(EXIT), bad).unwrap();
        assert_eq!(world.state(&run_id), DispatchState::KeeperDied, "{bad}");
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
        let (world, run_id) = (World::new(), RunId::random());
        world.ended(&run_id);
        world.edit(&run_id, EXIT, |facts| facts["new"] = 1.into());
        assert_eq!(world.state(&run_id), DispatchState::Exited(facts_at_noon()));
        world.edit(&run_id, EXIT, |facts| facts[key] = other.clone());
        assert_eq!(world.state(&run_id), DispatchState::KeeperDied, "{key}: {other}");
    }
    let (world, run_id) = (World::new(), RunId::random());
    world.ended(&run_id);
    world.edit(&run_id, EXIT, never);
    assert_eq!(world.state(&run_id), DispatchState::KeeperDied, "what never started has no start");
}

#[test]
fn exit_facts_without_a_readable_intent_are_none() {
    let (world, run_id) = (World::new(), RunId::random());
    world.ended(&run_id);
    fs::write(world.dispatch().folder(&run_id).join(INTENT), "{}").unwrap();
    assert_eq!(world.state(&run_id), DispatchState::KeeperDied);
}

#[test]
fn a_sweep_removes_the_inputs_of_the_dead_and_keeps_those_of_the_living() {
    let world = World::new();
    let dead_server = ServerIdentity::start(world.root.servers()).unwrap();
    let by_dead = |run_id: &RunId| {
        world.dispatch().commit(world.order(run_id), dead_server.id(), Some(b"{}")).unwrap();
    };
    let ids: Vec<RunId> = (0..6).map(|_| RunId::random()).collect();
    let [waiting, running, orphaned, orphaned_running, died, ended] = &ids[..] else { unreachable!() };
    for run_id in [waiting, running, died, ended] {
        world.commit(run_id);
    }
    for run_id in [orphaned, orphaned_running] {
        by_dead(run_id);
    }
    let (_one, _two) = (world.claimed(running), world.claimed(orphaned_running));
    drop(world.claimed(died));
    world.claimed(ended).finish(&facts_at_noon()).unwrap();
    let half_written = world.root.params().path().join(format!(".{orphaned}.json.0123.tmp"));
    fs::write(&half_written, "secret").unwrap();
    drop(dead_server);

    world.dispatch().sweep_params(world.server.id()).unwrap();

    let kept: Vec<_> = ids.iter().map(|run_id| world.has_params(run_id)).collect();
    assert_eq!(kept, [true, true, false, true, false, false]);
    assert!(!half_written.exists());
    assert_eq!(world.state(orphaned), DispatchState::Revoked, "no keeper can come for inputs that are gone");
    assert_eq!(world.state(waiting), DispatchState::Unclaimed);
}

#[test]
fn inputs_can_be_discarded_twice() {
    let (world, run_id) = (World::new(), RunId::random());
    world.commit(&run_id);
    world.dispatch().discard_params(&run_id).unwrap();
    world.dispatch().discard_params(&run_id).unwrap();
    assert!(!world.has_params(&run_id));
}
