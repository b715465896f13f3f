//! One scenario from its first folder to its last process.

use std::fs;
use std::time::{Duration, Instant};

use super::act::act;
use super::clinic::{self, Clinic};
use super::crash;
use super::operator;
use super::process;
use super::subject::Subject;
use super::world::{World, WorldError};
use crate::evidence::actions::SeenActions;
use crate::evidence::files::{SeenFile, walk};
use crate::evidence::ledger::SeenLedger;
use crate::evidence::{Clock, Evidence, Leftover, ServerEnd, StopCause, Stopped};
use crate::scenario::Scenario;
use crate::scenario::model::{After, ServerPlan};
use crate::wire::client::HandshakeFault;
use crate::wire::server::Server;

/// How long a server may take to end after its stdin was closed, and a run to end after its server.
const CLOSING: Duration = Duration::from_secs(5);
/// The same where a real Flow has a browser of its own to close.
const CLOSING_A_BROWSER: Duration = Duration::from_secs(60);

/// Runs a scenario and gives back everything that was seen. A fault of any kind is part of the record.
pub async fn perform(scenario: &Scenario, subject: &Subject) -> Evidence {
    perform_by(scenario, subject, play).await
}

/// The same, where somebody else goes through the actions.
pub async fn perform_by(
    scenario: &Scenario,
    subject: &Subject,
    play: impl AsyncFnOnce(&World<'_>) -> Result<(), Stopped>,
) -> Evidence {
    let began = Instant::now();
    let furnished = scenario.furnished();
    let scenario = furnished.as_ref().unwrap_or(scenario);
    let mut evidence = blank(scenario);
    match World::create(scenario, subject) {
        Ok(world) => {
            if scenario.has_crash_points() {
                let (seen, stopped) = crash::play(&world).await;
                (evidence.crash, evidence.stopped) = (Some(seen), stopped);
            } else {
                evidence.stopped = play(&world).await.err();
            }
            collect(&world, &mut evidence).await;
        }
        Err(error) => evidence.stopped = Some(stop_of(&error, None, "a world")),
    }
    evidence.seconds = began.elapsed().as_secs_f64();
    evidence
}

async fn play(world: &World<'_>) -> Result<(), Stopped> {
    for number in 1..=world.scenario.world.servers {
        start(world, &format!("s{number}"), &ServerPlan::default(), None).await?;
    }
    for (index, action) in world.scenario.actions.iter().enumerate() {
        act(world, index, action).await?;
    }
    Ok(())
}

/// Starts a server and greets it, unless the plan says not to.
pub async fn start(world: &World<'_>, name: &str, plan: &ServerPlan, step: Option<usize>) -> Result<(), Stopped> {
    let (server, identity) = world.spawn(name, plan).map_err(|error| match error {
        WorldError::Io(error) => Stopped {
            step,
            cause: StopCause::NoAgent,
            waited_for: format!("server {name} to start"),
            detail: format!("{}: {error}", world.subject.agent_as_text()),
        },
        other => stop_of(&other, step, "a server to start"),
    })?;
    let greet = plan.handshake.or(world.scenario.world.server.handshake).unwrap_or(true);
    if !greet {
        return Ok(());
    }
    match world.client.greet(&server, &identity).await {
        Ok(()) => Ok(()),
        Err(fault) => Err(handshake_stop(&server, fault, step).await),
    }
}

async fn collect(world: &World<'_>, evidence: &mut Evidence) {
    let servers: Vec<_> = world.servers.borrow().iter().map(|(server, _)| server.clone()).collect();
    let running: Vec<_> = servers.iter().filter(|server| server.exit().is_none()).collect();
    running.iter().for_each(|server| server.close_stdin());
    for server in running {
        end(server, patience(world)).await;
    }
    let after = world.variables.borrow_mut().resolve(&world.scenario.after);
    match after {
        Ok(after) => evidence.after = after,
        Err(error) => {
            evidence.stopped.get_or_insert_with(|| stop_of(&error.into(), None, "the values of [after]"));
        }
    }
    let may_live = evidence.after.still_running || evidence.stopped.is_some();
    evidence.leftovers = if may_live { Vec::new() } else { leftovers(world).await };
    if may_live || !evidence.leftovers.is_empty() {
        process::kill_all(&world.folders.home);
    }
    world.swept.set(true);
    for server in &servers {
        let seen = server.seen().await;
        evidence.servers.push(seen);
    }
    evidence.clinic = world.clinic.as_ref().and_then(Clinic::seen);
    evidence.real_flow = world.real_flow().is_some();
    if evidence.real_flow && world.clinic.is_none() {
        // The agent's own app of a sandbox, where it was told to keep its journal here.
        evidence.clinic = clinic::of_journal(&world.folders.world.join("clinic.jsonl"));
    }
    evidence.files = files(world);
    evidence.clock = Clock::of(&evidence.files, world.transcript.elapsed());
    (evidence.frames, evidence.exchanges, evidence.journal) = world.transcript.take();
    evidence.steps = world.steps.take();
    evidence.ledger = SeenLedger::read(&world.folders.store().join("ledger.sqlite"));
    if world.scenario.id.as_str().starts_with(operator::AREA) {
        evidence.operator = operator::look(world).await;
    }
    evidence.actions = SeenActions::read(&world.folders.store().join("lifecycle.sqlite"));
    evidence.canaries = world.variables.borrow().marks.handed_out().clone();
    evidence.printed = world.printed.take();
}

fn patience(world: &World<'_>) -> Duration {
    if world.real_flow().is_some() { CLOSING_A_BROWSER } else { CLOSING }
}

/// Waits for a server whose stdin was closed.
async fn end(server: &Server, patience: Duration) {
    let by_scenario = server.end.get() == Some(ServerEnd::ByScenario);
    let ended = server.ended(patience).await.is_ok();
    if !by_scenario {
        server.end.set(Some(if ended { ServerEnd::Closed } else { ServerEnd::Hung }));
    }
    if !ended && let Some(pid) = server.pid {
        let _gone_already = process::signal(pid, crate::scenario::action::SignalName::Kill);
    }
}

/// Lets go of what the script itself holds, then gives every process of the world time to end.
async fn leftovers(world: &World<'_>) -> Vec<Leftover> {
    let names: Vec<String> = world
        .transcript
        .journal()
        .iter()
        .filter(|line| line.event() == "grandchild")
        .filter_map(|line| line.name().map(str::to_owned))
        .collect();
    for name in names {
        // A control folder that can't be written shows itself as a process that is left.
        let _written = fs::write(world.folders.control.join(format!("release-{name}")), "");
    }
    let all_gone = async {
        loop {
            let alive = process::of_world(&world.folders.home);
            let Some(first) = alive.first() else { return };
            if process::ended(first.pid).await.is_err() {
                return;
            }
            // Its parent may not have taken notice yet; the next look must not spin on it.
            tokio::task::yield_now().await;
        }
    };
    match tokio::time::timeout(patience(world), all_gone).await {
        Ok(()) => Vec::new(),
        Err(_) => process::of_world(&world.folders.home),
    }
}

/// Everything below the world's folder that says something about the agent: not the script, the journal and the control files.
fn files(world: &World<'_>) -> Vec<SeenFile> {
    let folders = &world.folders;
    let own = [&folders.control, &folders.script, &folders.journal];
    let planted = world.planted.borrow();
    let mut seen = walk(&folders.world);
    seen.retain(|file| !own.iter().any(|own| file.path.starts_with(own)));
    for path in world.transcript.journal().iter().filter_map(|line| line.text("params_path")) {
        let elsewhere = !path.starts_with(&*folders.world.to_string_lossy());
        let params = SeenFile::look(path.as_ref());
        if elsewhere && params.kind.is_some() {
            seen.push(params);
        }
    }
    for file in &mut seen {
        file.planted = planted.iter().any(|before| {
            before.path == file.path && (before.kind, &before.text, before.mode) == (file.kind, &file.text, file.mode)
        });
    }
    seen
}

pub fn stop_of(error: &WorldError, step: Option<usize>, waited_for: &str) -> Stopped {
    let cause = match error {
        WorldError::Io(_) => StopCause::Environment,
        WorldError::Variable(_) | WorldError::Scenario(_) => StopCause::Scenario,
    };
    Stopped { step, cause, waited_for: waited_for.into(), detail: error.to_string() }
}

async fn handshake_stop(server: &Server, fault: HandshakeFault, step: Option<usize>) -> Stopped {
    let (method, cause, detail) = match fault {
        HandshakeFault::Write(_) => ("the handshake", StopCause::AgentEnded, "it takes no input".to_owned()),
        HandshakeFault::Ended(method) => {
            (method, StopCause::AgentEnded, format!("no answer; {}", server.how_it_ended().await))
        }
        HandshakeFault::Silent(method) => (method, StopCause::AgentSilent, "no answer in time".into()),
        HandshakeFault::Refused(method, error) => {
            (method, StopCause::AgentSilent, format!("answered with an error: {error}"))
        }
        HandshakeFault::Echo => ("the handshake", StopCause::AgentSilent, "sent the client's own request back".into()),
    };
    Stopped { step, cause, waited_for: format!("server {}: the answer to {method}", server.name), detail }
}

fn blank(scenario: &Scenario) -> Evidence {
    Evidence {
        scenario: scenario.id.clone(),
        title: scenario.title.clone(),
        proves: scenario.proves.clone(),
        frames: Vec::new(),
        exchanges: Vec::new(),
        journal: Vec::new(),
        servers: Vec::new(),
        steps: Vec::new(),
        after: After::default(),
        files: Vec::new(),
        ledger: SeenLedger::Absent,
        actions: Default::default(),
        operator: Vec::new(),
        real_flow: false,
        clinic: None,
        leftovers: Vec::new(),
        canaries: Default::default(),
        printed: Default::default(),
        crash: None,
        stopped: None,
        seconds: 0.0,
        clock: Clock::default(),
    }
}
