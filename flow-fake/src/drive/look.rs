//! Pictures of pages, for documentation: a page is opened, something is done on it, and what is seen is kept.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::{Answer, Found, Trouble};

/// One picture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// A page of this computer.
    pub url: String,
    /// Width and height of the window, in pixels.
    pub size: (u32, u32),
    /// In dark colours, where the page has such.
    #[serde(default)]
    pub dark: bool,
    /// To the end of the page, not only to that of the window.
    #[serde(default)]
    pub whole: bool,
    /// Done before the picture, in this order.
    #[serde(default)]
    pub deeds: Vec<Deed>,
    /// Where the PNG goes.
    pub to: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    Click(String),
    Fill {
        field: String,
        text: String,
    },
    /// Waits until it is seen.
    See(String),
    /// From now on nothing of the page gets anywhere.
    Offline,
}

/// Takes every picture, with one browser.
#[cfg(feature = "drive")]
pub fn take(found: &Found, looks: &[Look]) -> Answer<()> {
    use super::Screen;

    let mut browser = super::Chromium::open(found, false)?;
    let taken = looks.iter().try_for_each(|look| {
        let png = page::seen(&browser, look)?;
        keep(look, &png)
    });
    browser.close();
    taken
}

/// Never asked for: without the feature nothing is found.
#[cfg(not(feature = "drive"))]
pub fn take(_: &Found, looks: &[Look]) -> Answer<()> {
    looks.iter().try_for_each(|look| keep(look, &[]))
}

fn keep(look: &Look, png: &[u8]) -> Answer<()> {
    let folder = look.to.parent().map_or(Ok(()), fs::create_dir_all);
    let kept = folder.and_then(|()| fs::write(&look.to, png));
    kept.map_err(|error| Trouble::Broken(format!("{}: {error}", look.to.display())))
}

#[cfg(feature = "drive")]
mod page {
    use playwright::Animations;
    use playwright::protocol::{Caret, ColorScheme, EmulateMediaOptions, Page, ScreenshotOptions, Viewport};

    use super::super::{Answer, Chromium};
    use super::{Deed, Look};

    pub fn seen(browser: &Chromium, look: &Look) -> Answer<Vec<u8>> {
        let page = browser.another_page()?;
        let (width, height) = look.size;
        browser.ask("Page.setViewportSize", page.set_viewport_size(Viewport { width, height }))?;
        let colours = if look.dark { ColorScheme::Dark } else { ColorScheme::Light };
        let media = EmulateMediaOptions::builder().color_scheme(colours).build();
        browser.ask("Page.emulateMedia", page.emulate_media(media))?;
        browser.ask("Page.goto", page.goto(&look.url, None))?;
        for deed in &look.deeds {
            done(browser, &page, deed)?;
        }
        let still = ScreenshotOptions::builder()
            .animations(Animations::Disabled)
            .caret(Caret::Hide)
            .full_page(look.whole)
            .build();
        let png = browser.ask("Page.screenshot", page.screenshot(Some(still)))?;
        browser.ask("Page.close", page.close())?;
        Ok(png)
    }

    fn done(browser: &Chromium, page: &Page, deed: &Deed) -> Answer<()> {
        match deed {
            Deed::Click(selector) => browser.ask(selector, page.locator(selector).click(None)),
            Deed::Fill { field, text } => browser.ask(field, page.locator(field).fill(text, None)),
            Deed::See(selector) => browser.ask(selector, page.locator(selector).first().wait_for(None)),
            Deed::Offline => {
                browser.ask("BrowserContext.setOffline", async { page.context()?.set_offline(true).await })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_asked_for_in_words_that_are_all_known() {
        let text = r##"{"url": "http://127.0.0.1:1/", "size": [390, 800], "deeds": [{"click": "#a"}, {"fill": {"field": "#b", "text": "c"}}, {"see": "#d"}, "offline"], "to": "x.png"}"##;
        let look: Look = serde_json::from_str(text).unwrap();
        assert_eq!((look.size, look.dark, look.deeds.len()), ((390, 800), false, 4));
        assert!(serde_json::from_str::<Look>(&text.replace("click", "press")).is_err());
        assert!(serde_json::from_str::<Look>(&text.replace("size", "sise")).is_err());
    }
}
