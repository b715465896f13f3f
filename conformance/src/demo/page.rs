//! The cases as one page that needs nothing else: no network, no script, every picture inside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use super::scene::{Demo, Engine, Picture, Scene, Store};
use super::{agreement, words};

const STYLE: &str = include_str!("page.css");

pub fn page(demo: &Demo) -> String {
    let deceived: Vec<&Scene> = demo.scenes.iter().filter(|scene| !words::belief(scene).right).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Was it saved? Five cases, three witnesses" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#cases" { "To the five cases" }
                (opening(demo, deceived.len()))
                main {
                    @if !deceived.is_empty() { (why(&deceived)) }
                    (table(demo))
                    section #cases aria-label="The five cases" {
                        @for (at, scene) in demo.scenes.iter().enumerate() { (case(at + 1, scene)) }
                    }
                }
                (end(demo))
            }
        }
    };
    page.into_string()
}

fn opening(demo: &Demo, deceived: usize) -> Markup {
    html! {
        header.opening {
            p.eyebrow { (demo.agent) " · " (demo.engine().in_words()) " · all data is made up" }
            @if demo.engine() == Engine::Simulated {
                h1 { "Simulated: no app was opened" }
                p.lead {
                    "There is no browser here that could be used, so nothing below was seen on a screen or in a record store. "
                    "The agent made the evidence of such runs up, and says so first in every answer."
                    @if let Some(fallback) = demo.fallback() { " What is missing: " code { (fallback) } "." }
                }
            } @else {
                h1 { "“Saved” on the screen isn’t saved in the record" }
                p.lead {
                    "A software agent typed five notes into a made-up clinic, in a real browser. Each time three witnesses were asked: "
                    "the " strong { "screen" } ", the clinic’s own " strong { "record store" } ", and the " strong { "agent" } ". "
                    (number(deceived)) " the screen was wrong."
                }
            }
        }
    }
}

fn number(times: usize) -> String {
    match times {
        0 => "Not once".to_owned(),
        1 => "Once".to_owned(),
        2 => "Twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// The cases in which the screen and the record contradict each other.
fn why(scenes: &[&Scene]) -> Markup {
    html! {
        section.why aria-labelledby="why" {
            h2 #why { "Why “not sure” is an answer" }
            div.cards {
                @for scene in scenes {
                    article.card {
                        h3 { (scene.case.title) }
                        p.note { "The note: " q { (scene.case.note) } }
                        dl.witnesses {
                            div { dt { "The screen" } dd { (words::screen(scene)) } }
                            div { dt { "The store" } dd { (words::store(scene)) } }
                            div { dt { "The agent" } dd { (outcome(scene)) } }
                        }
                        p.wrong { (mark(false)) "Going by the screen alone: " (words::belief(scene).words) }
                        @if let Some(picture) = scene.pictures.last() { (shot(picture, scene)) }
                    }
                }
            }
        }
    }
}

fn table(demo: &Demo) -> Markup {
    html! {
        section.table aria-labelledby="all" {
            h2 #all { "All five, side by side" }
            div.scroll role="region" aria-labelledby="all" tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "Case" }
                        th scope="col" { "The screen" }
                        th scope="col" { "The store" }
                        th scope="col" { "Going by the screen alone" }
                        th scope="col" { "The agent says" }
                    } }
                    tbody { @for (at, scene) in demo.scenes.iter().enumerate() { tr {
                        th scope="row" { a href=(format!("#case-{}", at + 1)) { (scene.case.title) } }
                        @if scene.is_simulated() {
                            td.none colspan="3" { "nothing was opened" }
                        } @else {
                            td { (words::screen(scene)) }
                            td { (words::store(scene)) }
                            td.wrong[!words::belief(scene).right] { (mark(words::belief(scene).right)) (words::belief(scene).words) }
                        }
                        td { (outcome(scene)) }
                    } } }
                }
            }
        }
    }
}

fn case(number: usize, scene: &Scene) -> Markup {
    let agreed = agreement(scene);
    html! {
        article.case id=(format!("case-{number}")) aria-labelledby=(format!("case-{number}-name")) {
            header {
                h2 id=(format!("case-{number}-name")) { span.number { (number) } (scene.case.title) }
                p { (scene.case.what) " " code { (scene.case.name) } }
            }
            div.columns {
                section { h3 { "What the app shows" } (screen(scene)) }
                section { h3 { "What the store holds" } (store(scene)) }
                section { h3 { "What the agent says" } (said(scene)) }
            }
            p.agreement.agrees[agreed.holds].disagrees[!agreed.holds] { (mark(agreed.holds)) (agreed.sentence) }
            @if let Some((_, earlier)) = scene.pictures.split_last() { @if !earlier.is_empty() { (film(earlier, scene)) } }
        }
    }
}

fn screen(scene: &Scene) -> Markup {
    html! {
        @match scene.pictures.last() {
            Some(picture) => (shot(picture, scene)),
            None => div.dark-screen aria-hidden="true" { "nothing was opened" },
        }
        p { (words::screen_at_length(scene)) }
    }
}

fn shot(picture: &Picture, scene: &Scene) -> Markup {
    let alt = format!("The app after the step “{}”. {}", picture.step, words::screen_at_length(scene));
    html! { img.shot src=(source(picture)) alt=(alt) width="1280" height="800"; }
}

