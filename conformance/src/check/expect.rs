//! What a scenario expects of each action, held against what was seen of it.

use serde_json::Value;

use super::after::{at, file_problem};
use super::verdict::{Blame, Check, Cite, Verdict};
use crate::evidence::{Evidence, Exit, Seen, Step, object_of};
use crate::scenario::Action;
use crate::scenario::action::{
    Alive, Ask, Cli, Count, ErrorWanted, ExitWanted, FlowVerb, Refused, Send, Tools, Wanted,
};

pub const EXPECTED: Check =
    Check { id: "expected", sentence: "Each action has the outcome that the scenario expects.", judge: expected };

fn expected(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let mut verdict = verdict.due(!evidence.steps.is_empty());
    for (index, step) in evidence.steps.iter().enumerate() {
        verdict.saw();
        let mut judge = Judge { evidence, verdict: &mut verdict, step: index };
        judge.step(step);
    }
    verdict
}

struct Judge<'e, 'v> {
    evidence: &'e Evidence,
    verdict: &'v mut Verdict,
    step: usize,
}

impl Judge<'_, '_> {
    fn step(&mut self, step: &Step) {
        match (&step.action, &step.seen) {
            (Action::Call(call), Seen::Answers { exchanges, awaited: true }) => self.answers(&call.wanted, exchanges),
            (Action::Join(join), Seen::Answers { exchanges, .. }) => self.answers(&join.wanted, exchanges),
            (Action::Tools(tools), Seen::Answers { exchanges, .. }) => self.tools(tools, exchanges),
            (Action::Pending(_), Seen::Unanswered { answered, .. }) if !answered.is_empty() => {
                let cites: Vec<Cite> = answered.iter().filter_map(|index| self.answer_cite(*index)).collect();
                self.fails("no answer yet", format!("{} answers", answered.len()), cites);
            }
            (Action::Send(send), Seen::Frames { from, to, server, probe }) => {
                self.raw(send, *from..*to, server, *probe)
            }
            (Action::Close(close), Seen::Exited(exit)) => self.exit(close.exit, *exit),
            (Action::Signal(kill), Seen::Exited(exit)) => self.exit(kill.exit, *exit),
            (Action::Signal(kill), Seen::Process { alive: false, pid }) => {
                self.fails(
                    format!("{} lives, to be sent a signal", kill.to),
                    format!("process {pid} had ended"),
                    Vec::new(),
                );
            }
            (Action::Alive(Alive { alive: name, .. }), Seen::Process { alive: false, pid }) => {
                self.fails(format!("{name} lives"), format!("process {pid} has ended"), Vec::new());
            }
            (Action::Cli(cli), Seen::Program { exit, stdout, stderr }) => self.cli(cli, *exit, stdout, stderr),
            (Action::Flow(verb), Seen::Program { exit, stdout, stderr }) => self.flow(verb, *exit, stdout, stderr),
            (Action::Ask(ask), Seen::Program { stdout, .. }) => self.ask(ask, stdout),
            (Action::Asked(asked), Seen::Forms { frames }) => {
                for (expected, actual, cite) in super::attended::forms::problems(self.evidence, asked, frames) {
                    self.fails(expected, actual, vec![cite]);
                }
            }
            (Action::File(look), Seen::File(file)) => {
                if let Some((expected, actual)) = file_problem(&look.fact(), Some(file)) {
                    self.fails(expected, actual, vec![Cite::File(file.path.clone())]);
                }
            }
            _ => {}
        }
    }

