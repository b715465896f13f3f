//! How servers, processes and the scenario itself ended; and facts that mean nothing.

use crate::evidence::{Evidence, Exit, Leftover, ServerEnd, StopCause, Stopped};
use crate::power::change::changed;
use crate::power::mutant::Mutant;

const EXIT: &[&str] = &["clean-exit"];

pub fn mutants() -> Vec<Mutant> {
    let mut all = Vec::new();
    for (name, said, exit) in [
        ("code-1", "a server ends with 1 after its stdin ended", Exit::Code(1)),
        ("code-101", "a server ends in a panic", Exit::Code(101)),
        ("killed", "a server dies of a signal after its stdin ended", Exit::Signal(11)),
    ] {
        all.push(Mutant::new(format!("end/{name}"), said, EXIT, move |green| {
            of_server(green, |server| server.exit = Some(exit))
        }));
    }
    all.push(Mutant::new("end/no-exit", "nobody saw a server's end", EXIT, |green| {
        of_server(green, |server| server.exit = None)
    }));
    all.push(Mutant::new("end/hung", "a server lives on without stdin", EXIT, |green| {
        of_server(green, |server| server.end = ServerEnd::Hung)
    }));
    all.push(Mutant::new("end/early", "a server ends by itself", EXIT, |green| {
        of_server(green, |server| server.end = ServerEnd::Early)
    }));
    all.push(Mutant::new("end/left-process", "a process is left", &["no-process-left"], |green| {
        changed(green, |evidence| {
            evidence.leftovers.push(Leftover { pid: 4_000_000, command: "chromium".to_owned() });
            Some(())
        })
    }));
    for (name, cause) in [
        ("agent-silent", StopCause::AgentSilent),
        ("agent-ended", StopCause::AgentEnded),
        ("engine", StopCause::Engine),
        ("scenario", StopCause::Scenario),
        ("environment", StopCause::Environment),
        ("no-agent", StopCause::NoAgent),
    ] {
        let said = format!("a wait was broken: {}", name.replace('-', " "));
        all.push(Mutant::new(format!("end/stopped-{name}"), said, &["to-the-end"], move |green| {
            changed(green, |evidence| {
                let (waited_for, detail) = ("an answer".to_owned(), "none came".to_owned());
                evidence.stopped = Some(Stopped { step: None, cause, waited_for, detail });
                Some(())
            })
        }));
    }
    all
}

pub fn controls() -> Vec<Mutant> {
    vec![
        Mutant::harmless("control/slower", "everything took twice as long", |green| {
            changed(green, |evidence| {
                evidence.seconds = evidence.seconds * 2.0 + 1.0;
                evidence.frames.iter_mut().for_each(|frame| frame.at_us *= 2);
                Some(())
            })
        }),
        Mutant::harmless("control/another-process-number", "servers had other process numbers", |green| {
            changed(green, |evidence| {
                evidence.servers.iter_mut().for_each(|server| server.pid = Some(3_999_999));
                (!evidence.servers.is_empty()).then_some(())
            })
        }),
        Mutant::harmless("control/a-word-on-stderr", "a server said one more line to its operator", |green| {
            green.after.stderr.is_none().then_some(())?;
            changed(green, |evidence| {
                let server = evidence.servers.first_mut()?;
                server.stderr.push_str("INFO ready\n");
                server.stderr_bytes = server.stderr.len();
                Some(())
            })
        }),
        Mutant::harmless("control/a-log-message", "a server said one more lawful line", |green| {
            let quiet = !green.servers.iter().any(|server| server.modern);
            let said = serde_json::json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "ready"}});
            crate::power::change::line(green, &said.to_string()).filter(|_| quiet)
        }),
    ]
}

/// Changes a server that ended as it should.
fn of_server(green: &Evidence, how: impl Fn(&mut crate::evidence::ServerSeen)) -> Option<Evidence> {
    let at = green.servers.iter().position(|server| server.end == ServerEnd::Closed)?;
    changed(green, |evidence| {
        how(&mut evidence.servers[at]);
        Some(())
    })
}
