//! What a command printed, held against the lines below it on the page.

/// The first line of the page that isn't there; nothing if all are. A line of three dots stands for any lines, and a number
/// for any number.
pub fn missing(expected: &[String], printed: &str) -> Option<String> {
    let mut left = printed.lines().map(numbers_aside);
    let mut anywhere = false;
    for line in expected {
        if is_dots(line) {
            anywhere = true;
            continue;
        }
        let wanted = numbers_aside(line);
        let found =
            if anywhere { left.any(|line| line == wanted) } else { left.next().is_some_and(|line| line == wanted) };
        if !found {
            return Some(line.clone());
        }
        anywhere = false;
    }
    let more_is_fine = anywhere || expected.is_empty();
    if more_is_fine { None } else { left.next().map(|line| format!("nothing, where it printed {line:?}")) }
}

fn is_dots(line: &str) -> bool {
    matches!(line.trim(), "..." | "…")
}

fn numbers_aside(line: &str) -> String {
    let mut aside = String::new();
    for character in line.trim_end().chars() {
        match character {
            digit if digit.is_ascii_digit() => {
                if !aside.ends_with('0') {
                    aside.push('0');
                }
            }
            other => aside.push(other),
        }
    }
    aside
}