    fn answers(&mut self, wanted: &Wanted, exchanges: &[usize]) {
        let mut objects = Vec::new();
        for index in exchanges {
            let Some(exchange) = self.evidence.exchanges.get(*index) else { continue };
            let Some(answer) = self.evidence.answer(exchange) else { continue };
            self.one(wanted, *index, &answer);
            if let Some(result) = answer.get("result") {
                objects.push(object_of(result));
            }
        }
        if self.evidence.stopped.is_some() {
            return;
        }
        let cites = || exchanges.iter().take(4).filter_map(|index| self.answer_cite(*index)).collect::<Vec<_>>();
        let cites = cites();
        for pointer in &wanted.same {
            let mut values: Vec<String> =
                objects.iter().map(|object| at(object, pointer).map_or("absent".into(), Value::to_string)).collect();
            values.sort_unstable();
            values.dedup();
            if values.len() != 1 {
                let shown = values.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
                self.fails(
                    format!("{pointer} is the same in all answers"),
                    format!("{} values: {shown}", values.len()),
                    cites.clone(),
                );
            }
        }
        for count in &wanted.count {
            let found = objects.iter().filter(|object| count.matching.matches(object)).count();
            if !holds(count, found) {
                let expected = format!("{} answers like {}", bounds(count), count.matching.written());
                self.fails(expected, format!("{found} of {}", objects.len()), cites.clone());
            }
        }
    }

    fn one(&mut self, wanted: &Wanted, index: usize, answer: &Value) {
        let cites = self.cites(index);
        let error = answer.get("error");
        match (&wanted.error, error) {
            (None, None) => {}
            (Some(wanted), Some(error)) => {
                let problem = match wanted {
                    ErrorWanted::Code(code) => (error.get("code").and_then(Value::as_i64) != Some(*code))
                        .then(|| (format!("error {code}"), error.to_string())),
                    ErrorWanted::Object(matcher) => {
                        matcher.mismatch(error).map(|m| (format!("error {}: {}", m.at, m.expected), m.actual))
                    }
                };
                if let Some((expected, actual)) = problem {
                    self.fails(expected, actual, cites);
                }
                return;
            }
            (Some(wanted), None) => return self.fails(format!("a protocol error: {wanted:?}"), "a result", cites),
            (None, Some(error)) => return self.fails("a result", format!("a protocol error: {error}"), cites),
        }
        let Some(result) = answer.get("result") else { return };
        let text = result.pointer("/content/0/text").cloned().unwrap_or_default();
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        let refused = match &wanted.refused {
            Some(Refused::Any(refused)) => *refused,
            Some(Refused::Text(matcher)) => {
                if let Some(mismatch) = matcher.mismatch(&text) {
                    self.fails(format!("a refusal: {}", mismatch.expected), mismatch.actual, cites.clone());
                }
                true
            }
            None => false,
        };
        if refused != is_error {
            let (expected, actual) =
                if refused { ("a refusal (isError)", "a result") } else { ("a result", "a refusal (isError)") };
            return self.fails(expected, format!("{actual}: {}", brief(&text)), cites);
        }
        if let Some(mismatch) = wanted.text.as_ref().and_then(|matcher| matcher.mismatch(&text)) {
            self.fails(format!("text: {}", mismatch.expected), mismatch.actual, cites.clone());
        }
        let object = object_of(result);
        if let Some(mismatch) = wanted.expect.as_ref().and_then(|matcher| matcher.mismatch(&object)) {
            self.fails(
                format!("{} = {}", place(&mismatch.at), mismatch.expected),
                told(&mismatch.actual, &object),
                cites.clone(),
            );
        }
        for key in wanted.absent.iter().filter(|key| at(&object, key).is_some()) {
            self.fails(
                format!("no {key}"),
                format!("{key} = {}", at(&object, key).unwrap_or(&Value::Null)),
                cites.clone(),
            );
        }
        self.time(wanted, index, &cites);
    }

    fn time(&mut self, wanted: &Wanted, index: usize, cites: &[Cite]) {
        let took = self.evidence.exchanges.get(index).and_then(|exchange| {
            let (sent, came) =
                (self.evidence.frames.get(exchange.request)?, self.evidence.frames.get(exchange.answer?)?);
            Some(came.at_us.saturating_sub(sent.at_us) / 1000)
        });
        let Some(took) = took else { return };
        if let Some(least) = wanted.at_least_ms.filter(|least| took < *least) {
            self.fails(format!("an answer after {least} ms or more"), format!("after {took} ms"), cites.to_vec());
        }
        if let Some(most) = wanted.at_most_ms.filter(|most| took > *most) {
            self.fails(format!("an answer within {most} ms"), format!("after {took} ms"), cites.to_vec());
        }
    }

