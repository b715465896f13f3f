//! The private file that admits one workflow on this computer: an admission, the registry, the decision and what is revoked. Flow
//! is given the same file and judges for itself; what is refused here is never started.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use jiff::Timestamp;

use super::live::Live;
use super::reading::strict;
use super::reason::{Reason, Verdict};
use super::shape::Members;
use super::trust::TrustRoot;
use super::trust_state::{Registry, Revocation, decision};
use super::watermark::Memory;
use super::workflow::Admission;
use crate::admission::hashes::of_object;
use crate::flow::canonical::Tree;
use crate::workflows::files;

const LIMIT: usize = 512 << 10;
const SCHEMA: &str = "openadapt.production-qualification-authority/v4";
const KEYS: [&str; 7] = [
    "schema_version",
    "qualification_admission",
    "qualification_admission_sha256",
    "qualification_signer_registry",
    "qualification_signer_registry_sha256",
    "decision_receipt",
    "revocation_state",
];

/// Reads a file that only this account may read. Nothing for any other, and for one that isn't strict JSON.
pub fn read(path: &Path) -> Option<Tree> {
    let facts = path.symlink_metadata().ok()?;
    let private = facts.is_file()
        && facts.permissions().mode() & 0o777 == 0o600
        && facts.uid() == rustix::process::geteuid().as_raw();
    if !private {
        return None;
    }
    strict(&files::read(path, LIMIT).ok()?, LIMIT).ok()
}

/// Whether the file's admission is active, and for exactly this bundle. Gives what was revoked as of it.
pub fn admits(
    file: &Tree,
    bundle: &Live,
    root: &TrustRoot,
    now: Timestamp,
    memory: &Memory,
) -> Result<Revocation, Reason> {
    let open = Members::open(file).ok_or(Reason::AdmissionMalformed)?;
    if !open.is("schema_version", SCHEMA) {
        return Err(Reason::AdmissionSchemaUnsupported);
    }
    let members = Members::closed(file, &KEYS).ok_or(Reason::AdmissionMalformed)?;
    let part = |key: &str| members.get(key).ok_or(Reason::AdmissionMalformed);
    let admission = Admission::read(part("qualification_admission")?, root, now)?;
    let bare = |digest: &str| digest.trim_start_matches("sha256:").to_owned();
    if !members.is("qualification_admission_sha256", &bare(&of_object(admission.tree))) {
        return Err(Reason::AdmissionDigestMismatch);
    }
    memory.clock(now)?;
    let registry = Registry::of(part("qualification_signer_registry")?, root)?;
    if !members.is("qualification_signer_registry_sha256", &bare(root.registry_identity())) {
        return Err(Reason::SignerRegistryUntrusted);
    }
    let receipt = decision(part("decision_receipt")?, &registry, root, now)?;
    admission.is_decided_by(&receipt)?;
    let revocation = Revocation::of(part("revocation_state")?, &registry, root, now)?;
    admission.is_not_revoked(&revocation, memory)?;
    is_for(&admission, bundle)?;
    Ok(revocation)
}

fn is_for(admission: &Admission<'_>, bundle: &Live) -> Verdict {
    if !bundle.bundle_sha256().is_some_and(|live| admission.members.is("bundle_sha256", live)) {
        return Err(Reason::BundleDigestMismatch);
    }
    bundle.may_rest_on(&admission.members)
}
