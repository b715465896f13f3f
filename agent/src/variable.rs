//! What an environment variable says, if anything. A host that starts this program leaves `${user_config.x}` where nobody chose.

/// The variable's text: nothing if it is unset, empty, or a host's placeholder for a choice that nobody made.
pub fn of_this_process(name: &str) -> Option<String> {
    std::env::var(name).ok().and_then(|value| said(&value).map(str::to_owned))
}

pub fn said(value: &str) -> Option<&str> {
    let value = value.trim();
    let placeholder = value.starts_with("${") && value.ends_with('}');
    (!value.is_empty() && !placeholder).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_and_a_placeholder_say_nothing() {
        for nothing in ["", "  ", "${user_config.policy}"] {
            assert_eq!(said(nothing), None, "{nothing:?}");
        }
        assert_eq!(said(" clinical-write "), Some("clinical-write"));
        assert_eq!(said("${a"), Some("${a"));
    }
}
