//! What must be seen after a step.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Answer, Screen};

/// How long the app has for what a step should bring.
pub const PATIENCE: Duration = Duration::from_secs(8);
/// For a check that is come to when the patience is over.
const LEAST: Duration = Duration::from_millis(100);
/// How long what is seen may go on changing.
const SETTLING: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(50);
/// Pixels that a region may differ by.
const TOLERANCE: i64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// A match is seen, and its text has this in it.
    Shows { selector: &'static str, text: &'static str },
    /// A match is seen.
    Seen { selector: &'static str },
    /// A region looks as it was recorded, which is told by a text in it.
    Panel { selector: &'static str, text: &'static str },
    /// A match is seen in the size that was recorded.
    Size { selector: &'static str, width: Option<i64>, height: i64 },
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Refuted,
    /// It wasn't come to.
    Unverifiable,
}

/// Every check of a step, within one patience for all of them.
pub fn verify(checks: &[Check], screen: &mut dyn Screen) -> Answer<Vec<Verdict>> {
    let until = Instant::now() + PATIENCE;
    checks.iter().map(|check| check.verify(screen, until)).collect()
}

impl Check {
    fn verify(self, screen: &mut dyn Screen, until: Instant) -> Answer<Verdict> {
        let left = until.saturating_duration_since(Instant::now()).max(LEAST);
        if !screen.appears(self.selector(), left)? {
            return Ok(Verdict::Refuted);
        }
        let settled = Instant::now() + SETTLING;
        loop {
            if self.holds(screen)? {
                return Ok(Verdict::Passed);
            }
            if Instant::now() > settled {
                return Ok(Verdict::Refuted);
            }
            thread::sleep(POLL);
        }
    }

    fn holds(self, screen: &mut dyn Screen) -> Answer<bool> {
        match self {
            Self::Shows { selector, text } | Self::Panel { selector, text } => {
                Ok(screen.texts(selector)?.iter().any(|found| found.contains(text)))
            }
            Self::Seen { .. } => Ok(true),
            Self::Size { selector, width, height } => {
                let close = |found: i64, recorded: i64| (found - recorded).abs() <= TOLERANCE;
                Ok(screen.area(selector)?.is_some_and(|area| {
                    close(area.height, height) && width.is_none_or(|width| close(area.width, width))
                }))
            }
        }
    }

    fn selector(self) -> &'static str {
        match self {
            Self::Shows { selector, .. }
            | Self::Seen { selector }
            | Self::Panel { selector, .. }
            | Self::Size { selector, .. } => selector,
        }
    }

    /// As a workflow file and a checkpoint have it. The picture of a region is named, and isn't there: the stand-in compares none.
    pub fn postcondition(self, step: &str) -> Value {
        if let Self::Shows { text, .. } = self {
            return json!({
                "kind": "text_present",
                "text": text,
                "region": null,
                "phash": null,
                "phash_tolerance": 8,
                "timeout_s": 5.0,
                "template": null,
            });
        }
        let (width, height) = match self {
            Self::Size { width, height, .. } => (width.unwrap_or_default(), height),
            _ => (0, 0),
        };
        json!({
            "kind": "region_stable",
            "text": null,
            "region": [0, 0, width, height],
            "phash": "0000000000000000",
            "phash_tolerance": 16,
            "timeout_s": 5.0,
            "template": format!("templates/{step}_expect.png"),
        })
    }
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Refuted => "refuted",
            Self::Unverifiable => "unverifiable",
        }
    }
}
