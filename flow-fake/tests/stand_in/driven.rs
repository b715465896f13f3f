//! The course of a driven run on a page that is made up here, and what the program does without a browser.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use flow_fake::drive::{self, Answer, Area, Course, End, Moment, Screen, Site, Told, Trouble, Witness};
use flow_fake::launch::Bundle;
use flow_fake::report::Profile;
use schemas::Schema;
use serde_json::{Map, Value, json};

use super::oracle;
use super::world::{World, assert_valid};

const NOTE: &str = "A note \"with\" <b>marks</b>\nand 🩺";

/// The made-up clinic: what is on the page, and what a save leaves in the store.
#[derive(Clone)]
struct Page {
    rows: Vec<[&'static str; 2]>,
    banner: &'static str,
    saved: bool,
    /// The deed that is never answered, if any.
    silent_at: &'static str,
    seg_height: i64,
    keeps: Value,
    at: &'static str,
    note: String,
    log: Rc<RefCell<Vec<String>>>,
    store: Store,
}

type Store = std::sync::Arc<std::sync::Mutex<Vec<Value>>>;

impl Page {
    fn new() -> Self {
        Self {
            rows: vec![
                ["p1", "Jane Sample Knee pain referral High"],
                ["p2", "Alex Testcase Cardiology follow-up Medium"],
            ],
            banner: "Jane Sample — MRN P1 — DOB 1980-01-01",
            saved: true,
            silent_at: "nothing",
            seg_height: 44,
            keeps: json!([{"id": 1, "patient_id": "p1", "type": "Triage", "source": "replay", "key": "mockmed-triage-p1-v1"}]),
            at: "tasks",
            note: String::new(),
            log: Rc::default(),
            store: Store::default(),
        }
    }

    fn answers(&self, deed: &str) -> Answer<()> {
        self.log.borrow_mut().push(deed.to_owned());
        if deed == self.silent_at { Err(Trouble::Silent(deed.to_owned())) } else { Ok(()) }
    }

    fn is_there(&self, selector: &str) -> usize {
        let on = |page: &str| usize::from(self.at == page);
        match selector {
            "#open-p1" => on("tasks") * self.rows.iter().filter(|row| row[0] == "p1").count(),
            "#tasks-table .open-btn" | "#tasks-table tbody tr" => on("tasks") * self.rows.len(),
            "#new-encounter" => on("patient"),
            "#saved-banner" | "#patient-record h2" => usize::from(self.at == "patient" && !self.note.is_empty()),
            "#brand-mark" | "main h1" => 1,
            "#patient-banner" => on("patient") + on("encounter"),
            _ => on("encounter"),
        }
    }
}

impl Screen for Page {
    fn go_to(&mut self, _: &str) -> Answer<()> {
        Ok(())
    }

    fn count(&mut self, selector: &str) -> Answer<usize> {
        Ok(if selector.contains(":has(#open-p1)") { self.is_there("#open-p1") } else { self.is_there(base(selector)) })
    }

    fn texts(&mut self, selector: &str) -> Answer<Vec<String>> {
        if let Some(row) = selector.strip_suffix(" >> th, td:not(.row-action)") {
            let at: usize = row.rsplit_once("nth=").unwrap().1.parse().unwrap();
            let rows: Vec<&[&str; 2]> =
                self.rows.iter().filter(|shown| !row.contains(":has(#open-p1)") || shown[0] == "p1").collect();
            return Ok(rows.get(at).map(|row| row[1].to_owned()).into_iter().collect());
        }
        Ok(match selector {
            "#patient-banner" if self.at != "tasks" => vec![self.banner.to_owned()],
            "main h1" if self.at == "tasks" => vec!["Referral Tasks".to_owned()],
            "#saved-banner" => vec!["Encounter saved — A note".into()],
            "#patient-record h2" => vec!["Encounters".into()],
            _ => vec!["New Encounter Encounter Type Note".into()],
        })
    }

    fn area(&mut self, selector: &str) -> Answer<Option<Area>> {
        let (width, height) = if selector == "#new-encounter" { (100, 44) } else { (100, self.seg_height) };
        Ok(Some(Area { left: 10, top: 20, width, height }))
    }

    fn appears(&mut self, selector: &str, _: Duration) -> Answer<bool> {
        Ok(self.is_there(base(selector)) > 0)
    }

