//! The clinic without a mouse, and for those who listen to it.

use super::desk::Desk;

#[test]
fn the_whole_way_to_a_saved_note_needs_only_the_keyboard() {
    let desk = Desk::at("?fault=ok&idempotency=demo#login");
    desk.tab_to("#username");
    desk.press("a");
    desk.tab_to("#signin");
    desk.press("Enter");
    desk.sees("#tasks-table");
    desk.tab_to("#open-p1");
    desk.press("Enter");
    desk.sees("#new-encounter");
    desk.tab_to("#new-encounter");
    desk.press("Enter");
    desk.sees("#note");
    desk.tab_to("#type-triage");
    desk.press("Space");
    desk.tab_to("#note");
    desk.wait(desk.page.keyboard().type_text("by keyboard", None));
    desk.tab_to("#save-encounter");
    desk.press("Enter");
    assert_eq!(desk.text("#saved-banner"), "Encounter saved — by keyboard");
    assert_eq!(desk.records()[0]["note"], "by keyboard");
}

#[test]
fn the_saved_banner_is_announced_and_has_the_focus() {
    let desk = Desk::at("?fault=ok#tasks");
    desk.write("x");
    desk.click("#save-encounter");
    desk.sees("#saved-banner");
    assert_eq!(desk.attribute("#saved-banner", "role").as_deref(), Some("status"));
    assert_eq!(desk.attribute("#saved-banner", "aria-live").as_deref(), Some("polite"));
    assert!(desk.focused("#saved-banner"));
}

#[test]
fn each_new_page_puts_the_focus_on_its_heading() {
    let desk = Desk::at("#tasks");
    desk.click("#open-p2");
    desk.sees("#patient-banner");
    assert!(desk.focused("#patient-banner"));
    desk.click("#new-encounter");
    desk.sees("#note");
    assert!(desk.focused("h1"));
}

#[test]
fn the_first_tab_offers_to_skip_to_the_page() {
    let desk = Desk::at("#tasks");
    desk.press("Tab");
    assert!(desk.focused("#skip-link"));
    desk.press("Enter");
    assert!(desk.focused("#app"));
    assert!(desk.page.url().ends_with("#tasks"));
}

#[test]
fn each_row_says_to_listeners_whom_its_button_opens() {
    let desk = Desk::at("#tasks");
    assert_eq!(desk.attribute("#open-p3", "aria-describedby").as_deref(), Some("who-p3"));
    assert_eq!(desk.text("#who-p3"), "Sam Specimen");
}

#[test]
fn what_has_the_focus_is_seen_to_have_it() {
    let desk = Desk::at("#tasks");
    desk.tab_to("#open-p1");
    let outline: String =
        desk.wait(desk.find("#open-p1").evaluate("el => getComputedStyle(el).outlineStyle", None::<()>));
    assert_eq!(outline, "solid");
}
