//! One change of one fact, and the checks that must see it: these and no others.

use std::collections::BTreeSet;

use crate::check;
use crate::evidence::Evidence;

/// What a scenario says of itself is held by these. They see a change only where the scenario happens to speak of that fact.
pub const STATED: &[&str] = &["expected", "after", "clinic"];

/// Evidence with one fact changed; none where there is no such fact.
pub type Change = Box<dyn Fn(&Evidence) -> Option<Evidence>>;

pub struct Mutant {
    pub id: String,
    /// What was changed, in words.
    pub said: String,
    /// The checks that go red, apart from those that hold the scenario's own statements.
    pub reds: Reds,
    pub change: Change,
}

/// Who must see a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reds {
    /// Exactly these, whatever the scenario itself says.
    Exactly(&'static [&'static str]),
    /// A lawful answer that only the scenario's own statements can tell from the right one.
    StatedOnly,
    /// A fact that means nothing: nobody.
    Nobody,
}

/// How one changed piece of evidence fared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Seen by the named checks and by no other.
    Killed,
    /// Nobody who was named saw it, or not all of them did.
    Survived(BTreeSet<String>),
    /// Seen by checks that weren't named, too.
    Overkilled(BTreeSet<String>),
    /// The change changed nothing: it says nothing about the judge.
    Void,
}

impl Mutant {
    pub fn new(
        id: impl Into<String>,
        said: impl Into<String>,
        reds: &'static [&'static str],
        change: impl Fn(&Evidence) -> Option<Evidence> + 'static,
    ) -> Self {
        Self { id: id.into(), said: said.into(), reds: Reds::Exactly(reds), change: Box::new(change) }
    }

    pub fn stated_only(
        id: impl Into<String>,
        said: impl Into<String>,
        change: impl Fn(&Evidence) -> Option<Evidence> + 'static,
    ) -> Self {
        Self { id: id.into(), said: said.into(), reds: Reds::StatedOnly, change: Box::new(change) }
    }

    pub fn harmless(
        id: impl Into<String>,
        said: impl Into<String>,
        change: impl Fn(&Evidence) -> Option<Evidence> + 'static,
    ) -> Self {
        Self { id: id.into(), said: said.into(), reds: Reds::Nobody, change: Box::new(change) }
    }

    /// Judges green evidence after the change; none where the change finds nothing to change.
    pub fn try_on(&self, green: &Evidence) -> Option<Fate> {
        let changed = (self.change)(green)?;
        if changed == *green {
            return Some(Fate::Void);
        }
        Some(self.fate(&check::judge(&changed).failures.into_iter().map(|failure| failure.check).collect()))
    }

    fn fate(&self, red: &BTreeSet<String>) -> Fate {
        let stated = |check: &String| STATED.contains(&check.as_str());
        let own: BTreeSet<String> = red.iter().filter(|check| !stated(check)).cloned().collect();
        let named: BTreeSet<String> = match &self.reds {
            Reds::Exactly(reds) => reds.iter().map(|check| (*check).to_owned()).collect(),
            Reds::StatedOnly if !red.iter().any(stated) => return Fate::Survived(red.clone()),
            Reds::Nobody if !red.is_empty() => return Fate::Overkilled(red.clone()),
            Reds::StatedOnly | Reds::Nobody => BTreeSet::new(),
        };
        // A mutant may name a check of the second kind: then that one must see it, too.
        let (wanted, seen) = if named.iter().any(stated) { (named, red.clone()) } else { (named, own) };
        match (wanted.is_subset(&seen), seen.is_subset(&wanted)) {
            (true, true) => Fate::Killed,
            (true, false) => Fate::Overkilled(seen.difference(&wanted).cloned().collect()),
            (false, _) => Fate::Survived(red.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::sample::saved;

    fn fate_of(reds: &'static [&'static str], change: fn(&mut Evidence)) -> Fate {
        let mutant = Mutant::new("m", "", reds, move |green| {
            let mut changed = green.clone();
            change(&mut changed);
            Some(changed)
        });
        mutant.try_on(&saved()).unwrap()
    }

    #[test]
    fn a_change_that_changes_nothing_says_nothing() {
        assert_eq!(fate_of(&["save-truth"], |_| {}), Fate::Void);
    }

    #[test]
    fn a_change_is_killed_by_the_named_checks_alone() {
        let forget_the_save: fn(&mut Evidence) = |evidence| evidence.journal.retain(|line| !line.is_effect());
        assert_eq!(fate_of(&["save-truth"], forget_the_save), Fate::Killed);
        assert!(matches!(fate_of(&[], forget_the_save), Fate::Overkilled(seen) if seen.contains("save-truth")));
        assert!(matches!(fate_of(&["save-truth", "storm"], forget_the_save), Fate::Survived(_)));
        assert!(matches!(fate_of(&["storm"], forget_the_save), Fate::Survived(_)));
    }

    #[test]
    fn what_only_the_scenario_can_know_must_be_seen_by_its_own_statements() {
        let blind = Mutant::stated_only("m", "", |green| {
            let mut changed = green.clone();
            changed.seconds += 1.0;
            Some(changed)
        });
        assert!(matches!(blind.try_on(&saved()), Some(Fate::Survived(_))));
        let harmless = Mutant::harmless("m", "", |green| {
            let mut changed = green.clone();
            changed.seconds += 1.0;
            Some(changed)
        });
        assert_eq!(harmless.try_on(&saved()), Some(Fate::Killed));
    }
}
