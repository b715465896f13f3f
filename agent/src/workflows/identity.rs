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
