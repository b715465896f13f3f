//! The run keeper: a small process that owns one Flow run, so that a server may come and go. It holds no policy, reads no
//! report for meaning and writes no result. Source: design, *The run keeper*.

mod drain;
mod flow_process;
mod time_limit;

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use crate::flow::report;
use crate::flow::run_dir::RunDir;
use crate::lifecycle::Store;
use crate::lifecycle::contracts::Executor;
use crate::lifecycle::crash::{Point, pass};
use crate::runs::clock::utc_now;
use crate::runs::dispatch::{Dispatch, Entered, Entry, ExitFacts, FlowEnd, Order, PRINTED, enter};
use crate::runs::key::FingerprintKey;
use crate::runs::root::StoreRoot;
use flow_process::FlowRun;

/// The word that a server starts it with. It is no command: help, completions and manual pages don't know it.
pub const WORD: &str = "__keeper";

/// Runs one dispatch to its end. Whatever goes wrong before Flow has started is written down as "never started".
pub fn keep(dispatch_dir: &Path) -> anyhow::Result<()> {
    // Fails only for a process that leads a group already, which is as far from the server's group as this wants to be.
    let _ = rustix::process::setsid();
    let root = StoreRoot::open(runs_dir_of(dispatch_dir).context("the dispatch folder isn't in a runs folder")?)?;
    let Entry::Entered(entered) = enter(dispatch_dir)? else { return Ok(()) };
    if !claim(&root, &entered)? {
        return Ok(());
    }
    let order = entered.intent().order.clone();
    let run = start(&order, &root);
    pass(Point::KeeperAfterExit)?;
    let facts = facts(&order, run.as_ref());
    // The run's end is written down whatever becomes of the rest; the next server sweeps what is left.
    let _ = Dispatch::new(&root).discard_params(&order.run_id);
    if let Some(run) = run {
        let _ = write_printed(&entered, &run);
    }
    entered.leave_facts(&facts.context("nobody saw how the run ended")?)?;
    Ok(pass(Point::KeeperAfterFacts)?)
}

/// The one claim of the intent, in the store, under the run's lock. A revoked intent, or one that another keeper has, can't be
/// claimed, and nothing is started.
fn claim(root: &StoreRoot, entered: &Entered) -> anyhow::Result<bool> {
    pass(Point::KeeperBeforeClaim)?;
    let key = FingerprintKey::existing(root.folder())?.context("the folder's key is gone")?;
    let store = Store::open_existing(root.folder(), &key)?;
    let intent = entered.intent();
    let claimed = store.claim(&intent.order.run_id, intent.token.as_str(), Executor::Flow)?;
    if claimed {
        pass(Point::KeeperAfterClaim)?;
    }
    Ok(claimed)
}

/// A run directory that is there already is another run's.
fn start(order: &Order, root: &StoreRoot) -> Option<FlowRun> {
    let argv = Dispatch::new(root).spelled_out(order)?;
    let reused = RunDir::open(&order.run_dir).exists();
    let limit = Duration::from_millis(order.time_limit_ms);
    if reused { None } else { flow_process::run(&argv, &order.run_dir, limit) }
}

fn facts(order: &Order, run: Option<&FlowRun>) -> Option<ExitFacts> {
    let ended_at = utc_now();
    let Some(run) = run else {
        let (end, timed_out) = (FlowEnd::NeverStarted, false);
        return Some(ExitFacts { end, timed_out, started_at: None, ended_at, seconds: 0.0, report_sha256: None });
    };
    Some(ExitFacts {
        end: run.end?,
        timed_out: run.timed_out,
        started_at: Some(run.started_at.clone()),
        ended_at,
        seconds: run.lasted.as_secs_f64(),
        report_sha256: report::digest(&RunDir::open(&order.run_dir)),
    })
}

fn write_printed(entered: &Entered, run: &FlowRun) -> std::io::Result<()> {
    for (name, bytes) in PRINTED.into_iter().zip([&run.stdout, &run.stderr]) {
        if !bytes.is_empty() {
            entered.folder().write_durable(name, bytes)?;
        }
    }
    Ok(())
}

/// `<runs>/openadapt-agent/dispatch/<run_id>` to `<runs>`.
fn runs_dir_of(dispatch_dir: &Path) -> Option<&Path> {
    dispatch_dir.ancestors().nth(3)
}
