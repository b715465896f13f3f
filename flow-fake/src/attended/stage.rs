//! Where a decision is played: the script's part for it, the journal, and the points where the process may die.

use std::path::PathBuf;

use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NotDone, Order};
use crate::journal::Journal;
use crate::script::BridgeSpec;

/// The moments of a decision at which a crash can be scripted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashPoint {
    /// Everything was checked; a continuation is on record as prepared, any other decision isn't recorded yet.
    Prepared,
    /// The step that the decision goes on with has begun to act.
    DeliveryStarted,
    /// The decision is on record and nobody was told.
    After,
}

#[derive(Debug)]
pub struct Stage<'a> {
    pub spec: &'a BridgeSpec,
    pub live: bool,
    pub control: Option<PathBuf>,
    /// Where the live session is.
    pub url: Option<String>,
    pub journal: Journal,
}

impl Stage<'_> {
    /// Dies here when the script says so.
    pub fn reached(&mut self, point: CrashPoint) -> Result<(), NotDone> {
        let Some(crash) = self.spec.crash_at.as_ref().filter(|crash| crash.at == point) else { return Ok(()) };
        let facts = json!({"at_point": point});
        if let Some(times) = crash.times
            && self.journal.count("crash", &facts)? >= times
        {
            return Ok(());
        }
        self.journal.write("crash", facts)?;
        kill_process(getpid(), Signal::KILL).map_err(std::io::Error::from)?;
        Ok(())
    }

    /// Notes a record of the book.
    pub fn decided(&mut self, order: &Order, decision: &Value) -> Result<(), NotDone> {
        let facts = json!({
            "attention_id": order.attention_id,
            "decision_id": decision["decision_id"],
            "action": decision["action"],
            "disposition": decision["disposition"],
            "status": decision["status"],
            "idempotency_key": decision["idempotency_key"],
            "capability_digest": decision["capability_digest"],
            "operator": decision["operator"],
            "decided_by": decision["decided_by"],
            "report_success": decision["report_success"],
        });
        Ok(self.journal.write("decision", facts)?)
    }
}
