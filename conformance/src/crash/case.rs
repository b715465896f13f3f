//! One case of a campaign: where which process dies, how Flow would have ended, and whether recovery is hit, too.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ending::Ending;
use super::point::Point;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub point: Point,
    pub dies: Victim,
    #[serde(default)]
    pub ending: Ending,
    #[serde(default)]
    pub ledger: LedgerKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
}

/// Who dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    Server,
    Keeper,
    Both,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerKind {
    /// Flow's own.
    #[default]
    Sqlite,
    /// What takes its place where it can't be opened.
    Claims,
}

/// A second crash, of the server that recovers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Again {
    pub at: Point,
    pub how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// A third server asks while the second stands still at the point, which is killed then.
    During,
    /// It dies at the point; a third server asks afterwards.
    After,
}

impl Victim {
    pub const ALL: [Self; 3] = [Self::Server, Self::Keeper, Self::Both];

    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Keeper => "keeper",
            Self::Both => "both",
        }
    }
}

impl LedgerKind {
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Claims];

    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Claims => "claims",
        }
    }
}

impl How {
    pub fn name(self) -> &'static str {
        match self {
            Self::During => "during",
            Self::After => "after",
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (point, dies) = (self.point.name(), self.dies.name());
        write!(f, "{dies}/{point}/{}/{}", self.ending.name(), self.ledger.name())?;
        match self.again {
            Some(again) => write!(f, "/{}-{}", again.how.name(), again.at.name()),
            None => Ok(()),
        }
    }
}
