//! Pages for people: each stands in the table of contents, and every link in them leads somewhere.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::files::{root, text, tracked};

const CONTENTS: &str = "docs/SUMMARY.md";
const RENEW: &str = "RENEW_MAP";

/// Where the links of a page lead.
fn links(page: &str) -> Vec<String> {
    let text = text(page);
    let links = Parser::new(&text).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    });
    links.collect()
}

/// The names by which a page's headings can be linked to.
fn anchors(page: &str) -> BTreeSet<String> {
    let text = text(page);
    let (mut anchors, mut heading) = (BTreeSet::new(), None::<String>);
    for event in Parser::new(&text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => anchors.extend(heading.take().map(|words| anchor(&words))),
            _ => {}
        }
    }
    anchors
}

fn anchor(words: &str) -> String {
    let kept = words.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    kept.trim().replace(' ', "-")
}

/// Why a link leads nowhere.
fn broken(page: &str, link: &str) -> Option<String> {
    if ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    let (path, fragment) = link.split_once('#').map_or((link, None), |(path, fragment)| (path, Some(fragment)));
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let target = if path.is_empty() { page.to_owned() } else { joined(folder, path) };
    if !root().join(&target).exists() {
        return Some(format!("{target} isn't there"));
    }
    let fragment = fragment.filter(|_| target.ends_with(".md"))?;
    (!anchors(&target).contains(fragment)).then(|| format!("{target} has no heading {fragment}"))
}

fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let mut followed = 0;
    for page in tracked().into_iter().filter(|name| name.ends_with(".md")) {
        for link in links(&page) {
            assert_eq!(broken(&page, &link), None, "{page} links to {link}");
            followed += 1;
        }
    }
    assert!(followed > 20, "only {followed} links were found");
}

#[test]
fn a_link_to_nothing_is_seen() {
    assert!(broken("docs/index.md", "nowhere.md").is_some());
    assert!(broken("README.md", "docs/index.md#no-such-heading").is_some());
    assert_eq!(broken("docs/decisions/0001-which-text-wins.md", "../index.md"), None);
    assert_eq!(broken("docs/start.md", "#a-first-result"), None);
}

#[test]
fn the_table_of_contents_names_every_page_once() {
    if std::env::var_os(RENEW).is_some() {
        std::fs::write(root().join(CONTENTS), with_every_decision()).expect("the table is written");
    }
    let mut listed: Vec<String> = links(CONTENTS).iter().map(|link| joined("docs", link)).collect();
    listed.sort();
    let pages =
        tracked().into_iter().filter(|name| name.starts_with("docs/") && name.ends_with(".md") && name != CONTENTS);
    assert_eq!(
        listed,
        pages.collect::<Vec<_>>(),
        "{CONTENTS} and docs/ differ; `{RENEW}=1` renews the decisions in it"
    );
}

/// The table with the decisions at its end, by number, under their own headings.
fn with_every_decision() -> String {
    let table = text(CONTENTS);
    let others = table.lines().filter(|line| !line.contains("](decisions/")).collect::<Vec<_>>().join("\n");
    let decisions = tracked().into_iter().filter(|name| name.starts_with("docs/decisions/")).map(|name| {
        let page = text(&name);
        let heading = page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("A decision");
        let title = heading.trim_start_matches(|c: char| c.is_ascii_digit() || ".: —·".contains(c)).trim().to_owned();
        format!("- [{title}]({})\n", name.trim_start_matches("docs/"))
    });
    format!("{}\n{}", others.trim_end(), decisions.collect::<String>())
}

/// lifecycle, F09: an external save and a local store share no transaction.
#[test]
fn no_page_promises_that_a_save_happens_exactly_once() {
    let promises =
        ["exactly once", "exactly-once", "once and only once", "guaranteed to save", "guarantees that it is saved"];
    for page in tracked().into_iter().filter(|name| name.ends_with(".md") && !name.starts_with("scenarios/")) {
        let told = text(&page).to_lowercase();
        let found = promises.iter().find(|promise| told.contains(**promise));
        assert_eq!(found, None, "{page}");
    }
    assert!(text("docs/lifecycle.md").contains("that a save happens once is not promised"));
}
