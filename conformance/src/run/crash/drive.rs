//! The hands of a crash world: starting, asking, waiting for deaths.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::evidence::crash::CrashSeen;
use crate::evidence::lifecycle::SeenStore;
use crate::evidence::{Exit, ServerEnd, StopCause, Stopped};
use crate::run::act::Acting;
use crate::run::perform::{start, stop_of};
use crate::run::world::World;
use crate::run::{forms, process};
use crate::scenario::action::SignalName;
use crate::scenario::form::{FormReply, FormWord};
use crate::scenario::model::ServerPlan;
use crate::wire::server::Server;

pub struct Drive<'w, 'a> {
    pub world: &'w World<'a>,
    pub seen: RefCell<CrashSeen>,
    /// How many servers were started.
    pub servers: Cell<u32>,
}

/// Looks at one run at the same moment.
const AT_ONCE: usize = 3;

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    Answer,
    /// The server ended without one.
    End,
}

impl<'w, 'a> Drive<'w, 'a> {
    pub fn new(world: &'w World<'a>) -> Self {
        let seen = CrashSeen { case: world.scenario.crash.clone(), kill: world.scenario.kill, ..CrashSeen::default() };
        Self { world, seen: RefCell::new(seen), servers: Cell::default() }
    }

    /// A server that is greeted.
    pub async fn start(&self, env: &[(&str, String)]) -> Result<Rc<Server>, Stopped> {
        let name = self.next_name();
        start(self.world, &name, &plan(env), None).await?;
        self.world.server(Some(&name)).map(|(server, _)| server).ok_or_else(|| self.silent("a server", "there is none"))
    }

    /// A server to which nobody says a word.
    pub fn spawn(&self, env: &[(&str, String)]) -> Result<Rc<Server>, Stopped> {
        let spawned = self.world.spawn(&self.next_name(), &plan(env));
        spawned.map(|(server, _)| server).map_err(|error| stop_of(&error, None, "a server to start"))
    }

    pub async fn greet(&self, server: &Server) -> Result<(), Stopped> {
        let Some((server, identity)) = self.world.server(Some(&server.name)) else { return Ok(()) };
        let greeted = self.world.client.greet(&server, &identity).await;
        greeted.map_err(|fault| self.silent(&format!("server {} to greet", server.name), &format!("{fault:?}")))
    }

    /// The world's one request. It isn't waited for.
    pub async fn run(&self, server: &Server) -> usize {
        self.request(server, "$rid").await
    }

    pub async fn request(&self, server: &Server, request_id: &str) -> usize {
        let arguments = {
            let mut variables = self.world.variables.borrow_mut();
            let written = json!({"workflow": "triage", "request_id": request_id, "inputs": {"note": "$canary:note"}});
            variables.fill(written).unwrap_or_default()
        };
        self.ask(server, "run_workflow", arguments).await
    }

    pub async fn ask(&self, server: &Server, tool: &str, arguments: Value) -> usize {
        let Some((server, identity)) = self.world.server(Some(&server.name)) else { return usize::MAX };
        let params = json!({"name": tool, "arguments": arguments});
        // A server that is dead already is seen to be so by whoever waits for its answer.
        let (exchange, _) = self.world.client.request(&server, &identity, "tools/call", Some(params), None).await;
        self.world.forms.expect(exchange, Some(FormReply::Word(FormWord::Accept)));
        exchange
    }

    /// Waits for an answer, and shows the person's yes where a form comes first.
    pub async fn came(&self, server: &Server, exchange: usize) -> Result<Came, Stopped> {
        enum Next {
            Form(forms::Waiting),
            Came(Came),
        }
        let world = self.world;
        loop {
            let next = world.transcript.until(world.limit(), || {
                if world.transcript.is_answered(exchange) {
                    return Some(Next::Came(Came::Answer));
                }
                if server.exit().is_some() && server.is_silent() {
                    return Some(Next::Came(Came::End));
                }
                world.forms.waiting(world, &[exchange]).map(Next::Form)
            });
            match next.await {
                Ok(Next::Came(came)) => return Ok(came),
                Ok(Next::Form(waiting)) => {
                    let acting = Acting { world, index: 0 };
                    forms::reply(&acting, waiting).await.map_err(|halted| halted.stopped)?;
                }
                Err(_) => return Err(self.silent("an answer", "none came in time")),
            }
        }
    }

