//! The parts of the page, from top to bottom.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::About;
use crate::report::markdown::word;
use crate::requirement::matrix::Row;
use crate::requirement::{Matrix, State};
use crate::run::events::{Finished, Judged, Started, Summary};
use crate::scenario::ScenarioId;

/// Scenarios that are named beside a requirement; the rest is folded up.
const NAMED: usize = 4;

/// What became of a scenario.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    NotRun,
}

impl End {
    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotRun => "not run",
        }
    }
}

pub fn head(about: &About, started: &Started, finished: &Finished) -> String {
    let summary = &finished.summary;
    let mut head = format!("<header>\n<h1>{}</h1>\n", escaped(&about.title));
    let (class, said) = verdict(summary);
    head.push_str(&format!("<p class=\"verdict {class}\">{}</p>\n", escaped(&said)));
    for sentence in &about.said {
        head.push_str(&format!("<p class=\"said\">{}</p>\n", escaped(sentence)));
    }
    let own = [("agent", &started.agent), ("Flow", &started.flow), ("judge", &started.conformance)];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value.clone()));
    let facts: Vec<(String, String)> = if about.facts.is_empty() { own.collect() } else { about.facts.to_vec() };
    head.push_str("<dl class=\"facts\">\n");
    for (name, value) in facts {
        head.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&name), escaped(&value)));
    }
    head.push_str("</dl>\n");
    if let Some(why) = started.unable_why.as_ref().filter(|_| !started.unable.is_empty()) {
        head.push_str(&format!(
            "<p class=\"said\">Could not run: {} scenarios. {}</p>\n",
            started.unable.len(),
            escaped(why)
        ));
    }
    head + "</header>\n"
}

fn verdict(summary: &Summary) -> (&'static str, String) {
    let total = summary.passed + summary.failed + summary.unrun;
    let mut said = format!("{} of {total} scenarios passed", summary.passed);
    for (count, word) in [
        (summary.failed, "failed"),
        (summary.unrun, "not run"),
        (summary.unable, "could not run"),
        (summary.unclaimed, "not claimed"),
    ] {
        if count > 0 {
            said.push_str(&format!(", {count} {word}"));
        }
    }
    said.push_str(&format!("; {} of {} requirements proven", summary.proven, summary.requirements));
    let clean = summary.failed + summary.unrun + summary.holes == 0 && !summary.interrupted;
    if clean { ("passed", format!("✓ {said}")) } else { ("failed", format!("✗ {said}")) }
}

pub fn matrix(matrix: &Matrix, started: &Started, judged: &[Judged]) -> String {
    let ends = ends(started, judged);
    let mut part = String::from(
        "<section id=\"matrix\" aria-labelledby=\"matrix-title\">\n<h2 id=\"matrix-title\">Requirements</h2>\n",
    );
    part.push_str("<form id=\"filter\" role=\"search\" hidden>\n<label>Find <input type=\"search\" id=\"find\" autocomplete=\"off\" placeholder=\"words, an id, a scenario\"></label>\n<label>Verdict <select id=\"state\"><option value=\"\">any</option>");
    for state in STATES.into_iter().filter(|state| matrix.count(*state) > 0) {
        part.push_str(&format!(
            "<option value=\"{}\">{} ({})</option>",
            class(state),
            word(state),
            matrix.count(state)
        ));
    }
    part.push_str("</select></label>\n<output id=\"count\" aria-live=\"polite\"></output>\n</form>\n");
    part.push_str("<table role=\"table\" class=\"matrix\">\n<caption>Every requirement, what became of it, and the scenarios that prove it</caption>\n<thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">Verdict</th><th role=\"columnheader\" scope=\"col\">Requirement</th><th role=\"columnheader\" scope=\"col\">Scenarios</th></tr></thead>\n<tbody role=\"rowgroup\">\n");
    let mut rows: Vec<&Row> = matrix.rows.iter().collect();
    rows.sort_by_key(|row| STATES.iter().position(|state| *state == row.state));
    rows.into_iter().for_each(|row| part.push_str(&requirement(row, &ends)));
    part + "</tbody>\n</table>\n</section>\n"
}

/// What needs a look comes first.
const STATES: [State; 6] =
    [State::Failed, State::NotRun, State::Untested, State::Proven, State::Checked, State::Excluded];

fn class(state: State) -> &'static str {
    match state {
        State::Proven => "proven",
        State::Failed => "failed",
        State::NotRun => "not-run",
        State::Checked => "checked",
        State::Excluded => "excluded",
        State::Untested => "untested",
    }
}

fn mark(state: State) -> &'static str {
    match state {
        State::Proven => "✓",
        State::Failed => "✗",
        State::NotRun | State::Untested => "○",
        State::Checked | State::Excluded => "–",
    }
}

