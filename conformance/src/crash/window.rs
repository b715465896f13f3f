//! What must be found after a crash: the tables of lifecycle 2.11 and 2.12 as data. They are the specification's, not the agent's.

use std::ops::RangeInclusive;

use super::case::{Case, LedgerKind, Victim};
use super::ending::{Ending, INTERRUPTED, NOT_STARTED, Told};
use super::point::{Needs, Passes, Point};

/// What the first look finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No run at all.
    Nothing,
    /// A run that waits for a person, as before.
    Waiting,
    /// did_not_run / platform_error: proven on disk.
    NotStarted,
    /// not_sure_if_saved / interrupted: nobody saw how it ended.
    Unknown,
    /// The result, as if nobody had died.
    Result,
}

/// How far the action had come: where recovery takes it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Nowhere,
    Waiting,
    /// No receipt, and nobody can have begun.
    Open,
    /// No receipt, an intent that nobody claimed.
    Intent,
    /// No receipt, claimed.
    Claimed,
    Recorded,
    Checkpointed,
    Projected,
    /// The exit facts stand, and a server that lived may have come any way further.
    Settling,
}

impl Stage {
    /// The phases of an action that has come so far; nothing where there is none.
    pub fn phases(self) -> &'static [&'static str] {
        match self {
            Self::Nowhere => &[""],
            Self::Waiting => &["waiting", "authorized"],
            Self::Open => &["prepared", "waiting", "authorized", "reserved"],
            Self::Intent => &["dispatched"],
            Self::Claimed => &["claimed"],
            Self::Recorded => &["recorded"],
            Self::Checkpointed => &["checkpointed"],
            Self::Projected => &["projected"],
            Self::Settling => &["claimed", "recorded", "checkpointed", "projected"],
        }
    }
}

struct Row {
    dies: &'static [Victim],
    first: &'static str,
    last: &'static str,
    found: Found,
    stage: Stage,
    /// Starts of Flow before the request is sent again.
    launches: RangeInclusive<usize>,
    /// Saves before that, of those that the ending has.
    saves: Saves,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Saves {
    None,
    /// Flow went on alone: perhaps, perhaps not.
    Open,
    All,
}

const SERVER: &[Victim] = &[Victim::Server];
const BOTH: &[Victim] = &[Victim::Both];
const ALONE_OR_BOTH: &[Victim] = &[Victim::Keeper, Victim::Both];
const ANY: &[Victim] = &[Victim::Server, Victim::Keeper, Victim::Both];

const fn row(
    dies: &'static [Victim],
    (first, last): (&'static str, &'static str),
    found: Found,
    stage: Stage,
    launches: RangeInclusive<usize>,
    saves: Saves,
) -> Row {
    Row { dies, first, last, found, stage, launches, saves }
}

/// The first row that fits counts.
const TABLE: &[Row] = &[
    // 2.11: prepare.before | (no record) | done | 1 | 1
    row(SERVER, ("prepare.before", "prepare.before"), Found::Nothing, Stage::Nowhere, 0..=0, Saves::None),
    // 2.10: waiting (elicitation: keep open); B14, F11: the approval survives, and is spent once
    row(SERVER, ("wait.opened", "wait.answered"), Found::Waiting, Stage::Waiting, 0..=0, Saves::None),
    // 2.11: prepare.after .. reserve.after_cursor | did_not_run/platform_error | done | 1 | 1; F04; the intent isn't committed before its end
    row(SERVER, ("prepare.after", "dispatch.in_tx"), Found::NotStarted, Stage::Open, 0..=0, Saves::None),
    // 2.12: intent, no claim | revoked in one transaction | did_not_run / platform_error | new attempt
    row(
        SERVER,
        ("dispatch.after_intent", "dispatch.after_intent"),
        Found::NotStarted,
        Stage::Intent,
        0..=0,
        Saves::None,
    ),
    row(ANY, ("keeper.before_claim", "keeper.before_claim"), Found::NotStarted, Stage::Intent, 0..=0, Saves::None),
    // 2.12: claimed, exit facts there | as classified | the true result | replayed
    row(ANY, ("keeper.after_facts", "keeper.after_facts"), Found::Result, Stage::Settling, 1..=1, Saves::All),
    // 2.12: crashes of the server at after_spawn, execute.after_exit, record.* never cost a result; 2.11: the table's end
    row(SERVER, ("dispatch.after_spawn", "record.in_tx"), Found::Result, Stage::Claimed, 1..=1, Saves::All),
    row(SERVER, ("record.after", "checkpoint.in_tx"), Found::Result, Stage::Recorded, 1..=1, Saves::All),
    row(SERVER, ("checkpoint.after", "project.after_ledger"), Found::Result, Stage::Checkpointed, 1..=1, Saves::All),
    row(SERVER, ("project.after_mark", "respond.before"), Found::Result, Stage::Projected, 1..=1, Saves::All),
    // 2.11: dispatch.after_spawn | not_sure/interrupted | same | 1 | 0 or 1, for server and keeper together
    row(BOTH, ("dispatch.after_spawn", "dispatch.after_spawn"), Found::Unknown, Stage::Claimed, 1..=1, Saves::Open),
    // 2.12: claimed, keeper gone, no facts | unknown | not_sure / interrupted | replayed
    row(
        ALONE_OR_BOTH,
        ("keeper.after_claim", "keeper.after_claim"),
        Found::Unknown,
        Stage::Claimed,
        0..=0,
        Saves::None,
    ),
    row(
        ALONE_OR_BOTH,
        ("keeper.after_spawn", "keeper.after_spawn"),
        Found::Unknown,
        Stage::Claimed,
        1..=1,
        Saves::Open,
    ),
    row(ALONE_OR_BOTH, ("keeper.after_exit", "keeper.after_exit"), Found::Unknown, Stage::Claimed, 1..=1, Saves::All),
];

/// A row of the table, for one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub found: Found,
    pub stage: Stage,
    pub launches: RangeInclusive<usize>,
    pub saves: RangeInclusive<usize>,
    /// The request's key was taken before the crash, so the next attempt is the second.
    pub counted: bool,
}

