//! Who answers for a run that isn't finished, and whether that process still lives.

use std::io;

use crate::runs::files::Folder;
use crate::runs::server::ServerId;

/// The process that a record names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Process {
    /// A server of ours.
    Server { id: ServerId, pid: u32, host: String },
    /// A server of the Python agent.
    Python { pid: Option<u32>, host: Option<String> },
    /// Nobody: the record was written for a reservation whose maker left none.
    Nobody,
}

/// What is known of that process now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    Alive,
    /// On another computer, where it can't be looked at. Counts as alive.
    Elsewhere,
    /// Gone for certain; what it had not written down before will never be written.
    Dead,
    /// Nothing can be proven: a Python server that is gone or whose process id is used again, or nobody at all.
    Unprovable,
}

impl Process {
    pub fn server(&self) -> Option<ServerId> {
        match self {
            Self::Server { id, .. } => Some(*id),
            Self::Python { .. } | Self::Nobody => None,
        }
    }

    pub fn liveness(&self, servers: &Folder) -> io::Result<Liveness> {
        Ok(match self {
            Self::Server { host, .. } if *host != this_host() => Liveness::Elsewhere,
            Self::Server { id, .. } if id.is_alive(servers)? => Liveness::Alive,
            Self::Server { .. } => Liveness::Dead,
            Self::Python { host: Some(host), .. } if *host != this_host() => Liveness::Elsewhere,
            Self::Python { pid: Some(pid), .. } if process_exists(*pid) => Liveness::Alive,
            Self::Python { .. } | Self::Nobody => Liveness::Unprovable,
        })
    }
}

/// The host name, as records carry it.
pub fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn process_exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::server::ServerIdentity;

    fn python(pid: Option<u32>, host: &str) -> Process {
        Process::Python { pid, host: Some(host.to_owned()) }
    }

    #[test]
    fn a_server_of_ours_is_alive_or_provably_dead_and_elsewhere_on_another_host() {
        let temp = tempfile::tempdir().unwrap();
        let servers = Folder::open(temp.path()).unwrap();
        let server = ServerIdentity::start(&servers).unwrap();
        let here = Process::Server { id: server.id(), pid: 1, host: this_host() };
        let there = Process::Server { id: server.id(), pid: 1, host: "another".to_owned() };
        assert_eq!(here.liveness(&servers).unwrap(), Liveness::Alive);
        assert_eq!(there.liveness(&servers).unwrap(), Liveness::Elsewhere);
        drop(server);
        assert_eq!(here.liveness(&servers).unwrap(), Liveness::Dead);
        assert_eq!(there.liveness(&servers).unwrap(), Liveness::Elsewhere);
    }

    #[test]
    fn a_python_server_is_alive_while_its_process_id_is_and_otherwise_proves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let servers = Folder::open(temp.path()).unwrap();
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let process = python(Some(child.id()), &this_host());
        assert_eq!(process.liveness(&servers).unwrap(), Liveness::Alive);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(process.liveness(&servers).unwrap(), Liveness::Unprovable);
        assert_eq!(python(Some(1), "another").liveness(&servers).unwrap(), Liveness::Elsewhere);
        for nobody in [
            python(None, &this_host()),
            python(Some(0), &this_host()),
            python(Some(u32::MAX), &this_host()),
            Process::Nobody,
        ] {
            assert_eq!(nobody.liveness(&servers).unwrap(), Liveness::Unprovable);
        }
    }
}
