//! Each way in which a save goes wrong, as it is told.

use super::desk::Desk;

fn error_of(desk: &Desk) -> String {
    desk.sees("#save-error:not(:empty)");
    assert_eq!(desk.attribute("#save-error", "role").as_deref(), Some("alert"));
    assert_eq!(desk.count("#saved-banner"), 0);
    desk.text("#save-error")
}

fn saving(address: &str, note: &str) -> Desk {
    let desk = Desk::at(address);
    desk.write(note);
    desk.click("#save-encounter");
    desk
}

#[test]
fn a_save_that_takes_too_long_is_said_to_be_uncertain_and_the_note_stays() {
    let desk = saving("?fault=timeout#tasks", "kept");
    let said = error_of(&desk);
    assert!(said.contains("timed out") && said.contains("may or may not"), "{said}");
    assert_eq!(desk.wait(desk.find("#note").input_value(None)), "kept");
    assert_eq!(desk.records().len(), 1);
}

#[test]
fn a_save_that_the_server_rejects_is_said_to_be_rejected() {
    let desk = saving("?fault=ok#tasks", &"too long ".repeat(200_000));
    assert_eq!(error_of(&desk), "Save was rejected by the server.");
    assert!(desk.records().is_empty());
}

#[test]
fn a_server_that_is_gone_is_said_to_be_out_of_reach() {
    let mut desk = Desk::at("?fault=ok#tasks");
    desk.write("x");
    desk.stop_the_clinic();
    desk.click("#save-encounter");
    assert_eq!(error_of(&desk), "Save failed to reach the server.");
}

#[test]
fn a_session_that_ended_leads_to_the_sign_in_page_and_says_why() {
    let desk = saving("?fault=session#tasks", "x");
    desk.sees("#signed-out");
    assert!(desk.text("#signed-out").contains("not saved"));
    assert_eq!(desk.text("#announcer"), "You were signed out.");
    assert!(desk.records().is_empty());
}

#[test]
fn a_field_that_is_required_is_asked_for_before_anything_is_sent() {
    let desk = saving("?drift=reqfield#tasks", "x");
    assert_eq!(error_of(&desk), "Select an acuity level before saving.");
    desk.click("#acuity-urgent");
    desk.click("#save-encounter");
    desk.sees("#saved-banner");
}

#[test]
fn a_survey_in_the_way_saves_nothing_until_it_is_dismissed() {
    let desk = saving("?drift=modal-once#tasks", "x");
    desk.sees("#survey-modal");
    assert_eq!(desk.count("#saved-banner"), 0);
    assert!(desk.focused("#survey-dismiss"));
    desk.press("Escape");
    assert_eq!(desk.count("#survey-modal"), 0);
    assert!(desk.focused("#save-encounter"));
    desk.click("#save-encounter");
    desk.sees("#saved-banner");
}

#[test]
fn a_banner_that_was_painted_too_early_is_what_a_person_would_believe() {
    let desk = saving("?fault=optimistic#tasks", "never stored");
    assert_eq!(desk.text("#saved-banner"), "Encounter saved — never stored");
    assert!(desk.records().is_empty());
}
