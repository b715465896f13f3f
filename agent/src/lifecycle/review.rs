//! The reviewer: a local program of the operator that looks at a whole operation before it may begin, and what its refusals come to.
//! Source: lifecycle, *Reviewer and refusal counters*.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::canonical;
use super::types::Code;
use crate::contract::outcome::closed_words;

/// How long a reviewer may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How often a call that was given up is noticed meanwhile.
const TICK: Duration = Duration::from_millis(20);
/// More than an answer can be.
const ANSWER_LIMIT: u64 = 64 << 10;

/// Refusals in a row, and in total, at which a person is asked.
pub const CONSECUTIVE: i64 = 3;
pub const TOTAL: i64 = 20;

/// Looks at one operation.
pub trait Reviewer: Send + Sync {
    fn review(&self, operation: &Value, context: &Value, canceled: &Canceled) -> Verdict;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Refuse,
    /// Nothing is known of what it would have said. Executes nothing and counts nothing.
    None(Code),
}

closed_words! {
    /// What made refusals ask for a person.
    Trigger {
        Consecutive = "consecutive",
        Total = "total",
    }
}

/// Whether the call has been given up.
#[derive(Debug, Clone, Default)]
pub struct Canceled(Arc<AtomicBool>);

/// Gives the call up when it is dropped.
#[derive(Debug, Default)]
pub struct CancelOnDrop(Canceled);

/// The operator's program, as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewCommand(Vec<String>);

/// Refusals of one epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub consecutive: i64,
    pub total: i64,
}

impl Count {
    pub fn after_refusal(self) -> Self {
        Self { consecutive: self.consecutive + 1, total: self.total + 1 }
    }

    pub fn after_allow(self) -> Self {
        Self { consecutive: 0, ..self }
    }

    /// A person's yes. The total begins anew only where the total made them be asked.
    pub fn after_approval(self, trigger: Trigger) -> Self {
        Self { consecutive: 0, total: if trigger == Trigger::Total { 0 } else { self.total } }
    }

    /// Whether a refusal that led here asks for a person.
    pub fn fallback(self) -> Option<Trigger> {
        if self.total >= TOTAL {
            return Some(Trigger::Total);
        }
        (self.consecutive >= CONSECUTIVE).then_some(Trigger::Consecutive)
    }
}

impl Canceled {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl CancelOnDrop {
    pub fn flag(&self) -> Canceled {
        self.0.clone()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

impl ReviewCommand {
    /// `None` for text that isn't a command.
    pub fn parse(words: &str) -> Option<Self> {
        shlex::split(words).filter(|words| !words.is_empty()).map(Self)
    }

    pub fn words(&self) -> &[String] {
        &self.0
    }

    fn start(&self) -> std::io::Result<Child> {
        let (program, arguments) = self.0.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
    }
}

impl Reviewer for ReviewCommand {
    /// The whole operation goes in on stdin, never as an argument or in the environment, and is only data there.
    fn review(&self, operation: &Value, context: &Value, canceled: &Canceled) -> Verdict {
        if canonical::bytes(operation).is_err() {
            return Verdict::None(Code::ReviewTooLarge);
        }
        let question = json!({ "operation": operation, "context": context }).to_string();
        let Ok(mut child) = self.start() else { return Verdict::None(Code::ReviewCrashed) };
        let answered = converse(&mut child, question);
        let verdict = wait(&answered, canceled);
        end(&mut child);
        verdict
    }
}

/// Writes and reads on threads of their own: a program that reads nothing, or says too much, holds nobody.
fn converse(child: &mut Child, question: String) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(mut input) = child.stdin.take() {
        std::thread::spawn(move || input.write_all(question.as_bytes()));
    }
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut answer = Vec::new();
            // A broken pipe ends the answer where it is.
            let _ = output.take(ANSWER_LIMIT).read_to_end(&mut answer);
            let _ = sender.send(answer);
        });
    }
    receiver
}

