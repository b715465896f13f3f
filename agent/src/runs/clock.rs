//! Times as the records and the ledger spell them: UTC, ISO 8601, microseconds.

use jiff::Timestamp;

/// Now, for example `2026-11-29T18:44:44.226686+00:00`.
pub fn utc_now() -> String {
    spelled(Timestamp::now())
}

/// A time, spelled so.
pub fn spelled(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_six_digits_of_a_second_and_a_numeric_offset() {
        assert_eq!(spelled("2026-11-29T18:44:44.2266869Z".parse().unwrap()), "2026-11-29T18:44:44.226686+00:00");
        assert_eq!(spelled("2026-11-29T18:44:44Z".parse().unwrap()), "2026-11-29T18:44:44.000000+00:00");
    }
}
