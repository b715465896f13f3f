//! What a person reads about one case, on the terminal and on the page.

use super::scene::{Scene, Screen, Store, Write};

/// What somebody would believe who has only the screen to go by, and whether that is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Belief {
    pub right: bool,
    pub words: &'static str,
}

pub fn screen(scene: &Scene) -> &'static str {
    match scene.screen {
        Screen::Saved => "says “saved”",
        Screen::NotSaved => "no “saved”",
        Screen::Stopped => "was left before Save",
        Screen::Nothing => "was never opened",
    }
}

/// In a sentence.
pub fn screen_at_length(scene: &Scene) -> &'static str {
    match scene.screen {
        Screen::Saved => "Save was clicked, and the app says that it saved.",
        Screen::NotSaved => "Save was clicked, and the app doesn’t say that it saved.",
        Screen::Stopped => "The run stopped before it clicked Save.",
        Screen::Nothing => "No browser was opened.",
    }
}

pub fn store(scene: &Scene) -> &'static str {
    match (&scene.after, scene.stored()) {
        (None, _) => "there is none",
        (Some(_), 0) => "doesn’t hold it",
        (Some(_), 1) => "holds the note",
        (Some(_), _) => "holds the note more than once",
    }
}

pub fn belief(scene: &Scene) -> Belief {
    let (right, words) = match (scene.screen, scene.stored()) {
        (Screen::Saved, 0) => (false, "the note is lost, and nobody notices"),
        (Screen::NotSaved, 1..) => (false, "it is sent again, and stands there twice"),
        (Screen::Saved, 2..) => (false, "it stands there twice"),
        _ => (true, "no harm"),
    };
    Belief { right, words }
}

/// How many records, in words.
pub fn counted(store: &Store) -> String {
    match store.records.len() {
        0 => "no record".to_owned(),
        1 => "1 record".to_owned(),
        more => format!("{more} records"),
    }
}

/// What came in at the app, and what it made of it.
pub fn writes(writes: &[Write]) -> String {
    match writes {
        [] => "No save came in at the app.".to_owned(),
        [write] => format!("One save came in. {}", one(*write)),
        several => {
            let each: Vec<String> = several.iter().map(|write| one(*write)).collect();
            format!("{} saves came in. {}", several.len(), each.join(" "))
        }
    }
}

fn one(write: Write) -> String {
    let stored = if write.stored { "It was stored" } else { "Nothing was stored" };
    match write.told {
        Some(status) => format!("{stored}, and the page was told {status}."),
        None => format!("{stored}, and nobody was there any more to be told."),
    }
}

pub fn retry(scene: &Scene) -> &'static str {
    if scene.said.safe_to_retry { "may try again" } else { "must not try again" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_is_told_with_what_became_of_it() {
        assert_eq!(writes(&[]), "No save came in at the app.");
        let refused = Write { stored: false, told: Some(409) };
        assert_eq!(writes(&[refused]), "One save came in. Nothing was stored, and the page was told 409.");
        let late = Write { stored: true, told: None };
        assert!(
            writes(&[refused, late]).starts_with("2 saves came in. Nothing was stored, and the page was told 409.")
        );
        assert!(writes(&[late]).ends_with("nobody was there any more to be told."));
    }
}
