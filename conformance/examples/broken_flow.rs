//! A Flow that is broken in one way, for the tests of certificates: flow-fake, with its script changed before a run or its files after one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rusqlite::Connection;
use serde_json::{Value, json};

/// `broken_flow HOW FLOW-FAKE [words of Flow's command line]`
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [how, flow, rest @ ..] = words.as_slice() else { return ExitCode::from(64) };
    match play(how, flow, rest) {
        Ok(code) => ExitCode::from(code),
        Err(_) => ExitCode::from(70),
    }
}

fn play(how: &str, flow: &str, rest: &[String]) -> io::Result<u8> {
    let verb = rest.first().map(String::as_str).unwrap_or_default();
    let mut command = Command::new(flow);
    command.args(rest);
    if let Some(script) = changed_script(how, verb)? {
        command.env("FLOW_FAKE_SCRIPT", script);
    }
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    let run_dir = rest.iter().position(|word| word == "--run-dir").and_then(|at| rest.get(at + 1)).map(PathBuf::from);
    match run_dir.filter(|folder| verb == "run" && folder.join("report.json").is_file()) {
        Some(run_dir) => afterwards(how, flow, &run_dir, code),
        None => Ok(code),
    }
}

/// What this Flow plays instead of what the scenario says.
fn changed_script(how: &str, verb: &str) -> io::Result<Option<PathBuf>> {
    let (Some(script), Some(control)) = (std::env::var_os("FLOW_FAKE_SCRIPT"), std::env::var_os("FLOW_FAKE_CONTROL"))
    else {
        return Ok(None);
    };
    let mut played: Value = serde_json::from_slice(&fs::read(&script)?)?;
    match (how, verb) {
        ("verified-without-a-write", "run") => {
            played["steps"] = json!([{"gate": "admit"}, "run_dir", {"report": "verified"}]);
        }
        ("second-actuation", "bridge") => {
            let Some(steps) = played.pointer_mut("/bridge/on/continue").and_then(Value::as_array_mut) else {
                return Ok(None);
            };
            let again: Vec<Value> = steps.iter().filter(|step| step.get("effect").is_some()).cloned().collect();
            steps.splice(0..0, again);
        }
        _ => return Ok(None),
    }
    let changed = Path::new(&control).join(format!("broken-{verb}.json"));
    fs::write(&changed, played.to_string())?;
    Ok(Some(changed))
}

/// What this Flow leaves instead of what it did.
fn afterwards(how: &str, flow: &str, run_dir: &Path, code: u8) -> io::Result<u8> {
    let report: Value = serde_json::from_slice(&fs::read(run_dir.join("report.json"))?)?;
    match how {
        "exits-0-on-a-halt" => return Ok(0),
        "lies-about-the-outcome" if report["transaction_outcome"] == "RECONCILIATION_REQUIRED" => {
            Command::new(flow).arg("report").arg(run_dir).args(["--shape", "halted_before_effect"]).status()?;
        }
        "wrong-hmac" => {
            let path = run_dir.join("attended_capability.json");
            if let Ok(bytes) = fs::read(&path) {
                let mut capability: Value = serde_json::from_slice(&bytes)?;
                capability["signature"] = format!("hmac-sha256:{}", "0".repeat(64)).into();
                fs::write(path, capability.to_string())?;
            }
        }
        "forgets-the-ledger" => {
            let ledger = run_dir.with_file_name("openadapt-agent").join("ledger.sqlite");
            let forget = Connection::open(ledger).and_then(|ledger| ledger.execute("DELETE FROM reservations", []));
            forget.map_err(io::Error::other)?;
        }
        _ => {}
    }
    Ok(code)
}
