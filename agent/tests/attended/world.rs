//! A runs folder with paused runs, and a server's bridge on it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, Mac};
use openadapt_agent::bridge::Bridge;
use openadapt_agent::bridge::host::{CallContext, ClientTraits, FormAnswer, FormOutcome, ToolAnswer, ToolHost};
use openadapt_agent::cli::{AdmissionOptions, AttendedOptions, OlderOptions, ServeOptions, WorkflowSource};
use openadapt_agent::flow::bridge::command::{BridgeCommand, Deployment};
use openadapt_agent::flow::canonical::{Tree, hex};
use openadapt_agent::flow::command::{FlowCommand, FlowSettings};
use openadapt_agent::flow::pause;
use openadapt_agent::service::Service;
use serde_json::{Map, Value, json};
use sha2::Sha256;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/samples/flow-1.35.1/duplicate_record");
const KEY: [u8; 32] = [7; 32];
/// The one paused run of every world.
pub const RUN: &str = "run-0123456789abcdef01234567";

pub struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["bundles", "runs"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        fs::set_permissions(world.path("runs"), fs::Permissions::from_mode(0o700)).unwrap();
        world.pause(RUN);
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Puts a paused run of the real Flow there, its capability signed with a key that is known here.
    pub fn pause(&self, run: &str) {
        let folder = self.path("runs").join(run);
        fs::create_dir(&folder).unwrap();
        for name in ["report.json", pause::PENDING, pause::CAPABILITY] {
            fs::copy(Path::new(SAMPLE).join(name), folder.join(name)).unwrap();
        }
        fs::write(folder.join(pause::KEY), KEY).unwrap();
        fs::set_permissions(folder.join(pause::KEY), fs::Permissions::from_mode(0o600)).unwrap();
        self.sign(run, &["reject", "teach", "escalate"]);
    }

    /// Issues the run's capability anew, for these actions.
    pub fn sign(&self, run: &str, allowed: &[&str]) {
        let file = self.path("runs").join(run).join(pause::CAPABILITY);
        let mut capability: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        capability["allowed_actions"] = json!(allowed);
        let tree = Tree::parse(capability.to_string().as_bytes(), 1 << 20).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).unwrap();
        mac.update(&pause::unsigned_capability(&tree).unwrap().canonical_bytes());
        capability["signature"] = format!("hmac-sha256:{}", hex(&mac.finalize().into_bytes())).into();
        fs::write(file, capability.to_string()).unwrap();
    }

    /// A bridge of Flow that notes what it reads, says hello, offers the item under `digest`, and answers a decision with `acted`.
    pub fn bridge_script(&self, live: bool, offered: &Value, acted: &str) -> String {
        let lines = [
            json!({"id": 1, "ok": true, "flow_version": "1.35.1", "attended": true, "live": live}).to_string(),
            json!({"id": 2, "ok": true, "item": offered}).to_string(),
            acted.to_owned(),
        ];
        let log = self.path("bridge.log");
        let mut script = format!("echo start >> {}\n", log.display());
        for line in lines {
            script +=
                &format!("IFS= read -r line || exit 0; printf '%s\\n' \"$line\" >> {}\necho '{line}'\n", log.display());
        }
        script += "IFS= read -r line\n";
        let file = self.path("bridge.sh");
        fs::write(&file, script).unwrap();
        format!("sh {}", file.display())
    }

    /// What the bridge was asked to do, by operation.
    pub fn asked(&self, op: &str) -> Vec<Value> {
        let log = fs::read_to_string(self.path("bridge.log")).unwrap_or_default();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["op"] == op).collect()
    }

    /// A bridge that was never started.
    pub fn bridge_is_untouched(&self) -> bool {
        !self.path("bridge.log").exists()
    }

    pub fn read_only(&self) -> Bridge {
        self.open(None, false, OlderOptions::default())
    }

    pub fn with_runs(&self, older: OlderOptions) -> Bridge {
        self.open(None, true, older)
    }

    pub fn attended(&self, bridge: &str, wants_live: bool) -> Bridge {
        let command = BridgeCommand::new(Some(bridge), &[], &Deployment::default(), Duration::from_secs(20)).unwrap();
        let attended = AttendedOptions { bridge: command, wants_live, form_limit: Duration::from_secs(5) };
        self.open(Some(attended), true, OlderOptions::default())
    }

    fn open(&self, attended: Option<AttendedOptions>, runs_enabled: bool, older: OlderOptions) -> Bridge {
        let describing =
            BridgeCommand::new(Some("no-such-bridge"), &[], &Deployment::default(), Duration::from_secs(5)).unwrap();
        let options = ServeOptions {
            workflows: WorkflowSource::Bundles { folder: self.path("bundles"), describing },
            runs_dir: self.path("runs"),
            runs_enabled,
            flow: FlowCommand::new("no-such-flow", FlowSettings::default()).unwrap(),
            timeout: Duration::from_secs(5),
            attended,
            recording: None,
            admission: AdmissionOptions::default(),
            auto_review: None,
            older,
        };
        Bridge::open(Arc::new(Service::open(&options).unwrap()), &options).unwrap()
    }
}

pub const ASKS: ClientTraits = ClientTraits { form_elicitation: true };
pub const SILENT: ClientTraits = ClientTraits { form_elicitation: false };

pub async fn first_call(bridge: &Bridge, tool: &str, arguments: &Value) -> ToolAnswer {
    bridge.call(tool, object(arguments), CallContext { client: ASKS, answer: None }).await
}

/// Both calls of a decision: the form is taken as it comes, and answered so.
pub async fn answered(bridge: &Bridge, tool: &str, arguments: &Value, given: FormOutcome) -> ToolAnswer {
    match first_call(bridge, tool, arguments).await {
        ToolAnswer::Ask(form) => second_call(bridge, tool, arguments, given, form.binding).await,
        other => panic!("a form was expected, not {other:?}"),
    }
}

pub async fn second_call(
    bridge: &Bridge,
    tool: &str,
    arguments: &Value,
    given: FormOutcome,
    binding: String,
) -> ToolAnswer {
    let answer = Some(FormAnswer { given, binding });
    bridge.call(tool, object(arguments), CallContext { client: ASKS, answer }).await
}

pub async fn item(bridge: &Bridge, run: &str) -> Value {
    let arguments = json!({"attention_id": attention_id(run)});
    match first_call(bridge, "get_attention_item", &arguments).await {
        ToolAnswer::Object(item) => item.into(),
        other => panic!("an item was expected, not {other:?}"),
    }
}

pub fn attention_id(run: &str) -> String {
    openadapt_agent::attended::id::AttentionId::of_place(run).to_string()
}

pub fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
