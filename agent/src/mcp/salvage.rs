//! Finds the id of a message that can't be parsed, or that is too long to keep.

use serde_json::Value;

use super::envelope::ClientId;

/// Longest key or id that is kept while scanning.
const TOKEN_MAX: usize = 1024;

/// Reads a broken JSON object byte by byte, in constant memory, and remembers the top-level `id` of a request.
#[derive(Debug, Default)]
pub struct Salvage {
    depth: usize,
    state: State,
    /// The last key of the top-level object, while its value is read.
    key: Vec<u8>,
    token: Vec<u8>,
    token_kept: bool,
    id: Option<ClientId>,
    has_method: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    /// A string; the flag says whether it stands where a key of the top-level object stands.
    Text { key: bool, escaped: bool },
    /// After a top-level key and its colon, before the value.
    Value,
    /// A number or word as a top-level value.
    Bare,
    /// After a top-level key, before its colon.
    Colon,
    /// After a top-level value, before the comma.
    After,
}

impl Salvage {
    pub fn from_line(line: &[u8]) -> Option<ClientId> {
        let mut salvage = Self::default();
        salvage.feed(line);
        salvage.end()
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            rest = match self.plain_text(rest) {
                0 => {
                    self.step(byte);
                    after
                }
                passed => &rest[passed..],
            };
        }
    }

    /// How much of what comes is the inside of a text that is too long to be kept: passed over at once, since a line may
    /// consist of little else.
    fn plain_text(&self, bytes: &[u8]) -> usize {
        let passing = matches!(self.state, State::Text { escaped: false, .. }) && !self.token_kept;
        if passing { memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len()) } else { 0 }
    }

    /// Only a request's id is of use: an answer's id belongs to the other side's count.
    pub fn end(mut self) -> Option<ClientId> {
        if self.state == State::Bare {
            self.value_ends();
        }
        self.id.filter(|_| self.has_method)
    }

    fn step(&mut self, byte: u8) {
        match self.state {
            State::Text { escaped: true, key } => {
                self.keep(byte);
                self.state = State::Text { key, escaped: false };
            }
            State::Text { key, .. } => {
                self.keep(byte);
                match byte {
                    b'\\' => self.state = State::Text { key, escaped: true },
                    b'"' => self.text_ends(key),
                    _ => {}
                }
            }
            State::Bare if matches!(byte, b',' | b'}') || byte.is_ascii_whitespace() => {
                self.value_ends();
                self.state = State::After;
                self.structure(byte);
            }
            State::Bare => self.keep(byte),
            _ => self.structure(byte),
        }
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.token.clear();
                self.token_kept = true;
                self.keep(byte);
                self.state = State::Text { key: self.depth == 1 && self.state == State::Between, escaped: false };
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.state = State::Between;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.state = if self.depth == 1 { State::After } else { State::Between };
            }
            b':' if self.depth == 1 && self.state == State::Colon => {
                self.has_method |= self.key == b"\"method\"";
                self.state = State::Value;
            }
            b',' if self.depth == 1 => self.state = State::Between,
            _ if self.state == State::Value && !byte.is_ascii_whitespace() => {
                self.token.clear();
                self.token_kept = true;
                self.keep(byte);
                self.state = State::Bare;
            }
            _ => {}
        }
    }

    fn text_ends(&mut self, key: bool) {
        if key {
            self.key = if self.token_kept { std::mem::take(&mut self.token) } else { Vec::new() };
            self.state = State::Colon;
        } else if self.depth == 1 {
            self.value_ends();
            self.state = State::After;
        } else {
            self.state = State::Between;
        }
    }

    fn value_ends(&mut self) {
        if self.key == b"\"id\"" && self.token_kept {
            self.id = serde_json::from_slice::<Value>(&self.token).ok().as_ref().and_then(ClientId::read);
        }
        self.key.clear();
    }

    fn keep(&mut self, byte: u8) {
        if self.token.len() < TOKEN_MAX {
            self.token.push(byte);
        } else {
            self.token_kept = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id_of(line: &str) -> Option<Value> {
        Salvage::from_line(line.as_bytes()).map(|id| serde_json::to_value(id).unwrap())
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        assert_eq!(id_of(r#"{"jsonrpc":"2.0","id":5,"method":"m","params":{"id":6,"x":NaN}}"#), Some(json!(5)));
        assert_eq!(id_of(r#"{"method":"m","params":{"id":[6,{"id":7}],"x":NaN},"id":5}"#), Some(json!(5)));
        assert_eq!(id_of(r#"{"method":"m","params":[1,"}"],"id" : "a\"b" , "x":NaN}"#), Some(json!("a\"b")));
        assert_eq!(id_of(r#"{"method":"m","id":0"#), Some(json!(0)));
    }

    #[test]
    fn what_only_looks_like_the_id_is_left_alone() {
        assert_eq!(id_of(r#"{"method":"m","params":{"id":6},"x":NaN}"#), None);
        assert_eq!(id_of(r#"{"method":"id","params":"\"id\":5","x":NaN}"#), None);
        assert_eq!(id_of(r#"{"method":"m","id":null,"x":NaN}"#), None);
        assert_eq!(id_of(r#"{"id":5,"result":NaN}"#), None);
        assert_eq!(id_of(r#"[{"method":"m","id":5}NaN]"#), None);
        assert_eq!(id_of(&format!(r#"{{"method":"m","id":"{}"}}"#, "x".repeat(2000))), None);
    }

    #[test]
    fn pieces_give_the_same_as_the_whole() {
        let line = br#"{"method":"tools/call","params":{"a":"\\\"","b":[{}]},"id":"seven"}"#;
        for cut in 0..line.len() {
            let mut salvage = Salvage::default();
            salvage.feed(&line[..cut]);
            salvage.feed(&line[cut..]);
            assert_eq!(salvage.end(), ClientId::read(&json!("seven")));
        }
    }
}
