//! How things ended: the scenario itself, its servers, its processes.

use super::verdict::{Blame, Check, Cite, Verdict};
use crate::evidence::{Evidence, Exit, ServerEnd, StopCause, Way};

pub const STOPPED: Check = Check {
    id: "to-the-end",
    sentence: "Every action of the scenario could be done, and every wait came to its end in time.",
    judge: stopped,
};

pub const EXITS: Check = Check {
    id: "clean-exit",
    sentence: "A server whose stdin ends exits 0 by itself, and never before.",
    judge: exits,
};

pub const LEFTOVERS: Check =
    Check { id: "no-process-left", sentence: "When all is over, no process of the scenario lives.", judge: leftovers };

fn stopped(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    verdict.saw();
    let Some(stopped) = &evidence.stopped else { return verdict };
    let blame = match stopped.cause {
        StopCause::AgentEnded | StopCause::AgentSilent => Blame::Implementation,
        StopCause::Engine => Blame::Engine,
        StopCause::Scenario => Blame::Harness,
        StopCause::NoAgent | StopCause::Environment => Blame::Environment,
    };
    let last = |way: Way| evidence.frames.iter().rposition(|frame| frame.way == way).map(Cite::Frame);
    let servers = evidence
        .servers
        .iter()
        .filter(|server| server.stderr_bytes > 0)
        .map(|server| Cite::Server(server.name.clone()));
    let journal = evidence.journal.len().checked_sub(1).map(Cite::Journal);
    let cites: Vec<Cite> =
        last(Way::Sent).into_iter().chain(last(Way::Received)).chain(journal).chain(servers).collect();
    verdict.blames(blame, stopped.step, &stopped.waited_for, &stopped.detail, cites);
    verdict
}

fn exits(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let mut verdict = verdict.due(!evidence.servers.is_empty());
    for server in &evidence.servers {
        verdict.saw();
        let cite = [Cite::Server(server.name.clone())];
        match (server.end, server.exit) {
            (ServerEnd::ByScenario, _) | (ServerEnd::Closed, Some(Exit::Code(0))) => {}
            (ServerEnd::Closed, exit) => {
                let actual = exit.map_or_else(|| "no exit was seen".into(), |exit| exit.to_string());
                verdict.fails(format!("{}: exit code 0 after stdin ended", server.name), actual, cite);
            }
            (ServerEnd::Hung, _) => {
                verdict.fails(format!("{}: it ends when stdin ends", server.name), "it still ran 5 s later", cite);
            }
            // The end of a server in the middle of things is told once, by the wait that it broke.
            (ServerEnd::Early, _) if evidence.stopped.is_some() => {}
            (ServerEnd::Early, exit) => {
                let actual = exit.map_or_else(|| "it ended".into(), |exit| format!("it ended by itself: {exit}"));
                verdict.fails(format!("{}: it lives until stdin ends", server.name), actual, cite);
            }
        }
    }
    verdict
}

fn leftovers(evidence: &Evidence, mut verdict: Verdict) -> Verdict {
    verdict.saw();
    for left in &evidence.leftovers {
        let launches = evidence.journal.iter().enumerate().filter(|(_, line)| line.is_launch());
        let about = launches.filter(|(_, line)| [line.pid(), line.number("ppid")].contains(&Some(left.pid)));
        let cites: Vec<Cite> = about.map(|(index, _)| Cite::Journal(index)).collect();
        verdict.fails(
            "no process of this scenario",
            format!("process {} still runs: {}", left.pid, left.command),
            cites,
        );
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, holds, saved};
    use super::*;
    use crate::evidence::{Leftover, Stopped};

    #[test]
    fn a_scenario_that_ran_to_its_end_holds() {
        holds(&STOPPED, &saved());
        holds(&EXITS, &saved());
        holds(&LEFTOVERS, &saved());
    }

    #[test]
    fn a_stop_is_told_with_its_blame() {
        let mut evidence = saved();
        for (cause, blame) in [
            (StopCause::AgentEnded, Blame::Implementation),
            (StopCause::Engine, Blame::Engine),
            (StopCause::Scenario, Blame::Harness),
            (StopCause::NoAgent, Blame::Environment),
        ] {
            evidence.stopped =
                Some(Stopped { step: Some(0), cause, waited_for: "an answer".into(), detail: "none came".into() });
            assert_eq!(fails(&STOPPED, &evidence)[0].blame, blame);
        }
    }

    #[test]
    fn a_server_that_exits_otherwise_or_not_at_all_fails() {
        for (end, exit) in [
            (ServerEnd::Closed, Some(Exit::Code(1))),
            (ServerEnd::Closed, Some(Exit::Signal(6))),
            (ServerEnd::Hung, None),
            (ServerEnd::Early, Some(Exit::Code(0))),
        ] {
            let mut evidence = saved();
            (evidence.servers[0].end, evidence.servers[0].exit) = (end, exit);
            fails(&EXITS, &evidence);
        }
    }

    #[test]
    fn a_process_that_is_left_fails() {
        let mut evidence = saved();
        evidence.leftovers.push(Leftover { pid: 7, command: "sleep".into() });
        assert!(fails(&LEFTOVERS, &evidence)[0].actual.contains("sleep"));
    }
}
