//! Reads a document of the admission world: JSON, and less than JSON. What a hash or a signature covers has one reading only.

use crate::flow::canonical::{ParseFault, Tree};

/// How deep objects and lists may nest.
const DEEPEST: usize = 32;
/// The longest text, in bytes.
const LONGEST_TEXT: usize = 4 << 10;
/// The longest text that carries a file in base64, in bytes.
const LONGEST_CARRIED: usize = 256 << 10;
/// Integers above this one aren't the same in every JSON reader.
const LARGEST: u64 = (1 << 53) - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFault {
    TooLarge,
    /// Not JSON, or JSON that two readers may read differently.
    NotStrict,
}

/// Reads one document of at most `limit` bytes. Refuses a byte order mark, trailing bytes, duplicate keys, keys outside ASCII,
/// every number that isn't a plain integer, deep nesting and long texts.
pub fn strict(bytes: &[u8], limit: usize) -> Result<Tree, ReadFault> {
    let tree = Tree::parse(bytes, limit).map_err(|fault| match fault {
        ParseFault::TooLarge => ReadFault::TooLarge,
        _ => ReadFault::NotStrict,
    })?;
    if is_strict(&tree, LONGEST_TEXT, 0) { Ok(tree) } else { Err(ReadFault::NotStrict) }
}

/// The same for bytes that must be the canonical form of what they say, and one line feed.
pub fn registered(bytes: &[u8], limit: usize) -> Option<Tree> {
    let tree = strict(bytes, limit).ok()?;
    (bytes == with_line_feed(&tree)).then_some(tree)
}

/// The canonical form and one line feed: the bytes under which an object is registered.
pub fn with_line_feed(tree: &Tree) -> Vec<u8> {
    let mut bytes = tree.canonical_bytes();
    bytes.push(b'\n');
    bytes
}

fn is_strict(tree: &Tree, longest: usize, depth: usize) -> bool {
    match tree {
        Tree::Null | Tree::Bool(_) => true,
        Tree::Number(literal) => {
            literal.bytes().all(|byte| byte.is_ascii_digit())
                && literal.parse().is_ok_and(|value: u64| value <= LARGEST)
        }
        Tree::Text(text) => text.len() <= longest,
        Tree::List(items) => depth < DEEPEST && items.iter().all(|item| is_strict(item, longest, depth + 1)),
        Tree::Map(entries) => {
            depth < DEEPEST
                && entries.iter().all(|(key, value)| {
                    key.is_ascii() && key.len() <= LONGEST_TEXT && is_strict(value, longest_under(key), depth + 1)
                })
        }
    }
}

fn longest_under(key: &str) -> usize {
    if key.ends_with("_base64") || key == "payload" { LONGEST_CARRIED } else { LONGEST_TEXT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_readers_may_read_differently_is_refused() {
        let deep = "[".repeat(33) + &"]".repeat(33);
        let deeper = "[".repeat(10_000) + &"]".repeat(10_000);
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(LONGEST_TEXT + 1));
        let unknown = [
            "\u{feff}{}",
            "{} {}",
            "{}x",
            r#"{"a":1,"a":1}"#,
            r#"{"é":1}"#,
            "1.0",
            "1e2",
            "-1",
            "-0",
            "9007199254740992",
            "NaN",
            "",
            &deep,
            &deeper,
            &long,
        ];
        for text in unknown {
            assert_eq!(strict(text.as_bytes(), 1 << 20), Err(ReadFault::NotStrict), "{}", &text[..text.len().min(40)]);
        }
        assert_eq!(strict(b"\xff", 9), Err(ReadFault::NotStrict));
        assert_eq!(strict(b"{}", 1), Err(ReadFault::TooLarge));
    }

    #[test]
    fn plain_json_is_read_to_the_limits() {
        let deep = "[".repeat(32) + &"]".repeat(32);
        let carried = format!("{{\"object_base64\":\"{}\"}}", "x".repeat(LONGEST_CARRIED));
        for text in ["{}", " {\"a\": [1, null, true, \"é\"]}\n", "9007199254740991", &deep, &carried] {
            assert!(strict(text.as_bytes(), 1 << 20).is_ok(), "{}", &text[..text.len().min(40)]);
        }
        assert!(registered(b"{\"a\":1}\n", 99).is_some());
        assert!(registered(b"{\"a\":1}", 99).is_none());
        assert!(registered(b"{\"a\": 1}\n", 99).is_none());
    }
}
