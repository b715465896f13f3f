use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::skill::emit;
use crate::workflows::testing::{Bundles, workflow};

/// A described bundle, and an empty folder for skills.
fn world() -> (Bundles, PathBuf, tempfile::TempDir) {
    let bundles = Bundles::new();
    let folder = bundles.add_sealed("one", workflow("w"));
    bundles.add_card("one", &json!({ "name": "triage_note" }));
    (bundles, folder, tempfile::tempdir().unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_skill_is_one_folder_with_one_file_and_nothing_is_left_beside_it() {
    let (_bundles, bundle, out) = world();
    let out = out.path().join("made/for/it");
    let emitted = emit(&bundle, &out, false).unwrap();
    assert_eq!(emitted.folder, out.join("triage-note"));
    assert_eq!(names(&out), ["triage-note"]);
    assert_eq!(names(&emitted.folder), ["SKILL.md"]);
}

#[test]
fn a_skill_of_ours_is_replaced_as_a_whole() {
    let (_bundles, bundle, out) = world();
    let first = emit(&bundle, out.path(), true).unwrap();
    assert_eq!(names(&first.folder), ["SKILL.md", "bundle"]);
    let again = emit(&bundle, out.path(), false).unwrap();
    assert_eq!(names(&again.folder), ["SKILL.md"]);
    assert_eq!(names(out.path()), ["triage-note"]);
}

#[test]
fn a_foreign_folder_is_left_as_it_is() {
    let (_bundles, bundle, out) = world();
    let theirs = out.path().join("triage-note");
    let refused = || {
        let before = names(out.path());
        let refusal = emit(&bundle, out.path(), false).unwrap_err();
        assert!(refusal.sentence.contains("already there"), "{refusal}");
        assert_eq!(names(out.path()), before);
    };
    fs::create_dir(&theirs).unwrap();
    refused();
    fs::write(theirs.join("SKILL.md"), "---\nname: triage-note\ndescription: mine\n---\nMine\n").unwrap();
    refused();
    assert!(fs::read_to_string(theirs.join("SKILL.md")).unwrap().contains("Mine"));
    fs::write(theirs.join("SKILL.md"), format!("---\nname: x\n---\n{MARK}\n")).unwrap();
    refused();
    fs::remove_dir_all(&theirs).unwrap();
    fs::write(&theirs, "a file").unwrap();
    refused();
}

#[test]
fn a_skill_of_ours_that_somebody_added_to_or_linked_is_foreign() {
    let (_bundles, bundle, out) = world();
    let ours = emit(&bundle, out.path(), false).unwrap().folder;
    fs::write(ours.join("notes.md"), "theirs").unwrap();
    assert!(emit(&bundle, out.path(), false).is_err());
    assert_eq!(fs::read_to_string(ours.join("notes.md")).unwrap(), "theirs");
    let elsewhere = out.path().join("elsewhere");
    fs::remove_file(ours.join("notes.md")).unwrap();
    fs::rename(&ours, &elsewhere).unwrap();
    symlink(&elsewhere, &ours).unwrap();
    assert!(emit(&bundle, out.path(), false).is_err());
    assert_eq!(names(&elsewhere), ["SKILL.md"]);
}

#[test]
fn a_copied_bundle_is_private_and_loads_as_the_same_workflow() {
    use std::os::unix::fs::PermissionsExt;
    let (_bundles, bundle, out) = world();
    fs::write(bundle.join(".hidden"), "an editor's").unwrap();
    let copy = emit(&bundle, out.path(), true).unwrap().folder.join("bundle");
    assert_eq!(names(&copy), ["openadapt-card.json", "templates", "workflow.json"]);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&copy), mode(&copy.join("workflow.json"))), (0o700, 0o600));
    let text = fs::read_to_string(copy.join("../SKILL.md")).unwrap();
    assert!(text.contains("## The folder `bundle`"));
}

#[test]
fn a_bundle_with_links_isn_t_copied_and_no_skill_is_left_half_made() {
    let (_bundles, bundle, out) = world();
    symlink("/etc/hostname", bundle.join("notes")).unwrap();
    assert!(emit(&bundle, out.path(), true).is_err());
    assert_eq!(names(out.path()), Vec::<String>::new());
    assert!(emit(&bundle, out.path(), false).is_ok());
}

#[test]
fn a_skill_with_its_bundle_never_goes_into_the_bundle() {
    let (_bundles, bundle, _out) = world();
    let refusal = emit(&bundle, &bundle.join("skills"), true).unwrap_err();
    assert!(refusal.sentence.contains("into the bundle itself"), "{refusal}");
}

#[test]
fn what_isn_t_one_loadable_workflow_is_refused_with_a_hint() {
    let (bundles, bundle, out) = world();
    let refused = |folder: &Path| emit(folder, out.path(), false).unwrap_err().sentence;
    assert!(refused(&bundles.path().join("none")).contains("doesn't exist"));
    assert!(refused(out.path()).contains("no workflow"));
    bundles.add_sealed("two", workflow("v"));
    assert!(refused(bundles.path()).contains("more than one"));
    fs::write(bundle.join("workflow.json"), "{}").unwrap();
    assert!(refused(&bundle).contains("can't be loaded"));
    assert_eq!(names(out.path()), Vec::<String>::new());
}
