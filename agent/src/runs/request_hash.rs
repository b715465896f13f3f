//! A request id as it is stored: hashed. The full hash is ours; the first 40 hex digits are the Python agent's.

use std::fmt;

use sha2::{Digest, Sha256};

use super::lock::Stripe;
use crate::contract::ids::{RequestId, RunId};

/// SHA-256 of a request id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestHash([u8; 32]);

/// The number of one attempt at a request, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Attempt(u32);

/// What the ledger reserves: `<hash of the request id>:<attempt>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct LedgerKey(String);

/// The hash of a request id as a ledger key or a file name shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 64 hex digits.
    Ours,
    /// 40 hex digits, as the Python agent writes them.
    Python,
}

impl RequestHash {
    pub fn of(request_id: &RequestId) -> Self {
        Self(Sha256::digest(request_id.as_str()).into())
    }

    pub fn hex(&self, era: Era) -> String {
        let full = hex(&self.0);
        match era {
            Era::Ours => full,
            Era::Python => full[..40].to_owned(),
        }
    }

    pub fn ledger_key(&self, attempt: Attempt, era: Era) -> LedgerKey {
        LedgerKey(format!("{}:{}", self.hex(era), attempt.0))
    }

    pub fn stripe(&self) -> Stripe {
        Stripe::new(self.0[0])
    }
}

/// The stripe of a run that belongs to no request.
pub fn stripe_of_run(run_id: &RunId) -> Stripe {
    Stripe::new(Sha256::digest(run_id.as_str())[0])
}

impl Attempt {
    pub const FIRST: Self = Self(1);
    /// A request gets five attempts, each after one that proved nothing was written.
    pub const LAST: Self = Self(5);

    /// The attempt that stands at a place in the list of attempts.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
    }

    pub fn number(self) -> u32 {
        self.0
    }
}

impl LedgerKey {
    pub fn parse(text: &str) -> Option<Self> {
        let (hash, attempt) = text.split_once(':')?;
        let well_formed = matches!(hash.len(), 40 | 64)
            && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && attempt.parse::<u32>().is_ok_and(|number| number > 0 && number.to_string() == attempt);
        well_formed.then(|| Self(text.to_owned()))
    }

    pub fn era(&self) -> Era {
        if self.0.find(':') == Some(64) { Era::Ours } else { Era::Python }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LedgerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for LedgerKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?)
            .ok_or_else(|| serde::de::Error::custom("the text is not a well-formed ledger key"))
    }
}

/// The bytes behind lower-case hex.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::try_from(digit(pair[0])? * 16 + digit(*pair.get(1)?)?).ok()).collect()
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key in the sample record that a Python agent left for `req-normal`.
    #[test]
    fn the_python_agents_key_is_the_first_forty_digits() {
        let hash = RequestHash::of(&RequestId::parse("req-normal").unwrap());
        assert_eq!(hash.ledger_key(Attempt::FIRST, Era::Python).as_str(), "41dbb578754ddcc06703f53a8587fb04e0a940b9:1");
        let ours = hash.ledger_key(Attempt::LAST, Era::Ours);
        assert!(ours.as_str().starts_with("41dbb578754ddcc06703f53a8587fb04e0a940b9"));
        assert_eq!((ours.as_str().len(), ours.era()), (66, Era::Ours));
    }

    #[test]
    fn a_ledger_key_is_a_hash_of_either_length_and_a_plain_attempt_number() {
        let forty = "a".repeat(40);
        let sixty_four = "0".repeat(64);
        for good in [format!("{forty}:1"), format!("{sixty_four}:12")] {
            assert_eq!(LedgerKey::parse(&good).unwrap().as_str(), good);
        }
        for bad in ["", "a:1", &forty, &format!("{forty}:0"), &format!("{forty}:01"), &format!("{forty}:+1")] {
            assert!(LedgerKey::parse(bad).is_none(), "{bad}");
        }
        assert!(LedgerKey::parse(&format!("{}:1", "A".repeat(40))).is_none());
    }
}
