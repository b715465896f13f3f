//! The named moments, in the order in which a run passes them. Source: lifecycle, 2.11 and 2.12.

use serde::{Deserialize, Serialize};

/// A moment, by its place in [`POINTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Point(usize);

/// Which process passes a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passes {
    Server,
    Keeper,
    /// A server that looks after what others left open; no call passes it.
    Recovery,
}

/// What a world needs so that a run passes a moment at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// A reviewer that allows.
    Reviewer,
    /// A reviewer that refuses, and a person who is asked then.
    Form,
    /// Flow's own ledger: claim files have no row that could be missing.
    FlowLedger,
}

struct Row {
    name: &'static str,
    passes: Passes,
    needs: Needs,
}

const fn server(name: &'static str) -> Row {
    Row { name, passes: Passes::Server, needs: Needs::Nothing }
}

const fn needs(needs: Needs, name: &'static str) -> Row {
    Row { name, passes: Passes::Server, needs }
}

const fn keeper(name: &'static str) -> Row {
    Row { name, passes: Passes::Keeper, needs: Needs::Nothing }
}

const POINTS: [Row; 36] = [
    server("prepare.before"),
    server("prepare.after"),
    needs(Needs::Reviewer, "review.before"),
    needs(Needs::Reviewer, "review.verdict"),
    needs(Needs::Reviewer, "review.in_tx"),
    needs(Needs::Reviewer, "review.after"),
    server("authorize.after"),
    needs(Needs::Form, "wait.opened"),
    needs(Needs::Form, "wait.answered"),
    needs(Needs::FlowLedger, "reserve.after_claim"),
    server("reserve.after_ledger"),
    server("reserve.after_cursor"),
    server("dispatch.before"),
    needs(Needs::Form, "wait.consumed_in_tx"),
    server("dispatch.in_tx"),
    server("dispatch.after_intent"),
    server("dispatch.after_spawn"),
    keeper("keeper.before_claim"),
    keeper("keeper.after_claim"),
    keeper("keeper.after_spawn"),
    keeper("keeper.after_exit"),
    keeper("keeper.after_facts"),
    server("execute.after_exit"),
    server("record.before"),
    server("record.in_tx"),
    server("record.after"),
    server("checkpoint.before"),
    server("checkpoint.in_tx"),
    server("checkpoint.after"),
    server("project.before_file"),
    server("project.after_tmp"),
    server("project.after_rename"),
    server("project.after_ledger"),
    server("project.after_mark"),
    server("respond.before"),
    Row { name: "recover.each", passes: Passes::Recovery, needs: Needs::Nothing },
];

impl Point {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..POINTS.len()).map(Self)
    }

    pub fn named(name: &str) -> Option<Self> {
        POINTS.iter().position(|row| row.name == name).map(Self)
    }

    pub fn name(self) -> &'static str {
        POINTS[self.0].name
    }

    pub fn passes(self) -> Passes {
        POINTS[self.0].passes
    }

    pub fn needs(self) -> Needs {
        POINTS[self.0].needs
    }

    pub fn is_from(self, first: &str, last: &str) -> bool {
        let place = |name| Self::named(name).map_or(usize::MAX, |point| point.0);
        (place(first)..=place(last)).contains(&self.0)
    }
}

impl TryFrom<String> for Point {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("{name:?} is no crash point; lifecycle, 2.11 and 2.12 name them"))
    }
}

impl From<Point> for String {
    fn from(point: Point) -> Self {
        point.name().to_owned()
    }
}
