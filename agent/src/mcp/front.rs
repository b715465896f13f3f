//! The transport that rmcp reads from and writes to. It sees every message both ways, and answers by itself what rmcp
//! would drop, misjudge or end the connection for.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio::time::timeout;

use super::asking::Asking;
use super::closing::{Closing, Ended};
use super::desk::{BatchId, Desk, DeskId};
use super::envelope::{self, ClientId, Fault, Incoming, Message, Refusal};
use super::line::{Line, LineReader};
use super::outbox::Outbox;
use super::params::Method;
use super::progress::Progress;
use super::wire::Hangup;

/// The longest message that is sent: clients close the connection at 10 MiB.
const MESSAGE_MAX: usize = 8 * 1024 * 1024;

/// The one protocol version with batches.
const BATCHES: &str = "2025-03-26";

/// How often a client that doesn't read is looked at for having gone away.
const HANGUP_LOOK: Duration = Duration::from_millis(100);

pub struct Front<R> {
    lines: LineReader<R>,
    hangup: Hangup,
    outbox: Outbox,
    calls: Calls,
    closing: Closing,
    called_off: Arc<AtomicBool>,
    desk: Desk,
    phase: Phase,
    /// Judged and waiting for rmcp.
    ready: VecDeque<ClientJsonRpcMessage>,
    /// The answers to what came before have had their turn.
    yielded: bool,
}

/// What calls under way share with the front: it hears of answers and cancels before they do.
pub struct Calls {
    pub asking: Asking,
    pub progress: Progress,
}

/// rmcp ends the connection for anything but a request before a lifecycle is chosen.
enum Phase {
    /// With the last request that rmcp was given, which it answers before it reads on unless it chose the lifecycle.
    Opening(Option<DeskId>),
    Open {
        batches: bool,
    },
}

impl<R: AsyncRead + Send + Unpin> Front<R> {
    pub fn new(reader: R, hangup: Hangup, outbox: Outbox, calls: Calls, closing: Closing) -> Self {
        Self {
            lines: LineReader::new(reader),
            hangup,
            outbox,
            calls,
            closing,
            called_off: Arc::default(),
            desk: Desk::default(),
            phase: Phase::Opening(None),
            ready: VecDeque::new(),
            yielded: true,
        }
    }

    /// Takes no line up any more once the flag is set.
    pub fn until(self, called_off: Arc<AtomicBool>) -> Self {
        Self { called_off, ..self }
    }

