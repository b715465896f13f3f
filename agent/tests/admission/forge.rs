//! Makes what the real issuer makes, with a key of the test: every digest and signature that covers something is made anew. Its
//! canonical form is its own, so that it can disagree with the program's.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_dalek::{Signer, SigningKey};
use openadapt_agent::admission::trust::TrustRoot;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

const PAYLOAD_TYPE: &str = "application/vnd.openadapt.production-public-trust-signing-statement+json;version=1";

pub fn sample(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/samples/admission");
    serde_json::from_str(&std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap()).unwrap()
}

pub fn canonical(value: &Value) -> Vec<u8> {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| key.to_owned());
                Value::Object(
                    entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>(),
                )
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    serde_json::to_vec(&sorted(value)).unwrap()
}

pub fn registered(value: &Value) -> Vec<u8> {
    [canonical(value), b"\n".to_vec()].concat()
}

pub fn sha256(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

pub fn in_domain(domain: &str, value: &Value) -> String {
    sha256(&[domain.as_bytes(), b"\0", &canonical(value)].concat())
}

pub fn without(value: &Value, keys: &[&str]) -> Value {
    let mut rest = value.clone();
    for key in keys {
        rest.as_object_mut().unwrap().shift_remove(*key);
    }
    rest
}

/// Everything that a pack and two ledgers are made of. Change a part, then [`Forge::linked`] signs it all again.
#[derive(Clone)]
pub struct Forge {
    key: SigningKey,
    pub registry: Value,
    pub authority: Value,
    pub revocation: Value,
    /// Rows of one target, in their order; the last one is the latest.
    pub rows: Vec<Value>,
    pub target: &'static str,
    pub receipt: Value,
    pub admission: Value,
    /// The revocation state that everything was issued under, where it isn't the current one.
    pub issued_under: Option<String>,
}

impl Forge {
    pub fn new() -> Self {
        Self::keyed(7)
    }

    pub fn keyed(seed: u8) -> Self {
        let pack = sample("10_pack__current__ok");
        let read = |text: &Value| -> Value {
            serde_json::from_slice(&STANDARD.decode(text.as_str().unwrap()).unwrap()).unwrap()
        };
        let forge = Self {
            key: SigningKey::from_bytes(&[seed; 32]),
            registry: read(&pack["signer_registry_base64"]),
            authority: read(&pack["authority_state_base64"]),
            revocation: read(&pack["revocation_state_base64"]),
            rows: vec![read(&pack["objects"][0]["object_base64"])],
            target: "agent",
            receipt: read(&pack["receipts_base64"][0]),
            admission: read(&pack["objects"][1]["object_base64"]),
            issued_under: None,
        };
        let mut forge = forge;
        let (inner, outer) = (forge.root().inner_key_id(), forge.root().outer_key_id());
        for signer in forge.registry["signers"].as_array_mut().unwrap() {
            let outer_one = signer["key_id"].as_str().unwrap().starts_with("oa-");
            signer["key_id"] = if outer_one { &outer } else { &inner }.as_str().into();
            let raw = forge.key.verifying_key().to_bytes();
            signer["public_key"] = URL_SAFE_NO_PAD.encode(raw).into();
            let spki = [&[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00][..], &raw].concat();
            signer["public_key_sha256"] = sha256(&spki).into();
            signer["public_key_spki_der_base64"] = STANDARD.encode(spki).into();
        }
        for receipt in [&mut forge.authority, &mut forge.revocation, &mut forge.receipt] {
            receipt["issuer_key_id"] = inner.as_str().into();
        }
        forge.linked()
    }

    pub fn root(&self) -> TrustRoot {
        TrustRoot::new(self.key.verifying_key().to_bytes(), &self.registry_identity())
    }

    pub fn key_sha256(&self) -> String {
        self.registry["signers"][0]["public_key_sha256"].as_str().unwrap().to_owned()
    }

    /// Everything made anew from what stands here.
    pub fn linked(mut self) -> Self {
        let identity = self.registry_identity();
        self.authority["signer_registry_sha256"] = sha256(&registered(&self.registry)).into();
        self.authority["signer_registry_identity_sha256"] = identity.clone().into();
        self.authority["signer_registry_revision"] = self.registry["revision"].clone();
        identify(&mut self.authority, "authority_state_sha256", "OpenAdapt qualification authority state identity v2");
        self.authority = self.signed(&self.authority, "OpenAdapt qualification authority state receipt v2");
        self.revocation["signer_registry_sha256"] = identity.clone().into();
        self.revocation["authority_state_sha256"] = self.authority["authority_state_sha256"].clone();
        self.resign_revocation();
        let under = self.issued_under.clone().unwrap_or_else(|| self.revocation_id());
        self.receipt["signer_registry_sha256"] = identity.clone().into();
        self.receipt["revocation_state_sha256"] = under.clone().into();
        self.receipt = self.signed(&self.receipt, "OpenAdapt qualification evidence decision receipt v2");
        let receipt = sha256(&registered(&self.receipt));
        let hex = receipt.trim_start_matches("sha256:");
        let reference = &mut self.admission["decision_receipt_reference"];
        reference["object_path"] = format!(
            "production-evidence/objects/sha256/{}/{hex}.qualification-evidence-decision-receipt.json",
            &hex[..2]
        )
        .into();
        reference["object_sha256"] = receipt.clone().into();
        self.admission["signer_registry_sha256"] = identity.clone().into();
        self.admission["revocation_state_sha256"] = under.clone().into();
        self.rename_admission();
        let mut previous = Value::Null;
        for row in &mut self.rows {
            row["signer_registry_sha256"] = identity.clone().into();
            row["authority_state_sha256"] = self.authority["authority_state_sha256"].clone();
            row["revocation_state_sha256"] = under.clone().into();
            row["release_identity"]["previous_admission_sha256"] = previous;
            hash_row(row);
            previous = row["admission_id_sha256"].clone();
        }
        self
    }

    pub fn rename_admission(&mut self) {
        let unnamed = without(&self.admission, &["admission_id_sha256"]);
        self.admission["admission_id_sha256"] = in_domain("OpenAdapt qualification admission v4", &unnamed).into();
    }

    pub fn resign_revocation(&mut self) {
        identify(
            &mut self.revocation,
            "revocation_state_sha256",
            "OpenAdapt qualification revocation state identity v1",
        );
        self.revocation = self.signed(&self.revocation, "OpenAdapt qualification revocation state receipt v1");
    }

    pub fn revocation_id(&self) -> String {
        self.revocation["revocation_state_sha256"].as_str().unwrap().to_owned()
    }

    /// The next revision, which revokes these. Everything stays issued under the state before it.
    pub fn revoking(mut self, subjects: &[(&str, &str)]) -> Self {
        self.issued_under.get_or_insert(self.revocation["revocation_state_sha256"].as_str().unwrap().to_owned());
        self.revocation["previous_revocation_state_sha256"] = self.revocation_id().into();
        self.revocation["revision"] = (self.revocation["revision"].as_u64().unwrap() + 1).into();
        self.revocation["observed_at"] = "2026-10-10T00:00:00Z".into();
        self.revocation["not_before"] = "2026-10-10T00:00:00Z".into();
        let mut subjects = subjects.to_vec();
        subjects.sort_unstable();
        let entry = |(kind, id): &(&str, &str)| json!({"subject_kind": kind, "subject_id": id, "revoked_at": "2026-10-10T00:00:00Z", "reason_code": "withdrawn"});
        self.revocation["revocations"] = subjects.iter().map(entry).collect();
        self.resign_revocation();
        self
    }

    pub fn latest(&self) -> &Value {
        self.rows.last().unwrap()
    }

    pub fn semantic(&self, kind: &str, object: &Value) -> String {
        let value = json!({"kind": kind, "object_schema_version": object["schema_version"], "object": object});
        in_domain("OpenAdapt production evidence semantic identity v1", &value)
    }

    pub fn ledger(&self) -> Value {
        let mut ledger = sample("01_lifecycle__admitted_with_10_pack__alone_signature_unavailable");
        for target in ledger["targets"].as_array_mut().unwrap() {
            let own = target["id"] == self.target;
            target["admission_history"] = if own { json!(self.rows) } else { json!([]) };
            target["latest_admission"] = if own { self.latest().clone() } else { Value::Null };
        }
        ledger
    }

    pub fn workflows(&self) -> Value {
        let mut list = sample("08_workflows__bundle_3.2.1__admitted_with_10_pack__revoked_with_11_pack");
        let row = &mut list["admissions"][0];
        let bytes = registered(&self.admission);
        let digest = sha256(&bytes);
        let hex = digest.trim_start_matches("sha256:");
        row["object_path"] =
            format!("production-evidence/objects/sha256/{}/{hex}.qualification-admission.json", &hex[..2]).into();
        row["object_sha256"] = digest.clone().into();
        row["size_bytes"] = bytes.len().into();
        row["semantic_identity_sha256"] = self.semantic("qualification-admission", &self.admission).into();
        for key in ["bundle_version", "evidence_class", "expires_at", "verdict"] {
            row[key] = self.admission[key].clone();
        }
        list
    }

    pub fn pack(&self) -> Value {
        let encode = |value: &Value| STANDARD.encode(registered(value));
        let latest = self.signed_object(self.latest());
        let mut objects = vec![latest];
        objects.push(self.signed_object(&self.admission));
        json!({
            "schema_version": "openadapt-agent.admission-evidence-pack/v1",
            "signer_registry_base64": encode(&self.registry),
            "authority_state_base64": encode(&self.authority),
            "revocation_state_base64": encode(&self.revocation),
            "objects": objects,
            "receipts_base64": [encode(&self.receipt)],
        })
    }

    pub fn signed_object(&self, object: &Value) -> Value {
        let bundle = self.bundle(object, |_| {});
        json!({"object_base64": STANDARD.encode(registered(object)), "bundle_base64": STANDARD.encode(registered(&bundle))})
    }

    /// A bundle around the object, its statement changed before it is signed.
    pub fn bundle(&self, object: &Value, change: impl FnOnce(&mut Value)) -> Value {
        let release = object["schema_version"] == "openadapt.qualification-release/v2";
        let (kind, version) = if release { ("qualification-release", 2) } else { ("qualification-admission", 4) };
        let key_id = self.root().outer_key_id();
        let mut statement = json!({
            "schema_version": "openadapt.production-public-trust-signing-statement/v1",
            "object_kind": kind,
            "object_schema_version": object["schema_version"],
            "object_media_type": format!("application/vnd.openadapt.{kind}+json;version={version}"),
            "object_sha256": sha256(&registered(object)),
            "object_size_bytes": registered(object).len(),
            "semantic_identity_sha256": self.semantic(kind, object),
            "source_issuer": object["issuer"],
            "signer_registry_sha256": self.registry_identity(),
            "authority_state_sha256": self.authority["authority_state_sha256"],
            "revocation_state_sha256": object["revocation_state_sha256"],
            "issued_at": object["issued_at"],
            "not_before": object["not_before"],
            "expires_at": null,
            "request_id_sha256": sha256(b"request"),
            "signing_authority": {
                "repository": "OpenAdaptAI/.github",
                "repository_id": "858454062",
                "repository_owner_id": "132681217",
                "workflow": ".github/workflows/sign-production-evidence-software.yml",
                "ref": "refs/heads/main",
                "source_commit": "c".repeat(40),
                "environment": "synthetic-qualification-evidence-decision",
                "key_origin": "software",
            },
            "key_id": key_id,
            "signature_profile": "software-ed25519-dsse-v1",
        });
        change(&mut statement);
        self.enveloped(&registered(&statement))
    }

    /// Any payload, signed.
    pub fn enveloped(&self, payload: &[u8]) -> Value {
        let key_id = self.root().outer_key_id();
        let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len());
        let signature = self.key.sign(&[head.as_bytes(), payload].concat());
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {"publicKey": {"hint": key_id}},
            "dsseEnvelope": {
                "payload": STANDARD.encode(payload),
                "payloadType": PAYLOAD_TYPE,
                "signatures": [{"keyid": key_id, "sig": STANDARD.encode(signature.to_bytes())}],
            },
        })
    }

    /// The private file that admits the workflow on one computer.
    pub fn authority_file(&self) -> Value {
        let bare = |digest: String| digest.trim_start_matches("sha256:").to_owned();
        json!({
            "schema_version": "openadapt.production-qualification-authority/v4",
            "qualification_admission": self.admission,
            "qualification_admission_sha256": bare(sha256(&registered(&self.admission))),
            "qualification_signer_registry": self.registry,
            "qualification_signer_registry_sha256": bare(self.registry_identity()),
            "decision_receipt": self.receipt,
            "revocation_state": self.revocation,
        })
    }

    pub fn signed(&self, receipt: &Value, domain: &str) -> Value {
        let mut receipt = without(receipt, &["signature", "signing_statement"]);
        let unsigned = registered(&receipt);
        let statement = json!({
            "schema_version": "openadapt.qualification-evidence-signing-statement/v1",
            "object_schema_version": receipt["schema_version"],
            "signature_domain": format!("{domain}\0"),
            "unsigned_object_sha256": sha256(&unsigned),
            "unsigned_size_bytes": unsigned.len(),
            "commitment_scheme": "sha256-canonical-json-lf",
        });
        receipt["signature"] = STANDARD.encode(self.key.sign(&registered(&statement)).to_bytes()).into();
        receipt["signing_statement"] = statement;
        receipt
    }

    fn registry_identity(&self) -> String {
        in_domain("OpenAdapt qualification signer registry v2", &self.registry)
    }
}

/// Makes the four digests of a row anew.
pub fn hash_row(row: &mut Value) {
    let about =
        |key: &str, value: &Value| json!({"target": row["target"], "claim_scope": row["claim_scope"], key: value});
    let release = in_domain("OpenAdapt production release candidate v1", &about("release", &row["release"]));
    let artifacts = in_domain(
        "OpenAdapt production release artifact inventory v1",
        &about("artifacts", &row["release"]["artifacts"]),
    );
    let staging = in_domain("OpenAdapt production release staging evidence v1", &row["publication_staging"]);
    row["release_sha256"] = release.into();
    row["artifact_inventory_sha256"] = artifacts.into();
    row["publication_staging_sha256"] = staging.into();
    let unnamed = without(row, &["admission_id_sha256"]);
    row["admission_id_sha256"] = in_domain("OpenAdapt qualification release admission v2", &unnamed).into();
}

fn identify(receipt: &mut Value, name: &str, domain: &str) {
    receipt[name] = in_domain(domain, &without(receipt, &[name, "signature", "signing_statement"])).into();
}
