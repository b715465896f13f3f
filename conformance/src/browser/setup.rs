//! Sets the driver up: a pinned package by npm, and two links. Chromium is the person's to install.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use super::found::{self, Missing};

const PACKAGE: &str = include_str!("package.json");
const LOCK: &str = include_str!("package-lock.json");
/// The version that the driver's library asks for.
const VERSION: &str = "1.64.0";

/// What is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetUp {
    pub driver: PathBuf,
    /// It was there before, in this version.
    pub kept: bool,
    pub chromium: Result<PathBuf, Missing>,
}

/// Why the driver can't be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    #[error("{0} isn't on the PATH")]
    NoProgram(&'static str),
    #[error("npm couldn't get playwright-core {VERSION}:\n{0}")]
    Npm(String),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl SetUpError {
    pub fn hint(&self) -> String {
        match self {
            Self::NoProgram(_) => {
                "install Node.js 20 or later with npm (Debian: apt-get install nodejs npm); or unpack \
                 the driver of another Playwright 1.64.0, a folder with `node` and `package/cli.js`, and name it in \
                 PLAYWRIGHT_DRIVER_PATH"
                    .into()
            }
            Self::Npm(_) => "npm needs its registry once; a proxy or a mirror is set in ~/.npmrc".into(),
            Self::Io { .. } => {
                "the folder is made beside the workspace's Cargo.toml; --to DIR makes it elsewhere".into()
            }
        }
    }
}

/// Makes `folder` the driver's folder, unless it is that already.
pub fn set_up(folder: &Path) -> Result<SetUp, SetUpError> {
    let chromium = found::chromium().ok_or(Missing::Chromium);
    let driver = folder.to_owned();
    if found::is_driver(folder) && version(&folder.join("package")).as_deref() == Some(VERSION) {
        return Ok(SetUp { driver, kept: true, chromium });
    }
    let program = |name: &'static str| found::on_path(&[name], env::var_os("PATH")).ok_or(SetUpError::NoProgram(name));
    let (node, npm) = (program("node")?, program("npm")?);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| SetUpError::Io { path, source }
    };
    fs::create_dir_all(folder).map_err(at(folder))?;
    for (name, text) in [("package.json", PACKAGE), ("package-lock.json", LOCK)] {
        fs::write(folder.join(name), text).map_err(at(&folder.join(name)))?;
    }
    install(&npm, folder)?;
    for (name, target) in [("node", node), ("package", PathBuf::from("node_modules/playwright-core"))] {
        link(&folder.join(name), &target).map_err(at(&folder.join(name)))?;
    }
    Ok(SetUp { driver, kept: false, chromium })
}

/// Exactly what the lock file says, and no script of any package.
fn install(npm: &Path, folder: &Path) -> Result<(), SetUpError> {
    let output = Command::new(npm)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| SetUpError::Npm(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(SetUpError::Npm(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

fn link(path: &Path, target: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => fs::remove_file(path)?,
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {}
        Err(other) => return Err(other),
    }
    std::os::unix::fs::symlink(target, path)
}

fn version(package: &Path) -> Option<String> {
    let text = fs::read(package.join("package.json")).ok()?;
    let value: serde_json::Value = serde_json::from_slice(&text).ok()?;
    value.get("version")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_pins_the_version_and_names_no_registry() {
        assert!(PACKAGE.contains(&format!("\"playwright-core\": \"{VERSION}\"")));
        let lock: serde_json::Value = serde_json::from_str(LOCK).unwrap();
        let package = &lock["packages"]["node_modules/playwright-core"];
        assert_eq!(package["version"], VERSION);
        assert!(package["integrity"].as_str().is_some_and(|text| text.starts_with("sha512-")));
        assert!(!LOCK.contains("http"));
    }

    #[test]
    fn a_driver_of_this_version_is_kept_and_another_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("package");
        fs::create_dir(&package).unwrap();
        fs::write(folder.path().join("node"), "").unwrap();
        fs::write(package.join("cli.js"), "").unwrap();
        fs::write(package.join("package.json"), format!("{{\"version\":\"{VERSION}\"}}")).unwrap();
        assert!(set_up(folder.path()).unwrap().kept);
        assert_eq!(version(&package).as_deref(), Some(VERSION));
        fs::write(package.join("package.json"), "{\"version\":\"1.0.0\"}").unwrap();
        assert_ne!(version(&package).as_deref(), Some(VERSION));
    }
}
