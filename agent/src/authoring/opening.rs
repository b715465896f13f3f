//! Opens the recording session when a server is started. Where that can't be done the server isn't started, and says what is missing.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::observe::Backend;
use super::pin::Pin;
use super::session::Session;
use crate::flow::bridge::BridgeFault;
use crate::flow::bridge::command::BridgeCommand;
use crate::flow::bridge::session::{NotOpened, SessionProcess};
use crate::refusal::Refusal;
use crate::runs::clock::utc_now;
use crate::runs::files::Folder;

/// How a server records.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordingOptions {
    pub bridge: BridgeCommand,
    pub pin: Pin,
    pub screens: Screens,
    /// How long a person has for a form.
    pub form_limit: Duration,
}

/// Whether the tool `screen` is there, and what it shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Screens {
    #[default]
    Off,
    Scrubbed,
    Unscrubbed,
}

/// An open session, and the lock that says so.
#[derive(Debug)]
pub struct Opened {
    pub session: Session,
    /// Held for as long as the server lives.
    _alone: File,
}

const FOLDER: &str = "authoring";
const LOCK: &str = "authoring.lock";

impl Opened {
    /// The recording stands in the runs folder, under `authoring`; an earlier one is set aside.
    pub fn open(options: &RecordingOptions, root: &Folder, runs_dir: &Path) -> Result<Self, Refusal> {
        let alone = root.lock_file(LOCK).map_err(|_| no_folder())?;
        alone.try_lock().map_err(|_| {
            Refusal::new(
                "another server is recording in this runs folder",
                "end it first, or name another folder with --runs-dir",
            )
        })?;
        let folder = fresh(runs_dir).map_err(|_| no_folder())?;
        let fields = json!({
            "folder": folder.to_string_lossy(),
            "pin": options.pin.to_value(),
        });
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        let (process, said) = SessionProcess::open(&options.bridge, fields).map_err(|why| refusal(&why))?;
        let backend = said.get("backend").and_then(Value::as_str).and_then(Backend::parse);
        let coach_only = said.get("coach_only").and_then(Value::as_bool).unwrap_or(true);
        let backend = backend.filter(|backend| *backend == options.pin.backend());
        let session = Session::new(process, backend.unwrap_or(Backend::Windows), coach_only || backend.is_none());
        Ok(Self { session, _alone: alone })
    }
}

/// An empty private folder. What an earlier session left there is kept beside it.
fn fresh(runs_dir: &Path) -> std::io::Result<PathBuf> {
    let folder = runs_dir.join(FOLDER);
    if folder.symlink_metadata().is_ok() {
        let when: String = utc_now().chars().filter(char::is_ascii_digit).take(20).collect();
        std::fs::rename(&folder, runs_dir.join(format!("{FOLDER}-{when}")))?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    Ok(folder)
}

fn no_folder() -> Refusal {
    Refusal::new(
        "the folder for recordings can't be made or locked",
        "name a folder that this account can write with --runs-dir",
    )
}

fn refusal(why: &NotOpened) -> Refusal {
    const FLOW: &str = "install it where --flow-cli finds it: pip install 'openadapt-flow==1.35.1' playwright";
    const BROWSER: &str = "`openadapt-agent doctor` tells what is there; a Chromium may be named in OPENADAPT_CHROMIUM";
    let (sentence, hint) = match why {
        NotOpened::Bridge(BridgeFault::NoFlow) => {
            ("recording needs openadapt-flow, and its interpreter has none", FLOW)
        }
        NotOpened::Bridge(BridgeFault::OtherVersion) => ("recording needs a Flow 1.35, and this is another one", FLOW),
        NotOpened::Bridge(BridgeFault::NotStarted) => (
            "recording needs Flow's bridge, and its program can't be started",
            "name Flow with --flow-cli, or its bridge with --flow-bridge",
        ),
        NotOpened::Bridge(_) => (
            "recording needs Flow's bridge, and it didn't answer as one",
            "name Flow with --flow-cli, or its bridge with --flow-bridge",
        ),
        NotOpened::Reason(reason) => match reason.as_str() {
            "no_authoring" => ("recording needs openadapt_flow.authoring, and this Flow has no such module", FLOW),
            "no_driver" => ("recording in a browser needs the Python package playwright beside Flow", FLOW),
            "no_browser" => ("recording in a browser needs a Chromium, and none was found", BROWSER),
            "browser_failed" => ("a Chromium was found, but it can't be opened", BROWSER),
            "no_display" => (
                "the person must see the browser that is recorded, and there is no display here",
                "start the server in a desktop session; OPENADAPT_AUTHORING_HEADLESS=1 records in a browser that nobody sees",
            ),
            "page_failed" => {
                ("the page of --url can't be opened", "look whether the app is there, and whether --url names it")
            }
            "coach_only" => (
                "this Flow records no window of that kind: only a person may act there",
                "pin a browser with --url and --headed, or use a Flow whose authoring drives such windows",
            ),
            "pin_not_here" => (
                "the pinned window can't be served on this computer",
                "pin a browser with --url and --headed, or start the server where the window is",
            ),
            "folder_failed" => {
                ("the session can't write its recording", "name a folder that this account can write with --runs-dir")
            }
            _ => (
                "the recording session can't be opened",
                "`openadapt-agent doctor` tells what is there and what is missing",
            ),
        },
    };
    Refusal::new(sentence, hint)
}
