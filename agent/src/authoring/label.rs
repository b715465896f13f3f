//! Short words of a window that may be told: a guard that lets plain labels pass, and drops whatever could be somebody's.

use std::sync::LazyLock;

use regex::RegexSet;

/// The longest label, in characters.
pub const LONGEST: usize = 80;
/// So many digits, however they are set apart, are a number of somebody or a date.
const DIGITS: usize = 6;

/// A label that passed the guard. Nothing else of a window's words is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(String);

impl Label {
    /// With its white space collapsed; `None` for what may not be told.
    pub fn guarded(text: &str, longest: usize) -> Option<Self> {
        // Whatever is far too long is not looked at.
        if text.len() > 16 * LONGEST {
            return None;
        }
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = words.len() <= longest.min(LONGEST)
            && words.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" ._-".contains(&byte))
            && words.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let digits = words.bytes().filter(u8::is_ascii_digit).count();
        (plain && digits < DIGITS && !looks_like_somebodys(&words)).then_some(Self(words))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Numbers that are split where a person's are. Their alphabet already keeps addresses and mail out.
fn looks_like_somebodys(text: &str) -> bool {
    SHAPES.as_ref().is_none_or(|shapes| shapes.is_match(text))
}

static SHAPES: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new([r"\d{3}[ ._-]+\d{2}[ ._-]+\d{4}", r"\d{3}[ ._-]+\d{3,4}", r"\d{5,}"]).ok());

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<String> {
        Label::guarded(text, LONGEST).map(|label| label.0)
    }

    #[test]
    fn plain_labels_pass_with_their_white_space_collapsed() {
        for (text, label) in [
            ("Save  Encounter", "Save Encounter"),
            ("\n note\t", "note"),
            ("open-p1", "open-p1"),
            ("Step 2 of 10", "Step 2 of 10"),
        ] {
            assert_eq!(told(text).as_deref(), Some(label));
        }
        assert!(told(&"a".repeat(LONGEST)).is_some());
    }

    #[test]
    fn whatever_could_be_somebodys_is_dropped() {
        for text in [
            "",
            " ",
            "_x",
            "a@b.cc",
            "http://a",
            "MRN 123456",
            "12345",
            "1980-01-01",
            "123-45-6789",
            "555 1234",
            "555.867.5309",
            "Jos\u{e9}",
            "a\u{0}b",
            "a/b",
            "a:b",
            "1 2 3 4 5 6",
        ] {
            assert_eq!(told(text), None, "{text:?}");
        }
        assert_eq!(told(&"a".repeat(LONGEST + 1)), None);
        assert_eq!(told(&" ".repeat(9000)), None);
        assert_eq!(Label::guarded(&"a".repeat(65), 64), None);
    }
}