    fn tools(&mut self, wanted: &Tools, exchanges: &[usize]) {
        for index in exchanges {
            let Some(exchange) = self.evidence.exchanges.get(*index) else { continue };
            let Some(answer) = self.evidence.answer(exchange) else { continue };
            let cites = self.cites(*index);
            let tools = answer.pointer("/result/tools").and_then(Value::as_array).cloned().unwrap_or_default();
            let name = |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let names: Vec<String> = tools.iter().map(name).collect();
            let in_order = in_order(&wanted.tools);
            if names != in_order {
                self.fails(format!("the tools {}", in_order.join(", ")), names.join(", "), cites.clone());
            }
            for (tool, matcher) in &wanted.tool {
                let found = tools.iter().find(|entry| entry.get("name").and_then(Value::as_str) == Some(tool));
                let Some(found) = found else {
                    self.fails(format!("the tool {tool}"), "it isn't listed", cites.clone());
                    continue;
                };
                if let Some(mismatch) = matcher.mismatch(found) {
                    self.fails(
                        format!("{tool} {}: {}", mismatch.at, mismatch.expected),
                        mismatch.actual,
                        cites.clone(),
                    );
                }
            }
        }
    }

    fn raw(&mut self, send: &Send, range: std::ops::Range<usize>, server: &str, probe: Option<usize>) {
        let probe_answer =
            probe.and_then(|probe| self.evidence.exchanges.get(probe)).and_then(|exchange| exchange.answer);
        let came: Vec<usize> = self
            .evidence
            .frames
            .iter()
            .enumerate()
            .filter(|(index, frame)| {
                range.contains(index) && frame.server == server && frame.way == crate::evidence::Way::Received
            })
            .map(|(index, _)| index)
            .filter(|index| Some(*index) != probe_answer)
            .collect();
        let mut left = came.clone();
        for matcher in &send.answers {
            let found = left
                .iter()
                .position(|index| self.evidence.message(*index).is_some_and(|message| matcher.matches(&message)));
            match found {
                Some(position) => drop(left.remove(position)),
                None => {
                    let nearest = left.first().and_then(|index| matcher.mismatch(&self.evidence.message(*index)?));
                    let actual =
                        nearest.map_or("no such frame came".into(), |m| format!("{} is {}", place(&m.at), m.actual));
                    self.fails(
                        format!("an answer like {}", matcher.written()),
                        actual,
                        came.iter().copied().map(Cite::Frame).collect(),
                    );
                }
            }
        }
        if send.silence {
            let answers: Vec<Cite> = left
                .iter()
                .filter(|index| self.evidence.message(**index).is_none_or(|message| message.get("method").is_none()))
                .map(|index| Cite::Frame(*index))
                .collect();
            if !answers.is_empty() {
                self.fails("no further answer", format!("{} more", answers.len()), answers);
            }
            if probe_answer.is_none() && send.probe {
                self.fails("a request after it is answered", "it isn't", Vec::new());
            }
        }
    }

    fn cli(&mut self, cli: &Cli, exit: Exit, stdout: &str, stderr: &str) {
        self.exit(cli.exit, exit);
        for (name, matcher, text) in [("stdout", &cli.stdout, stdout), ("stderr", &cli.stderr, stderr)] {
            if let Some(mismatch) = matcher.as_ref().and_then(|matcher| matcher.mismatch(&Value::from(text))) {
                self.fails(format!("{name}: {}", mismatch.expected), mismatch.actual, Vec::new());
            }
        }
        let hinted = stderr
            .split_once("\n\nhint: ")
            .is_some_and(|(said, hint)| !said.trim().is_empty() && !hint.trim().is_empty());
        if cli.hint && !hinted {
            self.fails(
                "stderr: a sentence, a blank line, and \"hint: …\"",
                Value::from(stderr).to_string(),
                Vec::new(),
            );
        }
    }

