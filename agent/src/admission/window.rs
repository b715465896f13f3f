//! When something counts: from `not_before` on, until it expires or for as long as nobody revokes it.

use jiff::{SignedDuration, Timestamp};

use super::reason::{Reason, Verdict};
use super::shape::Members;

/// Clocks of issuers may be ahead by this much; expiry and `not_before` get nothing.
const SKEW: SignedDuration = SignedDuration::from_mins(5);
pub const RELEASE_CAP: SignedDuration = SignedDuration::from_hours(30 * 24);
pub const WORKFLOW_CAP: SignedDuration = SignedDuration::from_hours(7 * 24);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub issued_at: Timestamp,
    pub not_before: Timestamp,
    /// `None`: until revoked.
    pub expires_at: Option<Timestamp>,
}

impl Window {
    /// Read from an object's members. Nothing for one that ends before it begins.
    pub fn read(members: &Members<'_>, issued: &str) -> Option<Self> {
        let window = Self {
            issued_at: members.moment(issued)?,
            not_before: members.moment("not_before")?,
            expires_at: members.moment_or_null("expires_at")?,
        };
        let begins = window.issued_at.max(window.not_before);
        window.expires_at.is_none_or(|end| begins < end).then_some(window)
    }

    /// Whether it counts now, and for no longer than `cap` where it has an end.
    pub fn check(&self, now: Timestamp, cap: SignedDuration) -> Verdict {
        if now < self.not_before || now + SKEW < self.issued_at {
            return Err(Reason::AdmissionNotYetValid);
        }
        match self.expires_at {
            Some(end) if now >= end => Err(Reason::AdmissionExpired),
            Some(end) if end.duration_since(self.not_before) > cap => Err(Reason::ValidityTooLong),
            _ => Ok(()),
        }
    }

    /// The same where only yes or no is asked for.
    pub fn counts(&self, now: Timestamp) -> bool {
        self.check(now, SignedDuration::MAX).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn expiry_is_exclusive_and_the_beginning_inclusive() {
        let window = Window {
            issued_at: at("2026-01-01T00:00:00Z"),
            not_before: at("2026-01-01T00:00:00Z"),
            expires_at: Some(at("2026-01-31T00:00:00Z")),
        };
        let check = |now| window.check(at(now), RELEASE_CAP);
        assert_eq!(check("2026-01-01T00:00:00Z"), Ok(()));
        assert_eq!(check("2025-12-31T23:59:59Z"), Err(Reason::AdmissionNotYetValid));
        assert_eq!(check("2026-01-30T23:59:59Z"), Ok(()));
        assert_eq!(check("2026-01-31T00:00:00Z"), Err(Reason::AdmissionExpired));
        assert_eq!(window.check(at("2026-01-02T00:00:00Z"), WORKFLOW_CAP), Err(Reason::ValidityTooLong));
    }

    #[test]
    fn an_issuer_may_be_five_minutes_ahead() {
        let window =
            Window { issued_at: at("2026-01-01T00:05:00Z"), not_before: at("2026-01-01T00:00:00Z"), expires_at: None };
        assert_eq!(window.check(at("2026-01-01T00:00:00Z"), RELEASE_CAP), Ok(()));
        let later = Window { issued_at: at("2026-01-01T00:05:01Z"), ..window };
        assert_eq!(later.check(at("2026-01-01T00:00:00Z"), RELEASE_CAP), Err(Reason::AdmissionNotYetValid));
    }
}
