//! Words of a card inside a file that is YAML, Markdown and a model's reading at once: visible characters only, and none
//! that any of the three takes for a mark of its own.

/// Text that can be read, and nothing besides: one line, no control or invisible character, no angle brackets.
pub fn visible(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter_map(|character| match character {
            blank if blank.is_whitespace() || blank.is_control() => Some(' '),
            '<' => Some('‹'),
            '>' => Some('›'),
            hidden if is_invisible(hidden) => None,
            shown => Some(shown),
        })
        .collect();
    kept.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// At most `limit` characters; a text that was cut ends in an ellipsis.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The text as Markdown prose inside a line: every mark of Markdown is only a character.
pub fn prose(text: &str) -> String {
    let mut escaped = String::new();
    for character in visible(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            mark if MARKS.contains(mark) => escaped.extend(['\\', mark]),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The text as a span of code, if it can be shown there character by character.
pub fn code(text: &str, limit: usize) -> Option<String> {
    let exact = !text.is_empty() && text.chars().count() <= limit && visible(text) == text && !text.contains('`');
    exact.then(|| format!("`{text}`"))
}

/// A YAML scalar that no reader takes for anything but this text. Callers pass visible text only: of what JSON leaves as it
/// is, YAML would refuse just the control characters above ASCII.
pub fn yaml(visible: &str) -> String {
    serde_json::Value::from(visible).to_string()
}

/// `:` ends the scheme of a link that some readers make of bare text; `$` begins a formula for others.
const MARKS: &str = "\\`*_[]#|~!$:";

/// Characters that nobody sees and a model may read: joiners, direction marks, variation selectors, tags, private use.
fn is_invisible(character: char) -> bool {
    matches!(u32::from(character),
        0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
        | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
        | 0xFFF0..=0xFFFF | 0x1_BCA0..=0x1_BCA3 | 0x1_D173..=0x1_D17A | 0xE_0000..=0xE_0FFF | 0xF_0000..)
        || u32::from(character) & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_left_out_and_lines_become_one() {
        assert_eq!(visible("a\u{200b}b\u{202e}c\u{feff}d\u{e0041}e\u{fffe}f\u{f0000}"), "abcdef");
        assert_eq!(visible(" a\r\n\u{2028}b\t\u{7f}\u{85}\u{0}c "), "a b c");
        assert_eq!(visible("größer 東京 नमस्ते 😀"), "größer 東京 नमस्ते 😀");
        assert_eq!(visible("<script>"), "‹script›");
    }

    #[test]
    fn marks_of_markdown_are_escaped() {
        assert_eq!(prose("**a** [b](c) `d` & #e"), "\\*\\*a\\*\\* \\[b\\](c) \\`d\\` &amp; \\#e");
    }

    #[test]
    fn only_what_can_be_shown_exactly_becomes_code() {
        assert_eq!(code("east wing", 20).as_deref(), Some("`east wing`"));
        for odd in ["", " a", "a`b", "a\nb", "a\u{200b}b", "<b>", &"a".repeat(21)] {
            assert_eq!(code(odd, 20), None, "{odd:?}");
        }
    }

    #[test]
    fn a_cut_text_says_so_and_keeps_whole_characters() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }

    #[test]
    fn words_that_yaml_has_a_meaning_for_are_only_text() {
        assert_eq!(yaml("null"), "\"null\"");
        assert_eq!(yaml("a: \"b\" # c"), "\"a: \\\"b\\\" # c\"");
    }
}
