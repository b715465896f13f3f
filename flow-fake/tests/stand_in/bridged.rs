//! A bridge process of a world, and paused runs for it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use flow_fake::attended::capability_digest;
use schemas::Schema;
use serde_json::{Value, json};

use super::world::{World, assert_valid};

pub struct Bridge {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Bridge {
    pub fn start(world: &World) -> Self {
        Self::start_with(world, &[])
    }

    pub fn start_with(world: &World, flags: &[&str]) -> Self {
        Self::spawn(world, world.command(&[&["bridge"], flags].concat()))
    }

    /// With these variables in its environment, too.
    pub fn start_in(world: &World, variables: &[(&str, &str)]) -> Self {
        let mut command = world.command(&["bridge"]);
        command.envs(variables.iter().copied());
        Self::spawn(world, command)
    }

    fn spawn(world: &World, mut command: Command) -> Self {
        command.env("FLOW_FAKE_SCRIPT", world.path("script.json")).stdin(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, asked: 0 }
    }

    pub fn send(&mut self, mut request: Value) -> u64 {
        self.asked += 1;
        request["id"] = json!(self.asked);
        self.send_raw(request.to_string().as_bytes());
        self.asked
    }

    pub fn send_raw(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(&[line, b"\n"].concat()).unwrap();
    }

    /// The next line of the process, `None` at its end.
    pub fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        self.stdout.read_until(b'\n', &mut line).unwrap();
        (!line.is_empty()).then_some(line)
    }

    pub fn answer(&mut self) -> Value {
        serde_json::from_slice(&self.line().expect("the bridge ended")).unwrap()
    }

    pub fn ask(&mut self, request: Value) -> Value {
        let id = self.send(request);
        let mut answer = self.answer();
        assert_eq!(answer["id"], id);
        answer.as_object_mut().unwrap().shift_remove("id");
        answer
    }

    pub fn list(&mut self) -> Vec<Value> {
        let answer = self.ask(json!({"op": "attention.list", "runs_dir": "."}));
        answer["items"].as_array().unwrap().clone()
    }

    /// The decision about `run` under this action and key.
    pub fn act(&mut self, world: &World, action: &str, key: &str) -> Value {
        self.ask(order(world, action, key))
    }

    pub fn end(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

/// A run of `alpha` in `run` that stopped with a pause.
pub fn paused(shape: &str, pause: Value) -> World {
    let world = World::new();
    let steps = json!([{"gate": "admit"}, "run_dir", {"report": shape}, {"pause": pause}]);
    let ended = world.play(steps);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    script(&world, json!({}));
    world
}

/// A run that may be continued: the surface broke before the first step did anything.
pub fn continuable() -> World {
    paused("failed_platform", json!({"category": "halt"}))
}

pub fn script(world: &World, bridge: Value) {
    let script = json!({"bridge": bridge});
    assert_valid(Schema::FlowScript, &script);
    std::fs::write(world.path("script.json"), script.to_string()).unwrap();
}

pub fn order(world: &World, action: &str, key: &str) -> Value {
    let digest = capability_digest(&world.json("attended_capability.json"));
    json!({
        "op": "attended.act",
        "runs_dir": ".",
        "attention_id": &flow_fake::canonical::sha256_hex("run")[..24],
        "request": {"capability_digest": digest, "idempotency_key": format!("key-{key}-0000000000"), "action": action, "disposition": null},
        "operator": "judge",
        "decided_by": "automation",
    })
}

/// The statuses on record, in order.
pub fn statuses(world: &World) -> Vec<String> {
    if !world.run_dir().join("attended_decisions.json").exists() {
        return Vec::new();
    }
    let decisions = world.json("attended_decisions.json")["decisions"].clone();
    decisions.as_array().unwrap().iter().map(|decision| decision["status"].as_str().unwrap().to_owned()).collect()
}

/// The journal's lines of one event.
pub fn lines(world: &World, event: &str) -> Vec<Value> {
    world.journal().into_iter().filter(|line| line["event"] == event).collect()
}
