//! Members of a closed object, read one by one: nothing where a member is of another kind than it must be.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::flow::canonical::Tree;

/// An object whose members are asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct Members<'a>(&'a BTreeMap<String, Tree>);

impl<'a> Members<'a> {
    /// An object with exactly these keys.
    pub fn closed(tree: &'a Tree, keys: &[&str]) -> Option<Self> {
        let members = Self::open(tree)?;
        let exact = members.0.len() == keys.len() && keys.iter().all(|key| members.0.contains_key(*key));
        exact.then_some(members)
    }

    /// An object with whatever keys.
    pub fn open(tree: &'a Tree) -> Option<Self> {
        tree.as_map().map(Self)
    }

    pub fn get(&self, key: &str) -> Option<&'a Tree> {
        self.0.get(key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.0.keys().map(String::as_str)
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_text()
    }

    pub fn list(&self, key: &str) -> Option<&'a [Tree]> {
        self.get(key)?.as_list()
    }

    pub fn is(&self, key: &str, expected: &str) -> bool {
        self.text(key) == Some(expected)
    }

    pub fn is_null(&self, key: &str) -> bool {
        self.get(key).is_some_and(Tree::is_null)
    }

    /// `sha256:` and 64 lower-case hex digits.
    pub fn digest(&self, key: &str) -> Option<&'a str> {
        self.text(key).filter(|text| is_digest(text))
    }

    /// A commit: 40 lower-case hex digits.
    pub fn commit(&self, key: &str) -> Option<&'a str> {
        self.text(key).filter(|text| is_hex(text, 40))
    }

    /// An integer of at least `least`.
    pub fn integer(&self, key: &str, least: u64) -> Option<u64> {
        self.get(key)?.as_i64().and_then(|value| u64::try_from(value).ok()).filter(|value| *value >= least)
    }

    pub fn moment(&self, key: &str) -> Option<Timestamp> {
        moment(self.text(key)?)
    }

    /// A moment, or null for none; the outer nothing is a malformed one.
    pub fn moment_or_null(&self, key: &str) -> Option<Option<Timestamp>> {
        if self.is_null(key) { Some(None) } else { self.moment(key).map(Some) }
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Option<Vec<&'a str>> {
        self.list(key)?.iter().map(Tree::as_text).collect()
    }
}

/// `YYYY-MM-DDTHH:MM:SSZ` and a day that the calendar has.
pub fn moment(text: &str) -> Option<Timestamp> {
    let moment: Timestamp = text.parse().ok()?;
    (spelled(moment) == text).then_some(moment)
}

pub fn spelled(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| is_hex(hex, 64))
}

pub fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_one_spelling_and_a_real_day() {
        assert!(moment("2028-02-29T00:00:00Z").is_some());
        for text in [
            "2027-02-29T00:00:00Z",
            "2027-01-01T00:00:00+00:00",
            "2027-01-01T00:00:00z",
            "2027-01-01t00:00:00Z",
            "2027-01-01 00:00:00Z",
            "2027-01-01T00:00:00.0Z",
            "2027-01-01T00:00Z",
            "2027-01-01T00:00:60Z",
            "2027-01-01T24:00:00Z",
            "2027-13-01T00:00:00Z",
            " 2027-01-01T00:00:00Z",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn a_closed_object_has_exactly_its_keys() {
        let tree = Tree::parse(br#"{"a":1,"b":"sha256:0"}"#, 99).unwrap();
        assert!(Members::closed(&tree, &["a", "b"]).is_some());
        assert!(Members::closed(&tree, &["a"]).is_none());
        assert!(Members::closed(&tree, &["a", "b", "c"]).is_none());
        assert!(Members::open(&tree).unwrap().digest("b").is_none());
    }
}
