//! `certify`: asks Flow whether the operator's policy certifies a bundle. It starts no run, and what Flow prints decides nothing but
//! this one answer.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

/// Flow takes seconds for it; a policy that takes longer than this isn't waited for.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Kept of each stream, in bytes. What comes after it is read and dropped.
const KEPT: u64 = 64 << 10;
/// A client that asks about everything at once doesn't start a process for each.
const AT_ONCE: usize = 2;

/// Asks one question after the other.
#[derive(Debug)]
pub struct Certifier {
    places: Semaphore,
    time_limit: Duration,
}

/// What Flow's certification came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certified {
    /// `None` where Flow gave neither of its two answers.
    pub passed: Option<bool>,
    pub exit_code: Option<i32>,
    /// What it printed on stdout and stderr. Protected data.
    pub printed: [String; 2],
}

impl Default for Certifier {
    fn default() -> Self {
        Self { places: Semaphore::new(AT_ONCE), time_limit: TIME_LIMIT }
    }
}

impl Certifier {
    /// Runs the command to its end. Given up, it takes its process group with it.
    pub async fn ask(&self, argv: &[String]) -> Certified {
        let _place = self.places.acquire().await;
        let answered = tokio::time::timeout(self.time_limit, ended(argv)).await.ok().flatten();
        let (exit_code, printed) = answered.unwrap_or_default();
        Certified { passed: verdict(exit_code, &printed[0]), exit_code, printed }
    }
}

/// An exit code alone proves nothing: 2 is a usage error, too.
fn verdict(exit_code: Option<i32>, stdout: &str) -> Option<bool> {
    match exit_code {
        Some(0) if stdout.starts_with("PASS:") => Some(true),
        Some(2) if stdout.starts_with("FAIL:") => Some(false),
        _ => None,
    }
}

async fn ended(argv: &[String]) -> Option<(Option<i32>, [String; 2])> {
    let (program, arguments) = argv.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group(command.process_group(0).spawn().ok()?);
    let (stdout, stderr) = (group.0.stdout.take(), group.0.stderr.take());
    let (stdout, stderr, status) = tokio::join!(text(stdout), text(stderr), group.0.wait());
    Some((status.ok()?.code(), [stdout, stderr]))
}

async fn text(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(stream) = stream else { return String::new() };
    let mut kept = Vec::new();
    let mut bounded = stream.take(KEPT);
    // A stream that breaks off has said what it said.
    let _ = bounded.read_to_end(&mut kept).await;
    let _ = tokio::io::copy(&mut bounded.into_inner(), &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&kept).into_owned()
}

/// A process and whatever it started, ended together when nobody waits for it any more.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // There is no id once the process was waited for.
        if let Some(pid) = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn asked(script: &str) -> Certified {
        let certifier = Certifier { time_limit: Duration::from_secs(20), ..Certifier::default() };
        certifier.ask(&["sh", "-c", script].map(str::to_owned)).await
    }

    #[tokio::test]
    async fn only_flows_own_two_answers_count() {
        for (script, passed) in [
            ("echo 'PASS: workflow'", Some(true)),
            ("echo 'FAIL: workflow'; exit 2", Some(false)),
            ("echo 'usage: flow' >&2; exit 2", None),
            ("echo 'FAIL: workflow'; exit 1", None),
            ("echo 'PASS: workflow'; exit 2", None),
            ("exit 0", None),
            ("echo 'PASS: workflow'; kill -9 $$", None),
        ] {
            assert_eq!(asked(script).await.passed, passed, "{script}");
        }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_answers_nothing() {
        let certified = Certifier::default().ask(&["/no/such/program".to_owned()]).await;
        assert_eq!((certified.passed, certified.exit_code), (None, None));
    }

    #[tokio::test]
    async fn what_is_printed_is_kept_up_to_a_bound_and_never_stops_the_program() {
        let certified = asked("echo 'PASS: x'; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2").await;
        assert_eq!(certified.passed, Some(true));
        assert!(certified.printed.iter().all(|text| text.len() as u64 <= KEPT));
    }

    #[tokio::test]
    async fn one_that_does_not_end_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("alive");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let script = format!("exec 9> {0}; sleep 600 & sleep 600", fifo.display());
        let reading = fifo.clone();
        // Ends when the last process that holds the writing end has ended.
        let held = tokio::task::spawn_blocking(move || std::fs::read(reading));
        let certifier = Certifier { time_limit: Duration::from_millis(300), ..Certifier::default() };
        let certified = certifier.ask(&["sh", "-c", &script].map(str::to_owned)).await;
        assert_eq!(certified.passed, None);
        assert_eq!(held.await.unwrap().unwrap(), b"");
    }
}
