//! Which requests are being answered, under which ids, and which answers wait for the rest of their batch.
//!
//! rmcp counts requests by ids that the desk hands out. So a client may reuse an id as soon as it is free, a late answer
//! to a cancelled request can't be taken for another's, and the client's id comes back exactly as it was written.

use std::collections::HashMap;

use super::envelope::{ClientId, Fault};
use super::params::Method;

/// Requests that may be under way at once.
const OPEN_MAX: usize = 4096;

/// Bytes of input that requests under way may hold together.
const HELD_MAX: usize = 64 * 1024 * 1024;

/// The id that rmcp knows a request by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeskId(pub i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BatchId(u64);

#[derive(Debug)]
pub struct Open {
    pub id: ClientId,
    pub method: Method,
    pub batch: Option<BatchId>,
    size: usize,
}

#[derive(Debug, Default)]
pub struct Desk {
    open: HashMap<DeskId, Open>,
    by_client_id: HashMap<ClientId, DeskId>,
    held: usize,
    last: i64,
    batches: HashMap<BatchId, Batch>,
    last_batch: u64,
}

#[derive(Debug, Default)]
struct Batch {
    awaited: usize,
    answers: Vec<String>,
}

impl Desk {
    /// `size` is how many bytes of input the request came in.
    pub fn admit(
        &mut self,
        id: &ClientId,
        method: Method,
        size: usize,
        batch: Option<BatchId>,
    ) -> Result<DeskId, Fault> {
        if self.by_client_id.contains_key(id) {
            return Err(Fault::DUPLICATE_ID);
        }
        if self.open.len() >= OPEN_MAX || self.held + size > HELD_MAX {
            return Err(Fault::TOO_MANY);
        }
        self.last += 1;
        let desk_id = DeskId(self.last);
        self.held += size;
        self.by_client_id.insert(id.clone(), desk_id);
        self.open.insert(desk_id, Open { id: id.clone(), method, batch, size });
        Ok(desk_id)
    }

    pub fn is_open(&self, id: DeskId) -> bool {
        self.open.contains_key(&id)
    }

    /// Takes a request off the desk; its id is free again. `None` if it was cancelled before.
    pub fn settle(&mut self, id: DeskId) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.by_client_id.remove(&open.id);
        self.held -= open.size;
        Some(open)
    }

    /// The request that a client wants to cancel. `initialize` can't be.
    pub fn cancellable(&self, id: &ClientId) -> Option<DeskId> {
        let desk_id = *self.by_client_id.get(id)?;
        self.open.get(&desk_id).filter(|open| open.method != Method::Initialize).map(|_| desk_id)
    }

    /// Opens a batch that awaits one more answer than it has, until `close_batch`.
    pub fn open_batch(&mut self) -> BatchId {
        self.last_batch += 1;
        let id = BatchId(self.last_batch);
        self.batches.insert(id, Batch { awaited: 1, answers: Vec::new() });
        id
    }

    pub fn await_answer(&mut self, batch: BatchId) {
        if let Some(batch) = self.batches.get_mut(&batch) {
            batch.awaited += 1;
        }
    }

    /// Adds an answer (none for a cancelled request). Gives all of them once none is awaited any more.
    pub fn add_answer(&mut self, id: BatchId, answer: Option<String>) -> Option<Vec<String>> {
        let batch = self.batches.get_mut(&id)?;
        batch.answers.extend(answer);
        batch.awaited -= 1;
        if batch.awaited > 0 {
            return None;
        }
        self.batches.remove(&id).map(|batch| batch.answers).filter(|answers| !answers.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(value: serde_json::Value) -> ClientId {
        ClientId::read(&value).unwrap()
    }

    #[test]
    fn an_id_is_taken_until_its_request_is_settled() {
        let mut desk = Desk::default();
        let first = desk.admit(&id(json!(1)), Method::CallTool, 10, None).unwrap();
        assert_eq!(desk.admit(&id(json!(1)), Method::CallTool, 10, None), Err(Fault::DUPLICATE_ID));
        assert!(desk.admit(&id(json!("1")), Method::CallTool, 10, None).is_ok());
        assert!(desk.settle(first).is_some());
        assert!(desk.settle(first).is_none());
        assert_ne!(desk.admit(&id(json!(1)), Method::CallTool, 10, None), Ok(first));
    }

    #[test]
    fn what_is_under_way_is_bounded_in_number_and_in_bytes() {
        let mut desk = Desk::default();
        for n in 0..OPEN_MAX {
            desk.admit(&id(json!(n)), Method::CallTool, 1, None).unwrap();
        }
        assert_eq!(desk.admit(&id(json!("more")), Method::CallTool, 1, None), Err(Fault::TOO_MANY));

        let mut desk = Desk::default();
        let first = desk.admit(&id(json!(1)), Method::CallTool, HELD_MAX, None).unwrap();
        assert_eq!(desk.admit(&id(json!(2)), Method::CallTool, 1, None), Err(Fault::TOO_MANY));
        desk.settle(first);
        assert!(desk.admit(&id(json!(2)), Method::CallTool, 1, None).is_ok());
    }

    #[test]
    fn a_batch_is_answered_once_when_its_last_member_is() {
        let mut desk = Desk::default();
        let batch = desk.open_batch();
        desk.await_answer(batch);
        desk.await_answer(batch);
        assert_eq!(desk.add_answer(batch, Some("a".into())), None);
        assert_eq!(desk.add_answer(batch, None), None);
        assert_eq!(desk.add_answer(batch, None), Some(vec!["a".to_owned()]));
        assert_eq!(desk.add_answer(batch, None), None);
    }
}
