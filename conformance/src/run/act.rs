//! Does one action and records what was seen of it. What it should have been is judged later.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use tokio::process::Command;

use super::answers;
use super::edit;
use super::forms;
use super::perform::{start, stop_of};
use super::processes;
use super::storm;
use super::world::World;
use crate::evidence::actions::ask;
use crate::evidence::files::SeenFile;
use crate::evidence::{Seen, ServerEnd, Step, StopCause, Stopped};
use crate::scenario::action::{Action, Ask, Await, Cli, Close, FlowProgram, FlowVerb, ReadingWord, Stream};
use crate::scenario::files::Look;
use crate::wire::server::exit_of;

/// What one action does its work with.
pub struct Acting<'w, 'a> {
    pub world: &'w World<'a>,
    pub index: usize,
}

/// Fills in the variables, does the action, and appends a step to the record, also where it had to stop.
pub async fn act(world: &World<'_>, index: usize, written: &Action) -> Result<(), Stopped> {
    let acting = Acting { world, index };
    let resolved = match written {
        // `$n` has a value only for each of several calls.
        Action::Call(_) => Ok(written.clone()),
        other => world.variables.borrow_mut().resolve(other),
    };
    let mut action: Action = resolved.map_err(|error| acting.scenario_fault(error.to_string()))?;
    if let Action::Join(join) = &mut action
        && let Some((_, first)) = world.background.borrow().get(&join.join)
    {
        join.wanted = first.and(&join.wanted);
    }
    let (action, outcome) = match action {
        Action::Call(call) => {
            let (call, outcome) = answers::call(&acting, &call).await?;
            (Action::Call(Box::new(call)), outcome)
        }
        other => {
            let outcome = acting.act(&other).await;
            (other, outcome)
        }
    };
    let (seen, stopped) = match outcome {
        Ok(seen) => (seen, None),
        Err(halted) => (halted.seen, Some(halted.stopped)),
    };
    let captured = seen_capture(&acting, &action, &seen);
    world.steps.borrow_mut().push(Step { action, seen });
    match stopped {
        Some(stopped) => Err(stopped),
        None => captured,
    }
}

/// What was seen of an action that was done.
pub type Outcome = Result<Seen, Box<Halted>>;

/// Why it went no further, and what was seen until then.
#[derive(Debug)]
pub struct Halted {
    pub seen: Seen,
    pub stopped: Stopped,
}

impl Halted {
    pub fn having(mut self: Box<Self>, seen: Seen) -> Box<Self> {
        self.seen = seen;
        self
    }
}

impl Acting<'_, '_> {
    async fn act(&self, action: &Action) -> Outcome {
        match action {
            Action::Call(_) => Ok(Seen::Nothing),
            Action::Join(join) => answers::join(self, join).await,
            Action::Pending(pending) => answers::pending(self, pending),
            Action::Cancel(cancel) => answers::cancel(self, cancel).await,
            Action::Asked(asked) => forms::asked(self, asked).await,
            Action::Answer(answer) => forms::answer(self, answer).await,
            Action::Notify(notify) => answers::notify(self, notify).await,
            Action::Tools(tools) => answers::tools(self, tools).await,
            Action::Send(send) => answers::send(self, send).await,
            Action::Progress(progress) => answers::progress(self, progress).await,
            Action::Storm(wanted) => storm::storm(self, wanted).await,
            Action::Reading(reading) => {
                let (server, _) = self.server(reading.server.as_deref())?;
                server.hold_reading(reading.reading == ReadingWord::Stops);
                Ok(Seen::Nothing)
            }
            Action::Start(wanted) => match start(self.world, &wanted.start, &wanted.plan, Some(self.index)).await {
                Ok(()) => Ok(Seen::Nothing),
                Err(stopped) => Err(Box::new(Halted { seen: Seen::Nothing, stopped })),
            },
            Action::Close(close) => self.close(close).await,
            Action::Signal(kill) => processes::signal(self, kill).await,
            Action::Gone(gone) => processes::gone(self, gone).await,
            Action::Alive(alive) => processes::alive(self, alive),
            Action::Cli(cli) => self.cli(cli).await,
            Action::Await(wait) => self.wait(wait).await,
            Action::Release(release) => {
                let path = self.world.folders.control.join(format!("release-{}", release.release));
                self.done(fs::write(path, ""))
            }
            Action::Flow(verb) => self.flow(verb).await,
            Action::Ask(ask) => self.ask(ask).await,
            Action::Saved(saved) => self.done(self.save(&saved.saved)),
            Action::Edit(wanted) => self.done(edit::edit(wanted)),
            Action::File(look) => Ok(Seen::File(looked(look))),
        }
    }