    fn click(&mut self, selector: &str) -> Answer<()> {
        if selector == "#save-encounter" {
            let mut row = self.keeps.clone();
            row.as_array_mut()
                .unwrap()
                .iter_mut()
                .filter(|row| row.get("note").is_none())
                .for_each(|row| row["note"] = json!(self.note));
            *self.store.lock().unwrap() = row.as_array().unwrap().clone();
        }
        self.answers(selector)?;
        self.at = match selector {
            "#new-encounter" => "encounter",
            "#save-encounter" if self.saved => "patient",
            opener if opener.contains("open") => "patient",
            _ => self.at,
        };
        Ok(())
    }

    fn fill(&mut self, selector: &str, text: &str) -> Answer<()> {
        self.note = text.to_owned();
        self.answers(selector)
    }

    fn value(&mut self, _: &str) -> Answer<String> {
        Ok(self.note.clone())
    }

    fn picture(&mut self) -> Answer<Vec<u8>> {
        Ok(Vec::new())
    }

    fn freeze(&mut self) -> Answer<()> {
        Ok(())
    }

    fn close(&mut self) {}
}

fn base(selector: &str) -> &str {
    selector.split(" >> ").next().unwrap()
}

/// Who only counts what it is told.
#[derive(Default)]
struct Counting {
    verified: usize,
    saved: usize,
}

impl Witness for Counting {
    fn at(&mut self, _: &str, _: Moment) -> Answer<()> {
        Ok(())
    }

    fn freezes(&mut self, _: &str, _: Moment) -> bool {
        false
    }

    fn picture(&mut self, _: &str, _: &[u8]) {}

    fn verified(&mut self, index: usize, _: &Value) {
        assert_eq!(index, self.verified);
        self.verified += 1;
    }

    fn saved(&mut self) {
        self.saved += 1;
    }
}

/// A store over HTTP that says what it holds, for as long as the test runs.
fn serve(store: Store) -> Site {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            // Whatever of a request stays unread when the stream is closed would reset the answer.
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut more = [0; 1024];
                match stream.read(&mut more) {
                    Ok(read) if read > 0 => head.extend_from_slice(&more[..read]),
                    _ => break,
                }
            }
            let body = json!({"records": *store.lock().unwrap(), "rejected_writes": 0});
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n\r\n{body}");
        }
    });
    Site::of(&url).unwrap()
}

fn driven(mut page: Page) -> (Told, Counting, Vec<String>) {
    let site = serve(page.store.clone());
    let mut counting = Counting::default();
    let log = page.log.clone();
    let told = Course::new(&mut page, &mut counting, &site, NOTE).run();
    let log = log.borrow().clone();
    (told, counting, log)
}

/// The report, held against the rules of a real one.
fn reported(told: &Told) -> Value {
    let world = World::new();
    let params = Map::from_iter([("note".to_owned(), json!(NOTE))]);
    let subject = Bundle::load(&world.path("alpha")).unwrap().subject(
        Some(Profile::Standard),
        "clinical-write",
        Some("http://127.0.0.1:1/#tasks"),
        params,
    );
    let (_, report) = drive::report(told, &subject);
    assert_valid(Schema::FlowReport, &report);
    let counted = ["no postconditions are counted", "no postcondition class"];
    let broken: Vec<&str> = oracle::broken_rules(&report).into_iter().filter(|rule| !counted.contains(rule)).collect();
    assert!(broken.is_empty(), "{broken:?}");
    assert_eq!(oracle::transaction(&report), report["transaction_outcome"]);
    let envelope = &report["outcome_envelope"];
    let evidence = envelope["postcondition_evidence"].as_array().map_or(0, Vec::len);
    assert_eq!(envelope["required_contracts"]["postcondition"], evidence);
    report
}

#[test]
fn a_course_through_every_step_is_verified_and_saves_once() {
    let (told, counting, log) = driven(Page::new());
    assert_eq!((told.end, counting.verified, counting.saved), (End::Done, 6, 1));
    assert_eq!(log, ["#open-p1", "#new-encounter", "#type-triage", "#note", "#note", "#save-encounter"]);
    let report = reported(&told);
    assert_eq!(report["transaction_outcome"], "VERIFIED");
    let counts = json!({"authorization": 1, "identity": 5, "postcondition": 9, "effect": 2});
    assert_eq!(report["outcome_envelope"]["passed_contracts"], counts);
}

