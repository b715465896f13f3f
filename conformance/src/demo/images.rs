//! The pictures of the documentation: each page of the clinic, each way in which a save goes wrong on it, and the demo's own page.

use std::fs;
use std::io;
use std::path::Path;

use super::cases::CASES;
use super::pictures::{Shot, take};
use crate::run::clinic::Clinic;
use crate::run::subject::Subject;

const WINDOW: (u32, u32) = (1100, 800);
const WIDE: (u32, u32) = (1200, 880);
const NARROW: (u32, u32) = (390, 844);
/// What a picture may weigh in a repository.
const HEAVIEST: u64 = 150 << 10;

/// Why there are no pictures.
#[derive(Debug, thiserror::Error)]
pub enum ImageFault {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{name} has {bytes} bytes, at most {HEAVIEST} are wanted")]
    Heavy { name: String, bytes: u64 },
}

/// Takes all pictures into `folder`; gives back their names. `page` is the demo's own.
pub fn images(subject: &Subject, page: &Path, folder: &Path) -> Result<Vec<String>, ImageFault> {
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let home = tempfile::tempdir()?;
    let clinic = Clinic::start(&home.path().join("clinic.jsonl"), false)?;
    let named = [clinic_pages(&clinic.url), demo_pages(&format!("file://{}", page.canonicalize()?.display()))].concat();
    let to = |name: &str| folder.join(format!("{name}.png"));
    let shots: Vec<Shot> = named.iter().map(|(name, shot)| shot(&to(name))).collect();
    take(subject, &shots)?;
    named.iter().map(|(name, _)| weighed(&to(name), name)).collect()
}

fn weighed(path: &Path, name: &str) -> Result<String, ImageFault> {
    let bytes = fs::metadata(path)?.len();
    let name = format!("{name}.png");
    if bytes > HEAVIEST { Err(ImageFault::Heavy { name, bytes }) } else { Ok(name) }
}

type Named = Vec<(&'static str, std::rc::Rc<dyn Fn(&Path) -> Shot>)>;

fn named(
    name: &'static str,
    shot: impl Fn(&Path) -> Shot + 'static,
) -> (&'static str, std::rc::Rc<dyn Fn(&Path) -> Shot>) {
    (name, std::rc::Rc::new(shot))
}

fn clinic_pages(clinic: &str) -> Named {
    let at = |address: &str| {
        let url = format!("{clinic}/{address}");
        move |to: &Path| Shot::of(&url, WINDOW, to)
    };
    let note = CASES[0].note;
    let writing = |address: &str, note: &str| {
        let (shot, note) = (at(address), note.to_owned());
        move |to: &Path| shot(to).click("#open-p1").click("#new-encounter").click("#type-triage").fill("#note", &note)
    };
    let saving = |address: &str, note: &str, then: &'static str| {
        let writing = writing(address, note);
        move |to: &Path| writing(to).click("#save-encounter").see(then)
    };
    let offline = writing("?fault=ok#tasks", note);
    let too_long = "A note that is far too long. ".repeat(3000);
    vec![
        named("mockmed-sign-in", at("#login")),
        named("mockmed-worklist", at("?fault=ok#tasks")),
        named("mockmed-referral", at("?fault=ok#patient/p1")),
        named("mockmed-triage-form", writing("?fault=ok#tasks", note)),
        named("mockmed-saved", saving("?fault=ok#tasks", note, "#saved-banner")),
        named("mockmed-two-alike", at("?fault=ok&drift=ambiguous#tasks")),
        named("mockmed-error-timed-out", saving("?fault=timeout#tasks", CASES[3].note, "#save-error:not(:empty)")),
        named("mockmed-error-rejected", saving("?fault=ok#tasks", &too_long, "#save-error:not(:empty)")),
        named("mockmed-error-out-of-reach", move |to: &Path| {
            offline(to).offline().click("#save-encounter").see("#save-error:not(:empty)")
        }),
        named("mockmed-error-signed-out", saving("?fault=session#tasks", note, "#signed-out")),
        named("mockmed-error-field-missing", saving("?drift=reqfield#tasks", note, "#save-error:not(:empty)")),
        named("mockmed-survey", saving("?drift=modal#tasks", note, "#survey-modal")),
        named("mockmed-notice", at("?fault=ok&drift=notice#tasks")),
    ]
}

fn demo_pages(page: &str) -> Named {
    let of = |size: (u32, u32)| {
        let page = page.to_owned();
        move |to: &Path| Shot::of(&page, size, to)
    };
    let (dark, narrow) = (of(WIDE), of(NARROW));
    vec![named("demo", of(WIDE)), named("demo-dark", move |to: &Path| dark(to).dark()), named("demo-narrow", narrow)]
}