    pub async fn must_answer(&self, server: &Server, exchange: usize) -> Result<(), Stopped> {
        match self.came(server, exchange).await? {
            Came::Answer => Ok(()),
            Came::End => {
                let cause = StopCause::AgentEnded;
                let detail = server.how_it_ended().await;
                Err(Stopped { step: None, cause, waited_for: format!("an answer of {}", server.name), detail })
            }
        }
    }

    /// Asks for each run of the request that the store has now, without patience, and keeps the exchanges.
    pub async fn look_at_all(
        &self,
        server: &Server,
        keep: impl FnOnce(&mut CrashSeen, Vec<usize>),
    ) -> Result<(), Stopped> {
        let looks = self.send_looks(server).await;
        for look in &looks {
            self.must_answer(server, *look).await?;
        }
        keep(&mut self.seen.borrow_mut(), looks);
        Ok(())
    }

    /// Sent, several for each run at once, and not waited for: looks that come together must tell the same.
    pub async fn send_looks(&self, server: &Server) -> Vec<usize> {
        let request_id = self.request_id();
        let store = SeenStore::read(&self.world.folders.store());
        let mut looks = Vec::new();
        for run in store.of_request(&request_id).flat_map(|run| std::iter::repeat_n(run, AT_ONCE)) {
            looks.push(self.ask(server, "get_run", json!({"run_id": run.run_id, "wait_seconds": 0})).await);
        }
        looks
    }

    pub fn request_id(&self) -> String {
        self.world.variables.borrow_mut().text("$rid").unwrap_or_default()
    }

    /// Waits for a server that is to die by itself.
    pub async fn dead(&self, server: &Server) -> Result<Exit, Stopped> {
        server.end.set(Some(ServerEnd::ByScenario));
        let ended = server.ended(self.world.limit()).await;
        ended.map_err(|_| self.silent(&format!("the end of {}", server.name), "it didn't pass the point, and lives"))
    }

    pub async fn kill(&self, server: &Server) -> Result<Exit, Stopped> {
        server.end.set(Some(ServerEnd::ByScenario));
        self.kill_pid(server.pid, &server.name);
        self.dead(server).await
    }

    pub fn kill_pid(&self, pid: Option<u32>, what: &str) {
        if pid.is_some_and(|pid| process::signal(pid, SignalName::Kill).is_ok()) {
            self.seen.borrow_mut().killed.push(what.to_owned());
        }
    }

    pub fn keepers(&self) -> Vec<u32> {
        let all = process::of_world(&self.world.folders.home).into_iter();
        all.filter(|process| process.command.contains(" __keeper ")).map(|process| process.pid).collect()
    }

    /// Waits until no process of the world lives but these servers.
    pub async fn all_gone(&self, spared: &[&Server]) -> Result<(), Stopped> {
        let spared: Vec<u32> = spared.iter().filter_map(|server| server.pid).collect();
        let gone = async {
            loop {
                let alive = process::of_world(&self.world.folders.home);
                let Some(first) = alive.iter().find(|process| !spared.contains(&process.pid)) else { return };
                if process::ended(first.pid).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        let gone = tokio::time::timeout(self.world.limit(), gone).await;
        gone.map_err(|_| self.silent("keeper and Flow to end", "one of them still runs"))
    }

    /// Where a process that stands still waits for leave to go on.
    pub fn hold_file(&self, name: &str) -> PathBuf {
        self.world.folders.control.join(name)
    }

    pub fn silent(&self, waited_for: &str, detail: &str) -> Stopped {
        let cause = StopCause::AgentSilent;
        Stopped { step: None, cause, waited_for: waited_for.to_owned(), detail: detail.to_owned() }
    }

    fn next_name(&self) -> String {
        self.servers.set(self.servers.get() + 1);
        format!("s{}", self.servers.get())
    }
}

fn plan(env: &[(&str, String)]) -> ServerPlan {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    ServerPlan { env: Some(env), ..ServerPlan::default() }
}