    async fn close(&self, close: &Close) -> Outcome {
        let (server, _) = self.server(close.server.as_deref())?;
        match close.close {
            Stream::Stdin => server.close_stdin(),
            Stream::Stdout => server.close_stdout(),
            Stream::Stderr => {
                server.close_stderr();
                return Ok(Seen::Nothing);
            }
        }
        server.end.set(Some(ServerEnd::ByScenario));
        match close.exit {
            Some(_) => self.exited(&server).await,
            None => Ok(Seen::Nothing),
        }
    }

    pub async fn exited(&self, server: &crate::wire::server::Server) -> Outcome {
        match server.ended(self.world.limit()).await {
            Ok(exit) => Ok(Seen::Exited(exit)),
            Err(_) => Err(self.stopped(StopCause::AgentSilent, "the server to end", "it still runs")),
        }
    }

    async fn cli(&self, cli: &Cli) -> Outcome {
        let agent = self.world.subject.agent_for(self.world.scenario);
        let Some((program, words)) = agent.split_first() else {
            return Err(self.stopped(StopCause::NoAgent, "the agent to run", "no command"));
        };
        let mut command = Command::new(program);
        command.args(words).args(&cli.cli).stdin(Stdio::null());
        self.program(command, Some(&cli.env), StopCause::NoAgent).await
    }

    async fn flow(&self, verb: &FlowVerb) -> Outcome {
        let started = self.world.flow_program(verb.by);
        let Some((program, words)) = started.split_first() else {
            return Err(self.stopped(StopCause::Engine, "Flow to run", "no command"));
        };
        let mut command = Command::new(program);
        command.args(words).args(&verb.flow).stdin(Stdio::null());
        // The journal is for what the agent starts: what the judge starts itself is no launch in it.
        let unnoted = [("FLOW_FAKE_JOURNAL".to_owned(), String::new())].into();
        let launches = verb.flow.first().is_some_and(|word| word == "run");
        self.program(command, Some(&unnoted).filter(|_| launches), StopCause::Engine).await
    }

    /// One request, and the end of its input: a bridge answers what it was asked, and ends.
    async fn ask(&self, ask: &Ask) -> Outcome {
        let started = self.world.flow_program(FlowProgram::Standard);
        let Some((program, words)) = started.split_first() else {
            return Err(self.stopped(StopCause::Engine, "a bridge to run", "no command"));
        };
        let request = self.world.folders.control.join(format!("ask-{}.json", self.index));
        let mut line = serde_json::Map::from_iter([("id".to_owned(), serde_json::Value::from(1))]);
        line.extend(ask.ask.clone());
        let opened =
            fs::write(&request, format!("{}\n", serde_json::Value::from(line))).and_then(|()| fs::File::open(&request));
        let stdin = match opened {
            Ok(file) => file,
            Err(error) => {
                return Err(self.stopped(StopCause::Environment, "a request for a bridge", &error.to_string()));
            }
        };
        let mut command = Command::new(program);
        command.args(words).arg("bridge").stdin(Stdio::from(stdin));
        self.program(command, None, StopCause::Engine).await
    }

