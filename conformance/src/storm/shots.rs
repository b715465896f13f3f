//! One shot of a storm: a line, and what a server owes for it.

use serde_json::{Value, json};

use super::arguments::fatal;
use crate::run::fuzz::{Dice, odd};

/// What must come back for a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Due {
    /// One answer, result or error, under this id.
    Answer(Value),
    /// One error without an id.
    Anonymous,
    Nothing,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    /// Without its newline.
    pub line: Vec<u8>,
    pub due: Due,
}

const LONG: usize = 60_000;

/// Longer than any server has to read; one in so many shots is.
const HUGE: usize = 5 * 1024 * 1024;
const ONE_IN: usize = 10_000;

/// The `number`th good request of a storm that consists of them.
pub fn ping(seed: u64, number: u64, modern: bool) -> Shot {
    let id = id(&mut Dice::of(seed, number), number);
    let method = if modern { "server/discover" } else { "ping" };
    answered(request(&id, &json!({"method": method}), modern), id)
}

/// The `number`th request with a long answer: its own id.
pub fn long(number: u64, modern: bool) -> Shot {
    let id = json!(format!("{number}{}", "i".repeat(LONG)));
    let method = if modern { "server/discover" } else { "ping" };
    answered(request(&id, &json!({"method": method}), modern), id)
}

/// The `number`th shot of a seed. `modern` requests carry what the era of 2026-07-28 wants.
pub fn shot(seed: u64, number: u64, modern: bool) -> Shot {
    let mut dice = Dice::of(seed, number);
    let id = id(&mut dice, number);
    if dice.below(ONE_IN) == 0 {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"x":"{}"}}}}"#, "y".repeat(HUGE));
        return answered(line, id);
    }
    match dice.below(100) {
        0..=9 => answered(request(&id, &method(&mut dice, modern, number), modern), id),
        10..=34 => {
            let (tool, arguments) = fatal(&mut dice, number);
            let asked = json!({"method": "tools/call", "params": {"name": tool, "arguments": arguments}});
            answered(request(&id, &asked, modern), id)
        }
        35..=46 => {
            let known = ["ping", "tools/list", "tools/call", "initialize", "server/discover"];
            let asked = json!({"method": dice.one_of(&known), "params": odd(&mut dice)});
            answered(request(&id, &asked, false), id)
        }
        47..=52 => {
            let asked = json!({"method": unknown(&mut dice), "params": {"a": odd(&mut dice)}});
            answered(request(&id, &asked, modern), id)
        }
        53..=59 => answered(bad_envelope(&mut dice, &id), id),
        60..=64 => Shot { line: bad_id(&mut dice).into_bytes(), due: Due::Anonymous },
        65..=71 => Shot { line: notification(&mut dice, number).into_bytes(), due: Due::Nothing },
        72..=74 => Shot { line: reply(&mut dice, number).into_bytes(), due: Due::Nothing },
        75..=86 => damaged(&mut dice, id, modern, number),
        87..=89 => answered(nested(&mut dice, &id), id),
        90 => {
            let length = 1_000 * (1 + dice.below(300));
            let asked = json!({"method": "tools/call", "params": {"name": "get_run", "arguments": {"run_id": "z".repeat(length)}}});
            answered(request(&id, &asked, modern), id)
        }
        91 | 92 => Shot { line: blank(&mut dice), due: Due::Nothing },
        93..=96 => Shot { line: noise(&mut dice), due: Due::Anonymous },
        _ => Shot {
            line: format!("[{},{}]", request(&id, &json!({"method": "ping"}), modern), dice.below(9)).into(),
            due: Due::Anonymous,
        },
    }
}

fn answered(line: String, id: Value) -> Shot {
    Shot { line: line.into_bytes(), due: Due::Answer(id) }
}

