//! A run is sealed only by a receipt of exactly that run, of a verified outcome, beside a verified execution.

use openadapt_agent::contract::ids::RunId;
use openadapt_agent::seal::Keys;
use openadapt_agent::seal::run::report_is_sealed;
use serde_json::{Value, json};

use crate::forge::{Issuer, RUN, pinned, receipt, tree};

fn report(receipt: &Value) -> Value {
    json!({"execution_outcome": "VERIFIED", "execute_receipt": receipt})
}

fn sealed(report: &Value, keys: &Keys) -> bool {
    report_is_sealed(&tree(report), &RunId::parse(RUN).unwrap(), keys)
}

#[test]
fn everything_must_hold() {
    let issuer = Issuer::new(1);
    let keys = pinned(&[issuer.entry()]);
    let good = issuer.sealed(&receipt());
    assert!(sealed(&report(&good), &keys));
    assert!(!sealed(&report(&good), &Keys::default()));
    assert!(!sealed(&report(&good), &pinned(&[Issuer::new(2).entry()])));
    assert!(!sealed(&json!({"execution_outcome": "VERIFIED"}), &keys));
    let mut halted = report(&good);
    halted["execution_outcome"] = json!("HALTED");
    assert!(!sealed(&halted, &keys));
    let mut unsigned = good.clone();
    unsigned.as_object_mut().unwrap().remove("seal_signature");
    assert!(!sealed(&report(&unsigned), &keys));
    for (outcome, expected) in
        [("verified", true), ("rolled_back_verified", true), ("halted", false), ("VERIFIED", false)]
    {
        let mut other = receipt();
        other["outcome"] = json!(outcome);
        assert_eq!(sealed(&report(&issuer.sealed(&other)), &keys), expected, "{outcome}");
    }
}

#[test]
fn a_receipt_of_another_run_seals_nothing() {
    let issuer = Issuer::new(1);
    let keys = pinned(&[issuer.entry()]);
    let mut other = receipt();
    other["execution_id"] = json!("execution-1");
    let other = report(&issuer.sealed(&other));
    assert!(!sealed(&other, &keys));
    for (cloud, expected) in
        [(json!("execution-1"), true), (json!("execution-2"), false), (json!(""), false), (Value::Null, false)]
    {
        let mut attached = other.clone();
        attached["cloud_execution_id"] = cloud;
        assert_eq!(sealed(&attached, &keys), expected);
    }
    let mut nameless = receipt();
    nameless["execution_id"] = json!("");
    let mut nameless = report(&issuer.sealed(&nameless));
    nameless["cloud_execution_id"] = json!("");
    assert!(!sealed(&nameless, &keys));
}
