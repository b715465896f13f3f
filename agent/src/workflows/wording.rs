//! What operator-written text may be: short, one line, without anything that looks like an identifier.

use std::sync::LazyLock;

use regex::RegexSet;

/// Why a text isn't shown to a calling agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordingFault {
    Empty,
    TooLong,
    LooksLikeIdentifier,
}

/// The text with its white space collapsed, if it is at most `limit` characters long and free of identifiers.
pub fn one_line(text: &str, limit: usize) -> Result<String, WordingFault> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return Err(WordingFault::Empty);
    }
    if line.chars().count() > limit {
        return Err(WordingFault::TooLong);
    }
    if looks_like_identifier(&line) { Err(WordingFault::LooksLikeIdentifier) } else { Ok(line) }
}

/// A run of five digits, a mail address or a phone number. A guard against accidents, not a classifier.
pub fn looks_like_identifier(text: &str) -> bool {
    SHAPES.as_ref().is_none_or(|shapes| shapes.is_match(text))
}

static SHAPES: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSet::new([r"\d{5,}", r"[^\s@]@[^\s@]+\.[^\s@.]{2,}", r"\b\d{3}[-. )]+\d{3}[-. ]+\d{4}\b"]).ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_control_characters_collapse_to_single_spaces() {
        assert_eq!(one_line("  Enter\n\ta\u{a0}\u{1f}\u{7}note ", 99).unwrap(), "Enter a note");
        assert_eq!(one_line(" \u{2003}\n", 99), Err(WordingFault::Empty));
        assert_eq!(one_line("", 99), Err(WordingFault::Empty));
    }

    #[test]
    fn the_limit_counts_code_points_after_collapsing() {
        assert!(one_line(&"é".repeat(20), 20).is_ok());
        assert!(one_line(&format!("{}   {}", "é".repeat(9), "é".repeat(10)), 20).is_ok());
        assert_eq!(one_line(&"é".repeat(21), 20), Err(WordingFault::TooLong));
    }

    #[test]
    fn identifier_shapes_are_refused() {
        for text in [
            "chart 12345",
            "x1234567y",
            "chart ١٢٣٤٥",
            "write to a.b@example.org",
            "a@b.cc",
            "ünal@bücher.example",
            "call 555-867-5309",
            "call (555) 867-5309 now",
            "call 555.867.5309",
            "555 867 5309",
        ] {
            assert_eq!(one_line(text, 300), Err(WordingFault::LooksLikeIdentifier), "{text}");
        }
    }

    #[test]
    fn short_numbers_and_lone_at_signs_are_fine() {
        for text in ["room 1234", "10 of 12", "1234 5678", "at @ noon", "a@b", "5550-867-5309", "v1.2.3", "1,000,000"] {
            assert_eq!(one_line(text, 300).as_deref(), Ok(text));
        }
    }
}
