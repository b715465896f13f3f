//! Number literals as Python writes them back.

use std::borrow::Cow;

/// What Python prints after reading this literal: integers as they are, floats in their shortest form, always with a
/// point or an exponent.
pub fn python_text(literal: &str) -> Cow<'_, str> {
    if !literal.contains(['.', 'e', 'E']) {
        return Cow::Borrowed(if literal == "-0" { "0" } else { literal });
    }
    match literal.parse::<f64>() {
        Ok(value) => float_text(value).into(),
        Err(_) => literal.into(),
    }
}

/// Python's `repr` of a float: fixed notation from 1e-4 up to below 1e16, else an exponent of at least two digits.
fn float_text(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>().unwrap_or_default() {
        -4..16 => {
            let fixed = value.to_string();
            if fixed.contains('.') { fixed } else { fixed + ".0" }
        }
        exponent => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_pythons_own_floats_stay_as_written() {
        for literal in ["0", "-7", "123456789012345678901234567890", "604800.0", "1.0", "-0.0", "0.1", "1e-05", "1e+16"]
        {
            assert_eq!(python_text(literal), literal);
        }
    }

    /// Right-hand sides printed by CPython.
    #[test]
    fn floats_in_another_spelling_are_written_as_python_would() {
        for (literal, python) in [
            ("-0", "0"),
            ("1e5", "100000.0"),
            ("1E2", "100.0"),
            ("1.50", "1.5"),
            ("1e-7", "1e-07"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1e15", "1000000000000000.0"),
            ("9999999999999998.0", "9999999999999998.0"),
            ("10000000000000000.0", "1e+16"),
            ("1.7976931348623157E308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            ("123456789.123456789", "123456789.12345679"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
        ] {
            assert_eq!(python_text(literal), python, "{literal}");
        }
    }
}
