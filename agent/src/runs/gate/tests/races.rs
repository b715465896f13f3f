//! Many callers with one request at the same moment.

use super::*;

/// Eight servers, 64 callers each: what every caller was told.
fn all_at_once(world: &World, ask: &Ask) -> Vec<Begin> {
    let servers: Vec<Server> = (0..8).map(|_| world.server()).collect();
    std::thread::scope(|scope| {
        let callers: Vec<_> =
            servers.iter().flat_map(|server| (0..64).map(move |_| scope.spawn(|| server.begin(ask)))).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

fn one_start(begun: Vec<Begin>) -> Started {
    let mut starts = Vec::new();
    let mut replays = Vec::new();
    for begin in begun {
        match begin {
            Begin::Start(started) => starts.push(started),
            Begin::Replay { run_id, doubted: false } => replays.push(run_id),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((starts.len(), replays.len()), (1, 511));
    let started = starts.remove(0);
    assert!(replays.iter().all(|run_id| *run_id == started.run_id));
    started
}

#[test]
fn of_512_callers_on_eight_servers_one_starts_and_all_others_get_its_run() {
    let (world, ask) = (World::new(), ask());
    let started = one_start(all_at_once(&world, &ask));
    assert_eq!(started.attempt, Attempt::FIRST);
}

#[test]
fn of_512_callers_after_a_retryable_end_one_starts_the_next_attempt() {
    let (world, ask) = (World::new(), ask());
    let server = world.server();
    let first = server.start(&ask);
    server.finish(&first.run_id, Reason::Canceled);
    let started = one_start(all_at_once(&world, &ask));
    assert_eq!(started.ledger_key, key(2, Era::Ours));
    assert_eq!(server.attempts(), [first.run_id, started.run_id]);
}
