//! Worlds side by side, each on its own folder and processes.

use std::cell::Cell;
use std::rc::Rc;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::LocalSet;

use super::perform::perform;
use super::subject::Subject;
use crate::check::judge;
use crate::check::verdict::Judgement;
use crate::evidence::Evidence;
use crate::scenario::Scenario;

#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Worlds at once.
    pub jobs: usize,
    pub fail_fast: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub judgements: Vec<Judgement>,
    pub interrupted: bool,
}

/// Runs every scenario, telling `seen` of each as it ends. On a signal from outside every world is torn down and its processes ended.
///
/// All worlds share one thread: they wait for other processes nearly all the time, and one thread makes a world's umask its own.
pub async fn run(
    scenarios: Vec<Scenario>,
    subject: Subject,
    options: Options,
    mut seen: impl FnMut(&Evidence, &Judgement),
) -> Ended {
    let local = LocalSet::new();
    let (report, mut reports) = mpsc::unbounded_channel();
    let stop = Rc::new(Cell::new(false));
    let room = Rc::new(Semaphore::new(options.jobs.max(1)));
    let subject = Rc::new(subject);
    // A browser costs as much as many worlds: one for each core.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let browsers = Rc::new(Semaphore::new(cores.min(options.jobs.max(1))));
    for scenario in scenarios {
        let (report, stop, room, subject) = (report.clone(), stop.clone(), room.clone(), subject.clone());
        let world = &scenario.world;
        let heavy = world.browser || world.real_flow || world.is_for_any_engine();
        let browsers = heavy.then(|| browsers.clone());
        local.spawn_local(async move {
            let _browser = match &browsers {
                Some(browsers) => browsers.acquire().await.ok(),
                None => None,
            };
            let Ok(_place) = room.acquire().await else { return };
            if stop.get() {
                return;
            }
            let evidence = perform(&scenario, &subject).await;
            let judgement = judge(&evidence);
            // The receiver is gone only when the run was interrupted: then nobody asks.
            let _nobody_asks = report.send((evidence, judgement));
        });
    }
    drop(report);
    let mut judgements = Vec::new();
    let collecting = async {
        while let Some((evidence, judgement)) = reports.recv().await {
            if options.fail_fast && !judgement.passed() {
                stop.set(true);
            }
            seen(&evidence, &judgement);
            judgements.push(judgement);
        }
    };
    let interrupted = local
        .run_until(async {
            tokio::select! {
                () = collecting => false,
                () = interruption() => true,
            }
        })
        .await;
    // Dropping the worlds ends their processes and removes their folders.
    drop(local);
    Ended { judgements, interrupted }
}

async fn interruption() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
