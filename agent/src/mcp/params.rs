//! The methods that this server knows, and the params each may have.
//!
//! rmcp takes a known method with bad params for an unknown method, and a cursor of a wrong type for none, so both are
//! judged here. Only what the server uses goes on: a client is not turned away for an odd corner of its capabilities.

use rmcp::model::{CallToolRequest, ClientRequest, DiscoverRequest, InitializeRequest, ListToolsRequest, PingRequest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::envelope::Fault;

/// First version without `initialize`, `ping` and sessions. Versions are dates and compare as text.
const MODERN: &str = "2026-07-28";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Initialize,
    Discover,
    Ping,
    ListTools,
    CallTool,
}

impl Method {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "initialize" => Self::Initialize,
            "server/discover" => Self::Discover,
            "ping" => Self::Ping,
            "tools/list" => Self::ListTools,
            "tools/call" => Self::CallTool,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Discover => "server/discover",
            Self::Ping => "ping",
            Self::ListTools => "tools/list",
            Self::CallTool => "tools/call",
        }
    }

    /// Checks `params` and makes rmcp's typed request of them.
    pub fn request(self, params: Option<Value>) -> Result<ClientRequest, Fault> {
        let params = match params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(Fault::PARAMS),
        };
        let meta = meta(&params)?;
        match self {
            Self::Initialize => self.typed::<InitializeRequest>(initialize(&params)?).map(Into::into),
            Self::Discover => self.typed::<DiscoverRequest>(with_meta(meta, json!({}))).map(Into::into),
            Self::Ping if is_modern(&meta) => Err(Fault::METHOD),
            Self::Ping => self.typed::<PingRequest>(json!({})).map(Into::into),
            Self::ListTools => match params.get("cursor") {
                None => self.typed::<ListToolsRequest>(with_meta(meta, json!({}))).map(Into::into),
                // The list is one page, so no cursor was ever handed out.
                Some(Value::String(_)) => Err(Fault::CURSOR),
                Some(_) => Err(Fault::PARAMS),
            },
            Self::CallTool => {
                let params = call(params, is_modern(&meta))?;
                self.typed::<CallToolRequest>(with_meta(meta, params)).map(Into::into)
            }
        }
    }

    fn typed<T: DeserializeOwned>(self, params: Value) -> Result<T, Fault> {
        serde_json::from_value(json!({ "method": self.name(), "params": params })).map_err(|_| Fault::PARAMS)
    }
}

fn initialize(params: &Map<String, Value>) -> Result<Value, Fault> {
    let version = params.get("protocolVersion").and_then(Value::as_str).ok_or(Fault::PARAMS)?;
    let capabilities = params.get("capabilities").and_then(Value::as_object).ok_or(Fault::PARAMS)?;
    let client = params.get("clientInfo").and_then(Value::as_object).ok_or(Fault::PARAMS)?;
    let name = client.get("name").and_then(Value::as_str).ok_or(Fault::PARAMS)?;
    let release = client.get("version").and_then(Value::as_str).ok_or(Fault::PARAMS)?;
    Ok(json!({
        "protocolVersion": version,
        "capabilities": used(capabilities),
        "clientInfo": { "name": name, "version": release },
    }))
}

fn call(mut params: Map<String, Value>, is_modern: bool) -> Result<Value, Fault> {
    let Some(name @ Value::String(_)) = params.remove("name") else { return Err(Fault::PARAMS) };
    let mut call = Map::from_iter([("name".to_owned(), name)]);
    for (key, is_known, is_fit) in [
        ("arguments", true, Value::is_object as fn(&Value) -> bool),
        ("inputResponses", is_modern, Value::is_object),
        ("requestState", is_modern, Value::is_string),
    ] {
        match params.remove(key) {
            Some(value) if is_known && is_fit(&value) => drop(call.insert(key.to_owned(), value)),
            Some(_) if is_known => return Err(Fault::PARAMS),
            _ => {}
        }
    }
    Ok(Value::Object(call))
}

fn meta(params: &Map<String, Value>) -> Result<Option<Map<String, Value>>, Fault> {
    let mut meta = match params.get("_meta") {
        None => return Ok(None),
        Some(Value::Object(meta)) => meta.clone(),
        Some(_) => return Err(Fault::PARAMS),
    };
    match meta.get("progressToken") {
        None | Some(Value::String(_)) => {}
        Some(Value::Number(number)) if !number.is_f64() => {}
        Some(_) => return Err(Fault::PARAMS),
    }
    if let Some(Value::Object(capabilities)) = meta.get_mut(CAPABILITIES_KEY) {
        *capabilities = used(capabilities);
    }
    Ok(Some(meta))
}

/// The one capability of a client that the server looks at.
fn used(capabilities: &Map<String, Value>) -> Map<String, Value> {
    capabilities
        .iter()
        .filter(|(key, _)| *key == "elicitation")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn is_modern(meta: &Option<Map<String, Value>>) -> bool {
    meta.as_ref().and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str).is_some_and(|it| it >= MODERN)
}

fn with_meta(meta: Option<Map<String, Value>>, mut params: Value) -> Value {
    if let (Some(meta), Value::Object(params)) = (meta, &mut params) {
        params.insert("_meta".to_owned(), Value::Object(meta));
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(method: &str, params: Value) -> Option<i32> {
        Method::named(method).unwrap().request(Some(params)).err().map(|fault| fault.code)
    }

    #[test]
    fn a_known_method_with_bad_params_is_never_taken_for_an_unknown_one() {
        for params in [json!([]), json!("x"), json!(null), json!(7)] {
            for method in ["initialize", "server/discover", "ping", "tools/list", "tools/call"] {
                assert_eq!(fault(method, params.clone()), Some(-32602), "{method} {params}");
            }
        }
        for params in [
            json!({}),
            json!({ "name": 5 }),
            json!({ "name": "x", "arguments": [] }),
            json!({ "name": "x", "arguments": null }),
            json!({ "name": "x", "_meta": 1 }),
            json!({ "name": "x", "_meta": { "progressToken": [] } }),
        ] {
            assert_eq!(fault("tools/call", params.clone()), Some(-32602), "{params}");
        }
    }

    #[test]
    fn a_cursor_is_never_taken_for_the_first_page() {
        for cursor in [json!(5), json!({}), json!(null), json!(""), json!("made-up")] {
            assert_eq!(fault("tools/list", json!({ "cursor": cursor })), Some(-32602), "{cursor}");
        }
    }

    #[test]
    fn a_client_is_not_turned_away_for_a_capability_that_the_server_never_looks_at() {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "roots": 5, "sampling": [], "elicitation": {} },
            "clientInfo": { "name": "c", "version": "1", "icons": "none" },
        });
        assert_eq!(fault("initialize", params), None);
    }

    #[test]
    fn ping_is_unknown_to_the_modern_protocol() {
        assert_eq!(fault("ping", json!({ "_meta": { VERSION_KEY: MODERN } })), Some(-32601));
        assert_eq!(fault("ping", json!({ "_meta": { VERSION_KEY: "2025-11-25" } })), None);
    }
}
