//! Sends a storm, a squall at a time, and waits after each for what is due.

use std::pin::pin;
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::act::{Acting, Outcome};
use crate::evidence::{Frame, Seen, StopCause, Way};
use crate::scenario::action::{Storm, StormKind};
use crate::storm::{Due, shot};
use crate::wire::server::{Server, WriteFault};

/// Lines that are sent before their answers are waited for.
const SQUALL: u64 = 250;

/// A server that takes no line for so long doesn't read.
const TAKES_NO_MORE: Duration = Duration::from_millis(700);

/// What has come until now of what is owed.
struct Score {
    from: usize,
    looked: usize,
    owed: usize,
    came: usize,
}

pub async fn storm(acting: &Acting<'_, '_>, storm: &Storm) -> Outcome {
    let (server, _) = acting.server(storm.server.as_deref())?;
    let from = acting.world.transcript.frames().len();
    let mut score = Score { from, looked: from, owed: 0, came: 0 };
    let squall = match storm.of {
        StormKind::Unread => {
            unread(acting, storm, &server, &mut score).await?;
            return weathered(acting, storm.storm, &server, &mut score).await;
        }
        StormKind::Everything | StormKind::Pings => SQUALL,
    };
    for number in 0..storm.storm {
        fire(acting, storm, &server, &mut score, number).await?;
        if (number + 1) % squall == 0 || number + 1 == storm.storm {
            weathered(acting, number + 1, &server, &mut score).await?;
        }
    }
    Ok(seen(acting, &server, &score))
}

async fn fire(
    acting: &Acting<'_, '_>,
    storm: &Storm,
    server: &Server,
    score: &mut Score,
    number: u64,
) -> Result<(), Box<super::act::Halted>> {
    let shot = shot(storm, number, server.modern);
    score.owed += usize::from(shot.due != Due::Nothing);
    match server.write(&shot.line, true, None, true, acting.world.limit()).await {
        (_, Err(WriteFault::Stuck)) => {
            let stopped = acting.stopped(StopCause::AgentSilent, "the server to read a storm", "its pipe stays full");
            Err(stopped.having(seen(acting, server, score)))
        }
        // A server that has ended is judged by what it owes.
        _ => Ok(()),
    }
}

/// Sends until the server takes no more, because nobody reads its answers; then reads, and sends the rest.
async fn unread(
    acting: &Acting<'_, '_>,
    storm: &Storm,
    server: &Server,
    score: &mut Score,
) -> Result<(), Box<super::act::Halted>> {
    server.hold_reading(true);
    let mut sending = pin!(async {
        for number in 0..storm.storm {
            fire(acting, storm, server, score, number).await?;
        }
        Ok(())
    });
    let all_sent = timeout(TAKES_NO_MORE, &mut sending).await;
    server.hold_reading(false);
    match all_sent {
        Ok(sent) => sent,
        Err(_) => sending.await,
    }
}

/// Waits for what is owed.
async fn weathered(acting: &Acting<'_, '_>, lines: u64, server: &Server, score: &mut Score) -> Outcome {
    let transcript = &acting.world.transcript;
    let enough = transcript.until(acting.world.limit(), || {
        let frames = transcript.frames();
        score.came += frames[score.looked..].iter().filter(|frame| answers(frame, &server.name)).count();
        score.looked = frames.len();
        (score.came >= score.owed || server.is_silent()).then_some(())
    });
    let in_time = enough.await.is_ok();
    if in_time && !server.is_silent() {
        return Ok(seen(acting, server, score));
    }
    let (cause, detail) = match in_time {
        true => (StopCause::AgentEnded, server.how_it_ended().await),
        false => (StopCause::AgentSilent, format!("{} of {} answers came in time", score.came, score.owed)),
    };
    let stopped = acting.stopped(cause, &format!("the answers to {lines} lines of a storm"), &detail);
    Err(stopped.having(seen(acting, server, score)))
}

fn seen(acting: &Acting<'_, '_>, server: &Server, score: &Score) -> Seen {
    let to = acting.world.transcript.frames().len();
    Seen::Storm { from: score.from, to, server: server.name.clone(), peak_kb: server.pid.and_then(peak_kb) }
}

/// No notification of the server's own.
fn answers(frame: &Frame, server: &str) -> bool {
    let own = || serde_json::from_str::<Value>(&frame.text).is_ok_and(|message| message.get("method").is_some());
    frame.way == Way::Received && frame.server == server && !own()
}

/// The most memory that the process ever had.
fn peak_kb(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
