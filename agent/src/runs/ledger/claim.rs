//! One claim file: the authority that a key is used. Made once, whole, and never changed or removed.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::contract::ids::RunId;
use crate::flow::canonical::{Tree, sha256_hex};
use crate::runs::files::FileRead;
use crate::runs::request_hash::{LedgerKey, hex};

pub const NAMESPACE: &str = "openadapt-agent/run-workflow/v1";
pub const SCHEMA: &str = "openadapt.idempotency-ledger/v3";
/// A claim is a few hundred bytes.
pub const CLAIM_LIMIT: usize = 64 * 1024;

/// What a claim says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Claim {
    namespace: String,
    owner_path: String,
    reservation_key_sha256: String,
    pub reserved_at: String,
    pub run_id: String,
    schema_version: String,
}

/// What stands under a claim's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimRead {
    Absent,
    Claim(Claim),
    Unreadable,
}

/// SHA-256 of the namespace, a zero byte and the key.
pub fn claim_name(key: &str) -> String {
    let digest = Sha256::new().chain_update(NAMESPACE).chain_update([0]).chain_update(key).finalize();
    format!("{}.claim", hex(&digest))
}

impl Claim {
    pub fn new(key: &LedgerKey, run_id: &RunId, owner_path: &str, reserved_at: &str) -> Self {
        Self {
            namespace: NAMESPACE.to_owned(),
            owner_path: owner_path.to_owned(),
            reservation_key_sha256: sha256_hex(key.as_str().as_bytes()),
            reserved_at: reserved_at.to_owned(),
            run_id: run_id.as_str().to_owned(),
            schema_version: SCHEMA.to_owned(),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let object = Tree::map([
            ("namespace", Tree::text(&self.namespace)),
            ("owner_path", Tree::text(&self.owner_path)),
            ("reservation_key_sha256", Tree::text(&self.reservation_key_sha256)),
            ("reserved_at", Tree::text(&self.reserved_at)),
            ("run_id", Tree::text(&self.run_id)),
            ("schema_version", Tree::text(&self.schema_version)),
        ]);
        let mut bytes = object.ascii_canonical_bytes();
        bytes.push(b'\n');
        bytes
    }

    /// A claim that isn't about this key of this ledger is no claim.
    pub fn read(file: FileRead, key: &LedgerKey, owner_path: &str) -> ClaimRead {
        let bytes = match file {
            FileRead::Missing => return ClaimRead::Absent,
            FileRead::Unfit(_) => return ClaimRead::Unreadable,
            FileRead::Content { bytes, .. } => bytes,
        };
        let claim = serde_json::from_slice::<Self>(&bytes).ok().filter(|claim| {
            claim.namespace == NAMESPACE
                && claim.schema_version == SCHEMA
                && claim.owner_path == owner_path
                && claim.reservation_key_sha256 == sha256_hex(key.as_str().as_bytes())
        });
        claim.map_or(ClaimRead::Unreadable, ClaimRead::Claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of the ledger's format.
    #[test]
    fn a_claim_is_named_by_namespace_and_key() {
        assert_eq!(claim_name("abcd:1"), "3a71f30a68e94f97e9d3e4640042d35fddedebd23af9d04673dcd8912f6e05e9.claim");
        assert_eq!(sha256_hex(b"abcd:1"), "26d2dd2473dd277f781a968d3fe2f1ea3b0a009cd934f91841103d755acc1667");
    }

    #[test]
    fn a_claim_is_one_line_of_sorted_ascii_json() {
        let key = LedgerKey::parse(&format!("{}:1", "a".repeat(40))).unwrap();
        let run_id = RunId::parse("run-x").unwrap();
        let claim = Claim::new(&key, &run_id, "/tmp/é/ledger.sqlite", "2026-11-29T18:44:44.226686+00:00");
        assert_eq!(
            String::from_utf8(claim.to_bytes()).unwrap(),
            concat!(
                r#"{"namespace":"openadapt-agent/run-workflow/v1","owner_path":"/tmp/\u00e9/ledger.sqlite","#,
                r#""reservation_key_sha256":"b828f6ab56dfd62e67374da2c6ebe0229afd941fea31cfed6ea6b2d5b135aaa9","reserved_at":"2026-11-29T18:44:44.226686+00:00","#,
                r#""run_id":"run-x","schema_version":"openadapt.idempotency-ledger/v3"}"#,
                "\n"
            )
        );
    }
}
