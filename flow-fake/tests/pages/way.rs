//! The way through the clinic: sign in, open, type, save.

use super::desk::Desk;

const SAVING: &str = "?fault=ok&idempotency=demo#tasks";

#[test]
fn signing_in_leads_to_the_referrals_whatever_is_typed() {
    let desk = Desk::at("");
    assert_eq!(desk.text("h1"), "Sign in to MockMed");
    desk.fill("#username", "anybody");
    desk.fill("#password", "anything");
    desk.click("#signin");
    desk.sees("#tasks-table");
    assert_eq!(desk.text("h1"), "Referral Tasks");
    assert!(desk.page.url().ends_with("#tasks"));
}

#[test]
fn each_row_opens_the_record_that_it_names() {
    for (id, name, born) in [
        ("p1", "Jane Sample", "1980-01-01"),
        ("p2", "Alex Testcase", "1975-05-05"),
        ("p3", "Sam Specimen", "1990-09-09"),
    ] {
        let desk = Desk::at("#tasks");
        assert!(desk.text(&format!("tr:has(#open-{id})")).contains(name));
        desk.click(&format!("#open-{id}"));
        let banner = format!("{name} — MRN {} — DOB {born}", id.to_uppercase());
        assert_eq!(desk.text("#patient-banner"), banner);
        assert_eq!(desk.attribute("#patient-record", "aria-label"), Some(banner));
    }
}

#[test]
fn a_note_is_saved_shown_and_kept_in_the_store() {
    let desk = Desk::at(SAVING);
    desk.write("Knee pain since Monday");
    desk.click("#save-encounter");
    assert_eq!(desk.text("#saved-banner"), "Encounter saved — Knee pain since Monday");
    assert_eq!(desk.text(".enc-item"), "Triage — Knee pain since Monday");
    let records = desk.records();
    assert_eq!((records.len(), &records[0]["note"]), (1, &"Knee pain since Monday".into()));
    assert_eq!(desk.complaints(), Vec::<String>::new());
}

#[test]
fn the_chosen_type_is_the_one_that_is_stored_and_said_to_be_chosen() {
    let desk = Desk::at(SAVING);
    desk.write("x");
    desk.click("#type-consult");
    assert_eq!(desk.attribute("#type-consult", "aria-pressed").as_deref(), Some("true"));
    assert_eq!(desk.attribute("#type-triage", "aria-pressed").as_deref(), Some("false"));
    desk.click("#save-encounter");
    desk.sees("#saved-banner");
    assert_eq!(desk.records()[0]["type"], "Consult");
}

#[test]
fn what_a_person_types_is_only_ever_text() {
    let note = "<img src=x onerror=alert(1)><b>bold</b> \"quoted\" \u{5e9}\u{5dc}\u{5d5}\u{5dd} 🩺";
    let desk = Desk::at(SAVING);
    desk.write(note);
    desk.click("#save-encounter");
    let shown: String = note.chars().take(40).collect();
    assert_eq!(desk.text("#saved-banner"), format!("Encounter saved — {shown}"));
    assert_eq!(desk.count("main b, .enc-item img, #saved-banner img"), 0);
    assert_eq!(desk.records()[0]["note"], note);
    assert_eq!(desk.complaints(), Vec::<String>::new());
}

#[test]
fn every_page_has_one_heading_a_landmark_and_nothing_to_complain_of() {
    for address in [
        "#login",
        "#tasks",
        "#patient/p2",
        "#encounter",
        "widgets.html?panel=select",
        "?drift=theme#tasks",
        "#no-such-page",
    ] {
        let desk = Desk::at(address);
        desk.sees("h1");
        assert_eq!((desk.count("h1"), desk.count("main")), (1, 1), "{address}");
        assert_eq!(desk.wait(desk.page.title()), "MockMed", "{address}");
        assert_eq!(desk.count("button:not([type])"), 0, "{address}");
        assert_eq!(desk.complaints(), Vec::<String>::new(), "{address}");
    }
}

#[test]
fn every_field_has_a_label_that_finds_it() {
    let desk = Desk::at("#login");
    desk.wait(desk.page.get_by_label("Username", true).fill("ada", None));
    desk.wait(desk.page.get_by_label("Password", true).fill("x", None));
    desk.open("#encounter");
    desk.sees("#note");
    desk.wait(desk.page.get_by_label("Note", true).fill("found by its label", None));
    assert_eq!(desk.wait(desk.find("#note").input_value(None)), "found by its label");
}
