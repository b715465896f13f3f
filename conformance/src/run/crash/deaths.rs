//! The first death: at a named moment, of the server, of the keeper, or of both.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use super::drive::{Came, Drive};
use super::recovery;
use super::watch::appears;
use crate::crash::point::{Needs, Passes};
use crate::crash::{Case, Victim};
use crate::evidence::lifecycle::SeenStore;
use crate::evidence::{StopCause, Stopped};
use crate::wire::server::Server;

pub const CRASH_AT: &str = "OPENADAPT_AGENT_CRASH_AT";
pub const HOLD_AT: &str = "OPENADAPT_AGENT_HOLD_AT";
pub const HOLD_FILE: &str = "OPENADAPT_AGENT_HOLD_FILE";

/// Where the keeper stands when both die although the moment is the server's.
const TOGETHER: &str = "keeper.after_spawn";

/// Lets them die, and recovery, too, where the case says so. Gives back a server that lives and may be asked on.
pub async fn die(drive: &Drive<'_, '_>, case: &Case) -> Result<Option<Rc<Server>>, Stopped> {
    let hold = drive.hold_file("hold-first");
    let first = drive.start(&environment(case, &hold)).await?;
    if case.point.needs() == Needs::Form {
        refused_before(drive, &first).await?;
    }
    let call = drive.run(&first).await;
    drive.seen.borrow_mut().call = Some(call);
    match (case.dies, case.point.passes()) {
        (Victim::Keeper, _) => {
            stands_still(drive, &first, call, &hold).await?;
            kill_keepers(drive);
            drive.must_answer(&first, call).await?;
            drive.all_gone(&[&first]).await?;
            note_death(drive);
            return Ok(Some(first));
        }
        (Victim::Server, Passes::Keeper) => {
            stands_still(drive, &first, call, &hold).await?;
            let died = drive.kill(&first).await?;
            drive.seen.borrow_mut().died = Some(died);
            return outlived(drive, case, &hold).await;
        }
        (Victim::Both, Passes::Keeper) => {
            stands_still(drive, &first, call, &hold).await?;
            let died = drive.kill(&first).await?;
            drive.seen.borrow_mut().died = Some(died);
            kill_keepers(drive);
        }
        (dies, _) => {
            if drive.came(&first, call).await? == Came::Answer {
                return Err(drive.silent("the server to come to the moment", "the call was answered before"));
            }
            let died = drive.dead(&first).await?;
            drive.seen.borrow_mut().died = Some(died);
            if dies == Victim::Both {
                stands_still(drive, &first, call, &hold).await?;
                kill_keepers(drive);
            }
        }
    }
    drive.all_gone(&[]).await?;
    note_death(drive);
    match case.again {
        Some(again) => recovery::die_again(drive, again).await,
        None => Ok(None),
    }
}

/// The server is dead, and its keeper stands still at the moment.
async fn outlived(drive: &Drive<'_, '_>, case: &Case, hold: &Path) -> Result<Option<Rc<Server>>, Stopped> {
    let unclaimed = case.point.name() == "keeper.before_claim";
    let go_on = |server: Option<Rc<Server>>| async move {
        let released = fs::write(hold, "");
        released.map_err(|error| stopped(StopCause::Environment, "a keeper to go on", &error.to_string()))?;
        drive.all_gone(&server.iter().map(Rc::as_ref).collect::<Vec<_>>()).await?;
        Ok::<_, Stopped>(server)
    };
    match case.again {
        // Only what nobody has claimed is recovered while the keeper still stands there.
        Some(again) if unclaimed => {
            note_death(drive);
            let server = recovery::die_again(drive, again).await?;
            go_on(server).await
        }
        Some(again) => {
            go_on(None).await?;
            note_death(drive);
            recovery::die_again(drive, again).await
        }
        None => {
            note_death(drive);
            let server = drive.start(&[]).await?;
            drive.look_at_all(&server, |seen, looks| seen.meanwhile.extend(looks)).await?;
            let server = go_on(Some(server)).await?;
            if !unclaimed {
                note_death(drive);
            }
            Ok(server)
        }
    }
}

fn environment(case: &Case, hold: &Path) -> Vec<(&'static str, String)> {
    let crash = |at: &str| vec![(CRASH_AT, at.to_owned())];
    let held = |at: &str| vec![(HOLD_AT, at.to_owned()), (HOLD_FILE, hold.display().to_string())];
    match (case.dies, case.point.passes()) {
        (_, Passes::Keeper) => held(case.point.name()),
        (Victim::Both, _) => [crash(case.point.name()), held(TOGETHER)].concat(),
        _ => crash(case.point.name()),
    }
}

/// Two refusals by the reviewer: at the third a person is asked.
async fn refused_before(drive: &Drive<'_, '_>, server: &Server) -> Result<(), Stopped> {
    for request in ["$rid:first", "$rid:second"] {
        let call = drive.request(server, request).await;
        drive.must_answer(server, call).await?;
    }
    Ok(())
}

/// Waits until a process stands still. An answer instead means that nobody passed the moment.
async fn stands_still(drive: &Drive<'_, '_>, server: &Server, call: usize, hold: &Path) -> Result<(), Stopped> {
    let mut reached = hold.as_os_str().to_owned();
    reached.push(".reached");
    let passed_by = async {
        match drive.came(server, call).await {
            Ok(Came::Answer) => {}
            // A server that is dead already can't say that the keeper passed the moment.
            Ok(Came::End) | Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        found = appears(Path::new(&reached), drive.world.limit()) => {
            found.map_err(|_| drive.silent("the keeper to come to the moment", "it never did"))
        }
        () = passed_by => Err(drive.silent("the keeper to come to the moment", "the call was answered before")),
    }
}

fn kill_keepers(drive: &Drive<'_, '_>) {
    for keeper in drive.keepers() {
        drive.kill_pid(Some(keeper), "keeper");
    }
}

/// The store as the dead left it.
pub fn note_death(drive: &Drive<'_, '_>) {
    drive.seen.borrow_mut().at_death = SeenStore::read(&drive.world.folders.store());
}

fn stopped(cause: StopCause, waited_for: &str, detail: &str) -> Stopped {
    Stopped { step: None, cause, waited_for: waited_for.to_owned(), detail: detail.to_owned() }
}
