//! Questions to the client that wait for an answer: `elicitation/create`, up to 2025-11-25.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::RequestId;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::form;
use super::outbox::Outbox;
use crate::bridge::host::{Form, FormOutcome};

/// Shared by the calls that ask and the front that reads the answers.
#[derive(Clone)]
pub struct Asking {
    outbox: Outbox,
    questions: Arc<Mutex<Questions>>,
}

#[derive(Default)]
struct Questions {
    last: i64,
    waiting: HashMap<i64, Waiting>,
}

struct Waiting {
    /// The call that asks, by the id that rmcp knows it by.
    call: RequestId,
    answer: oneshot::Sender<FormOutcome>,
}

impl Asking {
    pub fn new(outbox: Outbox) -> Self {
        Self { outbox, questions: Arc::default() }
    }

    /// Tells the client something that it can't answer.
    pub fn notify(&self, method: &str) {
        self.outbox.push(json!({ "jsonrpc": "2.0", "method": method }).to_string());
    }

    /// Shows the form and waits for its answer. Dropping the future, or the end of `limit`, takes the form back.
    pub async fn ask(&self, call: RequestId, form: &Form, limit: Duration) -> FormOutcome {
        let (_question, answer) = self.put(call, form);
        match timeout(limit, answer).await {
            Ok(Ok(outcome)) => outcome,
            // Called off: nobody waits for the call any more, and it is dropped in a moment.
            Ok(Err(_)) => pending().await,
            Err(_) => FormOutcome::Unanswered,
        }
    }

    /// Takes an answer of the client, result or error. One that no question waits for means nothing.
    pub fn settle(&self, reply: &Value) {
        let Some(id) = reply.get("id").and_then(Value::as_i64) else { return };
        let Some(waiting) = self.lock().waiting.remove(&id) else { return };
        let outcome = match (reply.get("result"), reply.get("error")) {
            (Some(result), None) => form::outcome(result),
            _ => FormOutcome::Unanswered,
        };
        // If the call was dropped meanwhile, there is nobody to tell.
        let _ = waiting.answer.send(outcome);
    }

    /// Takes back what a call asks. From now on no answer reaches it.
    pub fn call_off(&self, call: &RequestId) {
        let ids: Vec<i64> = {
            let questions = self.lock();
            questions.waiting.iter().filter(|(_, waiting)| waiting.call == *call).map(|(id, _)| *id).collect()
        };
        for id in ids {
            self.withdraw(id);
        }
    }

    fn put(&self, call: RequestId, form: &Form) -> (Question, oneshot::Receiver<FormOutcome>) {
        let (sender, answer) = oneshot::channel();
        let mut questions = self.lock();
        questions.last += 1;
        let id = questions.last;
        questions.waiting.insert(id, Waiting { call, answer: sender });
        drop(questions);
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form::params(form) });
        self.outbox.push(request.to_string());
        (Question { id, asking: self.clone() }, answer)
    }

    fn withdraw(&self, id: i64) {
        if self.lock().waiting.remove(&id).is_some() {
            let taken_back =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
            self.outbox.push(taken_back.to_string());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Questions> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes its form back when it is dropped unanswered.
struct Question {
    id: i64,
    asking: Asking,
}

impl Drop for Question {
    fn drop(&mut self) {
        self.asking.withdraw(self.id);
    }
}
