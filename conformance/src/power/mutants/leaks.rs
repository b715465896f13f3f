//! A value that only the judge may say, come back somewhere, in each spelling.

use serde_json::json;

use crate::evidence::{Evidence, Seen};
use crate::leak::forms::{Form, forms};
use crate::power::change::{changed, line};
use crate::power::mutant::Mutant;
use crate::scenario::Action;
use crate::scenario::files::FileKind;

const LEAK: &[&str] = &["no-value-leaks"];

const FORMS: &[(Form, &str)] = &[
    (Form::Plain, "plain"),
    (Form::Reversed, "reversed"),
    (Form::Base64, "base64"),
    (Form::UrlBase64, "url-base64"),
    (Form::Hex, "hex"),
    (Form::Percent, "percent"),
    (Form::JsonEscaped, "json-escaped"),
    (Form::Numbers, "numbers"),
    (Form::Utf16, "utf-16"),
];

pub fn mutants() -> Vec<Mutant> {
    let mut all = Vec::new();
    for (form, name) in FORMS {
        // A line of JSON holds no zero bytes.
        let places = PLACES.iter().filter(|(place, _)| *form != Form::Utf16 || *place != "on-the-wire");
        for (place, put) in places {
            let said = format!("a value came back {form} {}", place.replace('-', " "));
            all.push(Mutant::new(format!("leak/{name}-{place}"), said, LEAK, move |green| {
                put(green, &spelled(green, *form)?)
            }));
        }
    }
    all.push(Mutant::new("leak/upper-case-on-stderr", "a value came back in capitals on stderr", LEAK, |green| {
        on_stderr(green, &canary(green)?.to_uppercase())
    }));
    all
}

type Put = fn(&Evidence, &str) -> Option<Evidence>;

const PLACES: &[(&str, Put)] = &[
    ("on-the-wire", on_the_wire),
    ("on-stderr", on_stderr),
    ("in-a-record", in_a_record),
    ("in-the-store", in_the_store),
    ("from-a-command", from_a_command),
];

/// A value that isn't a path, and that neither the scenario nor Flow is meant to say.
fn canary(green: &Evidence) -> Option<&String> {
    let meant = |name: &str| green.after.told.iter().any(|told| told == name) || green.printed.contains(name);
    let own = |name: &str| name.contains("note") || name.contains("input");
    green.canaries.iter().find(|(name, _)| own(name) && !meant(name)).map(|(_, value)| value)
}

fn spelled(green: &Evidence, form: Form) -> Option<String> {
    let all = forms(canary(green)?).into_iter().filter(|(spelling, _)| *spelling == form);
    // The shortest: a longer one is escaped for a text within a text.
    String::from_utf8(all.map(|(_, bytes)| bytes).min_by_key(Vec::len)?).ok()
}

fn on_the_wire(green: &Evidence, text: &str) -> Option<Evidence> {
    // As a program would say it: in the text of a log message, which JSON may escape once more.
    let said = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": text}});
    line(green, &said.to_string())
}

fn on_stderr(green: &Evidence, text: &str) -> Option<Evidence> {
    green.after.stderr.is_none().then_some(())?;
    changed(green, |evidence| {
        let server = evidence.servers.first_mut()?;
        server.stderr.push_str(text);
        server.stderr_bytes = server.stderr.len();
        Some(())
    })
}

fn in_a_record(green: &Evidence, text: &str) -> Option<Evidence> {
    in_file(green, text, "/openadapt-agent/runs/", ".json")
}

fn in_the_store(green: &Evidence, text: &str) -> Option<Evidence> {
    in_file(green, text, "/openadapt-agent/", ".sqlite")
}

fn in_file(green: &Evidence, text: &str, within: &str, ending: &str) -> Option<Evidence> {
    green.after.files.is_empty().then_some(())?;
    let edited = green.steps.iter().any(|step| matches!(step.action, Action::Edit(_)));
    let fits = |path: &str| path.contains(within) && path.ends_with(ending) && !path.contains("/dispatch/");
    let at = green.files.iter().position(|file| {
        !edited && !file.planted && file.kind == Some(FileKind::File) && fits(&file.path.to_string_lossy())
    })?;
    changed(green, |evidence| {
        evidence.files[at].text.push_str(text);
        Some(())
    })
}

fn from_a_command(green: &Evidence, text: &str) -> Option<Evidence> {
    let at = green.steps.iter().position(|step| matches!(step.action, Action::Cli(_)))?;
    changed(green, |evidence| {
        let Seen::Program { stderr, .. } = &mut evidence.steps[at].seen else { return None };
        stderr.push_str(text);
        Some(())
    })
}