fn wait(answered: &Receiver<Vec<u8>>, canceled: &Canceled) -> Verdict {
    let until = Instant::now() + LIMIT;
    loop {
        match answered.recv_timeout(TICK.min(until.saturating_duration_since(Instant::now()))) {
            _ if canceled.is_set() => return Verdict::None(Code::ReviewCanceled),
            Ok(answer) => return read(&answer),
            Err(RecvTimeoutError::Disconnected) => return Verdict::None(Code::ReviewCrashed),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= until => return Verdict::None(Code::ReviewTimedOut),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Only the JSON boolean `true` approves, and only `false` refuses.
fn read(answer: &[u8]) -> Verdict {
    if answer.iter().all(u8::is_ascii_whitespace) {
        return Verdict::None(Code::ReviewCrashed);
    }
    match serde_json::from_slice::<Map<String, Value>>(answer).ok().as_ref().and_then(|answer| answer.get("allow")) {
        Some(Value::Bool(true)) => Verdict::Allow,
        Some(Value::Bool(false)) => Verdict::Refuse,
        _ => Verdict::None(Code::ReviewMalformed),
    }
}

fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // Nothing is left to end where it has ended by itself.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reviewed_by(script: &str) -> Verdict {
        let command = ReviewCommand(["/bin/sh", "-c", script].map(str::to_owned).to_vec());
        command.review(&json!({ "note": "approve everything" }), &json!({}), &Canceled::default())
    }

    #[test]
    fn only_the_boolean_true_approves() {
        assert_eq!(reviewed_by(r#"cat >/dev/null; echo '{"allow": true}'"#), Verdict::Allow);
        assert_eq!(reviewed_by(r#"cat >/dev/null; echo '{"allow": false}'"#), Verdict::Refuse);
        for answer in [r#"{"allow": "true"}"#, r#"{"allow": 1}"#, r#"{"allow": null}"#, "{}", "[]", "true", "junk"] {
            let verdict = reviewed_by(&format!("cat >/dev/null; echo '{answer}'"));
            assert_eq!(verdict, Verdict::None(Code::ReviewMalformed), "{answer}");
        }
    }

    #[test]
    fn a_reviewer_that_says_nothing_or_isnt_there_has_no_verdict() {
        assert_eq!(reviewed_by("exit 3"), Verdict::None(Code::ReviewCrashed));
        assert_eq!(reviewed_by("kill -SEGV $$"), Verdict::None(Code::ReviewCrashed));
        let nobody = ReviewCommand(vec!["/no/such/program".to_owned()]);
        let verdict = nobody.review(&json!({}), &json!({}), &Canceled::default());
        assert_eq!(verdict, Verdict::None(Code::ReviewCrashed));
    }

    #[test]
    fn a_call_that_is_given_up_has_no_verdict_whatever_the_reviewer_says_later() {
        let given_up = CancelOnDrop::default();
        let flag = given_up.flag();
        drop(given_up);
        let command = ReviewCommand(["/bin/sh", "-c", "exec sleep 600"].map(str::to_owned).to_vec());
        assert_eq!(command.review(&json!({}), &json!({}), &flag), Verdict::None(Code::ReviewCanceled));
    }

    #[test]
    fn an_operation_that_is_too_large_is_shown_to_nobody_and_the_largest_one_whole() {
        let too_large = json!({ "note": "x".repeat(canonical::SIZE_LIMIT) });
        let nobody = ReviewCommand(vec!["/no/such/program".to_owned()]);
        let verdict = nobody.review(&too_large, &json!({}), &Canceled::default());
        assert_eq!(verdict, Verdict::None(Code::ReviewTooLarge));
        let script =
            r#"if grep -q 'last line: drop table'; then echo '{"allow": false}'; else echo '{"allow": true}'; fi"#;
        let command = ReviewCommand(["/bin/sh", "-c", script].map(str::to_owned).to_vec());
        let long = json!({ "note": format!("{}last line: drop table", "x".repeat(60 << 10)) });
        assert_eq!(command.review(&long, &json!({}), &Canceled::default()), Verdict::Refuse);
    }

    /// Source: lifecycle, D01 to D03.
    #[test]
    fn three_in_a_row_or_twenty_in_total_ask_for_a_person() {
        let mut count = Count::default();
        let mut asked = Vec::new();
        for turn in 1..=20 {
            count = count.after_refusal();
            asked.push((turn, count.fallback()));
            count = count.after_allow();
        }
        assert!(asked[..19].iter().all(|(_, fallback)| fallback.is_none()));
        assert_eq!(asked[19], (20, Some(Trigger::Total)));
        assert_eq!(count.after_approval(Trigger::Consecutive), Count { consecutive: 0, total: 20 });
        assert_eq!(count.after_approval(Trigger::Total), Count::default());
        let three = Count::default().after_refusal().after_refusal().after_refusal();
        assert_eq!(
            (three.fallback(), three.after_approval(Trigger::Consecutive).total),
            (Some(Trigger::Consecutive), 3)
        );
        let broken = Count::default().after_refusal().after_refusal().after_allow().after_refusal();
        assert_eq!((broken.fallback(), broken.total), (None, 3));
    }
}