fn requirement(row: &Row, ends: &BTreeMap<&ScenarioId, End>) -> String {
    let state = class(row.state);
    // What failed must not be folded away.
    let mut proving: Vec<&ScenarioId> = row.scenarios.iter().collect();
    proving.sort_by_key(|id| ends.get(*id) == Some(&End::Passed));
    let links: Vec<String> = proving.into_iter().map(|id| link(id, ends.get(id).copied())).collect();
    let (named, folded) = links.split_at(links.len().min(NAMED));
    let mut scenarios = named.join("\n");
    if !folded.is_empty() {
        scenarios.push_str(&format!(
            "<details><summary>{} more</summary>{}</details>",
            folded.len(),
            folded.join("\n")
        ));
    }
    let why = row.why.as_ref().map(|why| format!(" <span class=\"why\">{}</span>", escaped(why))).unwrap_or_default();
    format!(
        "<tr role=\"row\" id=\"r-{id}\" data-state=\"{state}\"><td role=\"cell\"><span class=\"state {state}\"><span aria-hidden=\"true\">{}</span> {}</span></td><th role=\"rowheader\" scope=\"row\"><code>{id}</code><span class=\"sentence\">{}</span><span class=\"source\">{}</span>{why}</th><td role=\"cell\">{scenarios}</td></tr>\n",
        mark(row.state),
        word(row.state),
        escaped(&row.sentence),
        escaped(&row.source),
        id = escaped(row.id.as_str()),
    )
}

fn link(id: &ScenarioId, end: Option<End>) -> String {
    let Some(end) = end else { return format!("<span class=\"link\">{}</span>", escaped(id.as_str())) };
    format!(
        "<a class=\"link {}\" href=\"#{}\"><span aria-hidden=\"true\">{}</span> {}<span class=\"unseen\">, {}</span></a>",
        end.word().replace(' ', "-"),
        anchor(id),
        if end == End::Passed { "✓" } else { "✗" },
        escaped(id.as_str()),
        end.word(),
    )
}

fn ends<'a>(started: &'a Started, judged: &'a [Judged]) -> BTreeMap<&'a ScenarioId, End> {
    let selected = started.scenarios.iter().map(|id| (id, End::NotRun));
    let over = judged
        .iter()
        .map(|judged| (&judged.judgement.scenario, if judged.judgement.passed() { End::Passed } else { End::Failed }));
    selected.chain(over).collect()
}

pub fn scenarios(started: &Started, judged: &[Judged]) -> String {
    let mut part = String::from(
        "<section id=\"scenarios\" aria-labelledby=\"scenarios-title\">\n<h2 id=\"scenarios-title\">Scenarios</h2>\n<noscript><p>What happened when is drawn by the page's own script.</p></noscript>\n",
    );
    let mut order: Vec<(usize, &Judged)> = judged.iter().enumerate().collect();
    order.sort_by_key(|(_, judged)| (judged.judgement.passed(), judged.judgement.scenario.clone()));
    order.into_iter().for_each(|(index, judged)| part.push_str(&scenario(index, judged)));
    let ran: BTreeMap<&ScenarioId, End> = ends(started, judged);
    for (id, _) in ran.into_iter().filter(|(_, end)| *end == End::NotRun) {
        part.push_str(&format!("<details id=\"{}\" data-state=\"not-run\"><summary><span class=\"state not-run\"><span aria-hidden=\"true\">○</span> not run</span> <code>{}</code></summary><p>It was selected, and never run. What wasn't run isn't proven.</p></details>\n", anchor(id), escaped(id.as_str())));
    }
    part + "</section>\n"
}

fn scenario(index: usize, judged: &Judged) -> String {
    let judgement = &judged.judgement;
    let (class, mark) = if judgement.passed() { ("passed", "✓") } else { ("failed", "✗") };
    let proves: Vec<String> =
        judgement.proves.iter().map(|id| format!("<a href=\"#r-{id}\">{id}</a>", id = escaped(id.as_str()))).collect();
    let mut part = format!(
        "<details id=\"{}\" data-state=\"{class}\" data-timeline=\"{index}\"><summary><span class=\"state {class}\"><span aria-hidden=\"true\">{mark}</span> {class}</span> <code>{}</code> <span class=\"title\">{}</span> <span class=\"seconds\">{:.1} s</span></summary>\n<p class=\"proves\">Proves {}</p>\n",
        anchor(&judgement.scenario),
        escaped(judgement.scenario.as_str()),
        escaped(&judgement.title),
        judgement.seconds,
        proves.join(", "),
    );
    for (failure, told) in judgement.failures.iter().zip(&judged.told) {
        let action = told.action.as_deref().unwrap_or("the whole scenario");
        part.push_str(&format!(
            "<div class=\"failure\"><h3>{}</h3><p>{}, blame: {}</p><dl><dt>Expected</dt><dd>{}</dd><dt>Actual</dt><dd>{}</dd></dl>",
            escaped(&failure.check),
            escaped(action),
            failure.blame,
            escaped(&failure.expected),
            escaped(&failure.actual),
        ));
        if !told.lines.is_empty() {
            part.push_str(&format!("<pre tabindex=\"0\">{}</pre>", escaped(&told.lines.join("\n"))));
        }
        part.push_str("</div>\n");
    }
    part + "</details>\n"
}

/// The data that the page's script draws: for each scenario its moments, a list of time, lane and text.
pub fn timelines(judged: &[Judged]) -> String {
    let all: Vec<Value> = judged
        .iter()
        .map(|judged| judged.timeline.iter().map(|moment| json!([moment.at_us, moment.lane, moment.text])).collect())
        .collect();
    let text = Value::from(all).to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"timelines\">{text}</script>\n")
}

fn anchor(id: &ScenarioId) -> String {
    format!("s-{}", id.as_str().replace('/', "-"))
}

pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}
