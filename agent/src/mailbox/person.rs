//! The person at the terminal: the only one who says yes here.

use std::io::{BufRead, IsTerminal};
use std::sync::mpsc::{self, Receiver};

use super::command::ChatApp;

/// Who is asked. Calls block until an answer is there.
pub trait Person: Send {
    /// Whether this chat app's account may record here; `instead` of another one that may now.
    fn allows(&mut self, app: ChatApp, instead: bool) -> bool;

    /// Types in the app, and says when that is done. False where nobody can say so any more.
    fn has_typed(&mut self, secret: bool) -> bool;
}

/// A person at a terminal, or whatever stands there.
pub struct Terminal {
    lines: Receiver<String>,
    say: fn(&str),
    is_terminal: bool,
}

impl Terminal {
    /// `say` writes where the person reads.
    pub fn new(say: fn(&str)) -> Self {
        let (sender, lines) = mpsc::channel();
        // It ends with its input, or with the program.
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { lines, say, is_terminal: std::io::stdin().is_terminal() }
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        // What was typed before the question is no answer to it.
        while self.is_terminal && self.lines.try_recv().is_ok() {}
        (self.say)(question);
        self.lines.recv().ok()
    }
}

impl Person for Terminal {
    fn allows(&mut self, app: ChatApp, instead: bool) -> bool {
        let app = app.as_str();
        let question = if instead {
            format!(
                "Another account of {app} asks to record in this window, instead of the one that may now. Allow it? [y/N] "
            )
        } else {
            format!(
                "An account of {app} asks to record in this window: to look at it, click in it, and pause for you. Allow it? [y/N] "
            )
        };
        let answer = self.ask(&question).unwrap_or_default();
        matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }

    fn has_typed(&mut self, secret: bool) -> bool {
        let kept = if secret { " Nothing of it is kept." } else { "" };
        self.ask(&format!("Type in the app now, and press Enter here when you have.{kept} ")).is_some()
    }
}
