//! The closed words of a verdict. A failure is one reason, the first in the order of the checks.

use crate::contract::outcome::closed_words;

closed_words! {
    /// The only two states.
    State {
        Admitted = "admitted",
        NotActivelyAdmitted = "not_actively_admitted",
    }
}

closed_words! {
    /// Why something isn't actively admitted, in the order in which it is looked for.
    Reason {
        LedgerUnavailable = "ledger_unavailable",
        LedgerRedirectRefused = "ledger_redirect_refused",
        LedgerTooLarge = "ledger_too_large",
        LedgerNotJson = "ledger_not_json",
        LedgerSchemaUnsupported = "ledger_schema_unsupported",
        LedgerMalformed = "ledger_malformed",
        TargetContractMismatch = "target_contract_mismatch",
        HistoryBroken = "history_broken",
        LatestMismatch = "latest_mismatch",
        NoAdmission = "no_admission",
        WorkflowNotListed = "workflow_not_listed",
        AdmissionSchemaUnsupported = "admission_schema_unsupported",
        AdmissionMalformed = "admission_malformed",
        TargetMismatch = "target_mismatch",
        ClaimScopeMismatch = "claim_scope_mismatch",
        ReleaseKindMismatch = "release_kind_mismatch",
        VerdictNotAccepted = "verdict_not_accepted",
        IssuerMismatch = "issuer_mismatch",
        AdmissionDigestMismatch = "admission_digest_mismatch",
        RowObjectMismatch = "row_object_mismatch",
        AdmissionNotYetValid = "admission_not_yet_valid",
        AdmissionExpired = "admission_expired",
        ValidityTooLong = "validity_too_long",
        AdmissionRevoked = "admission_revoked",
        ClockUntrusted = "clock_untrusted",
        ReleaseMismatch = "release_mismatch",
        ReleaseDigestMismatch = "release_digest_mismatch",
        SignatureUnavailable = "signature_unavailable",
        SignerRegistryUntrusted = "signer_registry_untrusted",
        SignerUnsupported = "signer_unsupported",
        SignerRevoked = "signer_revoked",
        SignatureInvalid = "signature_invalid",
        TrustStateInvalid = "trust_state_invalid",
        TrustStateRolledBack = "trust_state_rolled_back",
        ReceiptMismatch = "receipt_mismatch",
        CampaignNotAcceptable = "campaign_not_acceptable",
        BundleVersionMismatch = "bundle_version_mismatch",
        BundleDigestMismatch = "bundle_digest_mismatch",
        RuntimeMismatch = "runtime_mismatch",
        EnvironmentMismatch = "environment_mismatch",
        PolicyMismatch = "policy_mismatch",
        ContractMismatch = "contract_mismatch",
        LiveBindingIncomplete = "live_binding_incomplete",
        EvidenceClassNotAllowed = "evidence_class_not_allowed",
    }
}

/// A verdict: nothing to say against it, or the first thing.
pub type Verdict = Result<(), Reason>;

/// The state that a verdict is told as.
pub fn state(verdict: Verdict) -> State {
    if verdict.is_ok() { State::Admitted } else { State::NotActivelyAdmitted }
}

/// The word beside the state.
pub fn word(verdict: Verdict) -> &'static str {
    verdict.map_or_else(Reason::as_str, |()| State::Admitted.as_str())
}

impl Reason {
    /// The ledger as a whole couldn't be read or isn't one.
    pub fn is_of_the_ledger(self) -> bool {
        self <= Self::LedgerMalformed
    }
}
