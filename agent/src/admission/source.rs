//! Where a ledger comes from: a file, or an address. Read bounded, and fresh each time.

use std::path::PathBuf;

use super::fetch::Fetcher;
use super::reading::{ReadFault, strict};
use super::reason::Reason;
use crate::flow::canonical::Tree;
use crate::workflows::files::{self, FileFault};

pub const LEDGER_LIMIT: usize = 2 << 20;
pub const LIFECYCLE: &str = "https://openadapt.ai/production-lifecycle.json";
pub const WORKFLOWS: &str = "https://openadapt.ai/production-workflow-admissions.json";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(PathBuf),
    Address(String),
}

/// What was read.
#[derive(Debug)]
pub struct Document {
    pub sha256: String,
    pub tree: Tree,
}

impl Source {
    /// Anything with a scheme is an address.
    pub fn parse(text: &str) -> Self {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let is_scheme = |scheme: &str| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if scheme.is_some_and(is_scheme) { Self::Address(text.to_owned()) } else { Self::File(text.into()) }
    }

    /// For a person: an address loses what could be a secret, and a file its folder.
    pub fn told(&self) -> String {
        match self {
            Self::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Self::Address(address) => {
                let plain = address.split(['?', '#']).next().unwrap_or_default();
                let (scheme, rest) = plain.split_once("://").unwrap_or(("", plain));
                let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
                let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
                format!("{scheme}://{host}/{path}")
            }
        }
    }

    pub fn read(&self, fetcher: &Fetcher) -> Result<Document, Reason> {
        let bytes = match self {
            Self::Address(address) => fetcher.get(address, LEDGER_LIMIT)?,
            Self::File(path) => {
                let path = path.canonicalize().map_err(|_| Reason::LedgerUnavailable)?;
                files::read(&path, LEDGER_LIMIT).map_err(|fault| match fault {
                    FileFault::TooLarge => Reason::LedgerTooLarge,
                    _ => Reason::LedgerUnavailable,
                })?
            }
        };
        let tree = strict(&bytes, LEDGER_LIMIT).map_err(|fault| match fault {
            ReadFault::TooLarge => Reason::LedgerTooLarge,
            ReadFault::NotStrict => Reason::LedgerNotJson,
        })?;
        Ok(Document { sha256: super::hashes::of_bytes(&bytes), tree })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_an_address_holds_no_secret() {
        let told = |text: &str| Source::parse(text).told();
        assert_eq!(told("https://user:pass@example.org/a.json?token=x#y"), "https://example.org/a.json");
        assert_eq!(told("https://example.org"), "https://example.org/");
        assert_eq!(told("some/folder/ledger.json"), "ledger.json");
    }

    #[test]
    fn a_path_is_no_address() {
        assert!(matches!(Source::parse("./a.json"), Source::File(_)));
        assert!(matches!(Source::parse("a://b/c"), Source::Address(_)));
        assert!(matches!(Source::parse("dir/a://b"), Source::File(_)));
    }
}
