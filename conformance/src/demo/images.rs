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
    let shots: Vec<Shot> = named.iter().map(|(name, shot)| shot.clone().to(&to(name))).collect();
    take(subject, &shots)?;
    named.iter().map(|(name, _)| weighed(&to(name), name)).collect()
}

fn weighed(path: &Path, name: &str) -> Result<String, ImageFault> {
    let bytes = fs::metadata(path)?.len();
    let name = format!("{name}.png");
    if bytes > HEAVIEST { Err(ImageFault::Heavy { name, bytes }) } else { Ok(name) }
}

type Named = Vec<(&'static str, Shot)>;

fn clinic_pages(clinic: &str) -> Named {
    let at = |address: &str| Shot::of(&format!("{clinic}/{address}"), WINDOW);
    let writing = |address: &str, note: &str| {
        at(address).click("#open-p1").click("#new-encounter").click("#type-triage").fill("#note", note)
    };
    let saving = |address: &str, note: &str, then: &str| writing(address, note).click("#save-encounter").see(then);
    let (note, error) = (CASES[0].note, "#save-error:not(:empty)");
    let out_of_reach = writing("?fault=ok#tasks", note).offline().click("#save-encounter").see(error);
    let too_long = "A note that is far too long. ".repeat(3000);
    vec![
        ("mockmed-sign-in", at("#login")),
        ("mockmed-worklist", at("?fault=ok#tasks")),
        ("mockmed-referral", at("?fault=ok#patient/p1")),
        ("mockmed-triage-form", writing("?fault=ok#tasks", note)),
        ("mockmed-saved", saving("?fault=ok#tasks", note, "#saved-banner")),
        ("mockmed-two-alike", at("?fault=ok&drift=ambiguous#tasks")),
        ("mockmed-error-timed-out", saving("?fault=timeout#tasks", CASES[3].note, error)),
        ("mockmed-error-rejected", saving("?fault=ok#tasks", &too_long, error)),
        ("mockmed-error-out-of-reach", out_of_reach),
        ("mockmed-error-signed-out", saving("?fault=session#tasks", note, "#signed-out")),
        ("mockmed-error-field-missing", saving("?drift=reqfield#tasks", note, error)),
        ("mockmed-survey", saving("?drift=modal#tasks", note, "#survey-modal")),
        ("mockmed-notice", at("?fault=ok&drift=notice#tasks")),
    ]
}

fn demo_pages(page: &str) -> Named {
    vec![
        ("demo", Shot::of(page, WIDE)),
        ("demo-dark", Shot::of(page, WIDE).dark()),
        ("demo-narrow", Shot::of(page, NARROW)),
    ]
}
