//! The runs folder, what is kept in it, and the clock: looked at, never opened for writing.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::finding::{Check, Finding, State};

const STORE: &str = "openadapt-agent";
const OWN_FOLDER: &str = "choose a folder of your own with --runs-dir";
const PRIVATE: &str = "check what is in it, then run chmod 700 on it, or choose another folder with --runs-dir";
const SET_CLOCK: &str = "set the clock of this computer, by hand or by a time service";
/// When this program was written; no computer that runs it is rightly in an earlier moment.
const NOT_BEFORE: Duration = Duration::from_secs(1_760_000_000);
/// A file system elsewhere may be a little ahead.
const AHEAD: Duration = Duration::from_secs(120);
const NOT_WRITABLE_BY_OTHERS: u32 = 0o022;
const PRIVATE_MODE: u32 = 0o077;

pub fn findings(runs_dir: &Path) -> Vec<Finding> {
    let store = runs_dir.join(STORE);
    vec![runs_folder(runs_dir), records(&store), ledger(&store), clock(runs_dir)]
}

fn runs_folder(folder: &Path) -> Finding {
    let check = Check::RunsFolder;
    let Ok(facts) = folder.metadata() else {
        return Finding::ok(check, "it isn't there yet; the first server makes it");
    };
    if !facts.is_dir() {
        return Finding::lacking(check, State::Wrong, "there is something else in its place", OWN_FOLDER);
    }
    if !is_ours(&facts) {
        return Finding::lacking(check, State::Wrong, "it belongs to another user", OWN_FOLDER);
    }
    if facts.mode() & NOT_WRITABLE_BY_OTHERS != 0 {
        return Finding::lacking(check, State::Wrong, "other users can write into it", PRIVATE).with(mode(&facts));
    }
    Finding::ok(check, "it is yours, and nobody else writes into it").with(mode(&facts))
}

fn records(store: &Path) -> Finding {
    let Ok(facts) = store.symlink_metadata() else {
        return Finding::ok(Check::Store, "there are none yet");
    };
    if !facts.is_dir() || !is_ours(&facts) {
        return Finding::lacking(Check::Store, State::Wrong, "they aren't a folder of yours", OWN_FOLDER);
    }
    if facts.mode() & PRIVATE_MODE != 0 {
        return Finding::lacking(Check::Store, State::Wrong, "other users can look into them", PRIVATE)
            .with(mode(&facts));
    }
    Finding::ok(Check::Store, "they are private").with(mode(&facts))
}

fn ledger(store: &Path) -> Finding {
    let is_file = |name| store.join(name).symlink_metadata().is_ok_and(|facts| facts.is_file());
    if is_file("ledger.sqlite") {
        return Finding::ok(Check::Ledger, "used requests are kept in Flow's ledger").with("flow");
    }
    if store.join("claims").is_dir() {
        return Finding::ok(Check::Ledger, "used requests are kept in plain claim files").with("claim_files");
    }
    Finding::ok(Check::Ledger, "there is none yet")
}

fn clock(runs_dir: &Path) -> Finding {
    let now = SystemTime::now();
    let behind = |says| Finding::lacking(Check::Clock, State::Wrong, says, SET_CLOCK);
    if now < SystemTime::UNIX_EPOCH + NOT_BEFORE {
        return behind("it is behind the day on which this program was made");
    }
    let latest = [runs_dir.to_owned(), runs_dir.join(STORE), runs_dir.join(STORE).join("runs")]
        .iter()
        .filter_map(|folder| folder.metadata().ok()?.modified().ok())
        .max();
    if latest.is_some_and(|latest| latest > now + AHEAD) {
        return behind("it is behind what was written into the runs folder");
    }
    Finding::ok(Check::Clock, "it isn't behind anything that was written")
}

fn is_ours(facts: &Metadata) -> bool {
    facts.uid() == rustix::process::geteuid().as_raw()
}

fn mode(facts: &Metadata) -> String {
    format!("{:04o}", facts.mode() & 0o7777)
}
