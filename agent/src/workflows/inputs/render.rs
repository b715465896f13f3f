//! Values as the strings that Flow's parameter file takes.

use serde_json::{Number, Value};

use crate::flow::canonical::Tree;

/// Text as it is, `true` or `false`, whole numbers without a point, other numbers in their shortest form. Nothing for
/// what isn't one value, and for a number too large to be carried digit by digit.
pub fn render(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => render_number(number),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Doubles at and above this size no longer tell neighbouring whole numbers apart, so what the caller wrote is lost.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn render_number(number: &Number) -> Option<String> {
    if number.is_i64() || number.is_u64() {
        return Some(number.to_string());
    }
    let value = number.as_f64().filter(|value| value.abs() < EXACT)?;
    if value.fract() == 0.0 {
        return Some(format!("{:.0}", value + 0.0));
    }
    String::from_utf8(Tree::Number(number.to_string()).canonical_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_the_strings_that_python_would_make() {
        for (value, text) in [
            (json!("07 "), "07 "),
            (json!(""), ""),
            (json!(true), "true"),
            (json!(false), "false"),
            (json!(7), "7"),
            (json!(-7), "-7"),
            (json!(7.0), "7"),
            (json!(-0.0), "0"),
            (json!(0.1), "0.1"),
            (json!(2.50), "2.5"),
            (json!(1e-7), "1e-07"),
            (json!(1e15), "1000000000000000"),
            (json!(u64::MAX), "18446744073709551615"),
            (json!(i64::MIN), "-9223372036854775808"),
        ] {
            assert_eq!(render(&value).as_deref(), Some(text), "{value}");
        }
    }

    #[test]
    fn what_cannot_be_carried_exactly_has_no_text() {
        let beyond: Value = serde_json::from_str("123456789012345678901").unwrap();
        for value in [json!(null), json!([]), json!({}), json!(EXACT), json!(1e300), json!(-EXACT), beyond] {
            assert_eq!(render(&value), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_rendered_number_reads_back_as_the_same_number(value in any::<f64>(), whole in any::<i64>()) {
            prop_assert_eq!(render(&json!(whole)).unwrap().parse::<i64>().unwrap(), whole);
            match render(&json!(value)) {
                Some(text) => prop_assert_eq!(text.parse::<f64>().unwrap(), value),
                None => prop_assert!(value.abs() >= EXACT),
            }
        }
    }
}
