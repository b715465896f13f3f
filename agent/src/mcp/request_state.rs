//! `requestState` of 2026-07-28: what a form was about, sealed for the way through the client and good for one answer.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

/// Spent states that are remembered one by one. Beyond that the oldest count as spent, answered or not.
const SPENT_MAX: usize = 16 * 1024;

/// Seals states with a key of its own, which dies with it.
pub struct RequestStates {
    /// `None` where the system gave no random bytes: then nothing is sealed, and nothing opens.
    codec: Option<RequestStateCodec>,
    /// Time limits count from here, so nobody's clock moves them.
    born: Instant,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    last: u64,
    spent: BTreeSet<u64>,
    /// Everything up to here counts as spent.
    floor: u64,
}

#[derive(Serialize, Deserialize)]
struct State {
    serial: u64,
    /// Milliseconds after `born`.
    until: u64,
    binding: String,
}

/// A state of ours, sealed for this very call and never opened before.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened {
    pub binding: String,
    pub late: bool,
}

/// Forged, for another call, of another process, or spent: which one is nobody's business.
#[derive(Debug, PartialEq, Eq)]
pub struct NotOpen;

impl RequestStates {
    pub fn new() -> Self {
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        let codec = getrandom::fill(&mut key).ok().and_then(|()| RequestStateCodec::try_new(key).ok());
        Self { codec, born: Instant::now(), book: Mutex::default() }
    }

    /// Binds a state to the tool, its exact arguments, the form's binding and a time limit.
    pub fn seal(&self, tool: &str, arguments: &Map<String, Value>, binding: String, limit: Duration) -> Option<String> {
        let serial = {
            let mut book = self.book();
            book.last += 1;
            book.last
        };
        let state = State { serial, until: millis(self.born.elapsed().saturating_add(limit)), binding };
        let scope = scope(tool, arguments);
        self.codec.as_ref()?.seal_json_with(&state, &SealOptions::new().associated_data(&scope)).ok()
    }

    /// Opens a state once; it is spent then, late or not.
    pub fn spend(&self, tool: &str, arguments: &Map<String, Value>, sealed: &str) -> Result<Opened, NotOpen> {
        let codec = self.codec.as_ref().ok_or(NotOpen)?;
        let state: State = codec.open_json_with(sealed, &scope(tool, arguments)).map_err(|_| NotOpen)?;
        if !self.book().spend(state.serial) {
            return Err(NotOpen);
        }
        Ok(Opened { binding: state.binding, late: millis(self.born.elapsed()) >= state.until })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn spend(&mut self, serial: u64) -> bool {
        if serial <= self.floor || !self.spent.insert(serial) {
            return false;
        }
        if self.spent.len() > SPENT_MAX
            && let Some(oldest) = self.spent.pop_first()
        {
            self.floor = oldest;
        }
        true
    }
}

/// Arguments are the same in whatever order their names stand.
fn scope(tool: &str, arguments: &Map<String, Value>) -> Vec<u8> {
    let mut scope = json!([tool, arguments]);
    scope.sort_all_objects();
    scope.to_string().into_bytes()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(600);

    fn arguments(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    fn sealed(states: &RequestStates, limit: Duration) -> String {
        states.seal("reject", &arguments(json!({ "a": 1, "b": { "c": 2, "d": 3 } })), "x".to_owned(), limit).unwrap()
    }

    #[test]
    fn a_state_opens_once_for_its_own_call() {
        let states = RequestStates::new();
        let state = sealed(&states, LIMIT);
        let same = arguments(json!({ "b": { "d": 3, "c": 2 }, "a": 1 }));
        for (tool, other) in [
            ("skip", same.clone()),
            ("reject", arguments(json!({ "a": 2, "b": { "c": 2, "d": 3 } }))),
            ("reject", arguments(json!({ "a": 1 }))),
            ("reject", Map::new()),
        ] {
            assert_eq!(states.spend(tool, &other, &state), Err(NotOpen), "{tool} {other:?}");
        }
        assert_eq!(states.spend("reject", &same, &state), Ok(Opened { binding: "x".to_owned(), late: false }));
        assert_eq!(states.spend("reject", &same, &state), Err(NotOpen));
    }

    #[test]
    fn a_state_of_another_key_or_with_any_character_changed_never_opens() {
        let states = RequestStates::new();
        let state = sealed(&states, LIMIT);
        let same = arguments(json!({ "a": 1, "b": { "c": 2, "d": 3 } }));
        assert_eq!(RequestStates::new().spend("reject", &same, &state), Err(NotOpen));
        for at in 0..state.len() {
            let mut forged = state.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).unwrap();
            assert_eq!(states.spend("reject", &same, &forged), Err(NotOpen), "{forged}");
            assert_eq!(states.spend("reject", &same, &state[..at]), Err(NotOpen), "{at}");
        }
        assert!(states.spend("reject", &same, &state).is_ok());
    }

    #[test]
    fn a_state_past_its_limit_is_late_and_is_spent_all_the_same() {
        let states = RequestStates::new();
        let state = sealed(&states, Duration::ZERO);
        let same = arguments(json!({ "a": 1, "b": { "c": 2, "d": 3 } }));
        assert_eq!(states.spend("reject", &same, &state), Ok(Opened { binding: "x".to_owned(), late: true }));
        assert_eq!(states.spend("reject", &same, &state), Err(NotOpen));
    }

    #[test]
    fn what_is_remembered_of_spent_states_is_bounded_and_no_state_opens_twice_for_it() {
        let mut book = Book::default();
        let all = 2 * SPENT_MAX as u64;
        assert!((1..=all).all(|serial| book.spend(serial)));
        assert!(!(1..=all).any(|serial| book.spend(serial)));
        assert_eq!(book.spent.len(), SPENT_MAX);
    }
}