fn source(picture: &Picture) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(&picture.png))
}

fn store(scene: &Scene) -> Markup {
    html! {
        @match (&scene.before, &scene.after) {
            (Some(before), Some(after)) => {
                p.count { (words::counted(before)) " before" span aria-hidden="true" { " → " } span.hidden { ", " } strong { (words::counted(after)) " after" } }
                (records(after))
                p { (words::writes(&scene.writes)) }
            }
            _ => p { "No app was started, so there is no store to read." },
        }
    }
}

fn records(store: &Store) -> Markup {
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    html! {
        @if store.records.is_empty() { p.empty { "The store is empty." } }
        ul.records { @for row in &store.records { li {
            span { (text(row, "type")) " · patient " (text(row, "patient_id")) }
            q { (text(row, "note")) }
        } } }
    }
}

fn said(scene: &Scene) -> Markup {
    let said = &scene.said;
    html! {
        p { (outcome(scene)) }
        blockquote { (said.what_happened) }
        dl.facts {
            dt { "reason" } dd { code { (said.reason) } }
            dt { "record changed" } dd { code { (said.record_changed) } }
            dt { "proof" } dd { code { (said.proof) } }
            dt { "the caller" } dd { (words::retry(scene)) }
        }
    }
}

fn outcome(scene: &Scene) -> Markup {
    let said = &scene.said;
    let kind = match said.outcome.as_str() {
        "done" => "done",
        "not_sure_if_saved" => "unsure",
        _ => "quiet",
    };
    let label = if said.label.is_empty() { "No answer" } else { &said.label };
    html! { span class=(format!("outcome {kind}")) { (label) } }
}

fn film(pictures: &[Picture], scene: &Scene) -> Markup {
    html! {
        details {
            summary { "The " (pictures.len()) " steps before, as the browser showed them" }
            ol.film { @for picture in pictures { li { figure {
                (shot(picture, scene))
                figcaption { (picture.step) }
            } } } }
        }
    }
}

fn mark(right: bool) -> Markup {
    let (sign, word) = if right { ("✓", "right: ") } else { ("✗", "wrong: ") };
    html! { span.mark aria-hidden="true" { (sign) } span.hidden { (word) } }
}

fn end(demo: &Demo) -> Markup {
    let failures = &demo.judgement.failures;
    html! {
        footer {
            p {
                "Played by " code { "conformance demo" } " in " (format!("{:.0}", demo.took.as_secs_f64())) " seconds: the real agent over its real "
                "standard input and output. The judge read the store at the clinic itself, before and after each case, and takes the agent’s word for nothing. "
                "The pictures are those that the engine took of its own browser."
            }
            @if failures.is_empty() {
                p { "Every check that the judge makes of any scenario held for these calls, too." }
            } @else {
                h2 { "What else did not hold" }
                ul { @for failure in failures { li { strong { (failure.check) } ": expected " (failure.expected) "; actual " (failure.actual) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::demo;
    use super::*;

    #[test]
    fn the_page_needs_nothing_but_itself() {
        let page = page(&demo());
        for outside in ["http:", "https:", "src=\"/", "href=\"/", "url(", "@import", "<script", "<link", "onclick"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("data:image/png;base64,YSBwaWN0dXJl"));
    }

    #[test]
    fn every_picture_says_in_words_what_it_shows_and_every_case_has_a_heading() {
        let page = page(&demo());
        let pictures = page.matches("<img").count();
        assert_eq!((pictures, page.matches(" alt=\"The app after the step").count()), (pictures, pictures));
        assert!(pictures >= 4);
        assert_eq!(page.matches("<h1").count(), 1);
        assert_eq!(page.matches("class=\"case\"").count(), 5);
    }

    #[test]
    fn what_an_agent_or_an_app_says_is_text_and_never_markup() {
        let mut demo = demo();
        let evil = "<script>alert(1)</script>\"'&";
        demo.agent = evil.into();
        for scene in &mut demo.scenes {
            let said = &mut scene.said;
            said.label = evil.into();
            said.what_happened = evil.into();
            said.reason = evil.into();
            if let Some(after) = &mut scene.after {
                after.records = vec![serde_json::json!({"note": evil, "type": evil, "patient_id": evil})];
            }
            for picture in &mut scene.pictures {
                picture.step = evil.into();
            }
        }
        let page = page(&demo);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    }

    #[test]
    fn a_simulated_demo_says_so_first_and_claims_no_screen() {
        let mut demo = demo();
        for scene in &mut demo.scenes {
            scene.said.sandbox.engine = Engine::Simulated;
            (scene.before, scene.after) = (None, None);
            scene.pictures.clear();
            scene.screen = super::super::Screen::Nothing;
        }
        let page = page(&demo);
        assert!(page.contains("<h1>Simulated: no app was opened</h1>"));
        assert!(!page.contains("<img") && !page.contains("in a real browser."));
    }

    #[test]
    fn a_case_that_does_not_agree_is_marked_as_such() {
        let mut demo = demo();
        demo.scenes[0].after = Some(Store::default());
        let page = page(&demo);
        assert!(page.contains("agreement disagrees") && page.contains("not at all"));
    }
}
