//! Finds canaries in anything, in one pass.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;

use super::forms::{Form, forms};
use super::marks::{KEY_BYTES, PATH};

/// What is put in the place of a canary where a person may read it.
const MASK: &str = "⟨canary⟩";

pub struct Oracle<'a> {
    canaries: &'a BTreeMap<String, String>,
    matcher: AhoCorasick,
    /// For each pattern: how it is spelled, and whether it is the beginning of the canary in the path.
    patterns: Vec<(Form, bool)>,
    /// Every canary in every form. Large, and made only once something was found.
    whole: OnceCell<Whole<'a>>,
}

struct Whole<'a> {
    matcher: AhoCorasick,
    patterns: Vec<(&'a str, Form)>,
}

/// A canary where it was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Its name; `(a part)` where it was cut off.
    pub canary: String,
    pub form: Form,
}

/// Which canaries are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looking {
    ForAll,
    /// Where a local path may stand.
    ButForPaths,
}

impl<'a> Oracle<'a> {
    /// A canary is known by its beginning, which those of one world share: there are few patterns, however many canaries.
    pub fn of(canaries: &'a BTreeMap<String, String>) -> Self {
        let path = canaries.get(PATH).map(|value| key_of(value));
        let keys: BTreeSet<&str> = canaries.values().map(|value| key_of(value)).collect();
        let all = keys
            .into_iter()
            .flat_map(|key| forms(key).into_iter().map(move |(form, bytes)| (bytes, (form, Some(key) == path))));
        let (bytes, patterns): (Vec<_>, Vec<_>) = all.unzip();
        Self { canaries, matcher: automaton(&bytes), patterns, whole: OnceCell::new() }
    }

    /// What is found, once for each canary and form. Empty nearly always, and then cheap.
    pub fn find(&self, bytes: &[u8], looking: Looking) -> BTreeSet<Hit> {
        let mut found = BTreeSet::new();
        let mut named = None;
        for at in self.matcher.find_overlapping_iter(bytes) {
            let (form, is_path) = self.patterns[at.pattern().as_usize()];
            if is_path && looking == Looking::ButForPaths {
                continue;
            }
            if is_path {
                found.insert(Hit { canary: PATH.to_owned(), form });
            } else {
                let whole = named.get_or_insert_with(|| self.named(bytes));
                let mut of_this_form = whole.iter().filter(|hit| hit.form == form).peekable();
                if of_this_form.peek().is_none() {
                    found.insert(Hit { canary: "(a part)".to_owned(), form });
                }
                found.extend(of_this_form.cloned());
            }
        }
        found
    }

    /// The text with the beginning of each canary masked, in whatever form it stands there.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut rest = 0;
        for at in self.matcher.find_iter(text.as_bytes()) {
            // A canary is ASCII in every form, so these are always character boundaries.
            if let Some(between) = text.get(rest..at.start()) {
                masked.push_str(between);
            }
            masked.push_str(MASK);
            rest = at.end();
        }
        masked.push_str(text.get(rest..).unwrap_or_default());
        masked
    }

    /// Which canaries stand there whole.
    fn named(&self, bytes: &[u8]) -> BTreeSet<Hit> {
        let whole = self.whole.get_or_init(|| Whole::of(self.canaries));
        let hit = |at: aho_corasick::Match| {
            let (name, form) = whole.patterns[at.pattern().as_usize()];
            Hit { canary: name.to_owned(), form }
        };
        whole.matcher.find_overlapping_iter(bytes).map(hit).collect()
    }
}

impl<'a> Whole<'a> {
    fn of(canaries: &'a BTreeMap<String, String>) -> Self {
        let all = canaries.iter().filter(|(name, _)| *name != PATH).flat_map(|(name, value)| {
            forms(value).into_iter().map(move |(form, bytes)| (bytes, (name.as_str(), form)))
        });
        let (bytes, patterns): (Vec<_>, Vec<_>) = all.unzip();
        Self { matcher: automaton(&bytes), patterns }
    }
}

fn key_of(value: &str) -> &str {
    value.get(..KEY_BYTES).unwrap_or(value)
}

fn automaton(patterns: &[Vec<u8>]) -> AhoCorasick {
    let built = AhoCorasick::builder().ascii_case_insensitive(true).build(patterns);
    // Too many or too long patterns alone can fail, and these are neither.
    built.unwrap_or_else(|error| unreachable!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::super::marks::Marks;
    use super::*;

    fn hits(canaries: &BTreeMap<String, String>, text: &str) -> Vec<(String, Form)> {
        let oracle = Oracle::of(canaries);
        oracle.find(text.as_bytes(), Looking::ForAll).into_iter().map(|hit| (hit.canary, hit.form)).collect()
    }

    #[test]
    fn every_canary_is_found_in_every_form_within_any_text() {
        let mut marks = Marks::random();
        for number in 0..40 {
            marks.canary(&format!("source{number}"));
        }
        let canaries = marks.handed_out().clone();
        let oracle = Oracle::of(&canaries);
        for (name, value) in &canaries {
            for (form, bytes) in forms(value) {
                for around in ["", "a", "ab", "abc"] {
                    let text = [around.as_bytes(), &bytes, around.as_bytes()].concat();
                    let found = oracle.find(&text, Looking::ForAll);
                    assert!(found.contains(&Hit { canary: name.clone(), form }), "{name} {form}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn letters_of_the_other_case_hide_nothing_and_a_part_is_found_too() {
        let mut marks = Marks::random();
        let value = marks.canary("note");
        let canaries = marks.handed_out().clone();
        assert_eq!(hits(&canaries, &value.to_uppercase()), [("note".to_owned(), Form::Plain)]);
        assert_eq!(hits(&canaries, &value[..KEY_BYTES + 1]), [("(a part)".to_owned(), Form::Plain)]);
        assert_eq!(hits(&canaries, &value[1..]), []);
        assert_eq!(hits(&canaries, "nothing here"), []);
    }

    #[test]
    fn where_a_path_may_stand_no_other_canary_may() {
        let mut marks = Marks::random();
        let canary = marks.canary("note");
        let both = format!("/tmp/{} {canary}", marks.path());
        let canaries = marks.handed_out().clone();
        let oracle = Oracle::of(&canaries);
        let named = |looking| -> Vec<String> {
            oracle.find(both.as_bytes(), looking).into_iter().map(|hit| hit.canary).collect()
        };
        assert_eq!(named(Looking::ForAll), ["note", PATH]);
        assert_eq!(named(Looking::ButForPaths), ["note"]);
    }

    #[test]
    fn what_a_person_reads_is_masked_in_every_form() {
        let mut marks = Marks::random();
        let value = marks.canary("note");
        let canaries = marks.handed_out().clone();
        let oracle = Oracle::of(&canaries);
        assert_eq!(oracle.mask(&format!("ü {value} ü")), "ü ⟨canary⟩noteZz ü");
        for (_, bytes) in forms(&value) {
            let text = String::from_utf8(bytes).unwrap();
            assert!(oracle.find(oracle.mask(&text).as_bytes(), Looking::ForAll).is_empty(), "{text}");
        }
        assert_eq!(oracle.mask("plain"), "plain");
    }
}
