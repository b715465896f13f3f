//! What the engine left in a run's folder: how the screen came out, and its pictures. Its word, not the judge's.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::scene::{Picture, Screen};

/// Nothing where no report was left.
pub fn results(run_dir: &Path) -> Vec<Value> {
    let report = fs::read(run_dir.join("report.json")).ok();
    let report: Value = report.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    report.get("results").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// What the checks of the screen came to, step by step.
pub fn screen(results: &[Value]) -> Screen {
    let is_true = |result: &Value, key: &str| result.get(key).and_then(Value::as_bool) == Some(true);
    let saves = |result: &&Value| result.get("risk").and_then(Value::as_str) == Some("irreversible");
    match results.iter().filter(saves).find(|result| is_true(result, "delivery_attempted")) {
        Some(save) if is_true(save, "postconditions_ok") => Screen::Saved,
        Some(_) => Screen::NotSaved,
        None if results.is_empty() => Screen::Nothing,
        None => Screen::Stopped,
    }
}

/// One for each step that was begun, taken after it.
pub fn pictures(run_dir: &Path, results: &[Value]) -> Vec<Picture> {
    let text = |result: &Value, key: &str| result.get(key).and_then(Value::as_str).map(str::to_owned);
    let of = |result: &Value| {
        let name = text(result, "after_png").or_else(|| text(result, "before_png"))?;
        let png = fs::read(run_dir.join(name)).ok().filter(|bytes| !bytes.is_empty())?;
        Some(Picture { step: text(result, "intent").unwrap_or_default(), png })
    };
    results.iter().filter_map(of).collect()
}

/// How many steps of a run that goes on were done by now.
pub fn steps_so_far(run_dir: &Path) -> usize {
    let files = fs::read_dir(run_dir.join("steps")).into_iter().flatten().flatten();
    files.filter(|file| file.file_name().to_string_lossy().ends_with("_after.png")).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_screen_is_what_was_seen_after_the_save_and_nothing_else() {
        let open = json!({"risk": "reversible", "delivery_attempted": true, "postconditions_ok": true});
        let save = |attempted: bool, seen: Value| json!({"risk": "irreversible", "delivery_attempted": attempted, "postconditions_ok": seen});
        assert_eq!(screen(&[]), Screen::Nothing);
        assert_eq!(screen(std::slice::from_ref(&open)), Screen::Stopped);
        assert_eq!(screen(&[open.clone(), save(false, json!(null))]), Screen::Stopped);
        assert_eq!(screen(&[open.clone(), save(true, json!(true))]), Screen::Saved);
        assert_eq!(screen(&[open.clone(), save(true, json!(false))]), Screen::NotSaved);
        assert_eq!(screen(&[open, save(true, json!(null))]), Screen::NotSaved);
    }

    #[test]
    fn a_picture_that_is_not_there_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("steps")).unwrap();
        fs::write(folder.path().join("steps/a_after.png"), "png").unwrap();
        let results =
            [json!({"intent": "Open", "after_png": "steps/a_after.png"}), json!({"after_png": "steps/b_after.png"})];
        let found = pictures(folder.path(), &results);
        assert_eq!(found, [Picture { step: "Open".into(), png: b"png".to_vec() }]);
        assert_eq!(steps_so_far(folder.path()), 1);
    }
}
