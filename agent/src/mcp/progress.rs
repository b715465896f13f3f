//! Progress of calls that wait: told under the caller's own token, growing, and never after the answer or a cancel.

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ProgressToken, RequestId};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use super::outbox::Outbox;

/// How often a call that waits says so. Clients start their time limits again with each.
const EVERY: Duration = Duration::from_secs(1);

const MESSAGE: &str = "Still at work.";

/// Shared by the calls that wait and the front that hears of cancels first.
#[derive(Clone)]
pub struct Progress {
    outbox: Outbox,
    waiting: Arc<Mutex<HashSet<RequestId>>>,
}

impl Progress {
    pub fn new(outbox: Outbox) -> Self {
        Self { outbox, waiting: Arc::default() }
    }

    /// Does the work, and tells a caller who gave a token that it isn't over yet. The answer goes the same way out, so
    /// nothing can come after it.
    pub async fn during<F: Future>(&self, call: RequestId, token: Option<ProgressToken>, work: F) -> F::Output {
        let Some(token) = token else { return work.await };
        let waiting = self.enter(call);
        let mut work = pin!(work);
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first comes at once.
        ticks.reset();
        let mut told = 0_u64;
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                _ = ticks.tick() => {
                    told += 1;
                    waiting.tell(&token, told);
                }
            }
        }
    }

    /// From now on nothing is told of this call.
    pub fn call_off(&self, call: &RequestId) {
        self.lock().remove(call);
    }

    fn enter(&self, call: RequestId) -> Waiting {
        self.lock().insert(call.clone());
        Waiting { call, progress: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Waiting {
    call: RequestId,
    progress: Progress,
}

impl Waiting {
    /// Left out while the client doesn't read: the next one says more.
    fn tell(&self, token: &ProgressToken, progress: u64) {
        let Progress { outbox, .. } = &self.progress;
        if outbox.is_full() || !self.progress.lock().contains(&self.call) {
            return;
        }
        let params = json!({ "progressToken": token, "progress": progress, "message": MESSAGE });
        outbox.push(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }).to_string());
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.progress.call_off(&self.call);
    }
}
