//! The bridge that an agent carries, as it gives it to Flow's interpreter: seen by standing in for that interpreter once.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// What the agent hands to an interpreter with `-c`; nothing where it hands over no program.
pub fn carried_by(agent: &[String], python: &Path) -> io::Result<Option<String>> {
    let Some((program, words)) = agent.split_first() else { return Ok(None) };
    let folder = tempfile::tempdir()?;
    let (onlooker, told) = (folder.path().join("python"), folder.path().join("told.py"));
    fs::write(
        &onlooker,
        format!(
            "#!/bin/sh\n[ \"$1\" = -c ] && printf %s \"$2\" > '{}'\nexec '{}' \"$@\"\n",
            told.display(),
            python.display()
        ),
    )?;
    fs::set_permissions(&onlooker, fs::Permissions::from_mode(0o700))?;
    let flow = format!("{} -m openadapt_flow", onlooker.display());
    Command::new(program)
        .args(words)
        .args(["doctor", "--flow-cli", &flow, "--runs-dir"])
        .arg(folder.path().join("runs"))
        .env_clear()
        .env("HOME", folder.path())
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(fs::read_to_string(told).ok().filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_an_agent_gives_to_an_interpreter_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let agent = folder.path().join("agent");
        fs::write(&agent, "#!/bin/sh\n${3% -m openadapt_flow} -c 'print(1)' bridge\n").unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o700)).unwrap();
        let agent = [agent.display().to_string()];
        assert_eq!(carried_by(&agent, Path::new("/bin/true")).unwrap().as_deref(), Some("print(1)"));
        assert_eq!(carried_by(&["/bin/true".to_owned()], Path::new("/bin/true")).unwrap(), None);
    }
}
