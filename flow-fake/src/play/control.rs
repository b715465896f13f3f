//! The control folder: releases, and the end of the world that owns it.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::script::ScriptError;

const POLL: Duration = Duration::from_millis(5);
const SLOW_POLL: Duration = Duration::from_millis(50);

/// Waits until `release-<name>` exists. `false` when the control folder itself went away: nobody can release any more.
pub fn wait_for_release(control: &Path, name: &str) -> bool {
    let release = release_path(control, name);
    loop {
        if release.exists() {
            return true;
        }
        if !control.exists() {
            return false;
        }
        thread::sleep(POLL);
    }
}

pub fn release_path(control: &Path, name: &str) -> PathBuf {
    control.join(format!("release-{name}"))
}

/// Waits to be killed; ends by itself only when the control folder went away, so that no orphan outlives its world.
pub fn forever(control: Option<&Path>) -> ! {
    loop {
        if control.is_some_and(|folder| !folder.exists()) {
            std::process::exit(i32::from(crate::cli::HARNESS_FAULT));
        }
        thread::sleep(SLOW_POLL);
    }
}

/// The control folder, which this step can't do without.
pub fn needed<'a>(control: Option<&'a Path>, step: &'static str) -> Result<&'a Path, ScriptError> {
    control.filter(|folder| folder.is_dir()).ok_or_else(|| ScriptError::Play {
        name: step,
        problem: "it needs an existing control folder (--control or FLOW_FAKE_CONTROL)".into(),
    })
}
