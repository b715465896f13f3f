//! Every mutant, by the kind of fact that it changes.

mod answers;
mod attended;
mod ends;
mod journal;
mod leaks;
mod lies;
mod store;
mod wire;

pub use lies::{row, tell};

use super::mutant::Mutant;

/// In the order in which they are told.
pub fn all() -> Vec<Mutant> {
    [
        answers::mutants(),
        lies::mutants(),
        wire::mutants(),
        journal::mutants(),
        store::mutants(),
        leaks::mutants(),
        ends::mutants(),
        attended::mutants(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Changes that mean nothing: whoever sees one of them would cry at anything.
pub fn controls() -> Vec<Mutant> {
    ends::controls()
}

/// A change that must be seen, told as one that means nothing: measuring it has to fail.
pub fn canary() -> Mutant {
    let lie = lies::done_without_a_save();
    Mutant::harmless("canary", "done is said of a save that never was, and this is called harmless", lie.change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CHECKS;
    use crate::check::sample::saved;
    use crate::power::change::result;
    use crate::power::mutant::{Fate, Reds};
    use std::collections::BTreeSet;

    #[test]
    fn each_mutant_has_a_name_of_its_own_and_names_checks_that_there_are() {
        let known: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
        let mut names = BTreeSet::new();
        for mutant in all().iter().chain(&controls()) {
            assert!(names.insert(mutant.id.clone()), "{} twice", mutant.id);
            if let Reds::Exactly(reds) = &mutant.reds {
                assert!(!reds.is_empty(), "{} names nobody", mutant.id);
                reds.iter().for_each(|check| assert!(known.contains(check), "{}: no check {check}", mutant.id));
            }
        }
    }

    #[test]
    fn the_canary_is_seen() {
        let stopped = row("stopped_for_review").unwrap();
        let mut green = result(&saved(), |_, _| true, |object| tell(object, stopped)).unwrap();
        green.journal.retain(|line| !line.is_effect());
        let fate = canary().try_on(&green);
        assert!(matches!(&fate, Some(Fate::Overkilled(seen)) if seen.contains("save-truth")), "{fate:?}");
    }
}
