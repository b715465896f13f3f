//! Paging: newest first, at most 200 items an answer, and a cursor that says after which item the next answer begins.

use std::cmp::Reverse;

use super::id::AttentionId;
use super::item::AttentionItem;

/// How many items one answer holds at most.
pub const LONGEST: usize = 200;

const SIGN: u64 = 1 << 63;
const RANK_DIGITS: usize = 16;

/// Where an item stands in the list. Items whose beginning isn't known come last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    rank: Reverse<u64>,
    id: AttentionId,
}

/// The position after which a page begins, as an opaque text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(Position);

/// One answer of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// How many items there are, on this page and elsewhere.
    pub open: usize,
    pub items: Vec<AttentionItem>,
    pub next: Option<Cursor>,
}

impl Position {
    pub fn of(item: &AttentionItem) -> Self {
        let rank = item.created_at.map_or(0, |time| (time.as_microsecond() as u64) ^ SIGN);
        Self { rank: Reverse(rank), id: item.id.clone() }
    }
}

impl Cursor {
    pub fn after(position: Position) -> Self {
        Self(position)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (rank, id) = text.split_at_checked(RANK_DIGITS)?;
        let lower_hex = rank.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let rank = u64::from_str_radix(rank, 16).ok().filter(|_| lower_hex)?;
        Some(Self(Position { rank: Reverse(rank), id: AttentionId::parse(id)? }))
    }

    pub fn to_text(&self) -> String {
        format!("{:016x}{}", self.0.rank.0, self.0.id)
    }

    pub fn position(&self) -> &Position {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text() {
        let text = format!("{:016x}{}", 5, "3a27e8688e9c58686643ac38");
        let cursor = Cursor::parse(&text).map(|cursor| cursor.to_text());
        assert_eq!(cursor, Some(text));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for bad in ["", "5", "+000000000000005000000000000000000000000", "éééééééééééééééééééééééééééééé"]
        {
            assert_eq!(Cursor::parse(bad), None, "{bad}");
        }
    }
}
