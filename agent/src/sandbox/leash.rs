//! Holds an engine that is being prepared, so that it doesn't outlive a server that leaves meanwhile.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::flow::bridge::process::BridgeProcess;

#[derive(Debug, Default)]
pub struct Leash(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    bridge: Weak<BridgeProcess>,
    server_left: bool,
}

impl Leash {
    /// Until it is dropped by its owner. One that comes too late is ended at once.
    pub fn hold(&self, bridge: &Arc<BridgeProcess>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.bridge = Arc::downgrade(bridge);
        if held.server_left {
            bridge.end();
        }
    }

    /// Ends what is held, and whatever comes later.
    pub fn end(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.server_left = true;
        if let Some(bridge) = held.bridge.upgrade() {
            bridge.end();
        }
    }
}