/// Every id of a storm is another one, so that each answer has one request.
fn id(dice: &mut Dice, number: u64) -> Value {
    match dice.below(6) {
        0 => json!(1_000_000_000 + number),
        1 => json!(-1_000_000_000 - i64::try_from(number).unwrap_or_default()),
        2 => json!(format!("{number}")),
        3 => json!(format!("storm \u{e9}\u{2028}\"\\/{number}")),
        4 => json!(format!("{}{number}", "i".repeat(300))),
        _ => json!(format!("storm-{number}")),
    }
}

fn method(dice: &mut Dice, modern: bool, number: u64) -> Value {
    let calls = |name: &str, arguments: Value| json!({"method": "tools/call", "params": {"name": name, "arguments": arguments}});
    match dice.below(5) {
        0 if !modern => json!({"method": "ping"}),
        0 => json!({"method": "server/discover"}),
        1 => json!({"method": "tools/list"}),
        2 => calls("list_workflows", json!({})),
        3 => calls("no_such_tool", json!({"a": number})),
        _ => calls("get_run", json!({"run_id": format!("run-{number:024x}")})),
    }
}

/// The id comes first, so that whatever is done to the rest leaves it readable.
fn request(id: &Value, asked: &Value, modern: bool) -> String {
    let method = &asked["method"];
    let mut params = asked.get("params").cloned();
    if modern {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "storm", "version": "1"},
        });
        if let Some(object) = params.get_or_insert_with(|| json!({})).as_object_mut() {
            object.insert("_meta".to_owned(), meta);
        }
    }
    let params = params.map(|params| format!(r#","params":{params}"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}{params}}}"#)
}

fn unknown(dice: &mut Dice) -> String {
    let names = [
        "",
        "tools",
        "TOOLS/LIST",
        "tools/list ",
        "tools/call\u{0}",
        "rpc.discover",
        "resources/list",
        "prompts/get",
        "logging/setLevel",
        "completion/complete",
        "sampling/createMessage",
        "elicitation/create",
        "__proto__",
        "\u{202e}gnip",
    ];
    dice.one_of(&names).copied().unwrap_or_default().to_owned()
}

fn bad_envelope(dice: &mut Dice, id: &Value) -> String {
    match dice.below(7) {
        0 => format!(r#"{{"id":{id},"method":"ping"}}"#),
        1 => format!(r#"{{"id":{id},"jsonrpc":"1.0","method":"ping"}}"#),
        2 => format!(r#"{{"id":{id},"jsonrpc":2.0,"method":"ping"}}"#),
        3 => {
            format!(r#"{{"id":{id},"jsonrpc":"2.0","method":{}}}"#, odd(dice).as_f64().map_or(json!([1]), Value::from))
        }
        4 => format!(r#"{{"id":{id},"jsonrpc":"2.0","method":"ping","result":{{}}}}"#),
        5 => format!(r#"{{"id":{id},"jsonrpc":"2.0"}}"#),
        _ => format!(r#"{{"id":{id},"jsonrpc":"2.0","method":"ping","error":{{"code":1,"message":"x"}}}}"#),
    }
}

fn bad_id(dice: &mut Dice) -> String {
    let ids = ["null", "true", "1.5", "[]", "{}", "[1]", "{\"id\":1}", "1e400", "-0.25"];
    let id = dice.one_of(&ids).copied().unwrap_or("null");
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn notification(dice: &mut Dice, number: u64) -> String {
    let params = match dice.below(4) {
        0 => json!({"requestId": format!("never-{number}"), "reason": odd(dice)}),
        1 => json!({"requestId": odd(dice)}),
        2 => {
            json!({"name": "run_workflow", "arguments": {"workflow": "triage", "request_id": format!("quiet-{number}"), "inputs": {"note": "x"}}})
        }
        _ => odd(dice),
    };
    let methods = [
        "notifications/cancelled",
        "notifications/initialized",
        "notifications/progress",
        "tools/call",
        "ping",
        "initialize",
        "notifications/roots/list_changed",
        "no/such/thing",
        "",
    ];
    json!({"jsonrpc": "2.0", "method": dice.one_of(&methods), "params": params}).to_string()
}

/// An answer to something that the server never asked.
fn reply(dice: &mut Dice, number: u64) -> String {
    let id = if dice.below(2) == 0 { json!(number % 7) } else { json!(format!("reply-{number}")) };
    match dice.below(3) {
        0 => json!({"jsonrpc": "2.0", "id": id, "result": odd(dice)}).to_string(),
        1 => json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"confirmed": true}}})
            .to_string(),
        _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}}).to_string(),
    }
}

/// A call that starts nothing, its bytes changed behind the id and the method: without a method it could be an answer.
fn damaged(dice: &mut Dice, id: Value, modern: bool, number: u64) -> Shot {
    let (tool, arguments) = fatal(dice, number);
    let asked = json!({"method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let mut line = request(&id, &asked, modern).into_bytes();
    let safe = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","#).len();
    for _ in 0..=dice.below(4) {
        let at = safe + dice.below(line.len().saturating_sub(safe));
        let byte = match u8::try_from(dice.below(256)).unwrap_or_default() {
            b'\n' => b'\r',
            other => other,
        };
        match dice.below(4) {
            0 => line.truncate(at.max(safe)),
            1 if at < line.len() => drop(line.remove(at)),
            2 => line.insert(at.min(line.len()), byte),
            _ if at < line.len() => line[at] = byte,
            _ => {}
        }
    }
    Shot { line, due: Due::Answer(id) }
}

fn nested(dice: &mut Dice, id: &Value) -> String {
    let depth = 1 + dice.below(3_000);
    let (open, close) = if dice.below(2) == 0 { ("[", "]") } else { (r#"{"a":"#, "}") };
    let ends = if dice.below(3) == 0 { String::new() } else { format!("{}}}}}", close.repeat(depth)) };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{}1{ends}"#, open.repeat(depth))
}

fn blank(dice: &mut Dice) -> Vec<u8> {
    let blanks: [&[u8]; 4] = [b"", b" ", b"\t \r", b"\r"];
    dice.one_of(&blanks).copied().unwrap_or_default().to_vec()
}

/// Bytes without meaning, and without a brace: an id in them would be no accident.
fn noise(dice: &mut Dice) -> Vec<u8> {
    let length = 1 + dice.below(200);
    let mut bytes: Vec<u8> = (0..length).map(|_| u8::try_from(dice.below(256)).unwrap_or_default()).collect();
    bytes.iter_mut().filter(|byte| matches!(**byte, b'\n' | b'{' | b'[')).for_each(|byte| *byte = b'x');
    bytes.insert(0, b'!');
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SHOTS: u64 = 20_000;

    #[test]
    fn a_seed_gives_the_same_storm_each_time_and_another_gives_another() {
        let some = |seed| (0..500).map(|number| shot(seed, number, false)).collect::<Vec<_>>();
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
    }

    #[test]
    fn every_shot_is_one_line_and_every_id_is_used_once() {
        let mut ids = BTreeSet::new();
        for number in 0..SHOTS {
            let shot = shot(7, number, number % 2 == 0);
            assert!(!shot.line.contains(&b'\n'), "{number}");
            if let Due::Answer(id) = shot.due {
                assert!(ids.insert(id.to_string()), "{id} twice");
            }
        }
        assert!(ids.len() > 10_000);
    }

    #[test]
    fn what_is_owed_nothing_is_no_request() {
        for number in 0..SHOTS {
            let Shot { line, due: Due::Nothing } = shot(7, number, false) else { continue };
            let message: Option<Value> = serde_json::from_slice(&line).ok();
            let asks = message.is_some_and(|message| message.get("id").is_some() && message.get("method").is_some());
            assert!(!asks, "{}", String::from_utf8_lossy(&line));
        }
    }
}
