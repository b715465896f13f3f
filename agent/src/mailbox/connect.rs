//! Claims a mailbox and serves it: asks, carries out, tells, once a second, until the person ends it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::desk::{Desk, Recorder, Turn};
use super::person::Person;
use super::post::{Lease, Mailbox, PostFault};
use super::target::Target;

/// Between one look and the next. The judge waits for none.
const PACE: Duration =
    if cfg!(feature = "mailbox-origin") { Duration::from_millis(20) } else { Duration::from_secs(1) };
/// So often in a row a call may fail in a way that may pass.
const PATIENCE: u32 = 3;

/// Serves until something ends it. `say` writes fixed sentences where the person reads.
pub async fn serve<R, P>(target: &Target, desk: Desk<R, P>, say: fn(&str)) -> PostFault
where
    R: Recorder + 'static,
    P: Person + 'static,
{
    let desk = Arc::new(Mutex::new(desk));
    let claimed = async {
        let mailbox = target.mailbox()?;
        let lease = mailbox.claim(&target.bind).await?;
        Ok::<_, PostFault>((mailbox, lease))
    };
    let (mailbox, lease) = match claimed.await {
        Ok(claimed) => claimed,
        Err(fault) => return fault,
    };
    say("This computer is bound to the mailbox. Ctrl-C ends it.\n");
    let mut failed = 0;
    loop {
        let fault = match mailbox.poll(&lease).await {
            Ok(None) => None,
            Ok(Some(envelope)) => turn(&mailbox, &lease, &desk, envelope).await.err(),
            Err(fault) => Some(fault),
        };
        failed = if fault.is_some() { failed + 1 } else { 0 };
        match fault {
            Some(fault) if !fault.may_pass() || failed >= PATIENCE => return fault,
            _ => tokio::time::sleep(PACE).await,
        }
    }
}

async fn turn<R, P>(
    mailbox: &Mailbox,
    lease: &Lease,
    desk: &Arc<Mutex<Desk<R, P>>>,
    envelope: Map<String, Value>,
) -> Result<(), PostFault>
where
    R: Recorder + 'static,
    P: Person + 'static,
{
    let at_desk = Arc::clone(desk);
    // A person may take their time, and a window, too.
    let turn =
        tokio::task::spawn_blocking(move || at_desk.lock().unwrap_or_else(PoisonError::into_inner).take(envelope))
            .await;
    let (id, said) = match turn.map_err(|_| PostFault::NotAnAnswer)? {
        Turn::Nothing => return Err(PostFault::NotAnAnswer),
        Turn::Answer(id, said) => (id, said),
        Turn::Allow(id, envelope) => {
            mailbox.allow(lease, &id).await?;
            let said = desk.lock().unwrap_or_else(PoisonError::into_inner).allowed(&envelope);
            (id, said)
        }
    };
    tell(mailbox, lease, &id, &said).await
}

/// What was done is told, more than once if need be: the command itself is never done again.
async fn tell(
    mailbox: &Mailbox,
    lease: &Lease,
    id: &super::command::CommandId,
    said: &super::command::Said,
) -> Result<(), PostFault> {
    let result = said.result();
    let mut failed = 0;
    loop {
        match mailbox.callback(lease, id, said.is_done(), &result).await {
            Err(fault) if fault.may_pass() && failed + 1 < PATIENCE => {
                failed += 1;
                tokio::time::sleep(PACE).await;
            }
            told => return told,
        }
    }
}
