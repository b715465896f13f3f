//! A world in which server or keeper dies, and what comes after: the store looked at, a server on the same folder, the first looks, the
//! same request again.

mod deaths;
mod drive;
mod kill;
mod recovery;
mod watch;

use std::rc::Rc;

use super::world::World;
use crate::evidence::crash::CrashSeen;
use crate::evidence::lifecycle::SeenStore;
use crate::evidence::{ServerEnd, Stopped};
use crate::wire::server::Server;
use drive::Drive;

/// Plays the world's crash to its end. What was seen until then is given back, also where it had to stop.
pub async fn play(world: &World<'_>) -> (CrashSeen, Option<Stopped>) {
    let drive = Drive::new(world);
    let played = async {
        let survivor = match (&world.scenario.crash, world.scenario.kill) {
            (Some(case), _) => deaths::die(&drive, case).await?,
            (None, Some(kill)) => kill::strike(&drive, kill).await?,
            (None, None) => None,
        };
        afterwards(&drive, survivor).await
    };
    let stopped = played.await.err();
    (drive.seen.take(), stopped)
}

/// Looks at every run, sends the request once more, and looks again.
async fn afterwards(drive: &Drive<'_, '_>, survivor: Option<Rc<Server>>) -> Result<(), Stopped> {
    let mut server = match survivor {
        Some(server) => server,
        None => drive.start(&[]).await?,
    };
    if drive.seen.borrow().looks.is_empty() {
        drive.look_at_all(&server, |seen, looks| seen.looks.extend(looks)).await?;
    }
    if drive.servers.get() == 1 {
        // It has lived through the keeper's death: another one must say the same.
        drive.close(&server).await?;
        server = drive.start(&[]).await?;
        drive.look_at_all(&server, |seen, looks| seen.looks.extend(looks)).await?;
    }
    let resent = drive.run(&server).await;
    drive.seen.borrow_mut().resent = Some(resent);
    drive.must_answer(&server, resent).await?;
    drive.all_gone(&[&server]).await?;
    drive.look_at_all(&server, |seen, looks| seen.after.extend(looks)).await?;
    drive.close(&server).await?;
    drive.seen.borrow_mut().at_end = SeenStore::read(&drive.world.folders.store());
    Ok(())
}

impl Drive<'_, '_> {
    /// Ends a server as a client does.
    async fn close(&self, server: &Server) -> Result<(), Stopped> {
        server.close_stdin();
        match server.ended(self.world.limit()).await {
            Ok(_) => server.end.set(Some(ServerEnd::Closed)),
            Err(_) => server.end.set(Some(ServerEnd::Hung)),
        }
        Ok(())
    }
}
