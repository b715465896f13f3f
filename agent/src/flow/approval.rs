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
    let answered = |id: &str| {
        names.iter().any(|name| *name == format!("answer-{id}.json") || *name == format!("consumed-{id}"))
    };
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
