//! A word of Flow's command line that a caller chose. It lies beside the inputs of its run, goes when they go, and stands in no
//! intent: what a caller sent isn't kept.

use std::io;

use super::{Dispatch, Order, params_name};
use crate::contract::ids::RunId;
use crate::runs::files::FileRead;

/// An address is no longer than this, in bytes.
const WORD_LIMIT: usize = 16 << 10;

impl Dispatch<'_> {
    /// What stands in the intent's command line where the private word belongs. No other word can be the same: the run's id is in it.
    pub fn placeholder(&self, run_id: &RunId) -> String {
        format!("@{}", self.root.params().path().join(name_of(run_id)).display())
    }

    /// Puts the private word of a run down. After the intent, as the inputs.
    pub fn put_private_word(&self, run_id: &RunId, word: &str) -> io::Result<()> {
        self.root.params().write_lightly(&name_of(run_id), word.as_bytes())
    }

    /// The command line to start. `None` where its private word is gone: without it another app would be opened.
    pub fn spelled_out(&self, order: &Order) -> Option<Vec<String>> {
        let placeholder = self.placeholder(&order.run_id);
        let word =
            |word: &String| if *word == placeholder { self.private_word(&order.run_id) } else { Some(word.clone()) };
        order.argv.iter().map(word).collect()
    }

    fn private_word(&self, run_id: &RunId) -> Option<String> {
        match self.root.params().read(&name_of(run_id), WORD_LIMIT) {
            Ok(FileRead::Content { bytes, .. }) => String::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub(super) fn discard_private_word(&self, run_id: &RunId) -> io::Result<()> {
        self.root.params().remove(&name_of(run_id))
    }
}

/// Named after the inputs' file, so that whoever sweeps those finds it.
fn name_of(run_id: &RunId) -> String {
    params_name(run_id) + ".word"
}
