//! One line of input, judged as a JSON-RPC 2.0 envelope.

use serde::Serialize;
use serde_json::{Map, Value};

use super::once::Once;
use super::salvage::Salvage;

/// A request id exactly as the client wrote it: a string or a whole number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ClientId(Value);

/// Beyond this a float no longer says which whole number was meant.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl ClientId {
    pub fn read(value: &Value) -> Option<Self> {
        let readable = match value {
            Value::String(_) => true,
            Value::Number(number) if number.is_f64() => {
                number.as_f64().is_some_and(|it| it.fract() == 0.0 && it.abs() < EXACT)
            }
            Value::Number(_) => true,
            _ => false,
        };
        readable.then(|| Self(value.clone()))
    }
}

/// A JSON-RPC error with a fixed sentence: nothing of the message is quoted back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub code: i32,
    pub message: &'static str,
}

impl Fault {
    pub const NOT_JSON: Self = Self { code: -32700, message: "Parse error: the line is not one JSON message." };
    pub const LINE_TOO_LONG: Self =
        Self { code: -32600, message: "Invalid request: the line is longer than the server reads." };
    pub const ENVELOPE: Self = Self { code: -32600, message: "Invalid request: not a JSON-RPC 2.0 message." };
    pub const ID: Self = Self { code: -32600, message: "Invalid request: the id must be a string or a whole number." };
    pub const DUPLICATE_ID: Self =
        Self { code: -32600, message: "Invalid request: a request with this id is still being answered." };
    pub const BATCH: Self =
        Self { code: -32600, message: "Invalid request: batches are not part of this protocol version." };
    pub const EMPTY_BATCH: Self = Self { code: -32600, message: "Invalid request: the batch is empty." };
    pub const INITIALIZED_TWICE: Self =
        Self { code: -32600, message: "Invalid request: this connection is already initialized." };
    pub const INITIALIZE_IN_BATCH: Self =
        Self { code: -32600, message: "Invalid request: initialize can't be part of a batch." };
    pub const METHOD: Self = Self { code: -32601, message: "Method not found." };
    pub const PARAMS: Self = Self { code: -32602, message: "Invalid params for this method." };
    pub const CURSOR: Self = Self { code: -32602, message: "Invalid params: unknown cursor." };
    pub const TOOL: Self = Self { code: -32602, message: "Invalid params: no tool of this name is available." };
    pub const INTERNAL: Self = Self { code: -32603, message: "Internal error: the request failed safely." };
    pub const ANSWER_TOO_LONG: Self =
        Self { code: -32603, message: "Internal error: the answer is larger than one message may be." };
    pub const TOO_MANY: Self =
        Self { code: -32603, message: "Internal error: too many requests are being answered; try again later." };
}

/// What a line of input can be.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    One(Result<Message, Refusal>),
    /// The members of a JSON array, not yet judged.
    Batch(Vec<Value>),
}

#[derive(Debug, PartialEq)]
pub enum Message {
    Request {
        id: ClientId,
        method: String,
        params: Option<Value>,
    },
    Notification {
        method: String,
        params: Option<Value>,
    },
    /// An answer to a request of the server.
    Reply(Value),
}

/// Why a message can't be taken, and whom to tell. Without a readable id the error goes out without one.
#[derive(Debug, PartialEq)]
pub struct Refusal {
    pub id: Option<ClientId>,
    pub fault: Fault,
}

/// `line` without its newline. `None` for a blank line.
pub fn read(line: &[u8]) -> Option<Incoming> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    Some(match serde_json::from_slice(line) {
        Ok(Once(Value::Array(members))) => Incoming::Batch(members),
        Ok(Once(value)) => Incoming::One(judge(value)),
        Err(_) => Incoming::One(Err(Refusal { id: Salvage::from_line(line), fault: Fault::NOT_JSON })),
    })
}

pub fn judge(value: Value) -> Result<Message, Refusal> {
    let Value::Object(mut message) = value else { return Err(Refusal { id: None, fault: Fault::ENVELOPE }) };
    let answers = message.contains_key("result") || message.contains_key("error");
    let Some(method) = message.remove("method") else { return reply(message, answers) };
    let id = match message.get("id").map(ClientId::read) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => return Err(Refusal { id: None, fault: Fault::ID }),
    };
    let (Value::String(method), true, false) = (method, is_version_2(&message), answers) else {
        return Err(Refusal { id, fault: Fault::ENVELOPE });
    };
    let params = message.remove("params");
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

fn reply(message: Map<String, Value>, answers: bool) -> Result<Message, Refusal> {
    if answers && is_version_2(&message) {
        return Ok(Message::Reply(Value::Object(message)));
    }
    // The id of an answer belongs to a request of the server's own, so it is never echoed.
    let id = if answers { None } else { message.get("id").and_then(ClientId::read) };
    Err(Refusal { id, fault: Fault::ENVELOPE })
}

fn is_version_2(message: &Map<String, Value>) -> bool {
    message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(line: &str) -> (Option<Value>, i32) {
        match read(line.as_bytes()) {
            Some(Incoming::One(Err(refusal))) => (refusal.id.map(|id| id.0), refusal.fault.code),
            other => panic!("{line} was not refused: {other:?}"),
        }
    }

    #[test]
    fn an_id_is_a_string_or_a_whole_number_and_nothing_else() {
        for good in [json!(0), json!(-7), json!(u64::MAX), json!(""), json!("1"), json!(1.0)] {
            assert_eq!(ClientId::read(&good), Some(ClientId(good)));
        }
        for bad in [json!(null), json!(true), json!(1.5), json!(1e300), json!([1]), json!({})] {
            assert_eq!(ClientId::read(&bad), None, "{bad}");
        }
    }

    #[test]
    fn a_bad_envelope_is_refused_to_its_id_where_that_is_readable() {
        assert_eq!(refused(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#), (Some(json!(7)), -32600));
        assert_eq!(refused(r#"{"id":"","method":"ping"}"#), (Some(json!("")), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7,"method":5}"#), (Some(json!(7)), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7}"#), (Some(json!(7)), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#), (Some(json!(7)), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), (None, -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), (None, -32600));
        assert_eq!(refused("17"), (None, -32600));
    }

    #[test]
    fn the_id_of_a_broken_answer_is_not_taken_for_an_id_of_the_client() {
        assert_eq!(refused(r#"{"id":7,"result":{}}"#), (None, -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":7,"result":{"a":NaN}}"#), (None, -32700));
    }

    #[test]
    fn what_is_no_json_is_a_parse_error_with_the_salvaged_id() {
        let deep =
            format!(r#"{{"jsonrpc":"2.0","id":9,"method":"ping","params":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        assert_eq!(refused(&deep), (Some(json!(9)), -32700));
        assert_eq!(refused("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}"), (Some(json!(3)), -32700));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":"x","method":"\ud800"}"#), (Some(json!("x")), -32700));
        assert_eq!(refused("hello"), (None, -32700));
    }

    #[test]
    fn a_blank_line_is_nothing() {
        assert_eq!(read(b" \t\r"), None);
    }
}
