//! What a bundle in this place is, held against what was admitted. A field that can't be known here refuses.

use std::collections::BTreeMap;
use std::path::Path;

use super::hashes::of_bytes;
use super::reason::{Reason, Verdict};
use super::shape::{Members, is_hex};
use crate::flow::canonical::Tree;
use crate::workflows::bundle;

/// The fields that must agree, and what it is called when one doesn't. In the order in which they are compared.
const FIELDS: [(&str, Reason); 13] = [
    ("bundle_version", Reason::BundleVersionMismatch),
    ("bundle_sha256", Reason::BundleDigestMismatch),
    ("admitted_runtime_sha256", Reason::RuntimeMismatch),
    ("environment_contract_sha256", Reason::EnvironmentMismatch),
    ("policy_contract_sha256", Reason::PolicyMismatch),
    ("organization_id_sha256", Reason::ContractMismatch),
    ("workflow_id_sha256", Reason::ContractMismatch),
    ("workflow_version_id_sha256", Reason::ContractMismatch),
    ("application_contract_sha256", Reason::ContractMismatch),
    ("input_contract_sha256", Reason::ContractMismatch),
    ("action_contract_sha256", Reason::ContractMismatch),
    ("identity_contract_sha256", Reason::ContractMismatch),
    ("effect_contract_sha256", Reason::ContractMismatch),
];
/// Where a sealed bundle tells some of them: in the template of its governed authorization.
const TEMPLATE: [(&str, &str); 5] = [
    ("environment_contract_sha256", "qualification_environment_contract_sha256"),
    ("input_contract_sha256", "parameter_contract_sha256"),
    ("action_contract_sha256", "qualification_project_contract_sha256"),
    ("identity_contract_sha256", "identity_contract_sha256"),
    ("policy_contract_sha256", "policy_contract_sha256"),
];
const WORKFLOW_LIMIT: usize = bundle::WORKFLOW_LIMIT;

/// What is known of one live bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    fields: BTreeMap<String, String>,
    /// Marked as holding data of real people.
    pub contains_phi: bool,
}

impl Live {
    pub fn of(fields: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { fields: fields.into_iter().collect(), contains_phi: false }
    }

    /// The bundle in a folder, sealed and checked; nothing for one that can't be loaded or has no seal, and for an encrypted one.
    pub fn read(folder: &Path) -> Option<Self> {
        bundle::admit(folder, folder).ok()?;
        if bundle::is_encrypted(folder) {
            return None;
        }
        let digest = bundle::load(folder).ok()?.seal.sealed()?.to_owned();
        let bytes = crate::workflows::files::read(&folder.join("workflow.json"), WORKFLOW_LIMIT).ok()?;
        let workflow = Tree::parse(&bytes, WORKFLOW_LIMIT).ok()?;
        let mut live = Self::of([("bundle_sha256".to_owned(), format!("sha256:{digest}"))]);
        live.contains_phi = workflow.get("contains_phi").and_then(Tree::as_bool).unwrap_or(false);
        for source in [workflow.get("qualification"), Some(&workflow)].into_iter().flatten() {
            live.take(source, FIELDS.map(|(field, _)| (field, field)));
        }
        if let Some(template) = workflow.at(["manifest", "provenance", "governed_authorization_template"]) {
            live.take(template, TEMPLATE);
            if let Some(requirements) = template.get("qualified_effect_requirements") {
                let effect = of_bytes(&requirements.canonical_bytes());
                live.fields.entry("effect_contract_sha256".to_owned()).or_insert(effect);
            }
        }
        Some(live)
    }

    /// An encrypted bundle, by the digest that Flow told of it. What it holds isn't known here, so it may be data of real people.
    pub fn encrypted(content_digest: &str) -> Self {
        let sealed = ("bundle_sha256".to_owned(), format!("sha256:{content_digest}"));
        Self { contains_phi: true, ..Self::of([sealed]) }
    }

    pub fn bundle_sha256(&self) -> Option<&str> {
        self.fields.get("bundle_sha256").map(String::as_str)
    }

    /// Whether an admission is for exactly this bundle.
    pub(super) fn is_admitted_by(&self, admission: &Members<'_>) -> Verdict {
        for (field, reason) in FIELDS {
            if self.fields.get(field).is_some_and(|live| !admission.is(field, live)) {
                return Err(reason);
            }
        }
        if FIELDS.iter().any(|(field, _)| !self.fields.contains_key(*field)) {
            return Err(Reason::LiveBindingIncomplete);
        }
        self.may_rest_on(admission)
    }

    /// The same for an admission that hasn't been taken apart.
    pub fn is_admitted_by_tree(&self, admission: &Tree) -> Verdict {
        self.is_admitted_by(&Members::open(admission).ok_or(Reason::AdmissionMalformed)?)
    }

    /// Evidence from made-up data says nothing of a workflow on data of real people.
    pub(super) fn may_rest_on(&self, admission: &Members<'_>) -> Verdict {
        if self.contains_phi && admission.is("evidence_class", "remote-safe-synthetic") {
            return Err(Reason::EvidenceClassNotAllowed);
        }
        Ok(())
    }

    fn take<const N: usize>(&mut self, source: &Tree, names: [(&str, &str); N]) {
        for (field, name) in names {
            let Some(text) = source.get(name).and_then(Tree::as_text) else { continue };
            let value = if is_hex(text, 64) { format!("sha256:{text}") } else { text.to_owned() };
            self.fields.entry(field.to_owned()).or_insert(value);
        }
    }
}
