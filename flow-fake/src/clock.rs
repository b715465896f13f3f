//! Timestamps as Python's `isoformat` writes them: microseconds and `+00:00`.

use jiff::{SignedDuration, Timestamp};

pub fn iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string()
}

pub fn now() -> Timestamp {
    Timestamp::now()
}

/// `at` moved by whole seconds; unmoved when the result would leave the calendar.
pub fn shifted(at: Timestamp, seconds: i64) -> Timestamp {
    at.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(at)
}

/// `at` moved by a number of seconds, to the millisecond.
pub fn shifted_by(at: Timestamp, seconds: f64) -> Timestamp {
    at.checked_add(SignedDuration::from_millis((seconds * 1000.0) as i64)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_always_written() {
        assert_eq!(iso(Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(iso(shifted(Timestamp::UNIX_EPOCH, 3661)), "1970-01-01T01:01:01.000000+00:00");
    }
}
