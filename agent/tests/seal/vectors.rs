//! What the Python agent says of the same receipts.

use openadapt_agent::seal::{Keys, document, receipt};
use serde_json::Value;

use crate::forge::tree;

#[test]
fn every_receipt_is_what_the_python_agent_says_it_is() {
    let vectors: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    let keys = Keys::read(vectors["keys"].to_string().as_bytes()).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() > 12);
    for case in cases {
        let verdict =
            receipt::verify(&tree(&case["receipt"]), &keys).map_or_else(|refusal| refusal.as_str(), |_| "verified");
        assert_eq!(verdict, case["expected"].as_str().unwrap(), "{}", case["name"]);
        let wrapped = serde_json::json!({ "execute_receipt": case["receipt"] }).to_string();
        let expected = verdict == "verified" && case["receipt"]["outcome"] != "halted";
        assert_eq!(document::look(wrapped.as_bytes(), &keys).is_seal(), expected, "{}", case["name"]);
    }
}
