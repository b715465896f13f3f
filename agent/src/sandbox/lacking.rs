//! What an operator reads when the sandbox can't run on the real app: what is missing, and how to get it.

use crate::contract::sandbox::Lacking;
use crate::refusal::Refusal;

pub const fn sentence(lacking: Lacking) -> &'static str {
    match lacking {
        Lacking::NoEngine => "no engine for the sandbox was found",
        Lacking::NotBuilt => "the engine was built without its browser part",
        Lacking::NoDriver => "the browser's driver wasn't found",
        Lacking::NoBrowser => "no browser was found",
        Lacking::BrowserFailed => "the browser couldn't open the sandbox's app",
        Lacking::EngineFailed => "the engine failed while it was prepared",
        Lacking::NoApp => "the sandbox's app wasn't found",
        Lacking::AppNotStarted => "the sandbox's app couldn't be started",
    }
}

pub const fn hint(lacking: Lacking) -> &'static str {
    match lacking {
        Lacking::NoEngine => {
            "put openadapt-flow 1.35 or flow-fake on the PATH, or name an engine with --flow-cli; `openadapt-agent doctor` tells the rest"
        }
        Lacking::NotBuilt => "build flow-fake with its feature drive; docs/sandbox.md shows how",
        Lacking::NoDriver | Lacking::NoBrowser | Lacking::BrowserFailed => {
            "`conformance setup-browser` tells what is missing and how to get it; docs/sandbox.md shows the rest"
        }
        Lacking::EngineFailed => "start the engine's bridge by hand and ask it to prepare; docs/sandbox.md shows how",
        Lacking::NoApp => "put mockmed beside openadapt-agent or on the PATH, or name it with --sandbox-app",
        Lacking::AppNotStarted => "look whether the port of --sandbox-port is free, or leave that flag out",
    }
}

/// An engine that was named never turns into another one.
pub fn refusal(lacking: Lacking) -> Refusal {
    Refusal::new(format!("the engine that was named can't be used: {}", sentence(lacking)), hint(lacking))
}
