//! How long a run may take. Time that a person spends approving a save doesn't count, up to a bound of its own.

use std::time::Duration;

/// At most this much approval time is left out of a run's time: a request lives four hours, and a minute for the answer to land.
pub const APPROVAL_ALLOWANCE: Duration = Duration::from_secs(4 * 60 * 60 + 60);

/// A clock that is fed with what passed and whether a person was being waited for.
#[derive(Debug)]
pub struct TimeLimit {
    limit: Duration,
    counted: Duration,
    approving: Duration,
}

impl TimeLimit {
    pub fn new(limit: Duration) -> Self {
        Self { limit, counted: Duration::ZERO, approving: Duration::ZERO }
    }

    pub fn pass(&mut self, passed: Duration, waiting_for_person: bool) {
        let free = if waiting_for_person { passed.min(APPROVAL_ALLOWANCE - self.approving) } else { Duration::ZERO };
        self.approving += free;
        self.counted += passed - free;
    }

    /// What is left before the run is stopped; zero when it is to be stopped now.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn approval_time_is_not_counted() {
        let mut clock = TimeLimit::new(10 * SECOND);
        clock.pass(4 * SECOND, false);
        clock.pass(3600 * SECOND, true);
        assert_eq!(clock.left(), 6 * SECOND);
        clock.pass(6 * SECOND, false);
        assert_eq!(clock.left(), Duration::ZERO);
    }

    #[test]
    fn approval_time_past_four_hours_and_a_minute_counts() {
        let mut clock = TimeLimit::new(10 * SECOND);
        clock.pass(APPROVAL_ALLOWANCE + 9 * SECOND, true);
        assert_eq!(clock.left(), SECOND);
        clock.pass(SECOND, true);
        assert_eq!(clock.left(), Duration::ZERO);
    }
}