    fn flow(&mut self, verb: &FlowVerb, exit: Exit, stdout: &str, stderr: &str) {
        if exit != Exit::Code(verb.exit) {
            let actual = format!("{exit}; stderr: {}", stderr.trim());
            self.verdict.blames(Blame::Engine, Some(self.step), format!("exit code {}", verb.exit), actual, []);
        }
        for (stream, wanted, said) in [("stdout", &verb.stdout, stdout), ("stderr", &verb.stderr, stderr)] {
            if let Some(mismatch) = wanted.as_ref().and_then(|wanted| wanted.mismatch(&Value::from(said))) {
                let expected = format!("Flow's {stream}: {}", mismatch.expected);
                self.verdict.blames(Blame::Engine, Some(self.step), expected, mismatch.actual, []);
            }
        }
    }

    fn ask(&mut self, ask: &Ask, stdout: &str) {
        let answer: Value = serde_json::from_str(stdout.trim()).unwrap_or_default();
        if let Some(mismatch) = ask.expect.as_ref().and_then(|wanted| wanted.mismatch(&answer)) {
            let expected = format!("the bridge's answer{}: {}", mismatch.at, mismatch.expected);
            self.verdict.blames(Blame::Engine, Some(self.step), expected, mismatch.actual, []);
        }
    }

    fn exit(&mut self, wanted: Option<ExitWanted>, exit: Exit) {
        let (fits, words) = match wanted {
            None => return,
            Some(ExitWanted::Code(code)) => (exit == Exit::Code(code), format!("exit code {code}")),
            Some(ExitWanted::Signal(_)) => (matches!(exit, Exit::Signal(_)), "death by signal".to_owned()),
        };
        if !fits {
            self.fails(words, exit.to_string(), Vec::new());
        }
    }

    fn fails(&mut self, expected: impl Into<String>, actual: impl Into<String>, cites: Vec<Cite>) {
        self.verdict.fails_at(Some(self.step), expected, actual, cites);
    }

    /// The request, the answer, and the journal lines of the run that the answer names.
    fn cites(&self, index: usize) -> Vec<Cite> {
        let Some(exchange) = self.evidence.exchanges.get(index) else { return Vec::new() };
        let run = self.evidence.answer(exchange).and_then(|answer| {
            answer.pointer("/result/structuredContent/run_id").and_then(Value::as_str).map(str::to_owned)
        });
        let lines = self
            .evidence
            .journal
            .iter()
            .enumerate()
            .filter(|(_, line)| run.is_some() && line.run_id() == run.as_deref());
        let journal = lines.take(8).map(|(index, _)| Cite::Journal(index));
        [exchange.request].into_iter().chain(exchange.answer).map(Cite::Frame).chain(journal).collect()
    }

    fn answer_cite(&self, index: usize) -> Option<Cite> {
        self.evidence.exchanges.get(index)?.answer.map(Cite::Frame)
    }
}

fn holds(count: &Count, found: usize) -> bool {
    count.is.is_none_or(|is| found == is)
        && count.at_least.is_none_or(|least| found >= least)
        && count.at_most.is_none_or(|most| found <= most)
}

fn bounds(count: &Count) -> String {
    match (count.is, count.at_least, count.at_most) {
        (Some(is), _, _) => format!("exactly {is}"),
        (None, Some(least), Some(most)) => format!("{least} to {most}"),
        (None, Some(least), None) => format!("at least {least}"),
        (None, None, Some(most)) => format!("at most {most}"),
        (None, None, None) => "any number of".into(),
    }
}

/// As a scenario has them, but the run tools of single workflows by their ids, which are different in each world.
fn in_order(tools: &[String]) -> Vec<String> {
    let of_a_workflow = |tool: &String| super::results::is_older_run_tool(tool);
    let (mut last, mut ordered): (Vec<String>, Vec<String>) = tools.iter().cloned().partition(of_a_workflow);
    last.sort_unstable();
    ordered.append(&mut last);
    ordered
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the result".into() } else { pointer.trim_start_matches('/').replace('/', ".") }
}

/// The differing value, and the reason code beside it, which says most about a wrong result.
fn told(actual: &str, object: &Value) -> String {
    match object.get("reason").and_then(Value::as_str) {
        Some(reason) if !actual.contains(reason) => format!("{actual} (reason {reason})"),
        _ => actual.to_owned(),
    }
}