#[test]
fn two_rows_that_fit_are_not_chosen_between() {
    let twin = ["p9", "Jane Sample Knee pain referral High"];
    let same_id = ["p1", "Jane Sample Knee pain referral High"];
    for row in [twin, same_id] {
        let mut page = Page::new();
        page.rows.push(row);
        let (told, _, log) = driven(page);
        assert_eq!((told.end, log.len()), (End::Stopped("disambiguation"), 0), "{row:?}");
        assert_eq!(reported(&told)["transaction_outcome"], "HALTED_BEFORE_EFFECT");
    }
}

#[test]
fn another_record_in_the_same_place_is_not_opened() {
    let mut page = Page::new();
    page.rows.remove(0);
    let (told, _, log) = driven(page);
    assert_eq!((told.end, log.len()), (End::WrongRecord, 0));
    assert_eq!(reported(&told)["transaction_outcome"], "REJECTED_POLICY");
}

#[test]
fn the_banner_of_another_patient_ends_the_course_before_anything_is_typed() {
    let mut page = Page::new();
    page.banner = "Alex Testcase — MRN P2 — DOB 1975-05-05";
    let (told, _, log) = driven(page);
    assert_eq!((told.end, log), (End::WrongRecord, vec!["#open-p1".to_owned()]));
    assert_eq!(reported(&told)["transaction_outcome"], "REJECTED_POLICY");
}

#[test]
fn a_screen_that_is_laid_out_otherwise_ends_the_course_at_a_check() {
    let mut page = Page::new();
    page.seg_height = 55;
    let (told, counting, _) = driven(page);
    assert_eq!((told.end, counting.verified), (End::Stopped("postcondition"), 2));
    assert_eq!(reported(&told)["transaction_outcome"], "HALTED_BEFORE_EFFECT");
}

#[test]
fn a_banner_without_a_record_behind_it_is_no_save() {
    let mut page = Page::new();
    page.keeps = json!([]);
    let (told, counting, _) = driven(page);
    assert_eq!((told.end, counting.saved), (End::InDoubt("effect_escalated"), 0));
    assert_eq!(reported(&told)["transaction_outcome"], "RECONCILIATION_REQUIRED");
}

#[test]
fn a_record_with_another_note_is_in_doubt_and_noted_as_a_save() {
    let mut page = Page::new();
    page.keeps[0]["note"] = json!("");
    let (told, counting, _) = driven(page);
    assert_eq!((told.end, counting.saved), (End::InDoubt("effect_escalated"), 1));
    assert_eq!(reported(&told)["transaction_outcome"], "RECONCILIATION_REQUIRED");
}

#[test]
fn a_save_without_its_screen_is_in_doubt_and_noted_as_a_save() {
    let mut page = Page::new();
    page.saved = false;
    let (told, counting, _) = driven(page);
    assert_eq!((told.end, counting.saved), (End::InDoubt("postcondition"), 1));
    assert_eq!(reported(&told)["transaction_outcome"], "RECONCILIATION_REQUIRED");
}

#[test]
fn a_page_that_falls_silent_before_the_save_wrote_nothing() {
    for deed in ["#open-p1", "#new-encounter", "#note"] {
        let mut page = Page::new();
        page.silent_at = deed;
        let (told, counting, _) = driven(page);
        assert_eq!((told.end, counting.saved), (End::Broken, 0), "{deed}");
        assert_eq!(reported(&told)["transaction_outcome"], "FAILED_PLATFORM");
    }
}

#[test]
fn a_save_that_was_never_answered_is_in_doubt() {
    let mut page = Page::new();
    page.silent_at = "#save-encounter";
    let (told, counting, _) = driven(page);
    assert_eq!((told.end, counting.saved), (End::InDoubt("delivery_uncertain"), 1));
    assert_eq!(reported(&told)["transaction_outcome"], "RECONCILIATION_REQUIRED");
}

#[test]
fn without_a_browser_the_end_is_that_of_a_missing_one_and_there_is_no_run() {
    let world = World::new();
    std::fs::write(world.path("script.json"), json!({"steps": ["drive"]}).to_string()).unwrap();
    let launch = |url: &str| {
        let args =
            ["--script", "script.json", "run", "alpha", "--profile", "standard", "--run-dir", "run", "--url", url];
        let ended = world.command(&args).env("OPENADAPT_CHROMIUM", "nowhere").output().unwrap();
        assert!(!world.run_dir().exists());
        ended.status.code()
    };
    assert_eq!(launch("http://127.0.0.1:1/#tasks"), Some(2));
    assert_eq!(launch("http://192.0.2.1/#tasks"), Some(1));
}
