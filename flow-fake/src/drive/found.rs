//! Where the browser and its driver are, and what is missing.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

/// Both halves of a real browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub chromium: PathBuf,
    /// A folder with `node` and `package/cli.js`.
    pub driver: PathBuf,
}

/// Why there is no real browser: the closed words of the bridge's `sandbox_reason`, each with a sentence for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Missing {
    #[error("no Chromium was found: none on the PATH, and OPENADAPT_CHROMIUM names none")]
    NoBrowser,
    #[error("no Playwright driver was found: `conformance setup-browser` gets it, or PLAYWRIGHT_DRIVER_PATH names it")]
    NoDriver,
    #[error("this program was built without the feature `drive`")]
    NotBuilt,
}

const DRIVER: &str = "PLAYWRIGHT_DRIVER_PATH";
const CHROMIUM: &str = "OPENADAPT_CHROMIUM";
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

impl Missing {
    pub fn word(self) -> &'static str {
        match self {
            Self::NoBrowser => "no_browser",
            Self::NoDriver => "no_driver",
            Self::NotBuilt => "not_built",
        }
    }
}

/// Looks for both; a variable that is set is believed or is the reason, and nothing else is tried.
pub fn find() -> Result<Found, Missing> {
    if !cfg!(feature = "drive") {
        return Err(Missing::NotBuilt);
    }
    let chromium = chromium(named(CHROMIUM), env::var_os("PATH")).ok_or(Missing::NoBrowser)?;
    let driver = driver(named(DRIVER), &starting_points()).ok_or(Missing::NoDriver)?;
    Ok(Found { chromium, driver })
}

/// The driver's library reads its folder from the environment only. Where that names none, this program becomes itself again, with
/// the folder that it has found; without one it goes on as it is.
pub fn with_driver_named(args: &[OsString]) {
    if named(DRIVER).is_some() {
        return;
    }
    let (Ok(found), Ok(program)) = (find(), env::current_exe()) else { return };
    let _ = Command::new(program).args(args).env(DRIVER, found.driver).exec();
}

fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn chromium(named: Option<PathBuf>, path: Option<OsString>) -> Option<PathBuf> {
    if let Some(named) = named {
        return named.is_file().then_some(named);
    }
    let folders: Vec<PathBuf> = env::split_paths(&path?).filter(|folder| folder.is_absolute()).collect();
    PROGRAMS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The named folder; else `.driver` beside a starting point or above it.
fn driver(named: Option<PathBuf>, from: &[PathBuf]) -> Option<PathBuf> {
    if let Some(named) = named {
        return is_driver(&named).then_some(named);
    }
    let above = from.iter().flat_map(|start| start.ancestors().map(|folder| folder.join(".driver")));
    above.into_iter().find(|folder| is_driver(folder))
}

fn is_driver(folder: &Path) -> bool {
    folder.join("node").is_file() && folder.join("package/cli.js").is_file()
}

/// A workspace's own programs lie in its target folder.
fn starting_points() -> Vec<PathBuf> {
    let program = env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    program.into_iter().chain(env::current_dir().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn driver_in(folder: &Path) -> PathBuf {
        let driver = folder.join(".driver");
        fs::create_dir_all(driver.join("package")).unwrap();
        fs::write(driver.join("node"), "").unwrap();
        fs::write(driver.join("package/cli.js"), "").unwrap();
        driver
    }

    #[test]
    fn a_driver_is_found_beside_a_starting_point_or_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("target/debug");
        fs::create_dir_all(&below).unwrap();
        assert_eq!(driver(None, std::slice::from_ref(&below)), None);
        let made = driver_in(folder.path());
        assert_eq!(driver(None, &[below]), Some(made));
    }

    #[test]
    fn a_named_folder_that_is_no_driver_is_not_replaced_by_another() {
        let folder = tempfile::tempdir().unwrap();
        driver_in(folder.path());
        let named = folder.path().join("elsewhere");
        assert_eq!(driver(Some(named), &[folder.path().to_owned()]), None);
    }

    #[test]
    fn a_browser_is_the_named_one_or_the_first_known_name_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = || Some(folder.path().as_os_str().to_owned());
        assert_eq!(chromium(None, path()), None);
        fs::write(folder.path().join("google-chrome"), "").unwrap();
        fs::write(folder.path().join("chromium"), "").unwrap();
        assert_eq!(chromium(None, path()), Some(folder.path().join("chromium")));
        assert_eq!(chromium(Some(folder.path().join("none")), path()), None);
    }
}
