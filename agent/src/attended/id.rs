//! Opaque ids of the attention queue.

use std::fmt;

use crate::flow::canonical::sha256_hex;
use crate::flow::hex_text::is_hex;

const LENGTH: usize = 24;

/// First 24 hex digits of the SHA-256 of a run folder's path below the runs folder, `.` for the runs folder itself.
/// Source: Flow's attention queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttentionId(String);

impl AttentionId {
    pub fn of_place(relative: &str) -> Self {
        let mut digits = sha256_hex(relative.as_bytes());
        digits.truncate(LENGTH);
        Self(digits)
    }

    pub fn parse(text: &str) -> Option<Self> {
        is_hex(text, LENGTH).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AttentionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_that_flow_gives_the_same_folders() {
        for (place, id) in [
            ("duplicate_record", "3a27e8688e9c58686643ac38"),
            ("x/t-none", "d2a17707e308aafa0c880df2"),
            (".", "cdb4ee2aea69cc6a83331bbe"),
        ] {
            assert_eq!(AttentionId::of_place(place).as_str(), id, "{place}");
        }
    }

    #[test]
    fn nothing_but_24_lower_case_hex_digits_is_an_id() {
        assert!(AttentionId::parse("3a27e8688e9c58686643ac38").is_some());
        for bad in [
            "",
            "3A27e8688e9c58686643ac38",
            "3a27e8688e9c58686643ac3",
            "3a27e8688e9c58686643ac38\n",
            "../../../../../../../etc/",
        ] {
            assert_eq!(AttentionId::parse(bad), None, "{bad}");
        }
    }
}
