//! Evidence packs: signatures in their one spelling, the one registry, what is revoked, and both forms of a pack.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use openadapt_agent::admission::Reason;
use serde_json::{Value, json};

use crate::forge::{Forge, registered, sha256};
use crate::world::{World, bytes, judged};

/// One thing that is changed, by its name.
type Change<T> = (&'static str, fn(&mut T));

fn decoded(text: &Value) -> Value {
    serde_json::from_slice(&STANDARD.decode(text.as_str().unwrap()).unwrap()).unwrap()
}

/// The pack with the release's bundle changed; nothing is signed anew.
fn with_bundle(change: impl FnOnce(&mut Value)) -> Result<(), Reason> {
    let forge = Forge::new();
    let mut pack = forge.pack();
    let mut bundle = decoded(&pack["objects"][0]["bundle_base64"]);
    change(&mut bundle);
    pack["objects"][0]["bundle_base64"] = STANDARD.encode(registered(&bundle)).into();
    World::of(forge.root()).verdict(&forge.ledger(), Some(&pack))
}

/// The pack with the release's statement changed before it was signed.
fn with_statement(change: impl FnOnce(&mut Value)) -> Result<(), Reason> {
    let forge = Forge::new();
    let mut pack = forge.pack();
    let bundle = forge.bundle(forge.latest(), change);
    pack["objects"][0]["bundle_base64"] = STANDARD.encode(registered(&bundle)).into();
    World::of(forge.root()).verdict(&forge.ledger(), Some(&pack))
}

#[test]
fn an_envelope_has_one_spelling() {
    assert_eq!(with_bundle(|_| {}), Ok(()));
    let invalid: [Change<Value>; 9] = [
        ("a flipped bit", |bundle| {
            let sig = &mut bundle["dsseEnvelope"]["signatures"][0]["sig"];
            let mut raw = STANDARD.decode(sig.as_str().unwrap()).unwrap();
            raw[10] ^= 1;
            *sig = STANDARD.encode(raw).into();
        }),
        ("another key id", |bundle| bundle["dsseEnvelope"]["signatures"][0]["keyid"] = json!("qa-ed25519-0")),
        ("another hint", |bundle| bundle["verificationMaterial"]["publicKey"]["hint"] = json!("x")),
        ("two signatures", |bundle| {
            let one = bundle["dsseEnvelope"]["signatures"][0].clone();
            bundle["dsseEnvelope"]["signatures"].as_array_mut().unwrap().push(one);
        }),
        ("no signature", |bundle| bundle["dsseEnvelope"]["signatures"] = json!([])),
        ("no padding", |bundle| {
            let sig = &mut bundle["dsseEnvelope"]["signatures"][0]["sig"];
            *sig = sig.as_str().unwrap().trim_end_matches('=').into();
        }),
        ("bits behind the end", |bundle| {
            let sig = &mut bundle["dsseEnvelope"]["signatures"][0]["sig"];
            let text = sig.as_str().unwrap();
            let last = text.as_bytes()[85];
            let next = if last == b'z' { b'0' } else { last + 1 };
            *sig = format!("{}{}==", &text[..85], char::from(next)).into();
        }),
        ("another payload type", |bundle| bundle["dsseEnvelope"]["payloadType"] = json!("application/json")),
        ("a certificate", |bundle| bundle["verificationMaterial"]["certificate"] = json!({})),
    ];
    for (what, change) in invalid {
        assert_eq!(with_bundle(change), Err(Reason::SignatureInvalid), "{what}");
    }
}

#[test]
fn a_payload_without_its_line_feed_is_another_payload_even_when_it_is_signed() {
    let forge = Forge::new();
    let mut pack = forge.pack();
    let bundle = decoded(&pack["objects"][0]["bundle_base64"]);
    let payload = STANDARD.decode(bundle["dsseEnvelope"]["payload"].as_str().unwrap()).unwrap();
    let cut = forge.enveloped(&payload[..payload.len() - 1]);
    pack["objects"][0]["bundle_base64"] = STANDARD.encode(registered(&cut)).into();
    let world = World::of(forge.root());
    assert_eq!(world.verdict(&forge.ledger(), Some(&pack)), Err(Reason::SignatureInvalid));
}

#[test]
fn a_statement_is_about_this_object_and_from_the_one_place() {
    let invalid: [Change<Value>; 9] = [
        ("another object", |statement| statement["object_sha256"] = json!(sha256(b"x"))),
        ("another kind", |statement| statement["object_kind"] = json!("qualification-admission")),
        ("another size", |statement| statement["object_size_bytes"] = json!(1)),
        ("another meaning", |statement| statement["semantic_identity_sha256"] = json!(sha256(b"x"))),
        ("another issuer", |statement| statement["source_issuer"]["environment"] = json!("x")),
        ("another registry", |statement| statement["signer_registry_sha256"] = json!(sha256(b"x"))),
        ("another place", |statement| statement["signing_authority"]["workflow"] = json!("x.yml")),
        ("a moment to come", |statement| statement["not_before"] = json!("2026-12-01T00:00:00Z")),
        ("another member", |statement| statement["more"] = json!(1)),
    ];
    for (what, change) in invalid {
        assert_eq!(with_statement(change), Err(Reason::SignatureInvalid), "{what}");
    }
    let hardware = |statement: &mut Value| statement["signature_profile"] = json!("kms-ecdsa-p256-dsse-v1");
    assert_eq!(with_statement(hardware), Err(Reason::SignerUnsupported));
}

#[test]
fn only_the_one_registry_is_trusted() {
    let forge = Forge::new();
    let other = Forge::keyed(9);
    let world = World::of(other.root());
    assert_eq!(world.verdict(&forge.ledger(), Some(&forge.pack())), Err(Reason::SignerRegistryUntrusted));
    let mut revision = forge.clone();
    revision.registry["revision"] = json!(2);
    let revision = revision.linked();
    let world = World::of(forge.root());
    assert_eq!(world.verdict(&revision.ledger(), Some(&revision.pack())), Err(Reason::SignerRegistryUntrusted));
}

#[test]
fn a_signer_must_be_active_and_of_the_one_algorithm() {
    let with_signers = |change: fn(&mut Value)| {
        let mut forge = Forge::new();
        forge.registry["signers"].as_array_mut().unwrap().iter_mut().for_each(change);
        judged(&forge.linked())
    };
    assert_eq!(with_signers(|signer| signer["status"] = json!("revoked")), Err(Reason::SignerRevoked));
    let at = |signer: &mut Value| signer["revoked_at"] = json!("2026-10-01T00:00:00Z");
    assert_eq!(with_signers(at), Err(Reason::SignerRevoked));
    let other = |signer: &mut Value| signer["algorithm"] = json!("ecdsa-p256-sha256");
    assert_eq!(with_signers(other), Err(Reason::SignerUnsupported));
    assert_eq!(with_signers(|signer| signer["allowed_workflows"] = json!([])), Err(Reason::SignatureInvalid));
    assert_eq!(with_signers(|signer| signer["allowed_usages"] = json!([])), Err(Reason::SignatureInvalid));
}

#[test]
fn receipts_bind_each_other_and_count_now() {
    let invalid: [Change<Forge>; 6] = [
        ("an authority that ended", |forge| forge.authority["status"] = json!("retired")),
        ("an authority that expired", |forge| forge.authority["expires_at"] = json!("2026-10-01T00:00:00Z")),
        ("a revocation that ended", |forge| forge.revocation["status"] = json!("superseded")),
        ("a revocation to come", |forge| {
            forge.revocation["not_before"] = json!("2026-12-01T00:00:00Z");
            forge.revocation["observed_at"] = json!("2026-12-01T00:00:00Z");
        }),
        ("a second revision without a first", |forge| forge.revocation["revision"] = json!(2)),
        ("a decision that expired", |forge| forge.receipt["expires_at"] = json!("2026-10-15T00:00:00Z")),
    ];
    for (what, change) in invalid {
        let mut forge = Forge::new();
        change(&mut forge);
        assert_eq!(judged(&forge.linked()), Err(Reason::TrustStateInvalid), "{what}");
    }
    let mut loose = Forge::new();
    loose.revocation["authority_state_sha256"] = json!(sha256(b"another authority"));
    loose.resign_revocation();
    assert_eq!(judged(&loose), Err(Reason::TrustStateInvalid));
}

#[test]
fn a_receipt_that_was_changed_after_it_was_signed_is_no_receipt() {
    let changes: [fn(&mut Forge); 4] = [
        |forge| forge.authority["observed_at"] = json!("2026-09-01T00:00:01Z"),
        |forge| forge.revocation["revision"] = json!(3),
        |forge| forge.receipt["bundle_version"] = json!("3.2.2"),
        |forge| forge.authority["signing_statement"]["unsigned_size_bytes"] = json!(1),
    ];
    for change in changes {
        let mut forge = Forge::new();
        change(&mut forge);
        assert_eq!(judged(&forge), Err(Reason::SignatureInvalid));
    }
    let mut other = Forge::new();
    other.authority["algorithm"] = json!("ecdsa");
    assert_eq!(judged(&other), Err(Reason::SignerUnsupported));
}

#[test]
fn what_is_revoked_is_found_under_each_of_its_names() {
    let forge = Forge::new();
    let semantic = forge.semantic("qualification-release", forge.latest());
    let object = sha256(&registered(forge.latest()));
    let id = forge.latest()["admission_id_sha256"].as_str().unwrap().to_owned();
    for (name, subject) in [("meaning", semantic), ("object", object), ("admission", id)] {
        for kind in ["qualification-release", "another kind"] {
            let revoking = forge.clone().revoking(&[(kind, &subject)]);
            assert_eq!(judged(&revoking), Err(Reason::AdmissionRevoked), "{name}");
        }
    }
    let other = forge.clone().revoking(&[("qualification-release", &sha256(b"something else"))]);
    assert_eq!(judged(&other), Ok(()));
    let key = forge.key_sha256();
    assert_eq!(judged(&forge.revoking(&[("qualification-signer-key", &key)])), Err(Reason::SignerRevoked));
}

#[test]
fn a_state_that_doesnt_follow_the_one_that_was_issued_under_is_not_believed() {
    let mut forge = Forge::new();
    forge.issued_under = Some(sha256(b"another state"));
    assert_eq!(judged(&forge.linked()), Err(Reason::TrustStateInvalid));
    let two_later = Forge::new().revoking(&[]).revoking(&[]);
    assert_eq!(judged(&two_later), Err(Reason::TrustStateInvalid));
}

#[test]
fn what_is_no_pack_is_no_evidence() {
    let forge = Forge::new();
    let world = World::of(forge.root());
    let mut other = forge.pack();
    other["schema_version"] = json!("openadapt-agent.admission-evidence-pack/v2");
    let mut unpadded = forge.pack();
    unpadded["receipts_base64"][0] = json!("AAA");
    for pack in [json!({}), json!([]), other, unpadded] {
        assert_eq!(world.verdict(&forge.ledger(), Some(&pack)), Err(Reason::SignatureUnavailable));
    }
    let mut large = bytes(&forge.pack());
    large.resize((1 << 20) + 1, b' ');
    let verdict = world.look(&bytes(&forge.ledger()), None, Some(&large)).verdict;
    assert_eq!(verdict, Err(Reason::SignatureUnavailable));
}

#[test]
fn a_folder_of_registered_objects_is_a_pack() {
    let forge = Forge::new();
    let world = World::of(forge.root());
    let folder = world.path("evidence");
    std::fs::create_dir_all(folder.join("objects")).unwrap();
    let write = |name: &str, value: &Value| std::fs::write(folder.join(name), registered(value)).unwrap();
    write("signer-registry.json", &forge.registry);
    write("authority-state.json", &forge.authority);
    write("revocation-state.json", &forge.revocation);
    write("objects/a.json", forge.latest());
    write("objects/b.json", &forge.bundle(forge.latest(), |_| {}));
    write("objects/c.json", &forge.receipt);
    std::fs::write(world.path("ledger.json"), bytes(&forge.ledger())).unwrap();
    let look = || world.look_at(&world.path("ledger.json"), None, Some(&folder)).verdict;
    assert_eq!(look(), Ok(()));
    write("objects/d.json", &forge.admission);
    assert_eq!(look(), Err(Reason::SignatureInvalid), "an object without a bundle");
    std::fs::remove_file(folder.join("objects/d.json")).unwrap();
    std::fs::remove_file(folder.join("revocation-state.json")).unwrap();
    assert_eq!(look(), Err(Reason::SignatureUnavailable));
}
