//! The machine's report: one event for each line, and a last line without which the report is not whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::run::events::{Event, REPORT_FORMAT};

pub struct Writer(BufWriter<File>);

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("line {line} is no event of a conformance report: {problem}")]
    Line { line: usize, problem: String },
    #[error("the report has no beginning, or is of another format than {REPORT_FORMAT}")]
    NoHeader,
    #[error("the report was cut off: its last line is missing")]
    Truncated,
    #[error("the report says that {said} scenarios were judged, and holds {held}")]
    Count { said: usize, held: usize },
}

impl Writer {
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(BufWriter::new(File::create(path)?)))
    }

    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, event)?;
        self.0.write_all(b"\n")?;
        self.0.flush()
    }
}

/// A whole report, or why it isn't one.
pub fn read(path: &Path) -> Result<Vec<Event>, ReadError> {
    parse(&std::fs::read_to_string(path)?)
}

fn parse(text: &str) -> Result<Vec<Event>, ReadError> {
    let events = text
        .lines()
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| ReadError::Line { line: index + 1, problem: error.to_string() })
        })
        .collect::<Result<Vec<Event>, _>>();
    let events = match events {
        Err(ReadError::Line { line, .. }) if !text.ends_with('\n') && line == text.lines().count() => {
            return Err(ReadError::Truncated);
        }
        other => other?,
    };
    match events.first() {
        Some(Event::Started(started)) if started.format == REPORT_FORMAT => {}
        _ => return Err(ReadError::NoHeader),
    }
    let Some(Event::Finished(finished)) = events.last() else { return Err(ReadError::Truncated) };
    let said = finished.summary.passed + finished.summary.failed;
    let held = events.iter().filter(|event| matches!(event, Event::Judged(_))).count();
    if said == held { Ok(events) } else { Err(ReadError::Count { said, held }) }
}

#[cfg(test)]
mod tests {
    use super::super::sample::events;
    use super::*;

    fn written() -> String {
        events().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
    }

    #[test]
    fn what_was_written_is_read_back() {
        assert_eq!(parse(&written()).unwrap(), events());
    }

    #[test]
    fn a_report_that_was_cut_anywhere_is_an_error() {
        let whole = written();
        for end in 0..whole.len() - 1 {
            if whole.is_char_boundary(end) {
                assert!(parse(&whole[..end]).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn a_report_that_lost_a_line_or_is_of_another_format_is_an_error() {
        let whole = written();
        let lost: String =
            whole.lines().enumerate().filter(|(i, _)| *i != 1).map(|(_, line)| format!("{line}\n")).collect();
        assert!(matches!(parse(&lost), Err(ReadError::Count { .. })));
        assert!(matches!(parse(&whole.replace(REPORT_FORMAT, "other")), Err(ReadError::NoHeader)));
    }
}