    async fn program(
        &self,
        mut command: Command,
        env: Option<&std::collections::BTreeMap<String, String>>,
        blame: StopCause,
    ) -> Outcome {
        command.env_clear().envs(self.world.environment(env)).current_dir(&self.world.folders.world).kill_on_drop(true);
        let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(256 * 1024)]).into_owned();
        match tokio::time::timeout(self.world.limit(), command.output()).await {
            Ok(Ok(output)) => Ok(Seen::Program {
                exit: exit_of(output.status),
                stdout: text(&output.stdout),
                stderr: text(&output.stderr),
            }),
            Ok(Err(error)) => Err(self.stopped(blame, "the program to start", &error.to_string())),
            Err(_) if blame == StopCause::Engine => Err(self.stopped(blame, "the program to end", "it still ran")),
            Err(_) => Err(self.stopped(StopCause::AgentSilent, "the agent to end", "it still ran")),
        }
    }

    async fn wait(&self, wait: &Await) -> Outcome {
        let (event, name) = wait.event.split_once(' ').map_or((wait.event.as_str(), None), |(e, n)| (e, Some(n)));
        let transcript = &self.world.transcript;
        let find = || {
            let journal = transcript.journal();
            let matching = journal.iter().enumerate().filter(|(_, line)| {
                line.event() == event
                    && name.is_none_or(|name| line.name() == Some(name))
                    && wait.run.as_deref().is_none_or(|run| line.run_id() == Some(run))
            });
            matching.map(|(index, _)| index).nth(wait.count.saturating_sub(1))
        };
        match transcript.until(self.world.limit(), find).await {
            Ok(line) => Ok(Seen::Journal { line }),
            Err(_) => {
                let launched = transcript.journal().iter().any(|line| line.is_launch());
                let detail =
                    if launched { "Flow was started, and never came to that point" } else { "Flow was never started" };
                Err(self.stopped(StopCause::AgentSilent, &format!("the journal event {:?}", wait.event), detail))
            }
        }
    }

    fn save(&self, run: &str) -> std::io::Result<()> {
        let run_dir = self.world.folders.runs.join(run);
        let line = serde_json::json!({"event": "effect", "by": "a person", "run_dir": run_dir});
        let mut journal = fs::OpenOptions::new().append(true).open(&self.world.folders.journal)?;
        journal.write_all(format!("{line}\n").as_bytes())
    }

    fn done(&self, outcome: std::io::Result<()>) -> Outcome {
        match outcome {
            Ok(()) => Ok(Seen::Nothing),
            Err(error) => Err(self.stopped(StopCause::Scenario, "a file to be changed", &error.to_string())),
        }
    }

    pub fn server(
        &self,
        name: Option<&str>,
    ) -> Result<(std::rc::Rc<crate::wire::server::Server>, crate::wire::client::Identity), Box<Halted>> {
        let missing =
            || self.stopped(StopCause::Scenario, "a server", &format!("there is no server {}", name.unwrap_or("s1")));
        self.world.server(name).ok_or_else(missing)
    }

    pub fn stopped(&self, cause: StopCause, waited_for: &str, detail: &str) -> Box<Halted> {
        let stopped = Stopped { step: Some(self.index), cause, waited_for: waited_for.into(), detail: detail.into() };
        Box::new(Halted { seen: Seen::Nothing, stopped })
    }

    pub fn scenario_fault(&self, detail: String) -> Stopped {
        stop_of(&super::world::WorldError::Scenario(detail), Some(self.index), "the values of this action")
    }
}

fn looked(look: &Look) -> SeenFile {
    let seen = SeenFile::look(look.file.as_ref());
    match &look.sqlite {
        None => seen,
        Some(sql) => SeenFile { text: ask(look.file.as_ref(), sql).to_string(), ..seen },
    }
}

/// Takes the values that `capture` names, so that later actions can use them.
fn seen_capture(acting: &Acting<'_, '_>, action: &Action, seen: &Seen) -> Result<(), Stopped> {
    let found = match (action, seen) {
        (Action::File(Look { capture, .. }), Seen::File(file)) => Some((capture, file.json().unwrap_or_default())),
        (Action::Ask(ask), Seen::Program { stdout, .. }) => {
            Some((&ask.capture, serde_json::from_str(stdout.trim()).unwrap_or_default()))
        }
        (Action::Call(call), Seen::Answers { exchanges, awaited: true }) => {
            answers::first_object(acting.world, exchanges).map(|object| (&call.wanted.capture, object))
        }
        (Action::Join(join), Seen::Answers { exchanges, .. }) => {
            answers::first_object(acting.world, exchanges).map(|object| (&join.wanted.capture, object))
        }
        _ => None,
    };
    let Some((capture, object)) = found else { return Ok(()) };
    for (name, pointer) in capture {
        // A value that isn't there is the agent's fault: the answer lacks it.
        let value = object.pointer(pointer).ok_or_else(|| Stopped {
            step: Some(acting.index),
            cause: StopCause::AgentSilent,
            waited_for: format!("a value at {pointer}, to be called ${name}"),
            detail: "the answer has none there".into(),
        })?;
        acting.world.variables.borrow_mut().set(name, value.clone());
    }
    Ok(())
}
