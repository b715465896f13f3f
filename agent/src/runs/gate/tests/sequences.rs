//! Any order of calls, crashes and damage.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A call; what it starts ends in this reason.
    Call(Reason),
    /// A call whose server dies before it dispatches anything.
    CallAndDie,
    /// A server that dies after so many writes of an opening.
    Crash(usize),
    LoseIndex,
    CutIndex,
    LoseRow,
    OtherWork,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let reasons: Vec<_> = Reason::ALL.iter().copied().filter(|reason| reason.is_terminal()).collect();
    let step = prop_oneof![
        3 => prop::sample::select(reasons).prop_map(Step::Call),
        1 => Just(Step::Call(Reason::Canceled)),
        1 => Just(Step::CallAndDie),
        2 => (0..=3_usize).prop_map(Step::Crash),
        1 => Just(Step::LoseIndex),
        1 => Just(Step::CutIndex),
        1 => Just(Step::LoseRow),
        1 => Just(Step::OtherWork),
    ];
    prop::collection::vec(step, 1..10)
}

fn crash(world: &World, ask: &Ask, writes: usize) {
    let server = world.server();
    let _stripe = server.store.lock_request(&ask.request_id).unwrap();
    let mut history = History::read(&server.store, &hash()).unwrap();
    let next = Attempt::at(history.attempts().len());
    let settled = history.attempts().last().is_none_or(|latest| server.settle(latest));
    if !settled || next > Attempt::LAST {
        return;
    }
    let opening = Opening::new(&server.store, ask, next);
    if writes >= 1 {
        opening.write_record().unwrap();
    }
    if writes >= 2 && opening.reserve(&server.ledger).unwrap() != crate::runs::ledger::Reservation::Reserved {
        return;
    }
    if writes >= 3 {
        opening.enter_in_index(&mut history).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn after_a_save_that_may_have_happened_nothing_starts_and_no_call_is_ever_an_error(steps in steps()) {
        let (world, ask) = (World::new(), ask());
        let mut final_run: Option<RunId> = None;
        let mut launches = 0;
        for step in steps {
            match step {
                Step::Call(reason) => {
                    let server = world.server();
                    match server.begin(&ask) {
                        Begin::Start(started) => {
                            prop_assert!(final_run.is_none(), "started after {final_run:?}");
                            launches += 1;
                            server.finish(&started.run_id, reason);
                            if !reason.allows_new_attempt() {
                                final_run = Some(started.run_id);
                            }
                        }
                        Begin::Replay { run_id, doubted } => {
                            prop_assert!(!doubted);
                            prop_assert_eq!(Some(run_id), final_run.clone());
                        }
                        Begin::RetryLimit => prop_assert!(final_run.is_none()),
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                Step::CallAndDie => {
                    let started = matches!(world.server().begin(&ask), Begin::Start(_));
                    prop_assert!(!started || final_run.is_none());
                }
                Step::Crash(writes) => crash(&world, &ask, writes),
                Step::LoseIndex => {
                    let _ = std::fs::remove_file(world.index_file(Era::Ours));
                }
                Step::CutIndex if world.index_file(Era::Ours).exists() => {
                    std::fs::write(world.index_file(Era::Ours), "{").unwrap();
                }
                Step::LoseRow if world.at("ledger.sqlite").exists() => {
                    world.sqlite().execute("DELETE FROM reservations", []).unwrap();
                }
                Step::OtherWork => {
                    let first = world.server().begin(&ask_for("b"));
                    match first {
                        Begin::Conflict { .. } => {}
                        // Nothing was known of the request, so the other work took the id; the rest is another story.
                        Begin::Start(_) => return Ok(()),
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                Step::CutIndex | Step::LoseRow => {}
            }
        }
        prop_assert!(launches <= 5);
    }
}
