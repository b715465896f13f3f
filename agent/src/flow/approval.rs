//! Item approvals: whether a run is waiting, right now, for a person to approve a save. Source: *The result contract*,
//! "a run still going whose save waits for a person's approval".

use jiff::Timestamp;

use super::canonical::Tree;
use super::run_dir::{FoundTree, RunDir};

const FOLDER: &str = "item-approval";
const SIZE_LIMIT: usize = 64 << 10;

/// When the last unanswered request runs out, if any is still open at `now`.
pub fn waiting_until(run_dir: &RunDir, now: Timestamp) -> Option<Timestamp> {
    let folder = RunDir::open(&run_dir.path()?.join(FOLDER));
    let names = folder.names();
    let answered =
        |id: &str| names.iter().any(|name| *name == format!("answer-{id}.json") || *name == format!("consumed-{id}"));
    names
        .iter()
        .filter_map(|name| name.strip_prefix("request-")?.strip_suffix(".json"))
        .filter(|id| is_request_id(id) && !answered(id))
        .filter_map(|id| expiry(&folder, id))
        .filter(|expires| *expires > now)
        .max()
}

fn is_request_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn expiry(folder: &RunDir, id: &str) -> Option<Timestamp> {
    let FoundTree::Tree(request) = folder.read_tree(&format!("request-{id}.json"), SIZE_LIMIT) else { return None };
    let names_itself = request.get("request_id").and_then(Tree::as_text) == Some(id);
    let expires = request.get("expires_at").and_then(Tree::as_text).and_then(|text| text.parse().ok());
    expires.filter(|_| names_itself)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn folder_with(request: &str) -> tempfile::TempDir {
        let run_dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(run_dir.path().join(FOLDER)).expect("a folder");
        fs::write(run_dir.path().join(FOLDER).join(format!("request-{ID}.json")), request).expect("a request");
        run_dir
    }

    fn waits(run_dir: &tempfile::TempDir) -> bool {
        let now = "2026-11-29T12:00:00Z".parse().expect("a time");
        waiting_until(&RunDir::open(run_dir.path()), now).is_some()
    }

    fn request(expires: &str) -> String {
        format!(r#"{{"request_id": "{ID}", "expires_at": "{expires}"}}"#)
    }

    #[test]
    fn an_unanswered_unexpired_request_is_waited_for() {
        assert!(waits(&folder_with(&request("2026-11-29T12:00:01+00:00"))));
        assert!(!waits(&folder_with(&request("2026-11-29T11:59:59+00:00"))));
        assert!(!waits(&tempfile::tempdir().expect("a temporary folder")));
    }

    #[test]
    fn an_answered_or_consumed_request_is_not() {
        for name in [format!("answer-{ID}.json"), format!("consumed-{ID}")] {
            let run_dir = folder_with(&request("2026-11-29T13:00:00+00:00"));
            fs::write(run_dir.path().join(FOLDER).join(name), "{}").expect("an answer");
            assert!(!waits(&run_dir));
        }
    }

    #[test]
    fn what_is_no_request_keeps_nobody_waiting() {
        for text in ["{}", "[]", "{", r#"{"request_id": "x", "expires_at": "2026-11-29T13:00:00Z"}"#] {
            assert!(!waits(&folder_with(text)), "{text}");
        }
    }
}
