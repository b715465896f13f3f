//! The files that a browser loads. What they do there is tested in a browser; here it is what they are.

use crate::desk::Desk;
use crate::wire;

const FILES: [(&str, &str); 20] = [
    ("/", "text/html; charset=utf-8"),
    ("/index.html", "text/html; charset=utf-8"),
    ("/app.js", "text/javascript; charset=utf-8"),
    ("/people.js", "text/javascript; charset=utf-8"),
    ("/settings.js", "text/javascript; charset=utf-8"),
    ("/dom.js", "text/javascript; charset=utf-8"),
    ("/views.js", "text/javascript; charset=utf-8"),
    ("/encounter.js", "text/javascript; charset=utf-8"),
    ("/save.js", "text/javascript; charset=utf-8"),
    ("/dialog.js", "text/javascript; charset=utf-8"),
    ("/styles.css", "text/css; charset=utf-8"),
    ("/narrow.css", "text/css; charset=utf-8"),
    ("/drift.css", "text/css; charset=utf-8"),
    ("/widgets.html", "text/html; charset=utf-8"),
    ("/widgets.js", "text/javascript; charset=utf-8"),
    ("/widgets.css", "text/css; charset=utf-8"),
    ("/clinic.svg", "image/svg+xml"),
    ("/hills.svg", "image/svg+xml"),
    ("/person.svg", "image/svg+xml"),
    ("/favicon.svg", "image/svg+xml"),
];

#[test]
fn every_file_is_served_with_its_type_and_a_query_changes_nothing() {
    let desk = Desk::open();
    for (path, kind) in FILES {
        let answer = wire::get(desk.address(), path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        assert_eq!(wire::get(desk.address(), &format!("{path}?fault=ok&drift=theme")).body, answer.body);
    }
}

#[test]
fn every_file_that_a_file_names_is_served() {
    let desk = Desk::open();
    let mut named = 0;
    for (path, _) in FILES {
        let body = wire::get(desk.address(), path).body;
        for mark in ["src=\"", "href=\"", "from \"./", "src: \"", "href: \"", "url(\""] {
            for (_, rest) in body.match_indices(mark).map(|(at, _)| body[at..].split_at(mark.len())) {
                let target = rest.split(['"', '?', '#']).next().unwrap();
                if !target.is_empty() {
                    named += 1;
                    assert_eq!(wire::get(desk.address(), &format!("/{target}")).status, 200, "{path} names {target}");
                }
            }
        }
    }
    assert!(named > 20, "only {named}");
}

#[test]
fn no_page_needs_anything_inline_or_from_elsewhere() {
    let desk = Desk::open();
    for (path, _) in FILES {
        let body = wire::get(desk.address(), path).body;
        for forbidden in
            ["<style", " style=", " onclick", " onload", "javascript:", "innerHTML", "eval(", "https://", "//cdn"]
        {
            assert!(!body.contains(forbidden), "{path} has {forbidden}");
        }
        for (at, _) in body.match_indices("<script") {
            let tag = &body[at..][..body[at..].find("</script>").unwrap()];
            assert!(tag.ends_with('>') && tag.contains("src=\""), "{path}: {tag}");
        }
        assert!(!body.replace("http://www.w3.org/2000/svg", "").contains("http://"), "{path}");
    }
}

#[test]
fn the_page_says_that_everything_is_made_up() {
    let desk = Desk::open();
    let index = wire::get(desk.address(), "/").body;
    assert!(index.contains("<title>MockMed</title>"));
    assert!(index.contains("Every person and record here is made up."));
}

#[test]
fn every_mark_that_a_driver_looks_for_is_in_the_pages() {
    let desk = Desk::open();
    let all: String = FILES.iter().map(|(path, _)| wire::get(desk.address(), path).body).collect();
    for id in [
        "topbar",
        "brand",
        "subtitle",
        "app",
        "modal-root",
        "signin",
        "tasks-table",
        "no-referrals",
        "patient-record",
        "patient-banner",
        "saved-banner",
        "new-encounter",
        "encounter-list",
        "no-encounters",
        "encounter-record",
        "type-label",
        "type-seg",
        "type-triage",
        "type-consult",
        "note-label",
        "note",
        "save-error",
        "save-encounter",
        "notice-card",
        "notice-continue",
        "acuity-label",
        "acuity-seg",
        "acuity-routine",
        "acuity-urgent",
        "modal-overlay",
        "survey-modal",
        "survey-dismiss",
        "username",
        "password",
        "pet",
        "consent",
        "prio-routine",
        "prio-urgent",
        "when",
        "open-survey",
        "confirm-survey",
        "q",
        "suggestions",
        "sort-name",
        "widget-table",
        "table-body",
        "prev-page",
        "next-page",
        "page-label",
        "kb-name",
        "kb-ward",
        "report-link",
        "attach",
        "status",
    ] {
        assert!(all.contains(&format!("\"{id}\"")), "{id}");
    }
    for drift in [
        "theme",
        "move",
        "font",
        "zoom",
        "slow",
        "rename",
        "typelabel",
        "grow",
        "lookalike",
        "ambiguous",
        "missing",
        "empty",
        "sort",
        "notice",
        "reqfield",
        "modal",
        "modal-once",
    ] {
        assert!(all.contains(&format!("\"{drift}\"")), "{drift}");
    }
}

#[test]
fn text_stands_out_from_its_ground_in_both_palettes() {
    let desk = Desk::open();
    for (file, palette) in [("/styles.css", ":root {"), ("/drift.css", ".drift-theme {")] {
        let style = wire::get(desk.address(), file).body;
        let block = style.split(palette).nth(1).unwrap().split('}').next().unwrap();
        let colour = |name: &str| {
            let value = block.split(&format!("--{name}: #")).nth(1).unwrap();
            u32::from_str_radix(&value[..6], 16).unwrap()
        };
        for (text, ground) in [
            ("ink", "paper"),
            ("ink", "card"),
            ("muted", "paper"),
            ("muted", "card"),
            ("muted", "accent-soft"),
            ("accent", "paper"),
            ("accent", "card"),
            ("accent-deep", "accent-soft"),
            ("accent-deep", "card"),
            ("on-accent", "accent"),
            ("on-accent", "accent-deep"),
            ("warm", "warm-soft"),
            ("gold", "gold-soft"),
            ("sage", "sage-soft"),
        ] {
            let ratio = contrast(colour(text), colour(ground));
            assert!(ratio >= 4.5, "{palette} --{text} on --{ground}: {ratio:.2}");
        }
        for (edge, ground) in [("field", "card"), ("ring", "card"), ("ring", "paper")] {
            let ratio = contrast(colour(edge), colour(ground));
            assert!(ratio >= 3.0, "{palette} --{edge} on --{ground}: {ratio:.2}");
        }
    }
}

/// The contrast ratio of WCAG 2 between two colours.
fn contrast(one: u32, other: u32) -> f64 {
    let part = |colour: u32, shift: u32| {
        let part = f64::from(colour >> shift & 0xff) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    let light = |colour| 0.2126 * part(colour, 16) + 0.7152 * part(colour, 8) + 0.0722 * part(colour, 0);
    let (one, other): (f64, f64) = (light(one), light(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}
