//! Kills at a moment that was drawn: after the n-th change in the agent's folders, counted from the call.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::deaths::note_death;
use super::drive::{Came, Drive};
use super::watch::Events;
use crate::crash::kill::Drawn;
use crate::crash::{Kill, Victim};
use crate::evidence::{StopCause, Stopped};
use crate::run::process;
use crate::wire::server::Server;

/// Kills who was drawn, and gives back the server where it lives on.
pub async fn strike(drive: &Drive<'_, '_>, kill: Kill) -> Result<Option<Rc<Server>>, Stopped> {
    let drawn = kill.drawn();
    let first = drive.start(&[]).await?;
    let mut changes = Changes::of(&drive.world.folders.runs, &drive.world.folders.world).map_err(environment)?;
    let call = drive.run(&first).await;
    drive.seen.borrow_mut().call = Some(call);
    let mut count = 0;
    let struck = loop {
        let answered = tokio::select! {
            biased;
            more = changes.next() => { count += more.map_err(environment)?; false }
            came = drive.came(&first, call) => { came?; true }
        };
        // The answer is the last moment of a run.
        if (answered || count >= drawn.event) && hit(drive, &drawn, &first) {
            break true;
        }
        if answered {
            break false;
        }
    };
    drive.seen.borrow_mut().struck_at = Some(count);
    if struck && drawn.dies != Victim::Keeper {
        let died = drive.dead(&first).await?;
        drive.seen.borrow_mut().died = Some(died);
        drive.all_gone(&[]).await?;
        note_death(drive);
        return Ok(None);
    }
    if drive.came(&first, call).await? == Came::End {
        return Err(drive.silent("an answer", "the server ended with its keeper"));
    }
    drive.all_gone(&[&first]).await?;
    note_death(drive);
    Ok(Some(first))
}

/// Kills. Nobody is hit where there is no keeper to be killed alone.
fn hit(drive: &Drive<'_, '_>, drawn: &Drawn, server: &Server) -> bool {
    let keepers = if drawn.dies == Victim::Server { Vec::new() } else { drive.keepers() };
    if drawn.dies == Victim::Keeper && keepers.is_empty() {
        return false;
    }
    if drawn.dies != Victim::Keeper {
        server.end.set(Some(crate::evidence::ServerEnd::ByScenario));
        drive.kill_pid(server.pid, &server.name);
    }
    for keeper in keepers.into_iter().filter(|pid| process::is_alive(*pid)) {
        drive.kill_pid(Some(keeper), "keeper");
    }
    true
}

/// Everything that changes in the agent's folders and in the launch journal.
struct Changes {
    events: Events,
    root: PathBuf,
    folders: usize,
}

impl Changes {
    fn of(runs: &Path, world: &Path) -> io::Result<Self> {
        let events = Events::new()?;
        events.watch(world)?;
        let mut changes = Self { events, root: runs.to_owned(), folders: 0 };
        changes.take_in_new_folders()?;
        Ok(changes)
    }

    async fn next(&mut self) -> io::Result<u64> {
        let count = self.events.next().await?;
        self.take_in_new_folders()?;
        Ok(count)
    }

    fn take_in_new_folders(&mut self) -> io::Result<()> {
        let mut folders = vec![self.root.clone()];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            at += 1;
            let inside = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(inside.map(|entry| entry.path()).filter(|path| path.is_dir()));
        }
        if folders.len() != self.folders {
            self.folders = folders.len();
            // One that is gone again has nothing more to tell.
            folders.iter().for_each(|folder| drop(self.events.watch(folder)));
        }
        Ok(())
    }
}

fn environment(error: io::Error) -> Stopped {
    let (waited_for, detail) = ("changes of the agent's folders".to_owned(), error.to_string());
    Stopped { step: None, cause: StopCause::Environment, waited_for, detail }
}
