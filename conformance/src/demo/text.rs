//! The cases on a terminal: each as it was played, then all of them side by side.

use super::cases::{CASES, Case};
use super::scene::{Demo, Scene};
use super::{agreement, words};
use crate::console::style::Style;

/// So many characters of text stand in a line.
const WIDTH: usize = 86;
const INDENT: &str = "           ";

/// The line above a case.
pub fn heading(number: usize, case: &Case, style: Style) -> String {
    let count = style.faint(&format!("{number} of {}", CASES.len()));
    format!("\n{count}  {}  {}\n{}", style.strong(case.title), style.faint(case.name), case.what)
}

/// What was seen of a case.
pub fn scene(scene: &Scene, style: Style) -> String {
    let said = &scene.said;
    let mut text = String::new();
    if !scene.is_simulated() {
        text.push_str(&row("screen", words::screen_at_length(scene), style));
        let held = |store: Option<&super::Store>| store.map_or("nobody can tell".to_owned(), words::counted);
        let store = format!("{} before, {} after.", held(scene.before.as_ref()), held(scene.after.as_ref()));
        text.push_str(&row("store", &format!("{store} {}", words::writes(&scene.writes)), style));
        for record in scene.after.iter().flat_map(|store| &store.records) {
            text.push_str(&format!("{INDENT}{}\n", style.faint(&record.to_string())));
        }
    }
    text.push_str(&row("agent", &outcome(scene, style), style));
    for line in wrapped(&said.what_happened) {
        text.push_str(&format!("{INDENT}{line}\n"));
    }
    let facts = format!("{} · record changed: {} · {}", said.reason, said.record_changed, words::retry(scene));
    text.push_str(&format!("{INDENT}{}\n", style.faint(&facts)));
    let agreed = agreement(scene);
    let (mark, sentence) = (if agreed.holds { "✓" } else { "✗" }, agreed.sentence);
    let line = format!("  {mark} {sentence}");
    text.push_str(&if agreed.holds { style.good(&line) } else { style.bad(&line) });
    text.push_str(&style.faint(&format!("  {:.1} s", scene.took.as_secs_f64())));
    text
}

/// All cases in one table.
pub fn table(demo: &Demo, style: Style) -> String {
    let mut text = String::new();
    let head = format!("{:<20} {:<21} {:<18} {:<42} the agent", "", "the screen", "the store", "by the screen alone");
    text.push_str(&format!("\n{}\n", style.faint(&head)));
    for scene in &demo.scenes {
        let belief = words::belief(scene);
        let believed = format!("{:<42}", belief.words);
        let believed = if belief.right { believed } else { style.bad(&believed) };
        let (screen, store) = (words::screen(scene), words::store(scene));
        let name = scene.case.name;
        text.push_str(&format!("{name:<20} {screen:<21} {store:<18} {believed} {}\n", outcome(scene, style)));
    }
    text
}

/// The last words: what it shows, and whether it held.
pub fn closing(demo: &Demo, style: Style) -> String {
    let failed = demo.scenes.iter().filter(|scene| !agreement(scene).holds).count();
    let missing = CASES.len() - demo.scenes.len();
    if failed + missing > 0 {
        let played = demo.scenes.len();
        return style
            .bad(&format!("\nOf {} cases {played} were played, and {failed} of them don’t agree.", CASES.len()));
    }
    let deceived = demo.scenes.iter().filter(|scene| !words::belief(scene).right).count();
    let why = match deceived {
        0 => "The agent’s word is what it should be in each of the five cases.".to_owned(),
        some => format!(
            "In {some} of {} cases the screen is wrong about the record. That is why “not sure” is an answer, and why only “done” means saved.",
            CASES.len()
        ),
    };
    format!("\n{}\n{}", style.good("The agent’s word and the store agree in every case."), wrapped(&why).join("\n"))
}

fn row(name: &str, text: &str, style: Style) -> String {
    let lines = wrapped(text).join(&format!("\n{INDENT}"));
    format!("  {}{lines}\n", style.faint(&format!("{name:<9}")))
}

fn outcome(scene: &Scene, style: Style) -> String {
    match scene.said.outcome.as_str() {
        "done" => style.good("done"),
        "" => style.bad("no answer"),
        unsure @ "not_sure_if_saved" => style.unsure(unsure),
        other => style.strong(other),
    }
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::sample::demo;
    use super::*;

    #[test]
    fn the_cases_as_a_person_reads_them_on_a_terminal() {
        let demo = demo();
        let mut text = String::new();
        for (at, seen) in demo.scenes.iter().enumerate() {
            text.push_str(&format!("{}\n{}\n", heading(at + 1, &seen.case, Style::Plain), scene(seen, Style::Plain)));
        }
        text.push_str(&table(&demo, Style::Plain));
        text.push_str(&closing(&demo, Style::Plain));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_demo_that_was_cut_short_never_says_that_all_agrees() {
        let mut demo = demo();
        demo.scenes.pop();
        assert!(closing(&demo, Style::Plain).contains("4 were played"));
    }
}
