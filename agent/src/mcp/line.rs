//! Lines of input, bounded: what is too long is scanned for its id and thrown away as it comes.

use tokio::io::{AsyncRead, AsyncReadExt};

use super::envelope::ClientId;
use super::salvage::Salvage;

/// The longest line that is read, without its newline: 4 MiB.
pub const LINE_MAX: usize = 4 * 1024 * 1024;

const CHUNK: usize = 64 * 1024;

#[derive(Debug, PartialEq)]
pub enum Line {
    /// Without its newline.
    Whole(Vec<u8>),
    /// Over `LINE_MAX`; the id if one could be read in passing.
    TooLong(Option<ClientId>),
    End,
}

pub struct LineReader<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where the next line begins in `buffer`.
    start: usize,
    /// `start..scanned` holds no newline.
    scanned: usize,
    too_long: Option<Salvage>,
    ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, scanned: 0, too_long: None, ended: false }
    }

    /// The next line. Can be dropped at any time without losing a byte. A read error is the end.
    pub async fn next(&mut self) -> Line {
        loop {
            if let Some(line) = self.take_line() {
                return line;
            }
            if self.ended {
                return self.take_rest();
            }
            self.make_room();
            match self.reader.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => self.ended = true,
                Ok(_) => {}
            }
        }
    }

    fn take_line(&mut self) -> Option<Line> {
        let newline = memchr::memchr(b'\n', self.buffer.get(self.scanned..).unwrap_or_default());
        let Some(end) = newline.map(|at| self.scanned + at) else {
            self.scanned = self.buffer.len();
            if self.too_long.is_some() || self.pending().len() > LINE_MAX {
                let mut salvage = self.too_long.take().unwrap_or_default();
                salvage.feed(self.pending());
                self.too_long = Some(salvage);
                self.forget();
            }
            return None;
        };
        let line = self.buffer.get(self.start..end).unwrap_or_default();
        let taken = match self.too_long.take() {
            None if line.len() <= LINE_MAX => Line::Whole(line.to_vec()),
            salvage => {
                let mut salvage = salvage.unwrap_or_default();
                salvage.feed(line);
                Line::TooLong(salvage.end())
            }
        };
        self.start = end + 1;
        self.scanned = self.start;
        Some(taken)
    }

    /// A last line needs no newline.
    fn take_rest(&mut self) -> Line {
        if let Some(salvage) = self.too_long.take() {
            return Line::TooLong(salvage.end());
        }
        let rest = self.pending().to_vec();
        self.forget();
        if rest.is_empty() { Line::End } else { Line::Whole(rest) }
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Moves what is pending to the front, and gives back the memory of a long line.
    fn make_room(&mut self) {
        if self.pending().is_empty() && self.buffer.capacity() > 4 * CHUNK {
            self.forget();
        }
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.buffer.reserve(CHUNK);
    }

    fn forget(&mut self) {
        self.buffer = Vec::new();
        self.start = 0;
        self.scanned = 0;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn lines(input: &[u8]) -> Vec<Line> {
        let mut reader = LineReader::new(input);
        let mut found = Vec::new();
        loop {
            match reader.next().await {
                Line::End => return found,
                line => found.push(line),
            }
        }
    }

    fn padded(to: usize) -> Vec<u8> {
        let frame = br#"{"method":"m","params":"","id":8}"#.len();
        format!(r#"{{"method":"m","params":"{}","id":8}}"#, "x".repeat(to - frame)).into_bytes()
    }

    #[tokio::test]
    async fn the_last_line_needs_no_newline() {
        assert_eq!(
            lines(b"a\n\nb").await,
            [Line::Whole(b"a".into()), Line::Whole(b"".into()), Line::Whole(b"b".into())]
        );
    }

    #[tokio::test]
    async fn a_line_at_the_cap_is_read_and_one_byte_more_is_not() {
        let mut input = padded(LINE_MAX);
        input.push(b'\n');
        input.extend(padded(LINE_MAX + 1));
        input.extend(b"\nnext\n");
        let found = lines(&input).await;
        assert_eq!(found[0], Line::Whole(padded(LINE_MAX)));
        assert_eq!(found[1], Line::TooLong(ClientId::read(&json!(8))));
        assert_eq!(found[2], Line::Whole(b"next".into()));
    }

    #[tokio::test]
    async fn an_endless_line_is_never_kept() {
        let mut reader = LineReader::new(tokio::io::repeat(b'x').take(64 * 1024 * 1024));
        assert_eq!(reader.next().await, Line::TooLong(None));
        assert!(reader.buffer.capacity() <= 2 * LINE_MAX);
    }
}
