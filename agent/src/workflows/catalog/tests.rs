use std::collections::BTreeSet;
use std::fs;

use super::*;
use crate::workflows::testing::{Bundles, SEALED, SEALED_DIGEST, SEALED_ID, workflow};

fn catalog(bundles: &Bundles) -> Catalog {
    Catalog::discover(bundles.path(), &|_| None).unwrap()
}

fn folders(catalog: &Catalog) -> Vec<String> {
    catalog.iter().map(|w| w.bundle_dir.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn bundles_are_the_folders_with_a_workflow_file_by_name() {
    let bundles = Bundles::new();
    for folder in ["b", "a", "B", "c/inner"] {
        bundles.add(folder, &workflow(folder).to_string());
    }
    fs::create_dir(bundles.path().join("empty")).unwrap();
    fs::write(bundles.path().join("file"), "x").unwrap();
    assert_eq!(folders(&catalog(&bundles)), ["B", "a", "b"]);
}

#[test]
fn a_folder_that_is_a_bundle_is_the_only_one() {
    let bundles = Bundles::new();
    let outer = bundles.add("outer", &workflow("outer").to_string());
    bundles.add("outer/inner", &workflow("inner").to_string());
    assert_eq!(folders(&Catalog::discover(&outer, &|_| None).unwrap()), ["outer"]);
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_an_empty_one_is_not() {
    let bundles = Bundles::new();
    assert_eq!(catalog(&bundles).iter().count(), 0);
    let nowhere = bundles.path().join("nowhere");
    assert!(matches!(Catalog::discover(&nowhere, &|_| None), Err(CatalogError::NotAFolder)));
}

#[test]
fn a_sealed_bundle_is_found_by_its_opaque_id() {
    let bundles = Bundles::new();
    bundles.add("a", SEALED);
    let catalog = catalog(&bundles);
    let workflow = catalog.by_name(SEALED_ID).unwrap();
    assert_eq!(workflow.public_id, SEALED_ID);
    assert_eq!(workflow.content_digest.as_deref(), Some(SEALED_DIGEST));
    assert_eq!(workflow.slug, "file_the_letter");
    assert_eq!(catalog.by_public_id(SEALED_ID).unwrap().bundle_dir, workflow.bundle_dir);
    assert!(catalog.by_name("file_the_letter").is_none());
}

#[test]
fn equal_bundles_get_distinct_ids_names_and_slugs() {
    let bundles = Bundles::new();
    for folder in ["one", "three", "two"] {
        bundles.add(folder, SEALED);
        bundles.add_card(folder, &json!({ "name": "file_letter" }));
    }
    let catalog = catalog(&bundles);
    let ids: Vec<_> = catalog.iter().map(|w| w.public_id.clone()).collect();
    assert_eq!(ids, [SEALED_ID.to_owned(), format!("{SEALED_ID}_2"), format!("{SEALED_ID}_3")]);
    let names: Vec<_> = catalog.iter().map(Workflow::name).collect();
    assert_eq!(names, ["file_letter", "file_letter_2", "file_letter_3"]);
    let slugs: Vec<_> = catalog.iter().map(|w| w.slug.as_str()).collect();
    assert_eq!(slugs, ["file_the_letter", "file_the_letter_three", "file_the_letter_two"]);
}

#[test]
fn what_does_not_load_is_listed_as_unavailable_and_says_nothing_of_itself() {
    let bundles = Bundles::new();
    bundles.add("broken-SECRET", "{\"name\": \"SECRET\"");
    bundles.add_card("broken-SECRET", &json!({ "name": "secret_card", "purpose": "SECRET" }));
    let catalog = catalog(&bundles);
    let workflow = catalog.iter().next().unwrap();
    assert_eq!(workflow.load_error, Some(LoadError::Parse(crate::flow::canonical::ParseFault::Malformed)));
    assert!(!workflow.available() && workflow.changes_records);
    assert_eq!(workflow.name(), workflow.public_id);
    let row = workflow.row(Omitted::Refused);
    assert_eq!(row["available"], json!(false));
    assert_eq!(row["step_count"], json!(null));
    assert_eq!(row["parameters"], json!([]));
    assert!(!Value::Object(row).to_string().contains("SECRET"));
    assert_eq!(workflow.recheck(), Err(workflow.load_error.unwrap()));
}

#[test]
fn an_encrypted_bundle_is_listed_and_wins_over_a_plain_one_beside_it() {
    let bundles = Bundles::new();
    let bundle = bundles.add("a", SEALED);
    fs::write(bundle.join("workflow.json.enc"), "{}").unwrap();
    let only = bundles.path().join("b");
    fs::create_dir(&only).unwrap();
    fs::write(only.join("workflow.json.enc"), "{}").unwrap();
    let catalog = catalog(&bundles);
    let seen: Vec<_> = catalog.iter().map(|w| (w.encrypted, w.load_error)).collect();
    assert_eq!(seen, [(true, Some(LoadError::Encrypted)); 2]);
    assert_ne!(catalog.iter().next().unwrap().public_id, SEALED_ID);
}

#[cfg(unix)]
#[test]
fn links_are_listed_as_unavailable_and_a_linked_root_is_the_operators_choice() {
    use std::os::unix::fs::symlink;
    let bundles = Bundles::new();
    let elsewhere = Bundles::new();
    let real = elsewhere.add("real", SEALED);
    symlink(&real, bundles.path().join("linked_folder")).unwrap();
    fs::create_dir(bundles.path().join("linked_marker")).unwrap();
    symlink(real.join("workflow.json"), bundles.path().join("linked_marker/workflow.json")).unwrap();
    symlink(bundles.path().join("nowhere"), bundles.path().join("dangling")).unwrap();
    let seen: Vec<_> = catalog(&bundles).iter().map(|w| w.load_error).collect();
    assert_eq!(seen, [Some(LoadError::Symlink); 2]);
    let root = bundles.path().join("linked_folder");
    assert!(Catalog::discover(&root, &|_| None).unwrap().iter().all(Workflow::available));
}

#[test]
fn the_row_has_the_listed_keys_and_no_recorded_value() {
    let bundles = Bundles::new();
    bundles.add_sealed("a", workflow("LABEL"));
    let catalog = catalog(&bundles);
    let workflow = catalog.iter().next().unwrap();
    let row = workflow.row(Omitted::Refused);
    let keys: Vec<_> = row.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "name",
            "purpose",
            "done_means",
            "inputs",
            "changes_records",
            "available",
            "id",
            "step_count",
            "parameters",
            "encrypted"
        ]
    );
    assert_eq!(row["step_count"], json!(1));
    assert_eq!(row["changes_records"], json!(false));
    assert_eq!(row["inputs"]["required"], json!(["count", "note", "seen_on", "urgent", "ward", "who"]));
    assert_eq!(
        row["parameters"],
        json!([
            { "name": "count", "type": "number", "required": true },
            { "name": "note", "type": "string", "required": true },
            { "name": "seen_on", "type": "string", "required": true },
            { "name": "urgent", "type": "boolean", "required": true },
            { "name": "ward", "type": "string", "required": true },
            { "name": "who", "type": "string", "required": true },
        ])
    );
    assert_eq!(workflow.row(Omitted::FilledFromRecording)["parameters"][0]["required"], json!(false));
    let text = Value::Object(row).to_string();
    for private in [
        "LABEL",
        "label",
        "recorded note",
        "2026-01-02",
        "press Tab",
        "no_param",
        &bundles.path().display().to_string(),
    ] {
        assert!(!text.contains(private), "{private}");
    }
}

#[test]
fn a_refused_card_is_a_problem_to_log_and_the_workflow_stays_available() {
    let bundles = Bundles::new();
    bundles.add("a", SEALED);
    bundles.add_card("a", &json!({ "purpose": "chart 1234567" }));
    let catalog = catalog(&bundles);
    let workflow = catalog.iter().next().unwrap();
    assert!(workflow.available());
    assert_eq!(workflow.card_problem, Some(CardProblem::LooksLikeIdentifier));
    assert_eq!(workflow.name(), SEALED_ID);
}

#[test]
fn a_recheck_sees_what_happened_since_the_start() {
    let bundles = Bundles::new();
    let sealed = bundles.add("sealed", SEALED);
    let unsealed = bundles.add("unsealed", &workflow("x").to_string());
    let listed = catalog(&bundles);
    let recheck = |index: usize| listed.iter().nth(index).unwrap().recheck();
    assert_eq!((recheck(0), recheck(1)), (Ok(()), Ok(())));

    fs::write(sealed.join("templates/step_000.png"), "other").unwrap();
    assert_eq!(recheck(0), Err(LoadError::AssetChanged));
    bundles.add_sealed("sealed", workflow("another one"));
    assert_eq!(recheck(0), Err(LoadError::Replaced));
    bundles.add("sealed", SEALED);
    assert_eq!(recheck(0), Ok(()));
    fs::write(sealed.join("workflow.json.enc"), "{}").unwrap();
    assert_eq!(recheck(0), Err(LoadError::Replaced));
    fs::remove_dir_all(&sealed).unwrap();
    assert_eq!(recheck(0), Err(LoadError::Unreadable));

    let mut edited = workflow("x");
    edited["steps"][0]["key"] = json!("Enter");
    fs::write(unsealed.join("workflow.json"), edited.to_string()).unwrap();
    assert_eq!(recheck(1), Err(LoadError::Replaced));
}

#[test]
fn names_and_ids_are_unique_whatever_the_cards_say() {
    let bundles = Bundles::new();
    bundles.add("a", SEALED);
    bundles.add("b", &workflow("b").to_string());
    bundles.add_card("b", &json!({ "name": SEALED_ID }));
    bundles.add("c", "{");
    bundles.add("d", "{");
    let catalog = catalog(&bundles);
    let names: BTreeSet<_> = catalog.iter().map(Workflow::name).collect();
    let ids: BTreeSet<_> = catalog.iter().map(|w| w.public_id.as_str()).collect();
    assert_eq!((names.len(), ids.len()), (4, 4));
    assert_eq!(catalog.by_name(SEALED_ID).unwrap().public_id, SEALED_ID);
}
