//! One launch being played.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::child::{self, Parent};
use super::{Ending, approval, clinic, control, driven, gate, kill, noise, traceback_text};
use crate::cli::usage_error;
use crate::journal::Journal;
use crate::launch::Bundle;
use crate::output::{self, Pipe};
use crate::pause::{self, Moment};
use crate::report::{self, Prepared, Shape, Subject};
use crate::script::{Effect, Gate, Hang, PauseSpec, ReportSpec, ScriptError, Step, Target};
use crate::{clock, files, rundir};

pub struct Player<'a> {
    journal: &'a mut Journal,
    control: Option<PathBuf>,
    bundle: Bundle,
    pub subject: Subject,
    pub(super) run_dir: PathBuf,
    dry_run: bool,
    /// A browser is to be seen.
    pub(super) headed: bool,
    /// Asked for with `--durable`, whatever the profile.
    pub(super) durable: bool,
    /// The last report that was written whole.
    pub(super) report: Option<Value>,
}

/// Whether the play goes on after a step.
pub type Flow = Result<Option<Ending>, ScriptError>;

impl<'a> Player<'a> {
    pub fn new(
        journal: &'a mut Journal,
        control: Option<PathBuf>,
        bundle: Bundle,
        subject: Subject,
        run_dir: PathBuf,
        dry_run: bool,
    ) -> Self {
        Self { journal, control, bundle, subject, run_dir, dry_run, headed: false, durable: false, report: None }
    }

    pub fn headed(mut self, headed: bool) -> Self {
        self.headed = headed;
        self
    }

    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Plays to the end; without a step that ends it, the code is the one that the real program gives for the last report.
    pub fn play(mut self, steps: &[Step]) -> Result<Ending, ScriptError> {
        let mut ending = None;
        for step in steps {
            ending = if self.dry_run && acts(step) { Some(Ending::Code(0)) } else { self.step(step)? };
            if ending.is_some() {
                break;
            }
        }
        let ending = ending.unwrap_or_else(|| Ending::Code(self.report.as_ref().map_or(0, report::exit_code)));
        let facts = match ending {
            Ending::Code(code) => json!({"code": code}),
            Ending::Signal(signal) => json!({"code": null, "signal": format!("{signal:?}").to_uppercase()}),
        };
        self.note("exit", facts)?;
        Ok(ending)
    }

    /// Plays one step; an ending when the process is to end with it.
    pub fn step(&mut self, step: &Step) -> Flow {
        match step {
            Step::RunDir => return self.create_run_dir(true, report::identity_steps(self.subject.profile)),
            Step::PlainRunDir => return self.create_run_dir(false, Value::Null),
            Step::Drive(spec) => return driven::drive(self, spec),
            Step::Gate(gate) => return self.gate(gate),
            Step::Refuse(reason) => {
                self.note("gate", json!({"decision": "refuse", "reason": reason}))?;
                output::line(Pipe::Stdout, &gate::refusal(reason));
                return Ok(Some(Ending::Code(2)));
            }
            Step::UsageError(message) => return Ok(Some(Ending::Code(usage_error(message)))),
            Step::SystemExit(text) => {
                output::line(Pipe::Stderr, text);
                return Ok(Some(Ending::Code(1)));
            }
            Step::Traceback(error) => return Ok(Some(traceback(error))),
            Step::Print(pipe, text) => drop(output::write(*pipe, text.as_bytes())),
            Step::Noise(spec) => noise::make(spec),
            Step::Effect(effect) => self.save(effect)?,
            Step::Report(spec) => self.write_report(spec, "report", &self.subject.clone())?,
            Step::StaleReport(shape) => {
                let other = self.subject.of_another_run(clock::now());
                self.write_report(&ReportSpec::of(*shape), "stale_report", &other)?;
            }
            Step::LateReport(late) => {
                let prepared = report::prepare(&late.report, &self.subject, clock::now())?;
                let pid = child::report_later(&self.parent(), &late.after, &self.absolute_run_dir(), &prepared)?;
                self.note("grandchild", json!({"name": late.after, "child_pid": pid, "late_report": true}))?;
            }
            Step::Pause(spec) => self.pause(spec)?,
            Step::Approval(approval) => {
                let facts = approval::play(*approval, &self.run_dir, &self.subject)
                    .map_err(|source| ScriptError::Io { name: "approval", source })?;
                self.note("approval", facts)?;
            }
            Step::Hold(name) => return self.hold(name),
            Step::Hang(hang) => return self.hang(hang),
            Step::Grandchild(spec) => {
                let pid = child::outlive(&self.parent(), spec)?;
                self.note("grandchild", json!({"name": spec.name, "child_pid": pid}))?;
            }
            Step::Kill(target) => self.kill(*target)?,
            Step::Exit(code) => return Ok(Some(Ending::Code(*code))),
            Step::Signal(signal) => return Ok(Some(Ending::Signal(*signal))),
        }
        Ok(None)
    }

    pub(super) fn create_run_dir(&mut self, durable: bool, identity_steps: Value) -> Flow {
        if rundir::is_claimed(&self.run_dir) {
            return Ok(Some(traceback("RuntimeError: this folder already contains a durable run")));
        }
        rundir::create(&self.run_dir, &self.bundle.path, &self.subject, identity_steps, durable)
            .map_err(|source| ScriptError::Io { name: "run_dir", source })?;
        self.note("run_dir", json!({"run_id": self.subject.run_id, "durable": durable}))?;
        Ok(None)
    }

