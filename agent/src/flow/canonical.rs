//! JSON as Flow hashes it: a tree that keeps every number as it was written, and the byte forms that Flow's digests are made of.

mod number;
mod parse;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

pub use parse::ParseFault;

/// Containers may nest this deep, no deeper.
pub const DEPTH_LIMIT: usize = 128;

/// One JSON value. Keys are unique and stand in code point order, which is the order that Flow hashes them in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    Null,
    Bool(bool),
    /// The literal as written: `1`, `604800.0`, `1e5`.
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Map(BTreeMap<String, Tree>),
}

impl Tree {
    /// Reads one UTF-8 document of at most `limit` bytes. Duplicate keys, lone surrogates, NaN and nesting below
    /// [`DEPTH_LIMIT`] are refused.
    pub fn parse(bytes: &[u8], limit: usize) -> Result<Self, ParseFault> {
        if bytes.len() > limit {
            return Err(ParseFault::TooLarge);
        }
        parse::document(std::str::from_utf8(bytes).map_err(|_| ParseFault::NotUtf8)?)
    }

    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Tree)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The member of a map; nothing for an absent key or for anything that isn't a map.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        self.as_map()?.get(key)
    }

    /// Follows map keys from here.
    pub fn at<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&Tree> {
        path.into_iter().try_fold(self, |tree, key| tree.get(key))
    }

    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// A number written as an integer that fits; `1.0` isn't one.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Number(literal) = self { literal.parse().ok() } else { None }
    }

    /// Any number that is finite as a double.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(literal) = self {
            literal.parse().ok().filter(|value: &f64| value.is_finite())
        } else {
            None
        }
    }

    pub fn as_list(&self) -> Option<&[Tree]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    pub fn as_map(&self) -> Option<&BTreeMap<String, Tree>> {
        if let Self::Map(entries) = self { Some(entries) } else { None }
    }

    pub fn as_map_mut(&mut self) -> Option<&mut BTreeMap<String, Tree>> {
        if let Self::Map(entries) = self { Some(entries) } else { None }
    }

    /// Sorted keys, separators `,` and `:`, non-ASCII raw, numbers in Python's text.
    pub fn canonical_bytes(&self) -> Vec<u8> {
        self.written(Escape::WhatJsonRequires)
    }

    /// The same with everything outside printable ASCII as `\uXXXX`, astral characters as surrogate pairs.
    pub fn ascii_canonical_bytes(&self) -> Vec<u8> {
        self.written(Escape::EverythingButAscii)
    }

    /// Lower-case hex of the SHA-256 of [`Self::canonical_bytes`].
    pub fn sha256_hex(&self) -> String {
        sha256_hex(&self.canonical_bytes())
    }

    fn written(&self, escape: Escape) -> Vec<u8> {
        let mut out = String::new();
        self.write(escape, &mut out);
        out.into_bytes()
    }

    fn write(&self, escape: Escape, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(literal) => out.push_str(&number::python_text(literal)),
            Self::Text(text) => write_text(text, escape, out),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    separate(index, out);
                    item.write(escape, out);
                }
                out.push(']');
            }
            Self::Map(entries) => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    separate(index, out);
                    write_text(key, escape, out);
                    out.push(':');
                    value.write(escape, out);
                }
                out.push('}');
            }
        }
    }
}

/// Lower-case hex of the SHA-256 of some bytes.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

/// A text in quotes, with everything outside printable ASCII escaped as Python does.
pub fn write_ascii_text(text: &str, out: &mut String) {
    write_text(text, Escape::EverythingButAscii, out);
}

#[derive(Clone, Copy, PartialEq)]
enum Escape {
    WhatJsonRequires,
    EverythingButAscii,
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn write_text(text: &str, escape: Escape, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            '\u{80}'.. | '\u{7f}' if escape == Escape::WhatJsonRequires => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str("\\u");
                    out.push_str(&hex(&unit.to_be_bytes()));
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
