//! What a script lets go wrong with the bridge itself.

use serde_json::{Value, json};

use super::serve::Bridge;
use crate::journal::Journal;
use crate::play;
use crate::script::{BridgeSpec, GarbageKind};

/// Hangs when the script says so for this operation.
pub fn hang(bridge: &Bridge, spec: &BridgeSpec, op: &str) {
    let Some(hang) = spec.hang.as_ref().filter(|hang| hang.op == op) else { return };
    if happens(bridge, "held", hang.times, json!({"name": "hang", "op": op})) {
        play::forever(bridge.control.as_deref());
    }
}

/// Writes a response, with what the script adds to it.
pub fn respond(bridge: &Bridge, spec: &BridgeSpec, op: &str, id: &Value, body: Value) {
    let mut response = json!({"id": id});
    if let (Value::Object(response), Value::Object(body)) = (&mut response, body) {
        response.extend(body);
    }
    let garbage = spec.garbage.as_ref().filter(|garbage| garbage.op.as_deref().is_none_or(|wanted| wanted == op));
    let kind = garbage
        .filter(|garbage| happens(bridge, "garbage", garbage.times, json!({"op": op})))
        .map(|garbage| garbage.kind);
    let mut line = format!("{response}\n").into_bytes();
    match kind {
        None => {}
        Some(GarbageKind::Before) => line = [junk(), line].concat(),
        Some(GarbageKind::Instead) => line = junk(),
        Some(GarbageKind::ForeignId) => {
            response["id"] = json!("another request");
            line = format!("{response}\n").into_bytes();
        }
        Some(GarbageKind::Torn) => line.truncate(line.len() / 2),
    }
    bridge.write(&line);
    if kind == Some(GarbageKind::Torn) {
        std::process::exit(1);
    }
}

/// Notes a fault, unless it happened as often as it should.
fn happens(bridge: &Bridge, event: &str, times: Option<u64>, facts: Value) -> bool {
    let Ok(mut journal) = Journal::open(bridge.journal.as_deref()) else { return false };
    if let Some(times) = times
        && journal.count(event, &facts).unwrap_or_default() >= times
    {
        return false;
    }
    journal.about_nothing(event, facts).is_ok()
}

fn junk() -> Vec<u8> {
    let mut junk = format!("a line that is no JSON: {}\n", crate::SCREEN_CANARY).into_bytes();
    junk.extend_from_slice(b"\xff\xfe\x00{\"id\":\n[1, 2]\n{\"ok\": true}\n");
    junk
}
