//! The files that a browser loads. They are part of the program.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;

use super::App;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! page {
    ($file:literal) => {
        include_str!(concat!("../../pages/", $file))
    };
}

/// Address, type and text of each file.
const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, page!("index.html")),
    ("/index.html", HTML, page!("index.html")),
    ("/app.js", SCRIPT, page!("app.js")),
    ("/people.js", SCRIPT, page!("people.js")),
    ("/settings.js", SCRIPT, page!("settings.js")),
    ("/dom.js", SCRIPT, page!("dom.js")),
    ("/views.js", SCRIPT, page!("views.js")),
    ("/encounter.js", SCRIPT, page!("encounter.js")),
    ("/save.js", SCRIPT, page!("save.js")),
    ("/dialog.js", SCRIPT, page!("dialog.js")),
    ("/styles.css", STYLE, page!("styles.css")),
    ("/narrow.css", STYLE, page!("narrow.css")),
    ("/drift.css", STYLE, page!("drift.css")),
    ("/widgets.html", HTML, page!("widgets.html")),
    ("/widgets.js", SCRIPT, page!("widgets.js")),
    ("/widgets.css", STYLE, page!("widgets.css")),
    ("/clinic.svg", PICTURE, page!("clinic.svg")),
    ("/hills.svg", PICTURE, page!("hills.svg")),
    ("/person.svg", PICTURE, page!("person.svg")),
    ("/favicon.svg", PICTURE, page!("favicon.svg")),
];

pub fn routes() -> Router<App> {
    FILES.iter().fold(Router::new(), |router, &(address, kind, text)| {
        router.route(address, get(async move || ([(CONTENT_TYPE, kind)], text)))
    })
}
