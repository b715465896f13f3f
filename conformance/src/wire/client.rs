//! Requests as a client makes them, in both protocol eras, and the handshake.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::server::{Server, WriteFault};
use super::transcript::Transcript;
use crate::evidence::Exchange;
use crate::scenario::form::FormReply;

pub const MODERN: &str = "2026-07-28";

/// One client; it may speak to several servers, and never uses an id twice.
pub struct Client {
    transcript: Rc<Transcript>,
    next_id: Cell<u64>,
    limit: Duration,
}

/// What a client says of itself to one server.
#[derive(Debug, Clone)]
pub struct Identity {
    pub modern: bool,
    /// What it calls itself.
    pub name: String,
    pub protocol: String,
    pub capabilities: Map<String, Value>,
    pub forms: Option<FormReply>,
}

#[derive(Debug)]
pub enum HandshakeFault {
    Write(WriteFault),
    /// It ended, or closed its stdout, before the answer to this request.
    Ended(&'static str),
    Silent(&'static str),
    Refused(&'static str, Value),
    /// It sent the client's own request back.
    Echo,
}

impl Client {
    pub fn new(transcript: Rc<Transcript>, limit: Duration) -> Self {
        Self { transcript, next_id: Cell::new(1), limit }
    }

    /// Sends a request and doesn't wait. The exchange is logged even if the write fails.
    pub async fn request(
        &self,
        server: &Server,
        identity: &Identity,
        method: &str,
        params: Option<Value>,
        step: Option<usize>,
    ) -> (usize, Result<(), WriteFault>) {
        let id = Value::from(self.next_id.replace(self.next_id.get() + 1));
        let tool =
            params.as_ref().filter(|_| method == "tools/call").and_then(|p| p.get("name")).and_then(Value::as_str);
        let arguments = match tool {
            Some(_) => params.as_ref().and_then(|params| params.get("arguments")).cloned(),
            None => params.clone(),
        };
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        let tool = tool.map(str::to_owned);
        if let Some(params) = with_meta(params, identity, method) {
            message["params"] = params;
        }
        let request = self.transcript.frames().len();
        let exchange = self.transcript.opened(Exchange {
            server: server.name.clone(),
            id,
            method: method.to_owned(),
            tool,
            arguments: arguments.unwrap_or_default(),
            request,
            answer: None,
            cancelled: None,
            step,
        });
        let (_, written) = server.write(message.to_string().as_bytes(), true, None, false, self.limit).await;
        (exchange, written)
    }

    pub async fn notify(
        &self,
        server: &Server,
        method: &str,
        params: Option<Value>,
    ) -> (usize, Result<(), WriteFault>) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(params) = params {
            message["params"] = params;
        }
        server.write(message.to_string().as_bytes(), true, None, false, self.limit).await
    }

    /// initialize and initialized, or server/discover; then tools/list, whose output schemas every result is held against.
    pub async fn greet(&self, server: &Server, identity: &Identity) -> Result<(), HandshakeFault> {
        server.greeted.set(Some(false));
        if identity.modern {
            self.ask(server, identity, "server/discover", None).await?;
        } else {
            let hello = json!({
                "protocolVersion": identity.protocol,
                "capabilities": identity.capabilities,
                "clientInfo": {"name": identity.name, "version": env!("CARGO_PKG_VERSION")},
            });
            self.ask(server, identity, "initialize", Some(hello)).await?;
            let (_, written) = self.notify(server, "notifications/initialized", None).await;
            written.map_err(HandshakeFault::Write)?;
        }
        let tools = self.ask(server, identity, "tools/list", None).await?;
        server.tools.set(Some(tools));
        server.greeted.set(Some(true));
        Ok(())
    }

    async fn ask(
        &self,
        server: &Server,
        identity: &Identity,
        method: &'static str,
        params: Option<Value>,
    ) -> Result<usize, HandshakeFault> {
        let (exchange, written) = self.request(server, identity, method, params, None).await;
        if let Err(WriteFault::Stuck) = written {
            return Err(HandshakeFault::Write(WriteFault::Stuck));
        }
        let sent = self.transcript.exchange(exchange).request;
        let answered = self
            .transcript
            .until(self.limit, || {
                if self.transcript.is_answered(exchange) {
                    return Some(Ok(exchange));
                }
                if self.echoed(sent) {
                    return Some(Err(HandshakeFault::Echo));
                }
                (server.is_silent()).then_some(Err(HandshakeFault::Ended(method)))
            })
            .await;
        let exchange = answered.unwrap_or(Err(HandshakeFault::Silent(method)))?;
        match self.transcript.answer(exchange).as_ref().and_then(|answer| answer.get("error")) {
            Some(error) => Err(HandshakeFault::Refused(method, error.clone())),
            None => Ok(exchange),
        }
    }

    fn echoed(&self, sent: usize) -> bool {
        let frames = self.transcript.frames();
        frames.get(sent).is_some_and(|request| frames[sent + 1..].iter().any(|frame| frame.text == request.text))
    }
}

fn with_meta(params: Option<Value>, identity: &Identity, method: &str) -> Option<Value> {
    if !identity.modern || method == "initialize" {
        return params;
    }
    let mut params = params.unwrap_or_else(|| json!({}));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": identity.protocol,
        "io.modelcontextprotocol/clientCapabilities": identity.capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": identity.name, "version": env!("CARGO_PKG_VERSION")},
    });
    if let Some(object) = params.as_object_mut() {
        let given = object.entry("_meta").or_insert_with(|| json!({}));
        if let (Some(given), Some(meta)) = (given.as_object_mut(), meta.as_object()) {
            for (key, value) in meta {
                given.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    Some(params)
}
