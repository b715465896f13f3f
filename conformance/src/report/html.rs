//! The page for people: the matrix, a filter, and behind each cell what was seen. One file that needs nothing else.

mod parts;

use crate::run::events::{Event, Finished, Judged, Started};

/// Collects a run's events; the page is made of them and nothing else.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub about: About,
    started: Option<Started>,
    judged: Vec<Judged>,
    finished: Option<Finished>,
}

/// What stands above the matrix.
#[derive(Debug, Clone)]
pub struct About {
    pub title: String,
    /// Sentences about what the page is, and what it isn't.
    pub said: Vec<String>,
    pub facts: Vec<(String, String)>,
}

impl Default for About {
    fn default() -> Self {
        Self { title: "Conformance report".to_owned(), said: Vec::new(), facts: Vec::new() }
    }
}

impl Page {
    pub fn about(about: About) -> Self {
        Self { about, ..Self::default() }
    }

    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Started(started) => self.started = Some(started.clone()),
            Event::Judged(judged) => self.judged.push(judged.clone()),
            Event::Finished(finished) => self.finished = Some(finished.clone()),
        }
    }

    pub fn to_html(&self) -> String {
        let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
        // Nothing is fetched, whatever somebody writes into a transcript.
        page.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n");
        page.push_str(&format!("<title>{}</title>\n", parts::escaped(&self.about.title)));
        page.push_str(&format!("<style>\n{}</style>\n</head>\n<body>\n", include_str!("html/page.css")));
        page.push_str("<a class=\"skip\" href=\"#matrix\">Skip to the matrix</a>\n");
        if let (Some(started), Some(finished)) = (&self.started, &self.finished) {
            page.push_str(&parts::head(&self.about, started, finished));
            page.push_str("<main>\n");
            page.push_str(&parts::matrix(&finished.matrix, started, &self.judged));
            page.push_str(&parts::scenarios(started, &self.judged));
            page.push_str("</main>\n");
        }
        page.push_str(&parts::timelines(&self.judged));
        page.push_str(&format!("<script>\n{}</script>\n</body>\n</html>\n", include_str!("html/page.js")));
        page
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::events;
    use super::*;
    use crate::run::events::{Lane, Moment};

    fn page(change: impl Fn(&mut Event)) -> String {
        let mut page = Page::default();
        for mut event in events() {
            change(&mut event);
            page.take(&event);
        }
        page.to_html()
    }

    #[test]
    fn a_page_names_every_row_with_its_verdict_and_leads_to_every_scenario() {
        let html = page(|_| {});
        for row in ["RES-done", "RES-proven", "RES-hole", "RES-later", "RES-unseen"] {
            assert!(html.contains(&format!("id=\"r-{row}\"")), "{row}");
        }
        for id in ["sample-saved", "sample-lie"] {
            assert!(html.contains(&format!("id=\"s-{id}\"")), "{id}");
        }
        assert!(html.contains("href=\"#s-sample-saved\"") && html.contains("1 failed"));
    }

    #[test]
    fn nothing_is_fetched_and_nothing_that_was_seen_becomes_markup() {
        let html = page(|event| {
            if let Event::Judged(judged) = event {
                judged.judgement.title = "<img src=x>".into();
                let text = "</script><script>alert(1)</script>".to_owned();
                judged.timeline = vec![Moment { at_us: 1, lane: Lane::Agent, text }];
            }
        });
        assert!(!html.contains("<img") && html.contains("&lt;img src=x&gt;"));
        assert_eq!(html.matches("</script>").count(), 2, "the data ends its own element");
        for word in ["http://", "https://", "src=\"", "@import", "url("] {
            assert!(!html.contains(word), "{word}");
        }
    }

    #[test]
    fn a_scenario_that_was_never_run_is_told_as_such() {
        let html = page(|event| {
            if let Event::Started(started) = event {
                started.scenarios.push(crate::scenario::ScenarioId::parse("sample/never").unwrap());
            }
        });
        assert!(html.contains("id=\"s-sample-never\"") && html.contains("not run"));
    }
}
