//! One browser for all tests, and for each of them a clinic and a page of its own.

use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use flow_fake::drive::{Chromium, find};
use playwright::Error;
use playwright::protocol::{Locator, Page};
use serde_json::Value;

static BROWSER: OnceLock<Mutex<Chromium>> = OnceLock::new();

/// A person at a desk: a page of a running clinic.
pub struct Desk {
    pub page: Page,
    url: String,
    clinic: Child,
    browser: MutexGuard<'static, Chromium>,
}

impl Desk {
    /// Opens the clinic at this query and hash.
    pub fn at(address: &str) -> Self {
        let (clinic, url) = start_clinic();
        let browser = BROWSER.get_or_init(|| {
            let found =
                find().unwrap_or_else(|missing| panic!("{missing}\n\nhint: cargo run -p conformance -- setup-browser"));
            Mutex::new(Chromium::open(&found, false).unwrap())
        });
        let browser = browser.lock().unwrap_or_else(PoisonError::into_inner);
        let page = browser.another_page().unwrap();
        let desk = Self { page, url, clinic, browser };
        desk.open(address);
        desk
    }

    pub fn open(&self, address: &str) {
        self.wait(self.page.goto(&format!("{}{address}", self.url), None));
    }

    pub fn wait<T>(&self, call: impl Future<Output = Result<T, Error>>) -> T {
        self.browser.ask("a call of the test", call).unwrap()
    }

    pub fn find(&self, selector: &str) -> Locator {
        self.page.locator(selector)
    }

    pub fn click(&self, selector: &str) {
        self.wait(self.find(selector).click(None));
    }

    pub fn fill(&self, selector: &str, text: &str) {
        self.wait(self.find(selector).fill(text, None));
    }

    pub fn count(&self, selector: &str) -> usize {
        self.wait(self.find(selector).count())
    }

    /// The text of the one match, once it is there.
    pub fn text(&self, selector: &str) -> String {
        self.wait(self.find(selector).text_content()).unwrap()
    }

    pub fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.wait(self.find(selector).get_attribute(name))
    }

    /// Waits until it is seen.
    pub fn sees(&self, selector: &str) {
        self.wait(self.find(selector).first().wait_for(None));
    }

    pub fn focused(&self, selector: &str) -> bool {
        self.wait(self.find(selector).is_focused())
    }

    pub fn press(&self, key: &str) {
        self.wait(self.page.keyboard().press(key, None));
    }

    /// Goes on with Tab until this has the focus; how many it took.
    pub fn tab_to(&self, selector: &str) -> usize {
        for presses in 0..40 {
            if self.count(selector) == 1 && self.focused(selector) {
                return presses;
            }
            self.press("Tab");
        }
        panic!("{selector} isn't reached with Tab")
    }

    /// From the referrals to a note that is ready to be saved.
    pub fn write(&self, note: &str) {
        self.click("#open-p1");
        self.click("#new-encounter");
        self.click("#type-triage");
        self.fill("#note", note);
    }

    pub fn records(&self) -> Vec<Value> {
        let host = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host).unwrap();
        let request = format!("GET /api/db HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let store: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        store["records"].as_array().unwrap().clone()
    }

    pub fn stop_the_clinic(&mut self) {
        self.clinic.kill().unwrap();
        self.clinic.wait().unwrap();
    }

    /// What the page complained of: exceptions, and errors on its console.
    pub fn complaints(&self) -> Vec<String> {
        let errors = self.page.console_messages().into_iter().filter(|message| message.type_() == "error");
        self.page.page_errors().into_iter().chain(errors.map(|message| message.text().to_owned())).collect()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.browser.ask("closing", self.page.close());
        let _ = self.clinic.kill();
        let _ = self.clinic.wait();
    }
}

/// The program beside this test's own folder.
fn start_clinic() -> (Child, String) {
    let program = std::env::current_exe().unwrap().parent().unwrap().with_file_name("mockmed");
    let started = Command::new(&program)
        .args(["serve", "--port", "0", "--while-stdin-open"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut clinic =
        started.unwrap_or_else(|error| panic!("{}: {error}\n\nhint: cargo build -p mockmed", program.display()));
    let mut line = String::new();
    BufReader::new(clinic.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    (clinic, said["url"].as_str().unwrap().to_owned())
}
