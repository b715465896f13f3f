//! The simulated engine: the evidence that each case would have left, put through the same mapping as any run's.

use crate::contract::evidence::{
    Evidence, ExecutionOutcome, Pause, PauseCategory, ProcessEnd, ReportEvidence, ReportFacts, TransactionOutcome,
};
use crate::contract::mapping::reason_for;
use crate::contract::reason::Reason;
use crate::contract::result::{ResultFacts, Technical};
use crate::contract::sandbox::SandboxCase;

/// What a case comes to. No app is opened and nothing is written.
pub fn simulated(case: SandboxCase) -> (Reason, ResultFacts) {
    let Some((execution, transaction, pause)) = left_behind(case) else {
        return (Reason::AppUnreachable, facts(Technical::default()));
    };
    let success = transaction == TransactionOutcome::Verified;
    let report = ReportFacts {
        transaction: Some(transaction),
        execution: Some(execution),
        success: Some(success),
        model_calls: Some(0),
        ..ReportFacts::default()
    };
    let reason = reason_for(&Evidence {
        end: ProcessEnd::Exited(Some(i32::from(!success))),
        report: ReportEvidence::Consistent(report),
        pause,
        run_dir_left: true,
        refused_checks: Vec::new(),
    });
    let technical = Technical { execution: Some(execution), transaction: Some(transaction), ..Technical::default() };
    (reason, facts(technical))
}

/// Nothing where the app couldn't be reached.
const fn left_behind(case: SandboxCase) -> Option<(ExecutionOutcome, TransactionOutcome, Pause)> {
    use SandboxCase::*;
    match case {
        Normal => Some((ExecutionOutcome::Verified, TransactionOutcome::Verified, Pause::None)),
        DuplicateRecord => Some((
            ExecutionOutcome::Halted,
            TransactionOutcome::HaltedBeforeEffect,
            Pause::Open(PauseCategory::Disambiguation),
        )),
        FalseSavedBanner => Some((
            ExecutionOutcome::Halted,
            TransactionOutcome::ReconciliationRequired,
            Pause::Open(PauseCategory::Other),
        )),
        TimeoutAfterSave => Some((
            ExecutionOutcome::Halted,
            TransactionOutcome::ReconciliationRequired,
            Pause::Open(PauseCategory::Postcondition),
        )),
        AppOffline => None,
    }
}

fn facts(technical: Technical) -> ResultFacts {
    ResultFacts { model_calls: Some(0), technical, ..ResultFacts::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::case;

    #[test]
    fn each_case_comes_to_the_reason_that_the_real_app_gives_it() {
        let reasons: Vec<_> = SandboxCase::ALL.iter().map(|case| simulated(*case).0).collect();
        let expected = [
            Reason::SavedAndChecked,
            Reason::RecordNotConfirmed,
            Reason::SaveNotConfirmed,
            Reason::SaveNotConfirmed,
            Reason::AppUnreachable,
        ];
        assert_eq!(reasons, expected);
    }

    #[test]
    fn what_a_case_is_listed_with_is_what_it_comes_to() {
        for it in SandboxCase::ALL {
            assert_eq!(simulated(*it).0.outcome(), case::outcome(*it), "{it:?}");
            assert_eq!(simulated(*it).1.seconds, None, "nothing ran that could have taken time");
        }
    }
}
