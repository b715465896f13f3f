//! The campaign's matrix: moments down, who died across. For a terminal and as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::case::Victim;
use super::point::Point;
use super::tally::Row;

/// Counts of one cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    first: Count,
    again: Count,
    /// What the first look told, with Flow ending as it would have.
    told: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    held: usize,
    all: usize,
}

pub struct Matrix(BTreeMap<(Point, Victim), Cell>);

impl Matrix {
    pub fn of(rows: &[Row]) -> Self {
        let mut cells: BTreeMap<(Point, Victim), Cell> = BTreeMap::new();
        for row in rows {
            let Some(point) = Point::named(&row.point) else { continue };
            let cell = cells.entry((point, row.dies)).or_default();
            let count = if row.again.is_some() { &mut cell.again } else { &mut cell.first };
            count.all += 1;
            count.held += usize::from(row.passed);
            let told = row.first_look.clone().unwrap_or_else(|| "no run".to_owned());
            *cell.told.entry(told).or_default() += 1;
        }
        Self(cells)
    }

    /// One line for each moment.
    pub fn to_text(&self) -> String {
        let mut text = format!("{:<22} {:>15} {:>15} {:>15}\n", "dies at", "server", "keeper", "both");
        for point in self.points() {
            let cell = |dies| self.0.get(&(point, dies)).map_or_else(|| "-".to_owned(), Cell::short);
            let [server, keeper, both] = Victim::ALL.map(cell);
            let _infallible = writeln!(text, "{:<22} {server:>15} {keeper:>15} {both:>15}", point.name());
        }
        text.push_str(
            "held of all cases, + those with a second death in recovery; - nobody of that kind lives at that moment\n",
        );
        text
    }

    /// The same, with what the first look told.
    pub fn to_markdown(&self) -> String {
        let mut page = String::from("# Crash matrix\n\n| dies at | server | keeper | both |\n|---|---|---|---|\n");
        for point in self.points() {
            let cell = |dies| self.0.get(&(point, dies)).map_or_else(|| "–".to_owned(), Cell::long);
            let [server, keeper, both] = Victim::ALL.map(cell);
            let _infallible = writeln!(page, "| `{}` | {server} | {keeper} | {both} |", point.name());
        }
        page.push_str("\nEach cell: cases that held of all, and after *again* those with a second death in recovery; then what the first look told, and how often.\n");
        page
    }

    fn points(&self) -> impl Iterator<Item = Point> {
        Point::all().filter(|point| Victim::ALL.iter().any(|dies| self.0.contains_key(&(*point, *dies))))
    }
}

impl Cell {
    fn short(&self) -> String {
        let Count { held, all } = self.first;
        let again =
            if self.again.all > 0 { format!(" +{}/{}", self.again.held, self.again.all) } else { String::new() };
        let mark = if self.holds() { "" } else { "RED " };
        format!("{mark}{held}/{all}{again}")
    }

    fn long(&self) -> String {
        let told: Vec<String> = self.told.iter().map(|(told, count)| format!("{told} ×{count}")).collect();
        let (first, again) = (self.first, self.again);
        let mark = if self.holds() { "" } else { "**RED** " };
        let again = if again.all > 0 { format!(", again {} of {}", again.held, again.all) } else { String::new() };
        format!("{mark}{} of {}{again}<br>{}", first.held, first.all, told.join("<br>"))
    }

    fn holds(&self) -> bool {
        self.first.held == self.first.all && self.again.held == self.again.all
    }
}

/// Kills at random moments: whom they hit, and in which phase the run was left.
pub fn of_kills(rows: &[Row]) -> String {
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for row in rows {
        let hit = if row.killed.is_empty() { "nobody (too late)" } else { row.dies.name() };
        *counts.entry((row.left.clone(), hit)).or_default() += 1;
    }
    let columns = ["server", "keeper", "both", "nobody (too late)"];
    let mut page = format!("| left | {} |\n|---|---|---|---|---|\n", columns.join(" | "));
    let order = [
        "none",
        "prepared",
        "authorized",
        "reserved",
        "dispatched",
        "claimed",
        "recorded",
        "checkpointed",
        "projected",
    ];
    for phase in order.iter().filter(|phase| counts.keys().any(|(left, _)| left == *phase)) {
        let of = |hit: &str| {
            counts.iter().find(|((left, by), _)| left == phase && *by == hit).map_or(0, |(_, count)| *count)
        };
        let _infallible = writeln!(page, "| {phase} | {} |", columns.map(|hit| of(hit).to_string()).join(" | "));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(point: &str, dies: Victim, again: Option<&str>, passed: bool) -> Row {
        Row {
            id: "crash/x".into(),
            point: point.into(),
            dies,
            ending: "verified".into(),
            ledger: "sqlite".into(),
            again: again.map(str::to_owned),
            left: "claimed".into(),
            first_look: Some("done / saved_and_checked".into()),
            sent_again: None,
            launches: 1,
            saves: 1,
            killed: vec!["s1".into()],
            passed,
            failures: Vec::new(),
            seconds: 0.1,
        }
    }

    #[test]
    fn one_failed_case_makes_its_cell_red_and_no_other() {
        let rows = [
            row("record.after", Victim::Server, None, true),
            row("record.after", Victim::Server, Some("after recover.each"), false),
            row("keeper.after_exit", Victim::Both, None, true),
        ];
        insta::assert_snapshot!(format!("{}\n{}", Matrix::of(&rows).to_text(), Matrix::of(&rows).to_markdown()));
    }

    #[test]
    fn kills_are_counted_by_whom_they_hit_and_what_they_left() {
        let missed = Row { killed: Vec::new(), ..row("event 9", Victim::Keeper, None, true) };
        let page = of_kills(&[row("event 4", Victim::Both, None, true), missed]);
        assert!(page.contains("| claimed | 0 | 0 | 1 | 1 |"), "{page}");
    }
}
