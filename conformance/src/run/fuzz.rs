//! Arguments that nobody should send, made from good ones: the same for the same seed.

use serde_json::{Map, Value, json};

/// The arguments, with one to three things about them changed; now and then none.
pub fn changed(good: &Map<String, Value>, seed: u64, number: u32) -> Map<String, Value> {
    let mut dice = Dice::of(seed, u64::from(number));
    let mut arguments = good.clone();
    for _ in 0..dice.below(4) {
        change(&mut arguments, &mut dice);
    }
    arguments
}

/// xorshift with a mixing step: small, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn of(seed: u64, number: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(1);
        usize::try_from(self.next_number() % bound).unwrap_or_default()
    }

    pub fn one_of<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        things.get(self.below(things.len()))
    }
}

pub const FOREIGN: &[&str] = &[
    "action",
    "operator",
    "decided_by",
    "disposition",
    "confirmed",
    "message",
    "reason",
    "run_id",
    "request_id",
    "_meta",
    "inputResponses",
    "requestState",
    "password",
    "answer",
    "__proto__",
    "",
    "constructor",
    "ALLOWED_ACTIONS",
];

fn change(arguments: &mut Map<String, Value>, dice: &mut Dice) {
    let names: Vec<String> = arguments.keys().cloned().collect();
    let Some(name) = dice.one_of(&names).cloned() else { return };
    match dice.below(6) {
        0 => drop(arguments.remove(&name)),
        1 => drop(arguments.insert(name, odd(dice))),
        2 => {
            let foreign = dice.one_of(FOREIGN).copied().unwrap_or_default();
            let value = odd(dice);
            arguments.insert(foreign.to_owned(), value);
        }
        3 => {
            let value = arguments.remove(&name).unwrap_or_default();
            let other = misspelt(&name, dice);
            arguments.insert(other, value);
        }
        _ => {
            let value = arguments.get(&name).cloned().unwrap_or_default();
            arguments.insert(name, near(&value, dice));
        }
    }
}

pub fn odd(dice: &mut Dice) -> Value {
    let values = [
        Value::Null,
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(18_446_744_073_709_551_615_u64),
        json!(""),
        json!("true"),
        json!("\u{0}"),
        json!("../../etc/passwd"),
        json!("%2e%2e%2f"),
        json!("' OR 1=1 --"),
        json!("\u{202e}\u{1f600}"),
        json!([]),
        json!([true]),
        json!({}),
        json!({"confirmed": true}),
        json!({"$ref": "#"}),
        json!("x".repeat(5000)),
    ];
    dice.one_of(&values).cloned().unwrap_or_default()
}

/// A value that looks like the good one.
fn near(value: &Value, dice: &mut Dice) -> Value {
    match value {
        Value::Bool(flag) => {
            let others = [json!(!flag), json!("true"), json!(1), json!([flag]), Value::Null];
            dice.one_of(&others).cloned().unwrap_or_default()
        }
        Value::String(text) => {
            let at = dice.below(text.chars().count());
            let flipped = |character: char| if character == 'a' { 'b' } else { 'a' };
            let turned = text.chars().enumerate().map(|(index, c)| if index == at { flipped(c) } else { c });
            let others = [
                turned.collect(),
                text.to_uppercase(),
                format!("{text}0"),
                format!(" {text}"),
                format!("{text}\n"),
                text.chars().skip(1).collect(),
                text.replace(':', "\u{ff1a}"),
                format!("{text}\u{0}"),
                text.replace("sha256", "sha512"),
                text.chars().rev().collect(),
            ];
            dice.one_of::<String>(&others).cloned().unwrap_or_default().into()
        }
        other => json!([other]),
    }
}

fn misspelt(name: &str, dice: &mut Dice) -> String {
    let others = [name.to_uppercase(), name.replace('_', "-"), format!("{name} "), format!("{name}s")];
    dice.one_of(&others).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn good() -> Map<String, Value> {
        let good =
            json!({"attention_id": "0123456789abcdef01234567", "capability_digest": "sha256:ab", "confirm": true});
        good.as_object().cloned().unwrap()
    }

    #[test]
    fn a_seed_gives_the_same_arguments_each_time_and_another_gives_others() {
        let all =
            |seed| (0..200).map(|number| Value::Object(changed(&good(), seed, number)).to_string()).collect::<Vec<_>>();
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
    }

    #[test]
    fn most_are_different_from_the_good_ones_and_from_each_other() {
        let good = Value::Object(good()).to_string();
        let all: Vec<String> =
            (0..1000).map(|number| Value::Object(changed(&self::good(), 7, number)).to_string()).collect();
        assert!(all.contains(&good), "some are good");
        assert!(all.iter().filter(|one| **one != good).count() > 700);
        assert!(all.iter().collect::<BTreeSet<_>>().len() > 500);
    }
}
