//! The request gate: a pure function of what is known of a request.

use crate::contract::evidence::TransactionOutcome;
use crate::runs::ledger::Lookup;
use crate::runs::request_hash::Attempt;

/// What is known of the request that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Unseen,
    /// `attempts` is at least one.
    Seen {
        work: Work,
        attempts: usize,
        standing: Standing,
    },
}

/// The workflow and inputs of the call, beside those of the first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Same,
    Other,
}

/// Whether the attempts so far leave room for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The latest ended in a retryable reason, and the ledger has nothing against it.
    ProvedNothingWritten,
    /// It runs, it saved, or it may have saved.
    Settled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Conflict,
    Replay,
    RetryLimit,
    Start(Attempt),
}

pub fn decide(known: Known) -> Decision {
    match known {
        Known::Unseen => Decision::Start(Attempt::FIRST),
        Known::Seen { work: Work::Other, .. } => Decision::Conflict,
        Known::Seen { standing: Standing::Settled, .. } => Decision::Replay,
        Known::Seen { attempts, .. } => match Attempt::at(attempts) {
            next if next > Attempt::LAST => Decision::RetryLimit,
            next => Decision::Start(next),
        },
    }
}

/// The ledger forbids a new attempt when it knows an outcome that doesn't prove a clean stop before the save, or contradicts
/// itself, whatever a record says.
pub fn ledger_forbids(lookup: &Lookup) -> bool {
    use TransactionOutcome::{Canceled, FailedPlatform, RejectedPolicy};
    match lookup {
        Lookup::None | Lookup::ClaimOnly { .. } | Lookup::Record { outcome: None, .. } => false,
        Lookup::Record { outcome: Some(outcome), .. } => !matches!(outcome, Canceled | FailedPlatform | RejectedPolicy),
        Lookup::Broken { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contract::ids::RunId;

    const WORKS: [Work; 2] = [Work::Same, Work::Other];
    const STANDINGS: [Standing; 2] = [Standing::ProvedNothingWritten, Standing::Settled];

    #[test]
    fn an_unseen_request_starts_its_first_attempt() {
        assert_eq!(decide(Known::Unseen), Decision::Start(Attempt::FIRST));
    }

    /// Rows of the design, one for each closed value and every number of attempts that can be stored.
    #[test]
    fn every_known_request_is_answered_as_the_table_says() {
        use Decision::{Conflict, Replay, RetryLimit, Start};
        use Standing::{ProvedNothingWritten, Settled};
        let start = |number: usize| Start(Attempt::at(number - 1));
        let table = [
            (Work::Same, ProvedNothingWritten, [start(2), start(3), start(4), start(5), RetryLimit]),
            (Work::Same, Settled, [Replay; 5]),
            (Work::Other, ProvedNothingWritten, [Conflict; 5]),
            (Work::Other, Settled, [Conflict; 5]),
        ];
        for (work, standing, row) in table {
            for (index, expected) in row.into_iter().enumerate() {
                let known = Known::Seen { work, attempts: index + 1, standing };
                assert_eq!(decide(known), expected, "{known:?}");
            }
        }
    }

    #[test]
    fn the_ledger_allows_an_attempt_after_three_outcomes_or_none() {
        let run_id = RunId::random();
        let record = |outcome| Lookup::Record { run_id: run_id.clone(), outcome };
        let allowing: Vec<_> = TransactionOutcome::ALL
            .iter()
            .filter(|outcome| !ledger_forbids(&record(Some(**outcome))))
            .map(|outcome| outcome.as_str())
            .collect();
        assert_eq!(allowing, ["REJECTED_POLICY", "CANCELED", "FAILED_PLATFORM"]);
        assert!(!ledger_forbids(&record(None)));
        assert!(!ledger_forbids(&Lookup::None));
        assert!(!ledger_forbids(&Lookup::ClaimOnly { run_id: run_id.clone() }));
        assert!(ledger_forbids(&Lookup::Broken { run_id: Some(run_id) }));
        assert!(ledger_forbids(&Lookup::Broken { run_id: None }));
    }

    proptest! {
        #[test]
        fn a_new_attempt_needs_the_same_work_proof_and_room(
            work in prop::sample::select(&WORKS[..]),
            standing in prop::sample::select(&STANDINGS[..]),
            attempts in 1_usize..,
        ) {
            match decide(Known::Seen { work, attempts, standing }) {
                Decision::Start(next) => {
                    prop_assert_eq!((work, standing), (Work::Same, Standing::ProvedNothingWritten));
                    prop_assert!(attempts < 5);
                    prop_assert_eq!(next.number() as usize, attempts + 1);
                }
                Decision::RetryLimit => prop_assert!(attempts >= 5),
                Decision::Replay => prop_assert_eq!((work, standing), (Work::Same, Standing::Settled)),
                Decision::Conflict => prop_assert_eq!(work, Work::Other),
            }
        }
    }
}
