//! Whether a run's own report carries a Seal of exactly this run.

use memchr::memmem;

use super::keys::{Keys, Whereabouts};
use super::receipt;
use crate::contract::ids::RunId;
use crate::flow::canonical::{Tree, sha256_hex};
use crate::flow::report::{NAME, SIZE_LIMIT};
use crate::flow::run_dir::{Found, RunDir};

/// Looks at the report that was classified, and at no other. `file_sha256` is that report's digest.
pub fn is_sealed(folder: &RunDir, file_sha256: Option<&str>, run_id: &RunId) -> bool {
    let Found::Bytes(bytes) = folder.read(NAME, SIZE_LIMIT) else { return false };
    // Most reports carry none, and then nothing is read a second time.
    if memmem::find(&bytes, b"execute_receipt").is_none() || Some(sha256_hex(&bytes).as_str()) != file_sha256 {
        return false;
    }
    let Ok(report) = Tree::parse(&bytes, SIZE_LIMIT) else { return false };
    report_is_sealed(&report, run_id, &Whereabouts::of_this_process().keys())
}

/// A verified run, a receipt of it with a verified outcome, and a signature of a pinned key.
pub fn report_is_sealed(report: &Tree, run_id: &RunId, keys: &Keys) -> bool {
    let text = |key: &str| report.get(key).and_then(Tree::as_text);
    let Some(receipt) = report.get("execute_receipt").filter(|receipt| receipt.as_map().is_some()) else {
        return false;
    };
    let execution = receipt.get("execution_id").and_then(Tree::as_text).filter(|id| !id.is_empty());
    let of_this_run = execution.is_some_and(|id| id == run_id.as_str() || Some(id) == text("cloud_execution_id"));
    text("execution_outcome") == Some("VERIFIED")
        && of_this_run
        && receipt::is_verified_outcome(receipt)
        && receipt::verify(receipt, keys).is_ok()
}
