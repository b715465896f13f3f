//! A runs folder with one server on it, and keepers that are processes of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use openadapt_agent::contract::ids::RunId;
use openadapt_agent::contract::outcome::Mode;
use openadapt_agent::lifecycle::contracts::Tool;
use openadapt_agent::lifecycle::machine::Ready;
use openadapt_agent::lifecycle::store::{Dispatch, NewAction, Revalidation};
use openadapt_agent::lifecycle::types::Origin as CameBy;
use openadapt_agent::runs::RunStore;
use openadapt_agent::runs::clock::utc_now;
use openadapt_agent::runs::dispatch::{ExitFacts, Intent, Keeper, Order, Origin};
use schemas::Schema;
use serde_json::Value;

/// An upper bound for what is expected at once; only a fault waits this long.
pub const DEADLINE: Duration = Duration::from_secs(60);

pub struct World {
    pub temp: tempfile::TempDir,
    pub store: RunStore,
}

impl World {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let store = RunStore::open(&temp.path().join("runs")).unwrap();
        Self { temp, store }
    }

    /// Commits a dispatch with this program in the place of Flow, and inputs. It makes its run directory where it is told.
    pub fn commit_in(&self, run_dir: Option<PathBuf>, argv: &[&str], time_limit: Duration) -> Intent {
        let run_id = RunId::random();
        let of = Origin {
            request_id: None,
            workflow: Some("add_note".to_owned()),
            mode: Mode::Production,
            started_at: utc_now(),
            attempt: None,
            sandbox: None,
        };
        let order = Order {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            run_dir: run_dir.unwrap_or_else(|| self.store.root().run_dir(&run_id)),
            time_limit_ms: time_limit.as_millis().try_into().unwrap(),
            run_id,
            of,
        };
        let actions = self.store.actions();
        let authorized = actions.prepare_allowed(&NewAction {
            run_id: order.run_id.clone(),
            tool: Tool::RunOlder,
            origin: CameBy::McpAgent,
            policy_version: actions.policy_version("p", 0, Mode::Production).unwrap(),
            args_digest: String::new(),
            conditions_digest: "c".to_owned(),
            request_id: None,
            workflow: Some("add_note".to_owned()),
            mode: Mode::Production,
            attempt: None,
        });
        let still = Revalidation { control_seq: 0, conditions_digest: "c" };
        let dispatch = actions.commit_dispatch(Ready::Once(authorized.unwrap()), still).unwrap();
        let Dispatch::Started(started) = dispatch else { panic!("{dispatch:?}") };
        let (_, token) = started.into_parts();
        self.store.dispatch().order(order, self.store.server_id(), &token, Some(b"{\"note\": \"x\"}")).unwrap()
    }

    pub fn commit(&self, argv: &[&str], time_limit: Duration) -> Intent {
        self.commit_in(None, argv, time_limit)
    }

    pub fn spawn_keeper(&self, run_id: &RunId) -> Child {
        let mut keeper = Command::new(env!("CARGO_BIN_EXE_openadapt-agent"));
        keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        keeper.arg("__keeper").arg(self.store.dispatch().folder(run_id)).spawn().unwrap()
    }

    /// Lets a keeper do its work, and holds every file that it leaves against its schema.
    pub fn keep(&self, intent: &Intent) -> ExitFacts {
        let run_id = &intent.order.run_id;
        let mut keeper = self.spawn_keeper(run_id);
        within_deadline(move || assert!(keeper.wait().unwrap().success()));
        let [written, exit] = [(Schema::DispatchIntent, "intent.json"), (Schema::DispatchExit, "exit.json")]
            .map(|(schema, name)| valid(schema, &self.store.dispatch().folder(run_id).join(name)));
        assert_eq!(exit["token"], written["token"]);
        assert!(self.store.actions().find(run_id).unwrap().unwrap().action.claimed);
        assert!(!self.store.dispatch().params_file(run_id).exists(), "the inputs are still there");
        assert_eq!(self.store.dispatch().intent(run_id).unwrap().as_ref(), Some(intent));
        match self.store.dispatch().keeper(run_id, intent.token.as_str()).unwrap() {
            Keeper::Exited(facts) => facts,
            other => panic!("{other:?}"),
        }
    }

    pub fn printed(&self, intent: &Intent) -> [String; 2] {
        self.store.dispatch().printed(&intent.order.run_id)
    }

    pub fn fifo(&self, name: &str) -> PathBuf {
        let path = self.temp.path().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

/// The JSON of a file that its schema accepts.
pub fn valid(schema: Schema, path: &Path) -> Value {
    let value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    if let Err(violations) = schema.check(&value) {
        panic!("{schema:?} refuses {value}: {violations}");
    }
    value
}

/// What the work comes to, or a failure when it takes too long.
pub fn within_deadline<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(DEADLINE).unwrap()
}