fn brief(text: &Value) -> String {
    text.as_str().unwrap_or_default().chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::super::matcher::Matcher;
    use super::super::sample::{fails, holds, saved};
    use super::*;
    use serde_json::json;

    /// The sample, with other words about its only call.
    fn expecting(wanted: Value) -> Evidence {
        let mut evidence = saved();
        let call = json!({"call": "run_workflow", "args": {}});
        let mut call = call.as_object().cloned().unwrap();
        call.extend(wanted.as_object().cloned().unwrap());
        evidence.steps[0].action = serde_json::from_value(Value::Object(call)).unwrap();
        evidence
    }

    #[test]
    fn what_is_true_of_the_call_holds() {
        for wanted in [
            json!({}),
            json!({"expect": {"outcome": "done"}}),
            json!({"absent": ["replayed"]}),
            json!({"same": ["/run_id"]}),
            json!({"count": [{"where": {"outcome": "done"}, "is": 1}]}),
            json!({"text": {"contains": "done"}}),
            json!({"at_most_ms": 60000}),
        ] {
            holds(&EXPECTED, &expecting(wanted));
        }
    }

    #[test]
    fn what_is_not_true_of_the_call_fails_once() {
        for wanted in [
            json!({"expect": {"outcome": "running"}}),
            json!({"absent": ["proof"]}),
            json!({"count": [{"where": {"outcome": "done"}, "is": 2}]}),
            json!({"text": {"contains": "nothing of it"}}),
            json!({"refused": true}),
            json!({"error": -32602}),
            json!({"at_least_ms": 60000}),
        ] {
            assert_eq!(fails(&EXPECTED, &expecting(wanted.clone())).len(), 1, "{wanted}");
        }
    }

    #[test]
    fn a_failed_expectation_cites_the_frames_and_the_journal_of_the_run() {
        let failures = fails(&EXPECTED, &expecting(json!({"expect": {"reason": "timed_out"}})));
        assert!(failures[0].cites.contains(&Cite::Journal(0)));
        assert_eq!(failures[0].cites.iter().filter(|cite| matches!(cite, Cite::Frame(_))).count(), 2);
        assert_eq!(failures[0].actual, "\"saved_and_checked\"");
    }

    #[test]
    fn a_program_is_held_against_exit_streams_and_hint() {
        let run = |cli: Value, exit: i32, stderr: &str| {
            let mut evidence = saved();
            evidence.steps[0].action = serde_json::from_value(cli).unwrap();
            evidence.steps[0].seen =
                Seen::Program { exit: Exit::Code(exit), stdout: String::new(), stderr: stderr.to_owned() };
            evidence
        };
        let wanted =
            json!({"cli": ["serve"], "exit": 2, "stdout": "", "stderr": {"matches": "^serve: "}, "hint": true});
        holds(&EXPECTED, &run(wanted.clone(), 2, "serve: no bundles\n\nhint: name a folder\n"));
        assert_eq!(fails(&EXPECTED, &run(wanted.clone(), 0, "serve: no bundles\n\nhint: name a folder\n")).len(), 1);
        assert_eq!(fails(&EXPECTED, &run(wanted.clone(), 2, "serve: no bundles\n")).len(), 1);
        assert_eq!(fails(&EXPECTED, &run(wanted, 2, "oops\n\nhint: x")).len(), 1);
    }

    #[test]
    fn run_tools_of_workflows_are_expected_last_and_by_id() {
        let tools = ["run_workflow", "run_workflow_b", "get_run", "run_workflow_a"].map(str::to_owned);
        assert_eq!(in_order(&tools), ["run_workflow", "get_run", "run_workflow_a", "run_workflow_b"]);
    }

    #[test]
    fn a_matcher_that_holds_of_nothing_is_not_held_by_a_missing_answer() {
        let mut evidence = expecting(json!({"count": [{"where": {}, "is": 1}]}));
        evidence.exchanges[2].answer = None;
        fails(&EXPECTED, &evidence);
        assert!(Matcher::parse(json!({})).unwrap().matches(&json!({})));
    }
}
