//! The fingerprint key: 32 random bytes that never leave the folder, and what they sign.

use std::io;

use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::Sha256;

use super::files::{Creation, FileRead, Folder, Unfit};
use super::python_json::python_json;
use super::request_hash::{hex, unhex};

/// The secret behind fingerprints and seals.
#[derive(Clone)]
pub struct FingerprintKey([u8; KEY_BYTES]);

/// The key file can't be trusted, so nothing that it would sign or compare can be either.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    #[error("fingerprint.key doesn't hold exactly 32 bytes")]
    WrongLength,
    #[error("fingerprint.key may be read by other users")]
    TooOpen,
    #[error("fingerprint.key can't be read: {0}")]
    Unfit(Unfit),
    #[error("fingerprint.key can't be read or made: {0}")]
    Io(#[from] io::Error),
}

/// What a keyed digest is over, so that one kind of text can never stand in for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sealed {
    Record,
    RequestEntry,
    /// The exact work of an action.
    Operation,
    Receipt,
    /// Whoever answers for an action.
    Account,
}

impl FingerprintKey {
    /// Reads the key, or makes it when there is none. Of many servers that start at once, one makes it and all read that one.
    pub fn open(root: &Folder) -> Result<Self, KeyFault> {
        if let Some(key) = Self::read(root)? {
            return Ok(key);
        }
        let mut fresh = [0; KEY_BYTES];
        getrandom::fill(&mut fresh).map_err(|_| io::Error::other("the system gives no random bytes"))?;
        match root.create_once(FILE, &fresh)? {
            Creation::Won => Ok(Self(fresh)),
            Creation::Lost => Self::read(root)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound).into()),
        }
    }

    /// Reads the key and makes nothing. `None` where there is none.
    pub fn existing(root: &Folder) -> Result<Option<Self>, KeyFault> {
        Self::read(root)
    }

    /// HMAC-SHA256 of a text, in hex.
    pub fn sign(&self, text: &str) -> String {
        hex(&self.mac(&[text.as_bytes()]).finalize().into_bytes())
    }

    /// The seal of a JSON object of the given kind.
    pub fn seal(&self, kind: Sealed, object: &Value) -> String {
        hex(&self.mac(&[kind.domain(), python_json(object).as_bytes()]).finalize().into_bytes())
    }

    /// The keyed digest of bytes of the given kind.
    pub fn digest(&self, kind: Sealed, bytes: &[u8]) -> String {
        hex(&self.mac(&[kind.domain(), bytes]).finalize().into_bytes())
    }

    /// Compares in constant time.
    pub fn seal_holds(&self, kind: Sealed, object: &Value, seal: &str) -> bool {
        let Some(expected) = unhex(seal) else { return false };
        self.mac(&[kind.domain(), python_json(object).as_bytes()]).verify_slice(&expected).is_ok()
    }

    fn read(root: &Folder) -> Result<Option<Self>, KeyFault> {
        match root.read(FILE, KEY_BYTES)? {
            FileRead::Missing => Ok(None),
            FileRead::Unfit(Unfit::TooLarge) => Err(KeyFault::WrongLength),
            FileRead::Unfit(unfit) => Err(KeyFault::Unfit(unfit)),
            FileRead::Content { mode, .. } if mode & 0o077 != 0 => Err(KeyFault::TooOpen),
            FileRead::Content { bytes, .. } => {
                Ok(Some(Self(bytes.as_slice().try_into().map_err(|_| KeyFault::WrongLength)?)))
            }
        }
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        // HMAC takes a key of any length, so this can't fail; an empty key would only make every seal wrong.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).unwrap_or_else(|_| Hmac::new(&Default::default()));
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

impl KeyFault {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooOpen => {
                "if nobody else could have read it, run chmod 600 on it; else move the whole openadapt-agent folder aside"
            }
            _ => {
                "restore the file from a backup, or move the whole openadapt-agent folder aside once nothing in it can matter"
            }
        }
    }
}

impl std::fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FingerprintKey(..)")
    }
}

impl Sealed {
    fn domain(self) -> &'static [u8] {
        match self {
            Self::Record => b"openadapt-agent.record-seal/v1\0",
            Self::RequestEntry => b"openadapt-agent.request-seal/v1\0",
            Self::Operation => b"openadapt-agent.operation/v1\0",
            Self::Receipt => b"openadapt-agent.receipt-seal/v1\0",
            Self::Account => b"openadapt-agent.account/v1\0",
        }
    }
}

const FILE: &str = "fingerprint.key";
const KEY_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        (temp, folder)
    }

    fn with_key(bytes: &[u8], mode: u32) -> Result<FingerprintKey, KeyFault> {
        let (temp, folder) = folder();
        std::fs::write(temp.path().join(FILE), bytes).unwrap();
        std::fs::set_permissions(temp.path().join(FILE), std::fs::Permissions::from_mode(mode)).unwrap();
        FingerprintKey::open(&folder)
    }

    #[test]
    fn sixteen_servers_that_start_at_once_share_one_key() {
        let (temp, folder) = folder();
        let signs: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..16).map(|_| scope.spawn(|| FingerprintKey::open(&folder).unwrap().sign("x"))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(signs.iter().all(|sign| *sign == signs[0]));
        let metadata = std::fs::metadata(temp.path().join(FILE)).unwrap();
        assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (32, 0o600));
        assert_eq!(folder.names().unwrap(), [FILE], "no temporary file stays");
    }

    #[test]
    fn a_key_of_another_length_is_refused() {
        for length in [0, 1, 31, 33, 64, 1 << 20] {
            assert!(matches!(with_key(&vec![7; length], 0o600), Err(KeyFault::WrongLength)), "{length}");
        }
        assert!(with_key(&[7; 32], 0o600).is_ok());
        assert!(with_key(&[7; 32], 0o400).is_ok());
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        for mode in [0o640, 0o604, 0o644, 0o660, 0o610] {
            assert!(matches!(with_key(&[7; 32], mode), Err(KeyFault::TooOpen)), "{mode:o}");
        }
    }

    #[test]
    fn a_key_behind_a_symlink_or_a_folder_in_its_place_is_refused() {
        let (temp, folder) = folder();
        std::fs::write(temp.path().join("elsewhere"), [7; 32]).unwrap();
        std::os::unix::fs::symlink("elsewhere", temp.path().join(FILE)).unwrap();
        assert!(matches!(FingerprintKey::open(&folder), Err(KeyFault::Unfit(_))));
        std::fs::remove_file(temp.path().join(FILE)).unwrap();
        std::fs::create_dir(temp.path().join(FILE)).unwrap();
        assert!(matches!(FingerprintKey::open(&folder), Err(KeyFault::Unfit(_))));
    }

    #[test]
    fn a_seal_is_bound_to_its_kind_its_content_and_its_key() {
        let (key, other) = (FingerprintKey([7; 32]), FingerprintKey([8; 32]));
        let object = json!({"b": 1, "a": [true]});
        let seal = key.seal(Sealed::Record, &object);
        assert!(key.seal_holds(Sealed::Record, &json!({"a": [true], "b": 1}), &seal));
        assert!(!key.seal_holds(Sealed::RequestEntry, &object, &seal));
        assert!(!key.seal_holds(Sealed::Record, &json!({"b": 2, "a": [true]}), &seal));
        assert!(!other.seal_holds(Sealed::Record, &object, &seal));
        for malformed in ["", "zz", &seal[..62], &format!("{seal}00")] {
            assert!(!key.seal_holds(Sealed::Record, &object, malformed), "{malformed}");
        }
    }
}
