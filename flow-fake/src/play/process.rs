//! How the process ends.

use rustix::process::{Signal as Sig, getpid, kill_process};

use crate::script::Signal;

/// The end of a play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Code(u8),
    Signal(Signal),
}

impl Ending {
    /// Returns the exit code, or dies by the signal.
    pub fn take(self) -> u8 {
        let signal = match self {
            Self::Code(code) => return code,
            Self::Signal(Signal::Kill) => Sig::KILL,
            Self::Signal(Signal::Term) => Sig::TERM,
            Self::Signal(Signal::Segv) => Sig::SEGV,
        };
        // Rust's own handler takes the first SEGV and then steps aside, so one is not enough.
        for _ in 0..3 {
            let _ = kill_process(getpid(), signal);
        }
        super::control::forever(None)
    }
}

/// A Python-like traceback that ends with `error`.
pub fn traceback_text(error: &str) -> String {
    format!("Traceback (most recent call last):\n  File \"played.py\", line 1, in <module>\n{error}\n")
}
