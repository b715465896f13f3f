//! Canaries of one world: each begins with the same random mark, so that one small automaton finds all of them.

use std::collections::BTreeMap;

/// What every canary begins with, the mark included; enough to know one by, even where the rest was cut off.
pub const KEY_BYTES: usize = HEAD.len() + MARK_BYTES;

const HEAD: &str = "Cnry";
const MARK_BYTES: usize = 12;

/// The name of the canary that stands in the path of the world's folder. It has a mark of its own, because paths may
/// stand where no other canary may: in what starts Flow.
pub const PATH: &str = "world-path";

/// What every world holds without a word in its scenario.
pub const ENVIRONMENT: &str = "world-environment";
pub const CLIENT: &str = "world-client";
pub const RECORDED: &str = "world-recorded";
pub const INTENT: &str = "world-intent";

#[derive(Debug, Clone)]
pub struct Marks {
    mark: String,
    handed_out: BTreeMap<String, String>,
}

impl Marks {
    pub fn random() -> Self {
        Self { mark: letters(), handed_out: BTreeMap::from([(PATH.to_owned(), format!("{HEAD}{}", letters()))]) }
    }

    /// A part of a folder's name.
    pub fn path(&self) -> &str {
        &self.handed_out[PATH]
    }

    /// The same value for the same name. Letters and whatever stands in the name: nothing that looks like a number.
    pub fn canary(&mut self, name: &str) -> String {
        let value = || format!("{HEAD}{}{}Zz", self.mark, name.replace(['-', '_'], ""));
        self.handed_out.entry(name.to_owned()).or_insert_with(value).clone()
    }

    /// Every canary that was handed out, by name.
    pub fn handed_out(&self) -> &BTreeMap<String, String> {
        &self.handed_out
    }

    /// The names of those that stand in a text as they are.
    pub fn named_in(&self, text: &str) -> Vec<String> {
        let there = self.handed_out.iter().filter(|(_, value)| text.contains(value.as_str()));
        there.map(|(name, _)| name.clone()).collect()
    }
}

fn letters() -> String {
    let random = uuid::Uuid::new_v4();
    let nibbles = random.as_bytes().iter().map(|byte| char::from(b'a' + (byte & 0x0f)));
    // The seventh and ninth byte of a random UUID say which kind it is.
    nibbles.enumerate().filter(|(at, _)| *at != 6 && *at != 8).map(|(_, letter)| letter).take(MARK_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_value_in_a_world_and_another_in_the_next() {
        let (mut one, mut other) = (Marks::random(), Marks::random());
        assert_eq!(one.canary("note"), one.canary("note"));
        assert_ne!(one.canary("note"), other.canary("note"));
        assert_ne!(one.path(), other.path());
    }

    #[test]
    fn all_of_a_world_begin_alike_and_none_is_the_beginning_of_another() {
        let mut marks = Marks::random();
        let (key, second) = (marks.canary("key"), marks.canary("key2"));
        assert_eq!(key[..KEY_BYTES], second[..KEY_BYTES]);
        assert!(!second.starts_with(&key));
        assert_ne!(marks.path()[..KEY_BYTES], key[..KEY_BYTES]);
        assert!(key.bytes().all(|byte| byte.is_ascii_alphabetic()), "{key} could be taken for a number");
    }

    #[test]
    fn those_in_a_text_are_named() {
        let mut marks = Marks::random();
        let text = format!("print {}", marks.canary("printed"));
        marks.canary("silent");
        assert_eq!(marks.named_in(&text), ["printed"]);
    }
}
