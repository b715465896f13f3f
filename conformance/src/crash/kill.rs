//! A kill at a moment that nobody chose: drawn from a seed, over the events of a run.

use serde::{Deserialize, Serialize};

use super::case::{LedgerKind, Victim};
use super::ending::Ending;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    pub seed: u64,
    pub number: u64,
    /// How many events a run has that nobody disturbs.
    pub of: u64,
}

/// What was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    pub dies: Victim,
    pub ending: Ending,
    pub ledger: LedgerKind,
    /// The kill comes with this event, counted from the call.
    pub event: u64,
}

impl Kill {
    pub fn drawn(self) -> Drawn {
        let mut state = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(self.number);
        let mut draw = |bound: usize| usize::try_from(next(&mut state) % bound.max(1) as u64).unwrap_or_default();
        let dies = Victim::ALL[draw(Victim::ALL.len())];
        let ending = Ending::ALL[draw(Ending::ALL.len())];
        let ledger = LedgerKind::ALL[draw(LedgerKind::ALL.len())];
        // A keeper has ended when its server writes down what came of it.
        let last = if dies == Victim::Keeper { self.of / 2 } else { self.of };
        Drawn { dies, ending, ledger, event: 1 + draw(usize::try_from(last).unwrap_or(usize::MAX)) as u64 }
    }
}

/// splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_and_all_kinds_are_drawn() {
        let drawn = |number| Kill { seed: 3, number, of: 50 }.drawn();
        assert_eq!(drawn(1), drawn(1));
        let many: Vec<Drawn> = (0..200).map(drawn).collect();
        assert!(many.iter().all(|one| (1..=50).contains(&one.event)));
        for dies in Victim::ALL {
            assert!(many.iter().any(|one| one.dies == dies && one.ledger == LedgerKind::Claims), "{dies:?}");
        }
        for ending in Ending::ALL {
            assert!(many.iter().any(|one| one.ending == ending), "{ending:?}");
        }
    }
}
