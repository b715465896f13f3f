//! One linear pass over a JSON text. Structure is read here, so that depth, duplicate keys and number literals are in
//! our hands; the grammar of strings and numbers is serde_json's.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{DEPTH_LIMIT, Tree};

/// Why a text isn't a document that we read. The text itself is never repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseFault {
    #[error("the file is larger than what is read here")]
    TooLarge,
    #[error("the file isn't UTF-8 text")]
    NotUtf8,
    #[error("the file isn't well-formed JSON")]
    Malformed,
    #[error("the file nests deeper than what is read here")]
    TooDeep,
    #[error("the file names a key twice in one object")]
    DuplicateKey,
}

pub fn document(text: &str) -> Result<Tree, ParseFault> {
    let mut reader = Reader { text, position: 0 };
    let tree = reader.value(0)?;
    match reader.peek() {
        None => Ok(tree),
        Some(_) => Err(ParseFault::Malformed),
    }
}

struct Reader<'a> {
    text: &'a str,
    position: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Tree, ParseFault> {
        match self.peek().ok_or(ParseFault::Malformed)? {
            b'{' | b'[' if depth == DEPTH_LIMIT => Err(ParseFault::TooDeep),
            b'{' => self.map(depth + 1),
            b'[' => self.list(depth + 1),
            b'"' => self.string().map(Tree::Text),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn map(&mut self, depth: usize) -> Result<Tree, ParseFault> {
        let mut entries = BTreeMap::new();
        self.position += 1;
        if self.take(b'}') {
            return Ok(Tree::Map(entries));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(ParseFault::Malformed);
            }
            let key = self.string()?;
            self.require(b':')?;
            let value = self.value(depth)?;
            match entries.entry(key) {
                Entry::Vacant(place) => place.insert(value),
                Entry::Occupied(_) => return Err(ParseFault::DuplicateKey),
            };
            if self.take(b'}') {
                return Ok(Tree::Map(entries));
            }
            self.require(b',')?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Tree, ParseFault> {
        let mut items = Vec::new();
        self.position += 1;
        if self.take(b']') {
            return Ok(Tree::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.take(b']') {
                return Ok(Tree::List(items));
            }
            self.require(b',')?;
        }
    }

    fn string(&mut self) -> Result<String, ParseFault> {
        let start = self.position;
        let mut escaped = true;
        let length = self.rest().iter().position(|byte| {
            let closes = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        });
        self.position += length.ok_or(ParseFault::Malformed)? + 1;
        serde_json::from_str(&self.text[start..self.position]).map_err(|_| ParseFault::Malformed)
    }

    fn number(&mut self) -> Result<Tree, ParseFault> {
        let rest = self.rest();
        let numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let length = rest.iter().position(|byte| !numeric(byte)).unwrap_or(rest.len());
        let literal = &self.text[self.position..self.position + length];
        serde_json::from_str::<&serde_json::value::RawValue>(literal).map_err(|_| ParseFault::Malformed)?;
        self.position += length;
        Ok(Tree::Number(literal.to_owned()))
    }

    fn word(&mut self) -> Result<Tree, ParseFault> {
        let words = [("null", Tree::Null), ("true", Tree::Bool(true)), ("false", Tree::Bool(false))];
        for (word, tree) in words {
            if self.text[self.position..].starts_with(word) {
                self.position += word.len();
                return Ok(tree);
            }
        }
        Err(ParseFault::Malformed)
    }

    fn require(&mut self, byte: u8) -> Result<(), ParseFault> {
        if self.take(byte) { Ok(()) } else { Err(ParseFault::Malformed) }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    /// The next byte that isn't white space.
    fn peek(&mut self) -> Option<u8> {
        let white = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.position += self.rest().iter().take_while(|byte| white(byte)).count();
        self.rest().first().copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.position..]
    }
}
