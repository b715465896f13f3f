//! The matrix as a page: every requirement, its state, and what proves it.

use crate::requirement::{Matrix, State};

pub fn matrix(matrix: &Matrix) -> String {
    let mut page = String::from("# Requirements\n\n");
    page.push_str(&format!("{} of {} proven", matrix.count(State::Proven), matrix.denominator()));
    for (state, word) in [
        (State::Failed, "failed"),
        (State::NotRun, "not run"),
        (State::Untested, "untested"),
        (State::Checked, "held by the project's own tests"),
        (State::Excluded, "excluded"),
    ] {
        if matrix.count(state) > 0 {
            page.push_str(&format!(", {} {word}", matrix.count(state)));
        }
    }
    page.push_str(".\n\n| requirement | state | sentence | source | scenarios |\n|---|---|---|---|---|\n");
    for row in &matrix.rows {
        let why = row.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let proving = match row.scenarios.len() {
            0 => String::new(),
            1..=2 => row.scenarios.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" "),
            count => format!("`{}` and {} more", row.scenarios[0], count - 1),
        };
        let state =
            if row.state == State::Proven { word(row.state).to_owned() } else { format!("{}{why}", word(row.state)) };
        page.push_str(&format!(
            "| {} | {} | {} | {} | {proving} |\n",
            row.id,
            cell(&state),
            cell(&row.sentence),
            cell(&row.source)
        ));
    }
    page
}

pub fn word(state: State) -> &'static str {
    match state {
        State::Proven => "proven",
        State::Failed => "failed",
        State::NotRun => "not run",
        State::Checked => "checked",
        State::Excluded => "excluded",
        State::Untested => "untested",
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::super::sample::events;
    use crate::run::events::Event;

    #[test]
    fn the_matrix_as_a_page() {
        let events = events();
        let Some(Event::Finished(finished)) = events.last() else { panic!("no end") };
        insta::assert_snapshot!(super::matrix(&finished.matrix));
    }
}
