//! The spellings in which a value could come back.

use std::fmt;

/// How a value was spelled where it was found. Upper and lower case are one spelling everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Plain,
    Reversed,
    Base64,
    UrlBase64,
    Hex,
    Percent,
    JsonEscaped,
    /// Its bytes as a list of numbers, as programs print them for their authors.
    Numbers,
    Utf16,
}

/// Every form of an ASCII text, each as the bytes that stand for it and nothing around it.
pub fn forms(text: &str) -> Vec<(Form, Vec<u8>)> {
    let mut found = spellings(text);
    found.sort();
    found.dedup();
    found
}

/// Every form of one text beside the same form of another of its length.
pub fn beside(one: &str, other: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> =
        spellings(one).into_iter().zip(spellings(other)).map(|((_, one), (_, other))| (one, other)).collect();
    pairs.sort();
    pairs.dedup_by(|next, kept| next.0 == kept.0);
    pairs
}

fn spellings(text: &str) -> Vec<(Form, Vec<u8>)> {
    let backwards: String = text.chars().rev().collect();
    let mut found = vec![(Form::Plain, text.as_bytes().to_vec()), (Form::Reversed, backwards.clone().into_bytes())];
    found.push((Form::Utf16, text.bytes().flat_map(|byte| [byte, 0]).collect()));
    // An encoding hides which case a letter had, so each case is encoded.
    for spelled in [text.to_owned(), text.to_ascii_lowercase(), text.to_ascii_uppercase(), backwards] {
        let bytes = spelled.as_bytes();
        found.push((Form::Hex, each(bytes, |byte| format!("{byte:02x}"))));
        found.push((Form::Percent, each(bytes, |byte| format!("%{byte:02x}"))));
        // And again where JSON stands within a text of JSON.
        for backslashes in ["\\", "\\\\"] {
            found.push((Form::JsonEscaped, each(bytes, |byte| format!("{backslashes}u{byte:04x}"))));
        }
        for between in [", ", ","] {
            let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
            found.push((Form::Numbers, numbers.join(between).into_bytes()));
        }
        for before in 0..3 {
            found.push((Form::Base64, base64_within(bytes, before, STANDARD)));
            found.push((Form::UrlBase64, base64_within(bytes, before, URL_SAFE)));
        }
    }
    found
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The characters that these bytes alone decide, when `before` bytes of something else stand before them in a group of three.
fn base64_within(bytes: &[u8], before: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let padded: Vec<u8> = std::iter::repeat_n(0, before).chain(bytes.iter().copied()).collect();
    let bit = |at: usize| padded.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
    let (first, end) = ((8 * before).div_ceil(6), 8 * padded.len() / 6);
    let six = |at: usize| (0..6).fold(0, |value, offset| value << 1 | usize::from(bit(6 * at + offset)));
    (first..end).map(|at| alphabet[six(at)]).collect()
}

fn each(bytes: &[u8], spell: impl Fn(u8) -> String) -> Vec<u8> {
    bytes.iter().map(|byte| spell(*byte)).collect::<String>().into_bytes()
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Plain => "as it is",
            Self::Reversed => "reversed",
            Self::Base64 => "in base64",
            Self::UrlBase64 => "in url-safe base64",
            Self::Hex => "in hex",
            Self::Percent => "percent-encoded",
            Self::JsonEscaped => "JSON-escaped",
            Self::Numbers => "as a list of bytes",
            Self::Utf16 => "in UTF-16",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a table of the world outside says, so that the encoder isn't held against itself.
    #[test]
    fn base64_is_what_others_make_of_it_whatever_stands_before() {
        // printf 'Note~?>' | base64, and the same after one and after two more bytes.
        assert_eq!(base64_within(b"Note~?>", 0, STANDARD), b"Tm90ZX4/P");
        assert_eq!(base64_within(b"Note~?>", 0, URL_SAFE), b"Tm90ZX4_P");
        assert!("eE5vdGV+Pz4=".contains(std::str::from_utf8(&base64_within(b"Note~?>", 1, STANDARD)).unwrap()));
        assert!("eHlOb3Rlfj8+".contains(std::str::from_utf8(&base64_within(b"Note~?>", 2, STANDARD)).unwrap()));
    }

    #[test]
    fn each_form_is_there() {
        let all: Vec<(Form, String)> =
            forms("Ab").into_iter().map(|(form, bytes)| (form, String::from_utf8(bytes).unwrap())).collect();
        for (form, text) in [
            (Form::Plain, "Ab"),
            (Form::Reversed, "bA"),
            (Form::Hex, "4162"),
            (Form::Hex, "6241"),
            (Form::Percent, "%41%42"),
            (Form::JsonEscaped, "\\u0061\\u0062"),
            (Form::Numbers, "65, 98"),
            (Form::Utf16, "A\0b\0"),
        ] {
            assert!(all.contains(&(form, text.to_owned())), "{form}: {all:?}");
        }
    }
}
