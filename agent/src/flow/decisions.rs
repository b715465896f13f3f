//! Whether somebody's decision may be acting in the app right now, or has ended so that nobody knows: Flow writes down that a
//! delivery begins before it begins. Source: *Idempotency and thread ownership*.

use super::canonical::Tree;
use super::pause::{self, Pending};
use super::run_dir::{FoundTree, RunDir};

const NAME: &str = "attended_decisions.json";
const SIZE_LIMIT: usize = 16 << 20;

/// True while a delivery on the run's present pause, or on its last one, has begun and come to no known end. What can't be read
/// may be one.
pub fn delivery_is_open(run_dir: &RunDir) -> bool {
    let journal = match run_dir.read_tree(NAME, SIZE_LIMIT) {
        FoundTree::Nothing => return false,
        FoundTree::Unusable => return true,
        FoundTree::Tree(journal) => journal,
    };
    let Some(decisions) = journal.get("decisions").and_then(Tree::as_list) else { return true };
    let present = match pause::pending(run_dir) {
        Pending::Nothing => None,
        Pending::Tree(_) | Pending::Encrypted | Pending::Unreadable => pause::signed_capability(run_dir),
    };
    let present = present.as_ref().and_then(|capability| capability.get("pause_id"));
    let mut begun = None;
    for decision in decisions.iter().filter(|decision| present.is_none() || decision.get("pause_id") == present) {
        let key = decision.get("idempotency_key");
        match decision.get("status").and_then(Tree::as_text) {
            Some("delivery_started" | "delivery_uncertain") => begun = Some(key),
            Some("completed" | "halted" | "rejected") => begun = None,
            Some("refused") if begun == Some(key) => begun = None,
            _ => {}
        }
    }
    begun.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn is_open(journal: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), journal).unwrap();
        delivery_is_open(&RunDir::open(folder.path()))
    }

    fn journal(decisions: &[(&str, &str)]) -> String {
        let decision =
            |(key, status): &(&str, &str)| json!({"pause_id": "p", "idempotency_key": key, "status": status});
        json!({"decisions": decisions.iter().map(decision).collect::<Vec<Value>>()}).to_string()
    }

    #[test]
    fn a_delivery_is_open_from_its_begin_to_its_known_end() {
        assert!(!is_open(&journal(&[("a", "prepared")])));
        assert!(is_open(&journal(&[("a", "prepared"), ("a", "delivery_started")])));
        assert!(is_open(&journal(&[("a", "delivery_started"), ("a", "delivery_uncertain")])));
        for end in ["completed", "halted", "refused"] {
            assert!(!is_open(&journal(&[("a", "delivery_started"), ("a", end)])), "{end}");
        }
    }

    #[test]
    fn what_others_ask_for_meanwhile_ends_no_delivery() {
        for status in ["needs_demonstration", "escalated", "refused"] {
            assert!(is_open(&journal(&[("a", "delivery_started"), ("b", status)])), "{status}");
        }
    }

    #[test]
    fn no_journal_is_no_delivery_and_an_unreadable_one_may_be_one() {
        let empty = tempfile::tempdir().unwrap();
        assert!(!delivery_is_open(&RunDir::open(empty.path())));
        for text in ["{", "[]", "{}"] {
            assert!(is_open(text), "{text}");
        }
    }

    #[test]
    fn real_decisions_that_came_to_an_end_leave_nothing_open() {
        let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/samples/flow-1.35.1");
        for name in ["after_continue", "after_reject", "after_teach_escalate"] {
            let folder = std::path::Path::new(samples).join(name);
            assert!(folder.join(NAME).is_file(), "{name}");
            assert!(!delivery_is_open(&RunDir::open(&folder)), "{name}");
        }
    }
}
