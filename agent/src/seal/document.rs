//! `seal verify`: the receipt in a document, whether that is a receipt, a run's report or something that wraps one.

use serde_json::{Map, Value, json};

use super::keys::Keys;
use super::receipt::{self, Refusal};
use crate::flow::canonical::Tree;

/// A document may be this large, in bytes.
pub const LIMIT: usize = 64 << 20;
const RECEIPT_SCHEMA: &str = "openadapt.execute-evidence-receipt/v1";

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The id of the pinned key that signed, or why nothing was proven.
    pub key: Result<String, Refusal>,
    /// The receipt is about a save that was checked.
    pub verified_outcome: bool,
    told: Vec<(&'static str, Option<String>)>,
}

impl Found {
    /// Nothing to look at.
    pub fn nothing(refusal: Refusal) -> Self {
        Self { key: Err(refusal), verified_outcome: false, told: Vec::new() }
    }

    /// A genuine signature, and of a verified outcome: only this counts.
    pub fn is_seal(&self) -> bool {
        self.key.is_ok() && self.verified_outcome
    }

    pub fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("verified".to_owned(), self.key.is_ok().into());
        let reason = self.key.as_ref().map_or_else(|refusal| refusal.as_str(), |_| "verified");
        object.insert("reason".to_owned(), reason.into());
        for (key, value) in &self.told {
            object.insert((*key).to_owned(), json!(value));
        }
        if let Ok(key) = &self.key {
            object.insert("key_id".to_owned(), key.as_str().into());
            object.insert("verified_outcome".to_owned(), self.verified_outcome.into());
        }
        object.into()
    }

    pub fn sentence(&self) -> &'static str {
        match &self.key {
            Ok(_) if self.verified_outcome => {
                "This is a Seal: a pinned key signed it, and its outcome is a verified one."
            }
            Ok(_) => "A pinned key signed this receipt, but its outcome isn't a verified one. It is no Seal of a save.",
            Err(refusal) => sentence(*refusal),
        }
    }
}

/// Looks for a receipt and checks it. Reads nothing but the document and the keys.
pub fn look(bytes: &[u8], keys: &Keys) -> Found {
    let Ok(document) = Tree::parse(bytes, LIMIT) else { return Found::nothing(Refusal::Unreadable) };
    let Some(receipt) = receipt_in(&document) else { return Found::nothing(Refusal::NoReceipt) };
    let text = |key: &str| receipt.get(key).and_then(Tree::as_text).map(str::to_owned);
    let issued_at = receipt.at(["seal_signature", "issued_at"]).and_then(Tree::as_text).map(str::to_owned);
    let key = receipt::verify(receipt, keys).map(|key| key.id().to_owned());
    let mut told = vec![
        ("execution_id", text("execution_id")),
        ("outcome", text("outcome")),
        ("receipt_sha256", Some(receipt::sha256(receipt))),
    ];
    if key.is_ok() {
        told.push(("issued_at", issued_at));
    }
    Found { key, verified_outcome: receipt::is_verified_outcome(receipt), told }
}

fn receipt_in(document: &Tree) -> Option<&Tree> {
    let is_receipt = document.get("seal_signature").is_some()
        || document.get("schema_version").and_then(Tree::as_text) == Some(RECEIPT_SCHEMA);
    if is_receipt {
        return document.as_map().map(|_| document);
    }
    ["execute_receipt", "receipt"].iter().filter_map(|key| document.get(key)).find(|inner| inner.as_map().is_some())
}

const fn sentence(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NoReceipt => "There is no receipt in it.",
        Refusal::Unreadable => "It can't be read as a JSON document.",
        Refusal::Unsigned => "The receipt carries no signature, so it is no Seal.",
        Refusal::Malformed => "The receipt's signature isn't well-formed.",
        Refusal::ReceiptMismatch => "The receipt isn't the one that was signed.",
        Refusal::NoPinnedKeys => {
            "No key is pinned on this computer. A person pins one with `openadapt-agent seal keys pin`."
        }
        Refusal::UnknownKey => "It was signed with a key that isn't pinned on this computer.",
        Refusal::RevokedKey => "It was signed with a key that had been revoked by then.",
        Refusal::BadSignature => "The signature isn't the key's.",
    }
}
