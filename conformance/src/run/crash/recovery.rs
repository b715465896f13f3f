//! The second death: of the server that recovers, with and without another one beside it.

use std::path::Path;
use std::rc::Rc;

use super::deaths::{CRASH_AT, HOLD_AT, HOLD_FILE};
use super::drive::Drive;
use super::watch::appears;
use crate::crash::{Again, How};
use crate::evidence::{ServerEnd, Stopped};
use crate::wire::server::Server;

/// Nobody speaks to the server that is to die: recovery is its own affair, at its start.
pub async fn die_again(drive: &Drive<'_, '_>, again: Again) -> Result<Option<Rc<Server>>, Stopped> {
    match again.how {
        How::After => {
            let second = drive.spawn(&[(CRASH_AT, again.at.name().to_owned())])?;
            let died = drive.dead(&second).await?;
            drive.seen.borrow_mut().died_again = Some(died);
            Ok(None)
        }
        How::During => beside(drive, again).await.map(Some),
    }
}

async fn beside(drive: &Drive<'_, '_>, again: Again) -> Result<Rc<Server>, Stopped> {
    let hold = drive.hold_file("hold-second");
    let second = drive.spawn(&[(HOLD_AT, again.at.name().to_owned()), (HOLD_FILE, hold.display().to_string())])?;
    second.end.set(Some(ServerEnd::ByScenario));
    let mut reached = hold.as_os_str().to_owned();
    reached.push(".reached");
    let stands_still = appears(Path::new(&reached), drive.world.limit()).await;
    stands_still.map_err(|_| drive.silent("the recovering server to come to the moment", "it never did"))?;
    let in_transaction = again.at.name().ends_with(".in_tx");
    let third = if in_transaction { drive.spawn(&[])? } else { drive.start(&[]).await? };
    let mut looks = if in_transaction { Vec::new() } else { drive.send_looks(&third).await };
    let died = drive.kill(&second).await?;
    drive.seen.borrow_mut().died_again = Some(died);
    if in_transaction {
        // Until now the store was the second's alone.
        drive.greet(&third).await?;
        looks = drive.send_looks(&third).await;
    }
    for look in &looks {
        drive.must_answer(&third, *look).await?;
    }
    drive.seen.borrow_mut().looks.extend(looks);
    Ok(third)
}
