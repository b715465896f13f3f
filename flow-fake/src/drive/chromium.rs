//! A page in a real Chromium, through Playwright's driver. Every call has an end, whatever the page does.

use std::future::Future;
use std::time::{Duration, Instant};

use playwright::protocol::{
    Browser, BrowserContextOptions, GotoOptions, Locator, Page, Playwright, Viewport, WaitForOptions, WaitForState,
};
use playwright::{Error, LaunchOptions};
use tokio::runtime::Runtime;

use super::{Answer, Area, Found, Screen, Trouble};

/// For one deed on the page.
const DEED: Duration = Duration::from_secs(5);
/// What a call may take beyond the patience that the driver itself has.
const BEYOND: Duration = Duration::from_secs(3);
const LAUNCH: Duration = Duration::from_secs(45);
const OPENING: Duration = Duration::from_secs(20);
const CLOSING: Duration = Duration::from_secs(8);
pub const VIEWPORT: Viewport = Viewport { width: 1280, height: 800 };

/// One browser with one page. It belongs to the runtime that started it.
pub struct Chromium {
    pub page: Page,
    browser: Browser,
    playwright: Playwright,
    runtime: Runtime,
}

impl Chromium {
    pub fn open(found: &Found, headed: bool) -> Answer<Self> {
        adopt();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Trouble::Broken(error.to_string()))?;
        let opening = async {
            let playwright = Playwright::launch().await?;
            let browser = playwright.chromium().launch_with_options(options(found, headed)).await?;
            let page = fresh_page(&browser).await?;
            Ok((page, browser, playwright))
        };
        let (page, browser, playwright) = within(&runtime, "the browser's start", LAUNCH, opening)?;
        Ok(Self { page, browser, playwright, runtime })
    }

    /// A page that shares nothing with any other, in the same browser.
    pub fn another_page(&self) -> Answer<Page> {
        within(&self.runtime, "Browser.newPage", OPENING, fresh_page(&self.browser))
    }

    /// Waits for one call of the driver, but never longer than this.
    pub fn ask<T>(&self, what: &str, call: impl Future<Output = Result<T, Error>>) -> Answer<T> {
        within(&self.runtime, what, DEED + BEYOND, call)
    }

    fn find(&self, selector: &str) -> Locator {
        self.page.locator(selector)
    }
}

impl Screen for Chromium {
    fn go_to(&mut self, url: &str) -> Answer<()> {
        let patience = GotoOptions::new().timeout(OPENING);
        within(&self.runtime, "Page.goto", OPENING + BEYOND, self.page.goto(url, Some(patience))).map(drop)
    }

    fn count(&mut self, selector: &str) -> Answer<usize> {
        self.ask(selector, self.find(selector).count())
    }

    fn texts(&mut self, selector: &str) -> Answer<Vec<String>> {
        self.ask(selector, self.find(selector).all_text_contents())
    }

    fn area(&mut self, selector: &str) -> Answer<Option<Area>> {
        if self.count(selector)? == 0 {
            return Ok(None);
        }
        let found = self.ask(selector, self.find(selector).first().bounding_box())?;
        let whole = |number: f64| number.round() as i64;
        Ok(found.map(|place| Area {
            left: whole(place.x),
            top: whole(place.y),
            width: whole(place.width),
            height: whole(place.height),
        }))
    }

    fn appears(&mut self, selector: &str, patience: Duration) -> Answer<bool> {
        let visible = WaitForOptions::builder().state(WaitForState::Visible).timeout(milliseconds(patience)).build();
        let waiting = self.find(selector).first();
        match within(&self.runtime, selector, patience + BEYOND, waiting.wait_for(Some(visible))) {
            Ok(()) => Ok(true),
            // The driver's own patience ended: the page is there, and shows no such thing.
            Err(Trouble::Silent(_)) => self.count("html").map(|_| false),
            Err(other) => Err(other),
        }
    }

    fn click(&mut self, selector: &str) -> Answer<()> {
        self.ask(selector, self.find(selector).click(None))
    }

    fn fill(&mut self, selector: &str, text: &str) -> Answer<()> {
        self.ask(selector, self.find(selector).fill(text, None))
    }

    fn value(&mut self, selector: &str) -> Answer<String> {
        self.ask(selector, self.find(selector).input_value(None))
    }

    fn picture(&mut self) -> Answer<Vec<u8>> {
        self.ask("Page.screenshot", self.page.screenshot(None))
    }

    fn freeze(&mut self) -> Answer<()> {
        self.ask("Page.evaluate", self.page.evaluate_expression("setTimeout(() => { for (;;); }, 0)"))
    }

    fn close(&mut self) {
        let _ = within(&self.runtime, "Browser.close", CLOSING, self.browser.close());
        let _ = within(&self.runtime, "Playwright.stop", CLOSING, self.playwright.shutdown());
        bury();
    }
}

/// Chromium's processes become this one's children when their own parent ends, so that none is left as a zombie where nobody else
/// collects them, as in a container without an init.
fn adopt() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Waits for what is left of the browser, and not for ever.
fn bury() {
    let until = Instant::now() + CLOSING;
    while Instant::now() < until {
        match rustix::process::wait(rustix::process::WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(_) => return,
        }
    }
}

async fn fresh_page(browser: &Browser) -> Result<Page, Error> {
    let view = BrowserContextOptions::builder().viewport(VIEWPORT).locale("en-US".to_owned()).build();
    let page = browser.new_context_with_options(view).await?.new_page().await?;
    page.set_default_timeout(milliseconds(DEED)).await;
    Ok(page)
}

fn options(found: &Found, headed: bool) -> LaunchOptions {
    let hermetic = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost";
    let options = LaunchOptions::new()
        .headless(!headed)
        .executable_path(found.chromium.display().to_string())
        .args(vec!["--disable-gpu".into(), "--disable-quic".into(), hermetic.into()])
        .timeout(milliseconds(LAUNCH));
    match std::env::var("FLOW_FAKE_SLOW_MS").ok().and_then(|text| text.parse().ok()) {
        Some(slow) => options.slow_mo(slow),
        None => options,
    }
}

fn within<T>(
    runtime: &Runtime,
    what: &str,
    limit: Duration,
    call: impl Future<Output = Result<T, Error>>,
) -> Answer<T> {
    match runtime.block_on(async { tokio::time::timeout(limit, call).await }) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Error::Timeout(_) | Error::NavigationTimeout { .. })) | Err(_) => Err(Trouble::Silent(what.to_owned())),
        Ok(Err(other)) => Err(Trouble::Broken(other.to_string())),
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
