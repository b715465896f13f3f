//! Dates and times as inputs may spell them.

use jiff::civil::{Date, Time};

/// `YYYY-MM-DD` and a day that exists.
pub fn is_date(text: &str) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return false };
    let year = digits(&[*y1, *y2, *y3, *y4]).and_then(|year| i16::try_from(year).ok()).filter(|year| *year > 0);
    let month = digits(&[*m1, *m2]).and_then(|month| i8::try_from(month).ok());
    let day = digits(&[*d1, *d2]).and_then(|day| i8::try_from(day).ok());
    matches!((year, month, day), (Some(year), Some(month), Some(day)) if Date::new(year, month, day).is_ok())
}

/// A date, `T` or a space, `HH:MM` with optional seconds and fraction, then nothing, `Z` or an offset `±HH:MM`.
pub fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    let Some(rest) = rest.strip_prefix(['T', ' ']) else { return false };
    let clock = match rest.find(['Z', '+', '-']) {
        None => rest,
        Some(end) if &rest[end..] == "Z" => &rest[..end],
        Some(end) if is_offset(&rest[end + 1..]) => &rest[..end],
        Some(_) => return false,
    };
    is_date(date) && is_clock(clock)
}

fn is_clock(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let numbers: Option<Vec<i8>> = whole.split(':').map(two_digits).collect();
    let time = match numbers.as_deref() {
        Some([hour, minute]) if fraction.is_none() => Time::new(*hour, *minute, 0, 0),
        Some([hour, minute, second]) => Time::new(*hour, *minute, *second, 0),
        _ => return false,
    };
    let fraction_is_digits =
        |fraction: &str| (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    time.is_ok() && fraction.is_none_or(fraction_is_digits)
}

fn is_offset(text: &str) -> bool {
    let parts = text.split_once(':').map(|(hours, minutes)| (two_digits(hours), two_digits(minutes)));
    matches!(parts, Some((Some(0..=23), Some(0..=59))))
}

fn two_digits(text: &str) -> Option<i8> {
    if text.len() == 2 { digits(text.as_bytes()).and_then(|number| i8::try_from(number).ok()) } else { None }
}

fn digits(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_strict_and_real() {
        for good in ["2026-10-08", "2024-02-29", "0001-01-01", "9999-12-31"] {
            assert!(is_date(good), "{good}");
        }
        for bad in [
            "",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "2026-04-31",
            "0000-01-01",
            "2026-1-1",
            "20261008",
            "2026-10-08 ",
            " 2026-10-08",
            "2026-10-08\n",
            "26-10-08",
            "2026/10/08",
            "+026-10-08",
            "2026-W41-4",
            "２026-10-0",
            "2026-10-08T00:00",
            "today",
        ] {
            assert!(!is_date(bad), "{bad:?}");
        }
    }

    #[test]
    fn date_times_take_a_t_or_a_space_and_an_optional_zone() {
        for good in [
            "2026-10-08T09:30:00",
            "2026-10-08 09:30:00",
            "2026-10-08T09:30",
            "2026-10-08T09:30:00Z",
            "2026-10-08T09:30:00.123456789Z",
            "2026-10-08T09:30:00.5+02:00",
            "2026-10-08 23:59:59-11:30",
            "2026-10-08T00:00Z",
        ] {
            assert!(is_date_time(good), "{good}");
        }
        for bad in [
            "",
            "2026-10-08",
            "2026-10-08T",
            "2026-10-08T9:30",
            "2026-10-08t09:30:00",
            "2026-10-08_09:30:00",
            "2026-10-08T24:00:00",
            "2026-10-08T09:60:00",
            "2026-10-08T09:30:60",
            "2026-10-08T09:30:00z",
            "2026-10-08T09:30:00.",
            "2026-10-08T09:30.5",
            "2026-10-08T09:30:00.1234567890",
            "2026-10-08T09:30:00+24:00",
            "2026-10-08T09:30:00+0200",
            "2026-10-08T09:30:00+",
            "2026-10-08T09:30:00ZZ",
            "2026-10-08T09:30:00\n",
            "2026-02-30T09:30:00",
            "2026-10-08T0é:30",
            "2026-10-0é09:30:00",
            "2026-10-08T+9:30",
            "2026-10-08T09:30:00 ",
            "2026-10-08  09:30",
        ] {
            assert!(!is_date_time(bad), "{bad:?}");
        }
    }
}
