//! Figures and the table that they are shown in.

use std::fmt::Write;
use std::io;

use super::timed;

/// Microseconds: the middle, and the value that one in a hundred exceeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub median: f64,
    pub slow: f64,
    pub count: usize,
}

/// A table in Markdown, in the order of measuring.
#[derive(Debug, Default)]
pub struct Table {
    rows: String,
}

/// The same work several times; it is told how often it was done before.
pub fn measured(times: usize, mut work: impl FnMut(usize) -> io::Result<()>) -> io::Result<Figure> {
    (0..times).map(|number| timed(|| work(number))).collect::<io::Result<Vec<_>>>().map(Figure::of)
}

impl Table {
    pub fn baseline(&mut self, what: &str, figure: &Figure) {
        self.push(what, figure, "baseline");
    }

    pub fn row(&mut self, what: &str, figure: &Figure, baseline: &Figure) {
        self.push(what, figure, &format!("{:.1} ×", figure.median / baseline.median));
    }

    pub fn fact(&mut self, what: &str, kilobytes: u64) {
        let _ = writeln!(self.rows, "| {what} | {:.1} MB | | | |", kilobytes as f64 / 1000.0);
    }

    pub fn count(&mut self, what: &str, count: usize) {
        let _ = writeln!(self.rows, "| {what} | {count} | | | |");
    }

    pub fn to_markdown(&self) -> String {
        format!(
            "| what | median | 99 of 100 within | times | beside its baseline |\n|---|---|---|---|---|\n{}",
            self.rows
        )
    }

    fn push(&mut self, what: &str, figure: &Figure, beside: &str) {
        let (median, slow) = (figure.median / 1000.0, figure.slow / 1000.0);
        let _ = writeln!(self.rows, "| {what} | {median:.3} ms | {slow:.3} ms | {} | {beside} |", figure.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_middle_and_the_slow_end() {
        let figure = Figure::of((1..=100).rev().map(f64::from).collect());
        assert_eq!((figure.median, figure.slow, figure.count), (51.0, 99.0, 100));
    }

    #[test]
    fn a_row_stands_beside_its_baseline() {
        let mut table = Table::default();
        let figure = |median| Figure { median, slow: median, count: 2 };
        table.baseline("a line", &figure(10.0));
        table.row("a list", &figure(45.0), &figure(10.0));
        assert!(table.to_markdown().ends_with("| a list | 0.045 ms | 0.045 ms | 2 | 4.5 × |\n"));
    }
}
