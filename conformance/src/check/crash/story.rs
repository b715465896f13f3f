//! The answers of a crash world, in the order of the story that they tell.

use serde_json::Value;

use crate::check::verdict::{Cite, Verdict};
use crate::crash::ending::{Ending, Told};
use crate::evidence::crash::CrashSeen;
use crate::evidence::lifecycle::SeenAction;
use crate::evidence::{Evidence, JournalLine, object_of};

pub struct Story<'e> {
    pub evidence: &'e Evidence,
    pub seen: &'e CrashSeen,
    pub ending: Ending,
    pub request_id: String,
    pub before: Option<Heard>,
    pub meanwhile: Vec<Heard>,
    looks: Vec<Heard>,
    pub resent: Option<Heard>,
    pub after: Vec<Heard>,
}

/// One answer that carries a run's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub object: Value,
    request: usize,
    frame: usize,
}

impl<'e> Story<'e> {
    /// None where not even the request was sent.
    pub fn of(evidence: &'e Evidence, seen: &'e CrashSeen) -> Option<Self> {
        let hear = |exchange: &usize| Heard::of(evidence, *exchange);
        let all = |exchanges: &[usize]| exchanges.iter().filter_map(hear).collect::<Vec<_>>();
        let call = evidence.exchanges.get(seen.call?)?;
        Some(Self {
            evidence,
            seen,
            ending: seen.ending(),
            request_id: call.arguments.get("request_id").and_then(Value::as_str)?.to_owned(),
            before: seen.call.as_ref().and_then(hear),
            meanwhile: all(&seen.meanwhile),
            looks: all(&seen.looks),
            resent: seen.resent.as_ref().and_then(hear),
            after: all(&seen.after),
        })
    }

    pub fn looks(&self) -> impl Iterator<Item = &Heard> {
        self.looks.iter()
    }

    /// What the dead left of a run.
    pub fn left_behind(&self, run: &str) -> Option<&'e SeenAction> {
        self.seen.at_death.of_request(&self.request_id).find(|action| action.run_id == run)
    }

    pub fn must_tell(&self, verdict: &mut Verdict, when: &str, heard: &Heard, told: Told) {
        let expected = (told.outcome, told.reason, told.retry);
        let retry = heard.object.get("safe_to_retry") == Some(&Value::Bool(true));
        let actual = (heard.word("outcome"), heard.word("reason"), retry);
        if actual != expected {
            let shown = |(outcome, reason, retry): (&str, &str, bool)| {
                format!("{outcome} / {reason}, {}safe to retry", if retry { "" } else { "not " })
            };
            verdict.fails(format!("{when}: {}", shown(expected)), shown(actual), heard.cites());
        }
    }

    pub fn must_keep(&self, verdict: &mut Verdict, heard: &Heard, reason: &str) {
        if heard.word("reason") != reason {
            let expected = format!("the committed receipt: {reason}");
            verdict.fails(expected, heard.word("reason").to_owned(), heard.cites());
        }
    }

    pub fn must_wait(&self, verdict: &mut Verdict, heard: &Heard) {
        if heard.word("outcome") != "running" {
            let actual = format!("{} / {}", heard.word("outcome"), heard.word("reason"));
            verdict.fails("first look: it still waits for a person", actual, heard.cites());
        }
    }

    pub fn launches_before_resend(&self) -> usize {
        self.count_before_resend(JournalLine::is_launch)
    }

    pub fn saves_before_resend(&self) -> usize {
        self.count_before_resend(JournalLine::is_effect)
    }

    pub fn launches(&self) -> usize {
        self.evidence.journal.iter().filter(|line| line.is_launch()).count()
    }

    pub fn saves(&self) -> usize {
        self.evidence.journal.iter().filter(|line| line.is_effect()).count()
    }

    pub fn cites(&self) -> Vec<Cite> {
        let heard = self.looks.iter().chain(&self.resent).flat_map(Heard::cites);
        heard.chain((0..self.evidence.journal.len()).map(Cite::Journal)).collect()
    }

    fn count_before_resend(&self, is: impl Fn(&JournalLine) -> bool) -> usize {
        let sent = self.seen.resent.and_then(|exchange| self.evidence.exchanges.get(exchange));
        let stood =
            sent.and_then(|exchange| self.evidence.frames.get(exchange.request)).map_or(0, |frame| frame.journal);
        self.evidence.journal.iter().take(stood).filter(|line| is(line)).count()
    }
}

impl Heard {
    fn of(evidence: &Evidence, exchange: usize) -> Option<Self> {
        let exchange = evidence.exchanges.get(exchange)?;
        let frame = exchange.answer?;
        let object = object_of(evidence.answer(exchange)?.get("result")?);
        Some(Self { object, request: exchange.request, frame })
    }

    pub fn word(&self, key: &str) -> &str {
        self.object.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn run(&self) -> &str {
        self.word("run_id")
    }

    pub fn is_replayed(&self) -> bool {
        self.object.get("replayed") == Some(&Value::Bool(true))
    }

    pub fn attempt(&self) -> Option<u64> {
        self.object.pointer("/technical/lifecycle/attempt").and_then(Value::as_u64)
    }

    /// Everything that may not differ from one answer about a run to the next.
    pub fn lasting(&self) -> Value {
        let mut object = self.object.clone();
        if let Some(table) = object.as_object_mut() {
            table.remove("replayed");
        }
        if let Some(technical) = object.get_mut("technical").and_then(Value::as_object_mut) {
            technical.remove("lifecycle");
        }
        object
    }

    pub fn cites(&self) -> Vec<Cite> {
        vec![Cite::Frame(self.request), Cite::Frame(self.frame)]
    }
}