    fn gate(&mut self, gate: &Gate) -> Flow {
        let facts = match gate {
            Gate::Admit => json!({"decision": "admit"}),
            Gate::Refuse(titles) => json!({"decision": "refuse", "titles": titles}),
        };
        self.note("gate", facts)?;
        output::line(Pipe::Stdout, &gate::text(gate, &self.bundle, &self.subject));
        Ok(match gate {
            Gate::Refuse(_) => Some(Ending::Code(2)),
            Gate::Admit => self.dry_run.then_some(Ending::Code(0)),
        })
    }

    fn write_report(&mut self, spec: &ReportSpec, event: &'static str, subject: &Subject) -> Result<(), ScriptError> {
        let prepared = report::prepare(spec, subject, clock::now())?;
        self.put_report(prepared, spec.shape, event, subject)
    }

    pub(super) fn put_report(
        &mut self,
        prepared: Prepared,
        shape: Option<Shape>,
        event: &'static str,
        subject: &Subject,
    ) -> Result<(), ScriptError> {
        report::place(&self.run_dir, &prepared).map_err(|source| ScriptError::Io { name: event, source })?;
        let stale = event == "stale_report";
        self.note(
            "report",
            json!({
                "shape": shape,
                "stale": stale,
                "bytes": prepared.bytes.len(),
                "sha256": crate::canonical::sha256_hex(&prepared.bytes),
                "run_id_sha256": subject.run_id_sha256(),
            }),
        )?;
        if !stale {
            if let Some(report) = &prepared.value {
                write_review(report, &self.run_dir).map_err(|source| ScriptError::Io { name: event, source })?;
                output::line(Pipe::Stdout, &closing_lines(report, &self.run_dir));
            }
            self.report = prepared.value;
        }
        Ok(())
    }

    fn pause(&mut self, spec: &PauseSpec) -> Result<(), ScriptError> {
        let moment = Moment::of(&self.subject, spec, self.report.as_ref());
        std::fs::create_dir_all(&self.run_dir)
            .and_then(|()| pause::write(&self.run_dir, &moment, spec, clock::now()))
            .map_err(|source| ScriptError::Io { name: "pause", source })?;
        self.note("pause", json!({"category": spec.category, "status": spec.status.name()}))
    }

    pub(super) fn hold(&mut self, name: &str) -> Flow {
        let control = control::needed(self.control.as_deref(), "hold")?.to_owned();
        self.note("held", json!({"name": name}))?;
        if !control::wait_for_release(&control, name) {
            return Ok(Some(Ending::Code(crate::cli::HARNESS_FAULT)));
        }
        self.note("released", json!({"name": name}))?;
        Ok(None)
    }

    fn hang(&mut self, hang: &Hang) -> Flow {
        if hang.ignore_sigterm {
            let ignored = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            signal_hook::flag::register(signal_hook::consts::SIGTERM, ignored)
                .map_err(|source| ScriptError::Io { name: "hang", source })?;
        }
        self.note("held", json!({"name": "hang"}))?;
        control::forever(self.control.as_deref())
    }

    fn kill(&mut self, target: Target) -> Result<(), ScriptError> {
        let pids = kill::targets(target, self.control.as_deref())?;
        let raw: Vec<i32> = pids.iter().map(|pid| pid.as_raw_nonzero().get()).collect();
        self.note("killing", json!({"target": format!("{target:?}").to_lowercase(), "pids": raw}))?;
        pids.into_iter().try_for_each(kill::kill)
    }

    fn parent(&self) -> Parent<'_> {
        Parent { control: self.control.as_deref(), journal: self.journal.path(), carried: self.journal.carried() }
    }

    fn absolute_run_dir(&self) -> PathBuf {
        std::path::absolute(&self.run_dir).unwrap_or_else(|_| self.run_dir.clone())
    }

    fn save(&mut self, effect: &Effect) -> Result<(), ScriptError> {
        if let Some(clinic) = &effect.to {
            let note = self.subject.params.values().find_map(Value::as_str).unwrap_or(&effect.label);
            clinic::save(clinic, note).map_err(|source| ScriptError::Io { name: "clinic", source })?;
        }
        self.note("effect", json!({"label": effect.label}))
    }

    pub fn note(&mut self, event: &str, facts: Value) -> Result<(), ScriptError> {
        self.journal.write(event, facts).map_err(|source| ScriptError::Io { name: "journal", source })
    }
}

/// Steps that a dry run doesn't come to.
fn acts(step: &Step) -> bool {
    matches!(
        step,
        Step::RunDir
            | Step::PlainRunDir
            | Step::Effect(_)
            | Step::Drive(_)
            | Step::Report(_)
            | Step::LateReport(_)
            | Step::Pause(_)
            | Step::Approval(_)
    )
}

fn traceback(error: &str) -> Ending {
    output::write(Pipe::Stderr, traceback_text(error).as_bytes());
    Ending::Code(1)
}

/// The page for people beside the report. Like the real one it holds screen text and is as readable as the umask leaves it.
fn write_review(report: &Value, run_dir: &Path) -> std::io::Result<()> {
    let text = format!(
        "# {}\n\nPlayed outcome: {}\n\nSeen on the screen: {}\n",
        report["workflow_name"].as_str().unwrap_or_default(),
        report["execution_outcome"].as_str().unwrap_or("none"),
        crate::SCREEN_CANARY
    );
    files::replace(&run_dir.join("REPORT.md"), text.as_bytes(), files::UMASK)
}

fn closing_lines(report: &Value, run_dir: &Path) -> String {
    let plain = if report["success"] == true { "success" } else { "FAILED" };
    let outcome = report["execution_outcome"].as_str();
    let mut lines = vec![format!("Replay {}: {}/REPORT.md", outcome.unwrap_or(plain), run_dir.display())];
    if outcome.is_some() {
        lines.push("What happened: the script was played to its report.".into());
        lines.push("Why this is safe: nothing real was touched.".into());
        lines.push("Next command: none".into());
    }
    lines.join("\n")
}
