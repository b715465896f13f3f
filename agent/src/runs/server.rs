//! Who is alive: every server holds a lock of its own for as long as it lives, and the system lets go of it whatever the end.

use std::fmt;
use std::fs::File;
use std::io;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::files::Folder;
use super::lock::{Held, look};

/// One server process. Never reused, unlike a process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ServerId(Uuid);

/// This server, alive from here until the value is dropped or the process ends.
#[derive(Debug)]
pub struct ServerIdentity {
    id: ServerId,
    held: File,
}

impl ServerIdentity {
    /// The lock is held before its name can be seen, so a sweep never meets a server that is just starting.
    pub fn start(servers: &Folder) -> io::Result<Self> {
        let id = ServerId(Uuid::new_v4());
        let starting = format!(".{id}.starting");
        let held = servers.lock_file(&starting)?;
        held.lock()?;
        servers.rename(&starting, &id.file_name())?;
        Ok(Self { id, held })
    }

    pub fn id(&self) -> ServerId {
        self.id
    }
}

impl Drop for ServerIdentity {
    fn drop(&mut self) {
        let _ = self.held.unlock();
    }
}

impl ServerId {
    /// A server without a lock file is dead. Servers of another host can't be judged by this.
    pub fn is_alive(self, servers: &Folder) -> io::Result<bool> {
        Ok(look(servers, &self.file_name())? == Held::Held)
    }

    pub fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).map(Self).ok().filter(|id| id.to_string() == text)
    }

    fn file_name(self) -> String {
        format!("{self}.lock")
    }
}

impl Serialize for ServerId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ServerId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("the text is not a server id"))
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// Removes the lock files of servers that are gone.
pub fn sweep_dead(servers: &Folder) -> io::Result<()> {
    for name in servers.names()? {
        if name.ends_with(".lock") && look(servers, &name)? == Held::Free {
            servers.remove(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers() -> (tempfile::TempDir, Folder) {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        (temp, folder)
    }

    #[test]
    fn a_server_is_alive_until_its_identity_ends() {
        let (_temp, folder) = servers();
        let server = ServerIdentity::start(&folder).unwrap();
        let id = server.id();
        assert!(id.is_alive(&folder).unwrap());
        drop(server);
        assert!(!id.is_alive(&folder).unwrap());
    }

    #[test]
    fn a_server_without_a_lock_file_is_dead() {
        let (_temp, folder) = servers();
        assert!(!ServerId(Uuid::new_v4()).is_alive(&folder).unwrap());
    }

    #[test]
    fn a_sweep_removes_the_dead_and_leaves_the_living() {
        let (_temp, folder) = servers();
        let living = ServerIdentity::start(&folder).unwrap();
        drop(ServerIdentity::start(&folder).unwrap());
        assert_eq!(folder.names().unwrap().len(), 2);
        sweep_dead(&folder).unwrap();
        assert_eq!(folder.names().unwrap(), [living.id().file_name()]);
        assert!(living.id().is_alive(&folder).unwrap());
    }

    #[test]
    fn a_lock_whose_holder_was_killed_is_free() {
        let (_temp, folder) = servers();
        let name = "00000000-0000-4000-8000-000000000000.lock";
        let path = folder.path().join(name);
        folder.lock_file(name).unwrap();
        let script = "exec 9<>\"$1\"; flock 9; echo held; exec cat";
        let mut holder = std::process::Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(&path)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(holder.stdout.take().unwrap()), &mut line).unwrap();
        assert_eq!(line, "held\n");
        assert_eq!(look(&folder, name).unwrap(), Held::Held);
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert_eq!(look(&folder, name).unwrap(), Held::Free);
    }
}
