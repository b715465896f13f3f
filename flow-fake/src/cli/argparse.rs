//! The habits of Python's argparse that a caller can observe: abbreviations, `=`, what counts as a value, which error comes first.

use std::collections::BTreeMap;

/// One option of a verb.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    pub name: &'static str,
    pub takes: Takes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// One value; the last one given counts.
    Value,
    /// One value each time.
    Values,
    OneOf(&'static [&'static str]),
}

/// A verb: its program name as argparse prints it, its options, its positionals.
#[derive(Debug, Clone, Copy)]
pub struct Verb {
    pub prog: &'static str,
    pub flags: &'static [Flag],
    pub positionals: &'static [&'static str],
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    positionals: Vec<String>,
    options: BTreeMap<&'static str, Vec<String>>,
}

/// Why parsing ended early.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    Help,
    /// An error of the verb's own parser.
    Error(String),
    /// An error that the top parser reports: arguments that nobody took.
    Unrecognized(String),
}

impl Parsed {
    pub fn positional(&self, at: usize) -> &str {
        self.positionals.get(at).map_or("", String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.options.get(name).and_then(|values| values.last()).map(String::as_str)
    }

    pub fn values(&self, name: &str) -> &[String] {
        self.options.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Parses the arguments after the verb.
pub fn parse(verb: &Verb, args: &[String]) -> Result<Parsed, Stop> {
    let mut parsed = Parsed::default();
    let mut unrecognized = Vec::new();
    let mut only_positionals = false;
    let mut rest = args;
    while let Some((arg, after)) = rest.split_first() {
        rest = after;
        if !only_positionals && arg == "--" {
            only_positionals = true;
            continue;
        }
        let class = if only_positionals { Class::Positional } else { classify(verb, arg)? };
        match class {
            Class::Positional if parsed.positionals.len() < verb.positionals.len() => {
                parsed.positionals.push(arg.clone())
            }
            Class::Positional | Class::Unknown => unrecognized.push(arg.clone()),
            Class::Help => return Err(Stop::Help),
            Class::Option(flag, attached) => {
                let value = match (flag.takes, attached) {
                    (Takes::Nothing, None) => String::new(),
                    (Takes::Nothing, Some(value)) => {
                        return Err(wrong(flag, &format!("ignored explicit argument '{value}'")));
                    }
                    (_, Some(value)) => value,
                    (_, None) => match rest.split_first() {
                        Some((next, after))
                            if next != "--" && matches!(classify(verb, next), Ok(Class::Positional)) =>
                        {
                            rest = after;
                            next.clone()
                        }
                        _ => return Err(wrong(flag, "expected one argument")),
                    },
                };
                check_choice(flag, &value)?;
                parsed.options.entry(flag.name).or_default().push(value);
            }
        }
    }
    if parsed.positionals.len() < verb.positionals.len() {
        let missing = verb.positionals[parsed.positionals.len()..].join(", ");
        return Err(Stop::Error(format!("the following arguments are required: {missing}")));
    }
    if !unrecognized.is_empty() {
        return Err(Stop::Unrecognized(format!("unrecognized arguments: {}", unrecognized.join(" "))));
    }
    Ok(parsed)
}

enum Class {
    Positional,
    Unknown,
    Help,
    Option(Flag, Option<String>),
}

fn classify(verb: &Verb, arg: &str) -> Result<Class, Stop> {
    if !arg.starts_with('-') || arg == "-" {
        return Ok(Class::Positional);
    }
    if let Some(flag) = exact(verb, arg) {
        return Ok(Class::Option(flag, None));
    }
    let (name, attached) = match arg.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (arg, None),
    };
    if arg == "-h" || arg == "--help" {
        return Ok(Class::Help);
    }
    if let Some(flag) = exact(verb, name) {
        return Ok(Class::Option(flag, attached));
    }
    if name.starts_with("--") {
        let matching: Vec<Flag> = verb.flags.iter().copied().filter(|flag| flag.name.starts_with(name)).collect();
        let help = "--help".starts_with(name);
        match (matching.as_slice(), help) {
            ([], true) => return Ok(Class::Help),
            ([one], false) => return Ok(Class::Option(*one, attached)),
            ([], false) => {}
            (several, help) => {
                let names: Vec<&str> =
                    help.then_some("--help").into_iter().chain(several.iter().map(|flag| flag.name)).collect();
                return Err(Stop::Error(format!("ambiguous option: {arg} could match {}", names.join(", "))));
            }
        }
    }
    if is_negative_number(arg) || arg.contains(' ') {
        return Ok(Class::Positional);
    }
    Ok(Class::Unknown)
}

fn exact(verb: &Verb, name: &str) -> Option<Flag> {
    verb.flags.iter().copied().find(|flag| flag.name == name)
}

fn check_choice(flag: Flag, value: &str) -> Result<(), Stop> {
    match flag.takes {
        Takes::OneOf(choices) if !choices.contains(&value) => {
            let choices: Vec<String> = choices.iter().map(|choice| format!("'{choice}'")).collect();
            Err(wrong(flag, &format!("invalid choice: '{value}' (choose from {})", choices.join(", "))))
        }
        _ => Ok(()),
    }
}

fn wrong(flag: Flag, problem: &str) -> Stop {
    Stop::Error(format!("argument {}: {problem}", flag.name))
}

fn is_negative_number(arg: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let number = &arg[1..];
    match number.split_once('.') {
        Some((whole, part)) => digits(whole) && digits(part) && !part.is_empty(),
        None => digits(number) && !number.is_empty(),
    }
}
