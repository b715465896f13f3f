//! Where Chromium and Playwright's driver are. The judge looks by itself: what it judges may look elsewhere, or not at all.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Both halves of a real browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    pub chromium: PathBuf,
    /// A folder with `node` and `package/cli.js`.
    pub driver: PathBuf,
}

/// What isn't there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("no Chromium is on the PATH, and OPENADAPT_CHROMIUM names none")]
    Chromium,
    #[error("Playwright's driver isn't set up")]
    Driver,
}

pub const DRIVER_VARIABLE: &str = "PLAYWRIGHT_DRIVER_PATH";
pub const CHROMIUM_VARIABLE: &str = "OPENADAPT_CHROMIUM";
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

impl Missing {
    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Chromium => {
                "install one (Debian: apt-get install --no-install-recommends chromium), or name one in OPENADAPT_CHROMIUM"
            }
            Self::Driver => "cargo run -p conformance -- setup-browser gets it, with npm",
        }
    }
}

pub fn find() -> Result<Browser, Missing> {
    let chromium = chromium().ok_or(Missing::Chromium)?;
    let driver = driver().ok_or(Missing::Driver)?;
    Ok(Browser { chromium, driver })
}

impl Browser {
    /// What the processes of a world are told.
    pub fn variables(&self) -> [(String, String); 2] {
        [
            (CHROMIUM_VARIABLE.into(), self.chromium.display().to_string()),
            (DRIVER_VARIABLE.into(), self.driver.display().to_string()),
        ]
    }
}

/// What the Chromium of this machine says of itself.
pub fn version() -> Option<String> {
    let said = Command::new(chromium()?).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let line = String::from_utf8_lossy(&said.ok()?.stdout).lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

pub fn chromium() -> Option<PathBuf> {
    if let Some(named) = named(CHROMIUM_VARIABLE) {
        return named.is_file().then_some(named);
    }
    on_path(&PROGRAMS, env::var_os("PATH"))
}

pub fn on_path(names: &[&str], path: Option<OsString>) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = env::split_paths(&path?).filter(|folder| folder.is_absolute()).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The folder that is named, else the one beside this program or above it, or above the folder that it was started in.
fn driver() -> Option<PathBuf> {
    if let Some(named) = named(DRIVER_VARIABLE) {
        return is_driver(&named).then_some(named);
    }
    let program = env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let starts: Vec<PathBuf> = program.into_iter().chain(env::current_dir().ok()).collect();
    let above = starts.iter().flat_map(|start| start.ancestors().map(|folder| folder.join(".driver")));
    above.into_iter().find(|folder| is_driver(folder))
}

pub fn is_driver(folder: &Path) -> bool {
    folder.join("node").is_file() && folder.join("package/cli.js").is_file()
}

pub fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
