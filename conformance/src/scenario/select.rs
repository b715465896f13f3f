//! Which scenarios run: globs over path-like ids, and the nearest id where a glob matches nothing.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::model::Scenario;

/// A selection that is empty or can't be understood.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("{0}")]
    BadGlob(#[from] globset::Error),
    #[error("no scenario matches {pattern:?}")]
    Nothing { pattern: String, nearest: Vec<String> },
}

/// Those that match any of `patterns`, or all where there is none. A pattern that matches nothing is an error even beside others.
///
/// `*` stays within one part of an id, `**` goes across; a pattern that names a folder or a family selects all of it.
pub fn select(scenarios: Vec<Scenario>, patterns: &[String]) -> Result<Vec<Scenario>, SelectError> {
    if patterns.is_empty() {
        return Ok(scenarios);
    }
    let mut all = GlobSetBuilder::new();
    for pattern in patterns {
        let own = of(pattern)?;
        if !scenarios.iter().any(|scenario| own.is_match(scenario.id.as_str())) {
            return Err(SelectError::Nothing { pattern: pattern.clone(), nearest: nearest(pattern, &scenarios) });
        }
        for glob in globs(pattern) {
            all.add(glob?);
        }
    }
    let all = all.build()?;
    Ok(scenarios.into_iter().filter(|scenario| all.is_match(scenario.id.as_str())).collect())
}

/// Whether a name matches one of the patterns. A pattern that is none matches nothing.
pub fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| of(pattern).is_ok_and(|set| set.is_match(name)))
}

fn of(pattern: &str) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs(pattern) {
        set.add(glob?);
    }
    set.build()
}

fn globs(pattern: &str) -> [Result<globset::Glob, globset::Error>; 2] {
    let glob = |text: &str| GlobBuilder::new(text).literal_separator(true).build();
    [glob(pattern), glob(&format!("{}/**", pattern.trim_end_matches('/')))]
}

/// Up to three ids, or families of ids, that are spelled most like the pattern.
fn nearest(pattern: &str, scenarios: &[Scenario]) -> Vec<String> {
    let mut candidates: Vec<String> = Vec::new();
    for scenario in scenarios {
        let id = scenario.id.as_str();
        candidates.push(id.to_owned());
        candidates.extend(id.match_indices('/').map(|(end, _)| id[..end].to_owned()));
    }
    candidates.sort_unstable();
    candidates.dedup();
    candidates.sort_by_key(|candidate| distance(pattern, candidate));
    candidates.truncate(3);
    candidates
}

/// Edits between two texts, by single characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::expand::expand;

    fn some(ids: &[&str]) -> Vec<Scenario> {
        ids.iter()
            .flat_map(|id| expand("f", &format!("id = \"{id}\"\ntitle = \"t\"\nproves = [\"RES-a\"]")).unwrap())
            .collect()
    }

    fn selected(ids: &[&str], patterns: &[&str]) -> Vec<String> {
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        select(some(ids), &patterns).unwrap().into_iter().map(|scenario| scenario.id.to_string()).collect()
    }

    #[test]
    fn globs_select_by_part_and_a_family_selects_all_of_it() {
        let ids = ["gate/a", "gate/b/c", "retry/a"];
        assert_eq!(selected(&ids, &[]).len(), 3);
        assert_eq!(selected(&ids, &["gate/*"]), ["gate/a", "gate/b/c"]);
        assert_eq!(selected(&ids, &["*/a"]), ["gate/a", "retry/a"]);
        assert_eq!(selected(&ids, &["gate"]), ["gate/a", "gate/b/c"]);
        assert_eq!(selected(&ids, &["gate/a", "retry/**"]), ["gate/a", "retry/a"]);
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_an_error_with_the_nearest_ids() {
        let error = select(some(&["gate/failed-checks/a", "retry/a"]), &["retry/*".into(), "gate/faild-checks".into()]);
        let Err(SelectError::Nothing { pattern, nearest }) = error else { panic!("{error:?}") };
        assert_eq!(pattern, "gate/faild-checks");
        assert_eq!(nearest[0], "gate/failed-checks");
    }
}
