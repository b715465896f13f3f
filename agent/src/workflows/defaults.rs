//! The form of a workflow that its digest is taken over: every default written out, except those that schema 2 leaves out.

use super::anatomy::{Part, visit};
use crate::flow::canonical::Tree;

/// How much of the form is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Flow wrote the file and sealed it: every default stands in it.
    InFull,
    /// Anyone may have written it, leaving defaults out.
    Sparsely,
}

/// Brings a workflow file into that form.
///
/// A `created_at` that is absent stays absent: Flow would put the present time there, and the digest would never be the same twice.
pub fn to_digest_form(workflow: &mut Tree, written: Written) {
    visit(workflow, Part::Workflow, &mut |part, entries| {
        for (key, default, in_digest) in defaults(part) {
            match (entries.get(*key), in_digest) {
                (None, Kept) if written == Written::Sparsely => {
                    entries.insert((*key).to_owned(), default.tree());
                }
                (Some(value), LeftOut) if *value == default.tree() => {
                    entries.remove(*key);
                }
                _ => {}
            }
        }
    });
}

/// What becomes of a key that holds its default.
#[derive(Clone, Copy)]
enum InDigest {
    Kept,
    LeftOut,
}

/// What a key that is absent stands for.
#[derive(Clone, Copy)]
enum Absent {
    Null,
    False,
    True,
    List,
    Map,
    Number(&'static str),
    Text(&'static str),
}

use Absent::{False, List, Map, Null, Number, Text, True};
use InDigest::{Kept, LeftOut};

impl Absent {
    fn tree(self) -> Tree {
        match self {
            Null => Tree::Null,
            False => Tree::Bool(false),
            True => Tree::Bool(true),
            List => Tree::List(Vec::new()),
            Map => Tree::map::<String>([]),
            Number(literal) => Tree::Number(literal.to_owned()),
            Text(text) => Tree::text(text),
        }
    }
}

fn defaults(part: Part) -> &'static [(&'static str, Absent, InDigest)] {
    match part {
        Part::Workflow => &[
            ("recording_id", Null, Kept),
            ("contains_phi", False, Kept),
            ("phi_scrubbed", False, Kept),
            ("encrypted", False, Kept),
            ("viewport", Null, Kept),
            ("params", Map, Kept),
            ("param_specs", Map, Kept),
            ("secret_params", List, Kept),
            ("steps", List, Kept),
            ("program", Null, Kept),
            ("subflows", Map, Kept),
            ("data_sources", Map, Kept),
            ("interstitials", List, LeftOut),
            ("backend_hints", Null, LeftOut),
            ("surface", Null, LeftOut),
            ("execution_mode", Null, LeftOut),
            ("qualification", Null, LeftOut),
        ],
        Part::ParamSpec => &[
            ("type", Text("string"), Kept),
            ("example", Null, Kept),
            ("required", True, Kept),
            ("choices", List, Kept),
        ],
        Part::Step => &[
            ("anchor", Null, Kept),
            ("text", Null, Kept),
            ("param", Null, Kept),
            ("secret", False, Kept),
            ("field_label", Null, LeftOut),
            ("selection_commit_key", Null, LeftOut),
            ("selection_region", Null, LeftOut),
            ("key", Null, Kept),
            ("modifiers", List, LeftOut),
            ("drag_end_anchor", Null, LeftOut),
            ("scroll_dx", Null, Kept),
            ("scroll_dy", Null, Kept),
            ("expect", List, Kept),
            ("effects", List, Kept),
            ("api_binding", Null, Kept),
            ("risk", Text("reversible"), Kept),
            ("risk_explanation", Null, LeftOut),
            ("risk_review_required", False, LeftOut),
            ("wait_until", Null, Kept),
            ("guard", Null, Kept),
            ("timeout_s", Number("10.0"), Kept),
            ("identity_armed", Null, Kept),
            ("identity_unarmed_reason", Null, Kept),
            ("identifier_crop_missing_reason", Null, Kept),
        ],
        Part::Anchor => &[
            ("structural", Null, Kept),
            ("ocr_text", Null, Kept),
            ("context_text", Null, Kept),
            ("structured_identity", Null, Kept),
            ("identity_template", Null, Kept),
            ("identifier_crop", Null, Kept),
            ("identifier_region", Null, Kept),
            ("landmarks", List, Kept),
            ("search_pad", Number("80"), Kept),
        ],
        Part::Locator => &[
            ("selector", Null, Kept),
            ("frame_path", Null, LeftOut),
            ("frame_path", List, LeftOut),
            ("role", Null, Kept),
            ("name", Null, Kept),
            ("automation_id", Null, Kept),
            ("window_name", Null, Kept),
        ],
        Part::Postcondition => &[
            ("text", Null, Kept),
            ("region", Null, Kept),
            ("phash", Null, Kept),
            ("phash_tolerance", Number("8"), Kept),
            ("timeout_s", Number("5.0"), Kept),
            ("template", Null, Kept),
        ],
        Part::Effect => &[
            ("match", Map, Kept),
            ("field", Null, Kept),
            ("value", Null, Kept),
            ("expected_count", Number("1"), Kept),
            ("new_records", List, LeftOut),
            ("identity_field", Text("id"), LeftOut),
            ("idempotency_key", Null, Kept),
            ("key_field", Text("key"), Kept),
            ("count_new_only", False, Kept),
            ("forbid_collateral_loss", True, Kept),
            ("risk", Text("reversible"), Kept),
            ("probe", Null, Kept),
            ("timeout_s", Number("5.0"), Kept),
            ("needs_operator_confirmation", False, Kept),
            ("readback", Null, Kept),
        ],
        Part::Expression => &[("literal", Null, Kept), ("param", Null, Kept)],
        Part::Predicate => &[
            ("anchor", Null, Kept),
            ("text", Null, Kept),
            ("param", Null, Kept),
            ("value", Null, Kept),
            ("intent", Null, Kept),
            ("operands", List, Kept),
            ("timeout_s", Number("5.0"), Kept),
        ],
        Part::Guard => &[("on_unmet", Text("halt"), Kept)],
        Part::Graph => &[("states", Map, Kept)],
        Part::State => &[
            ("step", Null, Kept),
            ("decision", Null, LeftOut),
            ("loop", Null, Kept),
            ("subflow", Null, Kept),
            ("transitions", List, Kept),
            ("on_exception", Null, Kept),
            ("outcome", Null, Kept),
            ("reason", Text(""), Kept),
        ],
        Part::Transition => &[("guard", Null, Kept), ("label", Text(""), Kept)],
        Part::ApiBinding | Part::Interstitial | Part::Decision => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> Tree {
        let mut tree = Tree::parse(text.as_bytes(), 10_000).unwrap();
        to_digest_form(&mut tree, Written::Sparsely);
        tree
    }

    #[test]
    fn completing_twice_is_completing_once() {
        let once = completed(
            r#"{"name":"x","steps":[{"id":"a","anchor":{"structural":{"frame_path":[]}},"effects":[{}],"expect":[{}]}]}"#,
        );
        let mut twice = once.clone();
        to_digest_form(&mut twice, Written::Sparsely);
        assert_eq!(once, twice);
    }

    #[test]
    fn nothing_is_added_to_a_file_that_was_written_in_full() {
        let mut tree = Tree::parse(br#"{"name":"x","steps":[{"id":"a","modifiers":[]}]}"#, 100).unwrap();
        to_digest_form(&mut tree, Written::InFull);
        assert_eq!(tree, Tree::parse(br#"{"name":"x","steps":[{"id":"a"}]}"#, 100).unwrap());
    }

    #[test]
    fn only_exact_defaults_are_left_out() {
        let step = completed(r#"{"steps":[{"modifiers":["Shift"],"field_label":"","risk_review_required":null}]}"#);
        let step = &step.get("steps").unwrap().as_list().unwrap()[0];
        for key in ["modifiers", "field_label", "risk_review_required"] {
            assert!(step.get(key).is_some(), "{key}");
        }
        for key in ["selection_region", "drag_end_anchor"] {
            assert!(step.get(key).is_none(), "{key}");
        }
    }

    #[test]
    fn both_spellings_of_no_frame_are_left_out_and_a_frame_is_not() {
        let locator = |frame: &str| {
            let text = format!(r#"{{"steps":[{{"anchor":{{"structural":{{"frame_path":{frame}}}}}}}]}}"#);
            let tree = completed(&text);
            tree.get("steps").unwrap().as_list().unwrap()[0].at(["anchor", "structural"]).unwrap().clone()
        };
        assert_eq!(locator("null"), locator("[]"));
        assert!(locator("null").get("frame_path").is_none());
        assert!(locator(r#"["f"]"#).get("frame_path").is_some());
    }

    #[test]
    fn an_absent_date_of_creation_stays_absent() {
        assert!(completed(r#"{"name":"x"}"#).get("created_at").is_none());
    }
}
