//! Asks Flow what encrypted bundles are, while a server starts.

use std::cell::{Cell, OnceCell};
use std::path::Path;

use serde_json::{Map, Value};

use crate::flow::bridge::FlowBridge;
use crate::flow::bridge::command::BridgeCommand;

/// One bridge for all of them, started for the first one and ended with this.
pub struct Describer<'a> {
    command: &'a BridgeCommand,
    bridge: OnceCell<FlowBridge>,
    /// Once Flow couldn't be asked it isn't asked again: a client waits for this server.
    given_up: Cell<bool>,
}

impl<'a> Describer<'a> {
    pub fn new(command: &'a BridgeCommand) -> Self {
        Self { command, bridge: OnceCell::new(), given_up: Cell::new(false) }
    }

    /// Without a passphrase Flow opens nothing, so that it isn't started for it.
    pub fn ask(&self, bundle_dir: &Path) -> Option<Map<String, Value>> {
        let key = std::env::var_os("OPENADAPT_BUNDLE_KEY").filter(|key| !key.is_empty());
        if key.is_none() || self.given_up.get() {
            return None;
        }
        let bridge = self.bridge.get_or_init(|| FlowBridge::describing(self.command.clone()));
        bridge.describe(bundle_dir).unwrap_or_else(|fault| {
            tracing::warn!("Flow can't be asked about encrypted workflows: {fault}");
            self.given_up.set(true);
            None
        })
    }
}