impl Window {
    /// None where nobody of that kind lives at that moment.
    pub fn of(case: &Case) -> Option<Self> {
        let row = Row::of(case.point, case.dies)?;
        let whole = case.ending.saves();
        Some(Self {
            found: row.found,
            stage: row.stage,
            launches: row.launches.clone(),
            saves: match row.saves {
                Saves::None => 0..=0,
                Saves::Open => 0..=whole,
                Saves::All => whole..=whole,
            },
            counted: case.point.is_from("reserve.after_claim", "respond.before"),
        })
    }

    /// What the first look says; nothing where there is no run, or where it still waits.
    pub fn told(&self, ending: Ending) -> Option<Told> {
        match self.found {
            Found::Nothing | Found::Waiting => None,
            Found::NotStarted => Some(NOT_STARTED),
            Found::Unknown => Some(INTERRUPTED),
            Found::Result => Some(ending.told()),
        }
    }

    /// The request, sent again, is begun anew.
    pub fn begins_anew(&self, ending: Ending) -> bool {
        self.told(ending).is_none_or(|told| told.retry)
    }
}

impl Row {
    fn of(point: Point, dies: Victim) -> Option<&'static Self> {
        TABLE.iter().find(|row| row.dies.contains(&dies) && point.is_from(row.first, row.last))
    }
}

/// Whether this case can come about at all.
pub fn exists(case: &Case) -> bool {
    let ledger = case.point.needs() != Needs::FlowLedger || case.ledger == LedgerKind::Sqlite;
    let passed = case.point.passes() != Passes::Recovery && Row::of(case.point, case.dies).is_some();
    let again = case.again.is_none_or(|again| recovers_through(case).contains(&again.at));
    ledger && passed && again
}

/// The moments that a server passes that recovers this case. Source: 2.10, the order by phase.
pub fn recovers_through(case: &Case) -> Vec<Point> {
    let stage = match Row::of(case.point, case.dies) {
        // A server that lived has nothing to recover: it saw the keeper's end itself.
        Some(row) if case.dies != Victim::Keeper => row.stage,
        _ => return Vec::new(),
    };
    let passes = |point: &Point| match point.name() {
        "recover.each" => (Stage::Open..Stage::Projected).contains(&stage),
        "execute.after_exit" | "record.before" | "record.in_tx" | "record.after" => {
            matches!(stage, Stage::Open | Stage::Claimed)
        }
        "checkpoint.before" | "checkpoint.in_tx" | "checkpoint.after" => {
            (Stage::Open..=Stage::Recorded).contains(&stage)
        }
        name if name.starts_with("project.") => (Stage::Open..=Stage::Checkpointed).contains(&stage),
        _ => false,
    };
    Point::all().filter(passes).collect()
}
