//! The closed codes of `failed_checks`, read from what Flow prints when it refuses to start. Source: *Governed runs*, "Exit 2".

use std::sync::LazyLock;

use regex::Regex;

use super::outcome::closed_words;

closed_words! {
    /// One thing that Flow found missing before it would run.
    FailedCheck {
        NoReadinessTest = "no_readiness_test",
        ReadinessTestInvalid = "readiness_test_invalid",
        NotCertified = "not_certified",
        ProfileNotMet = "profile_not_met",
        RightRecordCheckMissing = "right_record_check_missing",
        RecordCheckMissing = "record_check_missing",
        ApprovalMissing = "approval_missing",
        PopupHandlingNotApproved = "popup_handling_not_approved",
        NotEncrypted = "not_encrypted",
        IntegrityCheckFailed = "integrity_check_failed",
        WorkflowUnloadable = "workflow_unloadable",
        AppTargetMissing = "app_target_missing",
        DispatchMismatch = "dispatch_mismatch",
        UrlOverrideNotAllowed = "url_override_not_allowed",
        Other = "other",
    }
}

/// Titles of the gate report's lines. The last one carries a suffix ("+ version pin"), so titles are compared from the left.
const TITLES: [(&str, FailedCheck); 8] = [
    ("Execution profile", FailedCheck::ProfileNotMet),
    ("Certification passed", FailedCheck::NotCertified),
    ("Identity coverage", FailedCheck::RightRecordCheckMissing),
    ("Effect coverage", FailedCheck::RecordCheckMissing),
    ("Approval fallback", FailedCheck::ApprovalMissing),
    ("Interstitial admission", FailedCheck::PopupHandlingNotApproved),
    ("Encrypted bundle", FailedCheck::NotEncrypted),
    ("Sealed manifest", FailedCheck::IntegrityCheckFailed),
];

/// Stable fragments of the single-line refusals, the more telling ones first.
const FRAGMENTS: [(&str, FailedCheck); 12] = [
    ("signed qualification admission", FailedCheck::NoReadinessTest),
    ("qualification authority is invalid", FailedCheck::ReadinessTestInvalid),
    ("qualification campaign permit", FailedCheck::ReadinessTestInvalid),
    ("bundle could not be loaded safely", FailedCheck::WorkflowUnloadable),
    ("execution surface", FailedCheck::AppTargetMissing),
    ("is bound to surface", FailedCheck::AppTargetMissing),
    ("cannot weaken a named profile", FailedCheck::NotEncrypted),
    ("requires encrypted bundles", FailedCheck::NotEncrypted),
    ("managed dispatch", FailedCheck::DispatchMismatch),
    ("url override", FailedCheck::UrlOverrideNotAllowed),
    ("url-override", FailedCheck::UrlOverrideNotAllowed),
    ("profile", FailedCheck::ProfileNotMet),
];

impl FailedCheck {
    /// Reads Flow's refusal. Never empty: what isn't recognised is `other`, and so is a command line that Flow didn't understand.
    pub fn from_refusal(stdout: &str, stderr: &str) -> Vec<Self> {
        static REFUSED_LINE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"(?m)^[ \t]*\[REFUSE\][ \t]+([^:\n]+):").ok());
        let mut checks = Vec::new();
        for text in [stdout, stderr] {
            for line in REFUSED_LINE.iter().flat_map(|pattern| pattern.captures_iter(text)) {
                let title = line[1].trim();
                let check = TITLES.iter().find(|(known, _)| title.starts_with(known)).map_or(Self::Other, |row| row.1);
                if !checks.contains(&check) {
                    checks.push(check);
                }
            }
        }
        if checks.is_empty() {
            checks.push(Self::from_sentence(stdout, stderr));
        }
        checks
    }

    fn from_sentence(stdout: &str, stderr: &str) -> Self {
        let usage_error = stderr.lines().any(|line| line.starts_with("usage: ")) && !stdout.contains("REFUSED");
        if usage_error {
            return Self::Other;
        }
        let text = format!("{stdout}\n{stderr}").to_lowercase();
        FRAGMENTS.iter().find(|(fragment, _)| text.contains(fragment)).map_or(Self::Other, |row| row.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refused_title_of_a_gate_report_is_named_once_in_order() {
        let stdout = "REFUSE: workflow 'w' vs policy 'p'\n  [PASS] Effect coverage: fine\n  [REFUSE] Certification passed: no\n  \
                      [REFUSE] Sealed manifest + version pin: no\n  [REFUSE] Certification passed: no\n";
        assert_eq!(
            FailedCheck::from_refusal(stdout, ""),
            [FailedCheck::NotCertified, FailedCheck::IntegrityCheckFailed]
        );
    }

    #[test]
    fn each_title_has_its_own_code() {
        for (title, check) in TITLES {
            assert_eq!(FailedCheck::from_refusal(&format!("  [REFUSE] {title}: x"), ""), [check]);
        }
    }

    #[test]
    fn each_fragment_has_its_code_wherever_it_stands() {
        for (fragment, check) in FRAGMENTS {
            let sentence = format!("run REFUSED: it {} here. Nothing was executed.", fragment.to_uppercase());
            assert_eq!(FailedCheck::from_refusal(&sentence, ""), [check], "{fragment}");
            assert_eq!(FailedCheck::from_refusal("", &sentence), [check], "{fragment}");
        }
    }

    #[test]
    fn a_usage_error_is_no_missing_profile() {
        let usage =
            "usage: openadapt-flow run [--profile {demo,standard}]\nopenadapt-flow: error: unrecognized arguments: --x";
        assert_eq!(FailedCheck::from_refusal("", usage), [FailedCheck::Other]);
    }

    #[test]
    fn an_unknown_refusal_is_other_and_never_empty() {
        assert_eq!(FailedCheck::from_refusal("", ""), [FailedCheck::Other]);
        assert_eq!(FailedCheck::from_refusal("[REFUSE] A new gate: x", ""), [FailedCheck::Other]);
    }
}