    /// Loses nothing when it is dropped half-way: rmcp polls it among other things.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        self.note_lifecycle();
        loop {
            if !self.yielded {
                tokio::task::yield_now().await;
                self.yielded = true;
            }
            if let Some(message) = self.ready.pop_front() {
                self.yielded = false;
                if let (Phase::Opening(given), JsonRpcMessage::Request(request)) = (&mut self.phase, &message) {
                    *given = desk_id(&request.id);
                }
                return Some(message);
            }
            let closing = self.closing.clone();
            let line = tokio::select! {
                biased;
                _ = closing.begun() => return None,
                line = self.next_line() => line,
            };
            match line {
                _ if self.called_off.load(Ordering::SeqCst) => self.closing.begin(Ended::Shutdown),
                Line::Whole(line) => self.take(&line),
                Line::TooLong(id) => self.refuse(None, Refusal { id, fault: Fault::LINE_TOO_LONG }),
                Line::End => self.closing.begin(Ended::Eof),
            }
        }
    }

    /// Holds back while the client doesn't read its answers, and then still notices that it has gone.
    async fn next_line(&mut self) -> Line {
        while self.outbox.is_full() {
            if timeout(HANGUP_LOOK, self.outbox.progress()).await.is_err() && self.hangup.seen() {
                return Line::End;
            }
        }
        self.lines.next().await
    }

    fn note_lifecycle(&mut self) {
        if let Phase::Opening(Some(given)) = self.phase
            && self.desk.is_open(given)
        {
            self.phase = Phase::Open { batches: false };
        }
    }

    fn take(&mut self, line: &[u8]) {
        match envelope::read(line) {
            None => {}
            Some(Incoming::One(message)) => self.dispatch(message, line.len(), None),
            Some(Incoming::Batch(_)) if !matches!(self.phase, Phase::Open { batches: true }) => {
                self.refuse(None, Refusal { id: None, fault: Fault::BATCH });
            }
            Some(Incoming::Batch(members)) if members.is_empty() => {
                self.refuse(None, Refusal { id: None, fault: Fault::EMPTY_BATCH });
            }
            Some(Incoming::Batch(members)) => {
                let batch = self.desk.open_batch();
                let share = line.len() / members.len();
                for member in members {
                    self.dispatch(envelope::judge(member), share, Some(batch));
                }
                self.add_to_batch(batch, None);
            }
        }
    }

    fn dispatch(&mut self, message: Result<Message, Refusal>, size: usize, batch: Option<BatchId>) {
        match message {
            Ok(Message::Request { id, method, params }) => {
                if let Err(fault) = self.request(&id, &method, params, size, batch) {
                    self.refuse(batch, Refusal { id: Some(id), fault });
                }
            }
            Ok(Message::Notification { method, params }) => self.notification(&method, params),
            Ok(Message::Reply(reply)) => self.calls.asking.settle(&reply),
            Err(refusal) => self.refuse(batch, refusal),
        }
    }

    fn request(
        &mut self,
        id: &ClientId,
        method: &str,
        params: Option<Value>,
        size: usize,
        batch: Option<BatchId>,
    ) -> Result<(), Fault> {
        let method = Method::named(method).ok_or(Fault::METHOD)?;
        if method == Method::Initialize {
            match (batch, &self.phase) {
                (Some(_), _) => return Err(Fault::INITIALIZE_IN_BATCH),
                (None, Phase::Open { .. }) => return Err(Fault::INITIALIZED_TWICE),
                (None, Phase::Opening(_)) => {}
            }
        }
        let request: ClientRequest = method.request(params)?;
        let DeskId(number) = self.desk.admit(id, method, size, batch)?;
        if let Some(batch) = batch {
            self.desk.await_answer(batch);
        }
        self.ready.push_back(JsonRpcMessage::request(request, RequestId::Number(number)));
        Ok(())
    }

    /// Never answered, whatever it is. Of all notifications only a cancellation means anything to this server.
    fn notification(&mut self, method: &str, params: Option<Value>) {
        if method != "notifications/cancelled" {
            return;
        }
        let id = params.as_ref().and_then(|params| params.get("requestId")).and_then(ClientId::read);
        let Some(DeskId(number)) = id.and_then(|id| self.desk.cancellable(&id)) else { return };
        self.calls.asking.call_off(&RequestId::Number(number));
        self.calls.progress.call_off(&RequestId::Number(number));
        if let Some(batch) = self.desk.settle(DeskId(number)).and_then(|open| open.batch) {
            self.add_to_batch(batch, None);
        }
        self.hand_over(json!({ "jsonrpc": "2.0", "method": method, "params": { "requestId": number } }));
    }

    /// Before a lifecycle is chosen, nothing but requests means anything; rmcp would end the connection.
    fn hand_over(&mut self, message: Value) {
        if matches!(self.phase, Phase::Open { .. })
            && let Ok(message) = serde_json::from_value(message)
        {
            self.ready.push_back(message);
        }
    }

    fn refuse(&mut self, batch: Option<BatchId>, refusal: Refusal) {
        let message = error_message(refusal.id.as_ref(), &refusal.fault);
        match batch {
            None => self.outbox.push(message),
            Some(batch) => {
                self.desk.await_answer(batch);
                self.add_to_batch(batch, Some(message));
            }
        }
    }

    fn answer<T: Serialize>(&mut self, id: &RequestId, key: &str, value: &T) {
        let Some(open) = desk_id(id).and_then(|id| self.desk.settle(id)) else { return };
        let message = match message(Some(&open.id), key, value) {
            Some(message) if message.len() <= MESSAGE_MAX => message,
            Some(_) => error_message(Some(&open.id), &Fault::ANSWER_TOO_LONG),
            None => error_message(Some(&open.id), &Fault::INTERNAL),
        };
        match open.batch {
            None => self.outbox.push(message),
            Some(batch) => self.add_to_batch(batch, Some(message)),
        }
    }

    fn add_to_batch(&mut self, batch: BatchId, answer: Option<String>) {
        let Some(answers) = self.desk.add_answer(batch, answer) else { return };
        let mut together = String::from("[");
        for answer in answers {
            if together.len() + answer.len() + 2 > MESSAGE_MAX && together.len() > 1 {
                together.push(']');
                self.outbox.push(std::mem::replace(&mut together, String::from("[")));
            }
            if together.len() > 1 {
                together.push(',');
            }
            together.push_str(&answer);
        }
        together.push(']');
        self.outbox.push(together);
    }

    fn send_message(&mut self, item: &ServerJsonRpcMessage) {
        match item {
            JsonRpcMessage::Response(response) => {
                if let (ServerResult::InitializeResult(chosen), Phase::Opening(_)) = (&response.result, &self.phase) {
                    self.phase = Phase::Open { batches: chosen.protocol_version.as_str() == BATCHES };
                }
                self.answer(&response.id, "result", &response.result);
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.answer(id, "error", &error.error);
                }
            }
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                if let Ok(message) = serde_json::to_string(item)
                    && message.len() <= MESSAGE_MAX
                {
                    self.outbox.push(message);
                }
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Front<R> {
    type Error = Infallible;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.send_message(&item);
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn desk_id(id: &RequestId) -> Option<DeskId> {
    match id {
        RequestId::Number(number) => Some(DeskId(*number)),
        RequestId::String(_) => None,
    }
}

fn error_message(id: Option<&ClientId>, fault: &Fault) -> String {
    // A fault and an id are plain data, which always serialize.
    message(id, "error", fault).unwrap_or_default()
}

fn message<T: Serialize>(id: Option<&ClientId>, key: &str, value: &T) -> Option<String> {
    let value = serde_json::to_string(value).ok()?;
    let id = match id {
        Some(id) => format!(r#","id":{}"#, serde_json::to_string(id).ok()?),
        None => String::new(),
    };
    Some(format!(r#"{{"jsonrpc":"2.0"{id},"{key}":{value}}}"#))
}
