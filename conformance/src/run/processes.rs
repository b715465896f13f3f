//! Actions on processes that the journal names: signals, waiting for an end, being alive.

use std::time::Duration;

use super::act::{Acting, Halted, Outcome};
use super::clinic::Clinic;
use super::process;
use crate::evidence::{JournalLine, Seen, ServerEnd, StopCause};
use crate::scenario::action::{Alive, Gone, Kill, ProcessName};

pub async fn signal(acting: &Acting<'_, '_>, kill: &Kill) -> Outcome {
    if kill.after_us > 0 {
        // A moment that no event marks: kills are tried at arbitrary ones.
        tokio::time::sleep(Duration::from_micros(kill.after_us)).await;
    }
    let pid = find(acting, &kill.to, kill.run.as_deref(), kill.server.as_deref())?;
    let server = match kill.to {
        ProcessName::Server => Some(acting.server(kill.server.as_deref())?.0),
        _ => None,
    };
    if let Some(server) = &server {
        server.end.set(Some(ServerEnd::ByScenario));
    }
    let sent = match kill.to {
        ProcessName::FlowGroup => process::signal_group(pid, kill.signal),
        _ => process::signal(pid, kill.signal),
    };
    match (sent, server) {
        (Err(_), _) => Ok(Seen::Process { pid, alive: false }),
        (Ok(()), Some(server)) if kill.exit.is_some() => acting.exited(&server).await,
        (Ok(()), _) => Ok(Seen::Process { pid, alive: true }),
    }
}

pub async fn gone(acting: &Acting<'_, '_>, gone: &Gone) -> Outcome {
    let pid = find(acting, &gone.gone, gone.run.as_deref(), gone.server.as_deref())?;
    let ended = tokio::time::timeout(acting.world.limit(), process::ended(pid)).await;
    match ended {
        Ok(Ok(())) => Ok(Seen::Process { pid, alive: false }),
        Ok(Err(error)) => Err(acting.stopped(StopCause::Environment, "a process to end", &error.to_string())),
        Err(_) => {
            let halted = acting.stopped(StopCause::AgentSilent, &format!("{} to end", gone.gone), "it still runs");
            Err(halted.having(Seen::Process { pid, alive: true }))
        }
    }
}

pub fn alive(acting: &Acting<'_, '_>, alive: &Alive) -> Outcome {
    let pid = find(acting, &alive.alive, alive.run.as_deref(), alive.server.as_deref())?;
    Ok(Seen::Process { pid, alive: process::is_alive(pid) })
}

/// The process id, from the server's start or the launch journal.
fn find(
    acting: &Acting<'_, '_>,
    name: &ProcessName,
    run: Option<&str>,
    server: Option<&str>,
) -> Result<u32, Box<Halted>> {
    let unknown = || acting.stopped(StopCause::AgentSilent, &format!("the process {name}"), "the journal names none");
    if *name == ProcessName::Server {
        return acting.server(server)?.0.pid.ok_or_else(unknown);
    }
    if *name == ProcessName::Clinic {
        return acting.world.clinic.as_ref().map(Clinic::pid).ok_or_else(unknown);
    }
    let journal = acting.world.transcript.journal();
    let line = journal.iter().rev().find(|line| {
        let event = match name {
            ProcessName::Bridge => line.event() == "bridge",
            ProcessName::Grandchild(wanted) => line.event() == "grandchild" && line.name() == Some(wanted),
            _ => line.is_launch(),
        };
        event && run.is_none_or(|run| line.run_id() == Some(run))
    });
    let pid = line.and_then(|line: &JournalLine| match name {
        ProcessName::Keeper => line.number("ppid"),
        ProcessName::FlowGroup => line.number("pgid"),
        ProcessName::Grandchild(_) => line.number("child_pid"),
        _ => line.pid(),
    });
    pid.ok_or_else(unknown)
}
