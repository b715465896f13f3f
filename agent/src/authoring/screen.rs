//! A picture of the pinned window, shared only where the operator opened that, and only as they opened it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// The largest picture, as base64.
const LARGEST: usize = 6 << 20;
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The picture with the size that it says of itself. `None` where it isn't one, isn't scrubbed though it must be, or is too large.
pub fn shared(said: &Map<String, Value>, scrubbed: bool) -> Option<Map<String, Value>> {
    let picture = said.get("screen_png_base64")?.as_str().filter(|text| text.len() <= LARGEST)?;
    let as_asked = said.get("scrubbed") == Some(&Value::Bool(true)) || !scrubbed;
    let bytes = STANDARD.decode(picture).ok().filter(|bytes| as_asked && bytes.starts_with(SIGNATURE))?;
    let side = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?)).filter(|side| *side > 0);
    let (width, height) = (side(16)?, side(20)?);
    let mut answer = Map::new();
    answer.insert("scrubbed".to_owned(), scrubbed.into());
    answer.insert("width".to_owned(), width.into());
    answer.insert("height".to_owned(), height.into());
    answer.insert("screen_png_base64".to_owned(), picture.into());
    Some(answer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(scrubbed: bool, picture: &str) -> Map<String, Value> {
        let Value::Object(said) = json!({"scrubbed": scrubbed, "screen_png_base64": picture, "title": "x"}) else {
            panic!()
        };
        said
    }

    fn png() -> String {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend_from_slice(b"\0\0\0\rIHDR\0\0\x05\0\0\0\x03\x20\x08\x06\0\0\0");
        STANDARD.encode(bytes)
    }

    #[test]
    fn a_picture_tells_its_own_size_and_nothing_else_comes_along() {
        let answer = shared(&said(true, &png()), true).unwrap();
        assert_eq!((&answer["width"], &answer["height"], answer.len()), (&json!(1280), &json!(800), 4));
        assert_eq!(shared(&said(false, &png()), false).unwrap()["scrubbed"], false);
    }

    #[test]
    fn what_isnt_scrubbed_or_isnt_a_picture_is_not_shared() {
        assert_eq!(shared(&said(false, &png()), true), None);
        for bad in ["", "!!", "aGVsbG8=", &STANDARD.encode(SIGNATURE)] {
            assert_eq!(shared(&said(true, bad), true), None, "{bad}");
        }
        assert_eq!(shared(&said(true, &"A".repeat(LARGEST + 4)), true), None);
    }
}
