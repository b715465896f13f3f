//! What is judged: two commands.

use std::io;

use crate::browser::Browser;
use crate::real_flow::RealFlow;
use crate::scenario::Scenario;
use crate::scenario::model::World;

/// The words of the two commands under judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub agent: Vec<String>,
    pub flow: Vec<String>,
    /// The agent with its crash points, for worlds in which it dies at one, and for those with a mailbox; none where there is no such build.
    pub mortal: Option<Vec<String>>,
    /// What worlds with a browser get; none where there is none.
    pub browser: Option<Browser>,
    /// What worlds with the real Flow get; none where there is none.
    pub real_flow: Option<RealFlow>,
    /// Who plays the worlds that any engine can play.
    pub player: Player,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Player {
    #[default]
    StandIn,
    Real,
}

impl Subject {
    /// The command of this scenario's servers.
    pub fn agent_for(&self, scenario: &Scenario) -> Vec<String> {
        let mortal = self.mortal.as_ref().filter(|_| scenario.needs_test_build());
        mortal.unwrap_or(&self.agent).clone()
    }

    /// The worlds that a real Flow can play are played by this one.
    pub fn plays_with(&mut self, mut flow: RealFlow) -> io::Result<()> {
        flow.ask_for_the_bridge(&self.agent)?;
        (self.real_flow, self.player) = (Some(flow), Player::Real);
        Ok(())
    }

    /// Nothing but the stand-in plays.
    pub fn plays_alone(&mut self) {
        (self.real_flow, self.player) = (None, Player::StandIn);
    }

    pub fn agent_as_text(&self) -> String {
        join(&self.agent)
    }

    /// As `--flow-cli` takes it.
    pub fn flow_as_text(&self) -> String {
        join(&self.flow)
    }

    /// The real one, where it plays in this world.
    pub fn real_flow_in(&self, world: &World) -> Option<&RealFlow> {
        self.real_flow.as_ref().filter(|_| self.player.is_real_in(world))
    }
}

impl Player {
    /// Whether a world is played by the real Flow.
    pub fn is_real_in(self, world: &World) -> bool {
        world.real_flow || (world.is_for_any_engine() && self == Self::Real)
    }

    /// Whether a world needs the judge's own browser.
    pub fn needs_browser_in(self, world: &World) -> bool {
        world.browser || (world.is_for_any_engine() && self == Self::StandIn)
    }
}

/// Words as a shell would split them: blanks between, single or double quotes around, a backslash before one character.
pub fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some('\''), inside) => word.get_or_insert_default().push(inside),
            (_, '\\') => word.get_or_insert_default().push(characters.next()?),
            (Some(_), inside) => word.get_or_insert_default().push(inside),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            (None, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    (quote.is_none() && !words.is_empty()).then_some(words)
}

pub fn join(words: &[String]) -> String {
    let safe = |character: char| character.is_ascii_alphanumeric() || "-_./:=@%+,".contains(character);
    let quoted = words.iter().map(|word| match !word.is_empty() && word.chars().all(safe) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_split_at_blanks_outside_quotes() {
        assert_eq!(split("a  'b c' \"d e\" f\\ g ''").unwrap(), ["a", "b c", "d e", "f g", ""]);
        assert_eq!(split("it's"), None);
        assert_eq!(split("  "), None);
    }

    #[test]
    fn what_was_split_joins_to_something_that_splits_the_same() {
        let words = split("a 'b c' \"it's\" ''").unwrap();
        assert_eq!(split(&join(&words)).unwrap(), words);
    }
}
