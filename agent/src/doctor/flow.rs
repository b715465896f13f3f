//! Flow, its bridge, and the browser that it would use: all that its own answer to a greeting says.

use std::process::{Command, Stdio};

use serde_json::{Map, Value};

use super::finding::{Check, Finding, State};
use crate::flow::bridge::command::BridgeCommand;
use crate::flow::bridge::{BridgeFault, FlowBridge};
use crate::flow::command::FlowCommand;

const INSTALL: &str = "pip install 'openadapt-flow[browser]==1.35.1' in a virtual environment, and name its openadapt-flow with --flow-cli";
const NAME_PYTHON: &str =
    "name Flow as `/path/to/python -m openadapt_flow` with --flow-cli, or the bridge with --flow-bridge";
const BROWSER: &str = "install Debian's chromium or run `playwright install chromium` in Flow's environment; OPENADAPT_CHROMIUM names another one";

pub fn findings(flow: &FlowCommand, bridge: &BridgeCommand) -> Vec<Finding> {
    let greeting = FlowBridge::new(bridge.clone()).greeting();
    let version = match &greeting {
        Ok(greeting) => greeting.get("flow_version").and_then(Value::as_str).and_then(plain_version),
        Err(_) => version_printed(flow),
    };
    let mut findings = vec![flow_found(&greeting, version), bridge_found(&greeting)];
    findings.extend(browser_found(greeting.as_ref().ok()));
    findings
}

fn flow_found(greeting: &Result<Map<String, Value>, BridgeFault>, version: Option<String>) -> Finding {
    match (greeting, version) {
        (Err(BridgeFault::OtherVersion), version) => {
            let other = Finding::lacking(Check::Flow, State::Wrong, "this is another line of Flow than 1.35", INSTALL);
            version.map_or(other.clone(), |version| other.with(version))
        }
        (Err(BridgeFault::ImportError), _) => {
            Finding::lacking(Check::Flow, State::Wrong, "a part of Flow can't be loaded", INSTALL)
        }
        (Ok(greeting), Some(version)) if greeting.get("stand_in") == Some(&Value::Bool(true)) => {
            Finding::ok(Check::Flow, "a stand-in for Flow answers").with(version)
        }
        (_, Some(version)) => Finding::ok(Check::Flow, "Flow answers").with(version),
        (_, None) => Finding::lacking(Check::Flow, State::Missing, "no Flow answers", INSTALL),
    }
}

fn bridge_found(greeting: &Result<Map<String, Value>, BridgeFault>) -> Finding {
    match greeting {
        Ok(_) => Finding::ok(Check::Bridge, "decisions and encrypted workflows can be carried to Flow"),
        Err(BridgeFault::NoFlow | BridgeFault::OtherVersion | BridgeFault::ImportError) => {
            Finding::lacking(Check::Bridge, State::Unknown, "there is no Flow 1.35 to speak for", INSTALL)
        }
        Err(_) => Finding::lacking(Check::Bridge, State::Missing, "no bridge to Flow answers", NAME_PYTHON),
    }
}

fn browser_found(greeting: Option<&Map<String, Value>>) -> [Finding; 2] {
    let reason = greeting.and_then(|greeting| greeting.get("sandbox_reason")).and_then(Value::as_str);
    let both =
        |state, says, hint| [Check::Driver, Check::Browser].map(|check| Finding::lacking(check, state, says, hint));
    let driver = Finding::ok(Check::Driver, "the driver of the browser is there");
    match (greeting.and_then(|greeting| greeting.get("sandbox")?.as_bool()), reason) {
        (Some(true), _) => [driver, Finding::ok(Check::Browser, "a browser is there")],
        (Some(false), Some("no_browser")) => {
            [driver, Finding::lacking(Check::Browser, State::Missing, "no browser was found", BROWSER)]
        }
        (Some(false), Some("no_driver")) => [
            Finding::lacking(Check::Driver, State::Missing, "the driver of the browser isn't there", INSTALL),
            Finding::lacking(Check::Browser, State::Unknown, "without its driver it can't be told", INSTALL),
        ],
        (Some(false), _) => both(State::Missing, "this Flow was built without a browser", BROWSER),
        (None, _) => both(State::Unknown, "without a bridge it can't be told", NAME_PYTHON),
    }
}

/// What `--version` says, where it is a version.
fn version_printed(flow: &FlowCommand) -> Option<String> {
    let (program, arguments) = flow.words().split_first()?;
    let said =
        Command::new(program).args(arguments).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let said = String::from_utf8(said.ok()?.stdout).ok()?;
    plain_version(said.trim().strip_prefix("openadapt-flow ")?)
}

fn plain_version(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let plain = text.len() <= 32 && text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_plain);
    plain.then(|| text.to_owned())
}
