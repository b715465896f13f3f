//! Names that the agent derives: local slugs, and the opaque ids that callers see instead of labels and paths.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::bundle::{MARKERS, WORKFLOW_LIMIT};
use super::files;
use crate::flow::canonical::hex;

/// Lower case, everything outside `[a-z0-9]` as single underscores, none at the ends; `workflow` where nothing is left.
pub fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<_> = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit()).collect();
    let slug = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    if slug.is_empty() { "workflow".to_owned() } else { slug }
}

/// The id of a bundle that loaded, from its content digest.
pub fn id_of_loaded(content_digest: &str) -> String {
    opaque(content_digest.as_bytes())
}

/// The id of a bundle that didn't load, from the bytes of its marker files.
pub fn id_of_unloadable(folder: &Path) -> String {
    let mut hasher = Sha256::new();
    for marker in MARKERS {
        match files::read(&folder.join(marker), 4 * WORKFLOW_LIMIT) {
            Ok(bytes) => {
                hasher.update(marker);
                hasher.update(bytes);
            }
            Err(files::FileFault::TooLarge | files::FileFault::Unreadable) => hasher.update(marker),
            Err(_) => {}
        }
    }
    opaque(&hasher.finalize())
}

/// The first of `base`, `base_2`, `base_3`, … that isn't taken.
pub fn first_free(base: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut candidate = base.to_owned();
    let mut suffix = 2;
    while taken(&candidate) {
        candidate = format!("{base}_{suffix}");
        suffix += 1;
    }
    candidate
}

fn opaque(material: &[u8]) -> String {
    let digest = Sha256::new().chain_update(b"openadapt-agent-workflow-id-v1\0").chain_update(material).finalize();
    format!("workflow_{}", &hex(&digest)[..24])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn slugs_are_lower_case_words_joined_by_single_underscores() {
        for (name, expected) in [
            ("Enter referral", "enter_referral"),
            ("  --Ärzte--2/b ", "rzte_2_b"),
            ("a__b", "a_b"),
            ("日本", "workflow"),
            ("", "workflow"),
            ("\u{212a}elvin", "kelvin"),
        ] {
            assert_eq!(slug(name), expected, "{name}");
        }
    }

    /// The digest was printed by a Python program that follows the rule and shares no code with this one.
    #[test]
    fn the_id_of_an_unloadable_bundle_covers_both_markers_in_order() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("workflow.json"), "{").unwrap();
        fs::write(folder.path().join("workflow.json.enc"), "sealed").unwrap();
        assert_eq!(id_of_unloadable(folder.path()), "workflow_31afe3f4d6af9c9e1ecc471c");
        fs::write(folder.path().join("workflow.json.enc"), "Sealed").unwrap();
        assert_ne!(id_of_unloadable(folder.path()), "workflow_31afe3f4d6af9c9e1ecc471c");
    }

    #[test]
    fn taken_names_are_counted_up() {
        let taken = ["a", "a_2", "b_2"];
        let free = |base| first_free(base, |name| taken.contains(&name));
        assert_eq!((free("a"), free("b"), free("a_2")), ("a_3".into(), "b".into(), "a_2_2".into()));
    }
}
