//! What a server may not have: room on the disk, or a superuser's privileges.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};

use crate::scenario::model::ServerPlan;

/// The judge's own verb that gives up every privilege, and becomes the command behind it.
pub const UNPRIVILEGED: &str = "unprivileged";
/// A write beyond the limit is an error then, and no signal; both are inherited.
const LIMITED: &str = "trap '' XFSZ; ulimit -f \"$1\" && shift && exec \"$@\"";

/// The command, under what the plan takes away.
pub fn under(plan: &ServerPlan, command: Vec<String>) -> io::Result<Vec<String>> {
    let mut command = command;
    if let Some(blocks) = plan.file_blocks {
        let words = ["/bin/sh", "-c", LIMITED, "sh", &blocks.to_string()].map(str::to_owned);
        command = words.into_iter().chain(command).collect();
    }
    // Whoever has none has nothing to give up.
    if plan.unprivileged == Some(true) && geteuid().is_root() {
        let judge = std::env::current_exe()?.display().to_string();
        command = [judge, UNPRIVILEGED.to_owned(), "--".to_owned()].into_iter().chain(command).collect();
    }
    Ok(command)
}

/// Becomes the command. Comes back only when that can't be done.
pub fn become_unprivileged(command: &[String]) -> io::Error {
    let Some((program, arguments)) = command.split_first() else { return io::ErrorKind::InvalidInput.into() };
    match give_up() {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}

fn give_up() -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        // One that this system doesn't know is had by nobody.
        let _unknown = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_takes_nothing_away_changes_nothing() {
        let command = ["agent", "serve"].map(str::to_owned).to_vec();
        assert_eq!(under(&ServerPlan::default(), command.clone()).unwrap(), command);
    }

    #[test]
    fn under_a_limit_a_write_beyond_it_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f").display().to_string();
        let script = format!("head -c 2000 /dev/zero > {file} && echo whole || echo cut");
        let command = ["/bin/sh", "-c", &script].map(str::to_owned).to_vec();
        let plan = ServerPlan { file_blocks: Some(2), ..ServerPlan::default() };
        let limited = under(&plan, command).unwrap();
        let output = Command::new(&limited[0]).args(&limited[1..]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "cut\n");
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 1024);
    }
}
