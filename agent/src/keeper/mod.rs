//! The run keeper: a small process that owns one Flow run, so that a server may come and go. It holds no policy, reads no
//! report for meaning and writes no result. Source: design, *The run keeper*.

mod drain;
mod flow_process;
mod time_limit;

use std::path::Path;

use crate::flow::report;
use crate::flow::run_dir::RunDir;
use crate::runs::dispatch::{Dispatch, ExitFacts, Intent};
use flow_process::FlowEnd;

/// Runs one dispatch to its end. Whatever goes wrong before Flow has started is written down as "never started".
pub fn keep(dispatch_dir: &Path) -> anyhow::Result<()> {
    // Fails only for a process that leads a group already, which is as far from the server's group as this wants to be.
    let _ = rustix::process::setsid();
    let dispatch = Dispatch::open(dispatch_dir)?;
    let Some(_lock) = dispatch.try_lock_as_keeper()? else { return Ok(()) };
    let intent = dispatch.read_intent()?;
    let claimed = dispatch.claim(&intent)?;
    if claimed {
        let facts = run(&dispatch, &intent);
        dispatch.remove_params()?;
        dispatch.write_exit(&facts)?;
    } else {
        dispatch.remove_params()?;
    }
    Ok(())
}
