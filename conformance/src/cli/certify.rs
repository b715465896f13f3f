//! `certify`: a Flow is judged against its frozen set, and what was seen is left for others to verify.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::subject::SubjectArguments;
use super::{Problem, Source, runtime};
use crate::browser;
use crate::certificate::envelope::Envelope;
use crate::certificate::frozen::FrozenSet;
use crate::certificate::header::{CERTIFICATE_FORMAT, Header};
use crate::certificate::key::PrivateKey;
use crate::certificate::places::Places;
use crate::certificate::program::{self, NoProgram};
use crate::certificate::render::{Measure, Rendered, STATEMENT, claimed, render};
use crate::certificate::scrub::{leaks, scrub};
use crate::certificate::stored::Stored;
use crate::console::Printer;
use crate::console::progress::Progress;
use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::real_flow::RealFlow;
use crate::report::excerpt::judged;
use crate::requirement::{Catalogue, Claims};
use crate::run::events::{Event, REPORT_FORMAT, Reader, Started};
use crate::run::scheduler::{Options, run};
use crate::run::smoke::smoke;
use crate::run::subject::{Subject, split};
use crate::scenario::Scenario;
use crate::wire::server::absolute;

/// Ends with 0 when everything on the list passed, with 100 when something failed or wasn't run, with 96 when there is no Flow to judge.
#[derive(Debug, Args)]
pub struct Certify {
    /// The command of the Flow that is judged, as words for a shell.
    #[arg(long, value_name = "CMD")]
    flow: String,
    /// The Python that has this Flow. [default: the one that the command itself names]
    #[arg(long, value_name = "PY")]
    python: Option<PathBuf>,
    /// The agent that drives it. [default: the one beside this program]
    #[arg(long, value_name = "CMD")]
    agent: Option<String>,
    /// The folder that is written: evidence, reports, the page for people, the statement.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// An Ed25519 private key in PEM that signs the statement. Without it the certificate is unsigned.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// What this Flow claims (claims.json); scenarios of other profiles are left out, and counted. [default: every profile]
    #[arg(long, value_name = "FILE")]
    claims: Option<PathBuf>,
    /// Worlds at once. [default: four for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    list: List,
}

/// The list to judge by, where it isn't the built-in one.
#[derive(Debug, Args)]
pub struct List {
    /// A frozen list instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    set: Option<PathBuf>,
    #[command(flatten)]
    source: Source,
}

impl List {
    /// The list, its bodies and what they prove.
    pub fn load(&self) -> Result<(FrozenSet, Vec<Scenario>, Catalogue), Problem> {
        let (known, catalogue) = self.source.load()?;
        let hint = "`conformance freeze` makes a list of the bodies that are there";
        let set = FrozenSet::of(self.set.as_deref()).map_err(|error| Problem::new(Exit::SetUp, error, hint))?;
        let bodies = set.bodies(&known).map_err(|error| Problem::new(Exit::SetUp, error, hint))?;
        Ok((set, bodies, catalogue))
    }
}

impl Certify {
    pub fn run(self, printer: Printer) -> Result<Exit, Problem> {
        let (set, bodies, catalogue) = self.list.load()?;
        let key = self.private_key()?;
        if fs::read_dir(&self.out).is_ok_and(|mut inside| inside.next().is_some()) {
            let said = format!("{} isn't empty", self.out.display());
            return Err(Problem::new(
                Exit::SetUp,
                said,
                "a certificate's folder holds that certificate alone: name a new one with --out",
            ));
        }
        let began = Instant::now();
        let (subject, mut header, places) = self.found(&set, &bodies, printer)?;
        let scored: Vec<Scenario> = claimed(&header, &bodies).into_iter().cloned().collect();
        printer.say(&format!(
            "{} {}: {} of {} scenarios of {} are claimed",
            header.flow.command,
            header.flow.version,
            scored.len(),
            bodies.len(),
            set.name
        ));
        self.greeted(&subject)?;
        let seen = self.observe(scored, subject, &header, &catalogue, &places, printer)?;
        header.seconds = began.elapsed().as_secs_f64();
        let stored = Stored::new(header, seen.evidence);
        let fault = |error: String| Problem::new(Exit::Harness, error, "this is a fault of the judge");
        let rendered = render(&stored, Measure { bodies: &bodies, catalogue: &catalogue })
            .map_err(|error| fault(error.to_string()))?;
        nothing_leaks(&rendered, &seen.canaries, &places).map_err(fault)?;
        write(&self.out, &rendered, key.as_ref()).map_err(|error| {
            Problem::new(Exit::Harness, format!("the certificate couldn't be written: {error}"), "is the disk full?")
        })?;
        Ok(told(&self.out, &rendered, key.as_ref(), &catalogue, printer))
    }

    fn private_key(&self) -> Result<Option<PrivateKey>, Problem> {
        let read = self.key.as_ref().map(|path| {
            PrivateKey::read(path).map_err(|error| {
                let hint = "`openssl genpkey -algorithm ed25519 -out FILE` makes one";
                Problem::new(Exit::SetUp, format!("{}: {error}", path.display()), hint)
            })
        });
        read.transpose()
    }

    /// Is this a Flow at all, which one, and what does it need to be judged.
    fn found(
        &self,
        set: &FrozenSet,
        bodies: &[Scenario],
        printer: Printer,
    ) -> Result<(Subject, Header, Places), Problem> {
        let words = words(&self.flow)?;
        let python = self.python.clone().or_else(|| program::python_of(&words));
        let mut flow = program::flow(&words, python.as_deref()).map_err(|error| no_flow(&error))?;
        let claims = match &self.claims {
            Some(path) => Some(Claims::read(path, bodies).map_err(|error| {
                Problem::new(Exit::SetUp, format!("{}: {error}", path.display()), "schemas/claims.json has the format")
            })?),
            None => None,
        };
        if let Some(claims) =
            claims.as_ref().filter(|claims| claims.product != "openadapt-flow" || claims.version != flow.version)
        {
            let said = format!(
                "the claims are of {} {}, and this is openadapt-flow {}",
                claims.product, claims.version, flow.version
            );
            return Err(Problem::new(Exit::SetUp, said, "claims name the product and the version that is judged"));
        }
        let mut subject = SubjectArguments::of(self.agent.clone(), self.flow.clone()).find(printer)?;
        let mut agent = program::agent(&subject.agent)
            .map_err(|error| Problem::new(Exit::SetUp, error, "name an openadapt-agent with --agent"))?;
        let mut places = Places::default();
        program_place(&mut places, subject.agent.first(), "/agent");
        program_place(&mut places, words.first(), "/flow");
        if let Some(python) = &python {
            places.program(python, "/flow");
        }
        subject.plays_alone();
        if let Some(python) = python {
            let real = self.recorded(&words, &python, printer)?;
            for (folder, shown) in [(&real.browsers, "/browsers"), (&real.bundle, "/recorded")] {
                folder.iter().for_each(|folder| places.folder(folder, shown));
            }
            subject.plays_with(real).map_err(|error| {
                Problem::new(Exit::SetUp, format!("the agent's bridge: {error}"), "is --agent the right command?")
            })?;
        }
        let places = places.and_this_machine();
        flow.command = places.without(&flow.command);
        agent.command = places.without(&agent.command);
        let header = Header {
            format: CERTIFICATE_FORMAT.to_owned(),
            conformance: env!("CARGO_PKG_VERSION").to_owned(),
            set: set.name.clone(),
            set_sha256: set.digest(),
            flow,
            agent,
            browser: browser::version(),
            claims,
            seconds: 0.0,
        };
        Ok((subject, header, places))
    }

    /// This Flow with a workflow that it recorded itself; the one that was set up here has one already.
    fn recorded(&self, words: &[String], python: &Path, printer: Printer) -> Result<RealFlow, Problem> {
        let folder = super::setup_flow::real_flow_folder()?;
        let real = |path: Option<&Path>| path.and_then(Path::parent).and_then(|folder| fs::canonicalize(folder).ok());
        let set_up = RealFlow::find(&folder).filter(|flow| real(flow.python.as_deref()) == real(Some(python)));
        if let Some(flow) = set_up {
            return Ok(RealFlow { words: words.to_vec(), ..flow });
        }
        printer.say("this Flow records a workflow on the clinic, once: about two minutes");
        RealFlow::of_command(words.to_vec(), Some(python.to_owned()), &folder).map_err(|fault| {
            let hint = "what it said stands above; it needs its extra [browser], and this machine a Chromium";
            Problem::new(Exit::SetUp, format!("this Flow can't record a workflow on the clinic: {fault}"), hint)
        })
    }

    /// An agent that doesn't greet says nothing about any Flow.
    fn greeted(&self, subject: &Subject) -> Result<(), Problem> {
        let (_, greeting) = runtime()?
            .block_on(smoke(subject))
            .map_err(|error| Problem::new(Exit::Harness, error, "this is a fault of the judge"))?;
        match greeting.failures.first() {
            None => Ok(()),
            Some(failure) => {
                let said = format!("the agent doesn't greet: expected {}; actual {}", failure.expected, failure.actual);
                Err(Problem::new(Exit::SetUp, said, "`conformance smoke --agent CMD` tells more"))
            }
        }
    }

    fn observe(
        &self,
        scored: Vec<Scenario>,
        subject: Subject,
        header: &Header,
        catalogue: &Catalogue,
        places: &Places,
        printer: Printer,
    ) -> Result<Observed, Problem> {
        let jobs = self.jobs.unwrap_or_else(|| 4 * std::thread::available_parallelism().map_or(2, usize::from));
        let mut progress = Progress::new(printer, catalogue);
        progress.event(&Event::Started(Started {
            format: REPORT_FORMAT.to_owned(),
            conformance: header.conformance.clone(),
            agent: header.agent.command.clone(),
            flow: header.flow.command.clone(),
            scenarios: scored.iter().map(|scenario| scenario.id.clone()).collect(),
            unable: Vec::new(),
            unable_why: None,
        }));
        let observed = RefCell::new(Observed::default());
        let fault = RefCell::new(None);
        let seen = |evidence: &Evidence, judgement: &crate::check::verdict::Judgement| {
            progress.event(&Event::Judged(judged(evidence, judgement)));
            let mut observed = observed.borrow_mut();
            for (name, canary) in &evidence.canaries {
                observed.canaries.insert(format!("{} {name}", evidence.scenario), canary.clone());
            }
            match scrub(evidence, places) {
                Ok(stored) => observed.evidence.push(stored),
                Err(error) => drop(fault.borrow_mut().get_or_insert(error)),
            }
        };
        let ended = runtime()?.block_on(run(scored, subject, Options { jobs, fail_fast: false }, seen));
        if ended.interrupted {
            return Err(Problem::new(Exit::Interrupted, "interrupted", "nothing was written"));
        }
        match fault.into_inner() {
            Some(error) => Err(Problem::new(Exit::Harness, error, "this is a fault of the judge")),
            None => Ok(observed.into_inner()),
        }
    }
}

#[derive(Default)]
struct Observed {
    evidence: Vec<Evidence>,
    canaries: BTreeMap<String, String>,
}

fn no_flow(error: &NoProgram) -> Problem {
    let hint = match error {
        NoProgram::NotStarted { .. } | NoProgram::Unreadable { .. } => {
            "name Flow's command with --flow, for instance 'openadapt-flow', or '/path/to/python -m openadapt_flow'"
        }
        NoProgram::Another { .. } | NoProgram::RunsAnything { .. } | NoProgram::Silent { .. } => {
            "a Flow answers --version with `openadapt-flow VERSION`, and refuses with 2 to run what isn't there"
        }
        NoProgram::NoPackage { .. } | NoProgram::OtherPackage { .. } => {
            "name the Python that has this Flow with --python"
        }
    };
    Problem::new(Exit::SetUp, format!("there is no Flow to judge: {error}"), hint)
}

fn words(command: &str) -> Result<Vec<String>, Problem> {
    let mut words = split(command).ok_or_else(|| {
        Problem::new(
            Exit::Usage,
            format!("{command:?} is no command"),
            "words are split as a shell does; close every quote",
        )
    })?;
    if let Some(program) = words.first_mut() {
        *program = absolute(program);
    }
    Ok(words)
}

fn program_place(places: &mut Places, word: Option<&String>, shown: &str) {
    if let Some(word) = word.filter(|word| word.contains('/')) {
        places.program(Path::new(word), shown);
    }
}

/// The last look before anything is written: what others will read holds no value and no place of this machine.
fn nothing_leaks(rendered: &Rendered, canaries: &BTreeMap<String, String>, places: &Places) -> Result<(), String> {
    for (name, text) in &rendered.files {
        if leaks(text.as_bytes(), canaries) {
            return Err(format!("{name} would hold an input value"));
        }
        if let Some(place) = places.named_in(text) {
            return Err(format!("{name} would hold {place}"));
        }
    }
    Ok(())
}

fn write(folder: &Path, rendered: &Rendered, key: Option<&PrivateKey>) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in &rendered.files {
        fs::write(folder.join(name), text)?;
    }
    let envelope = Envelope::around(rendered.statement.as_bytes(), key);
    fs::write(folder.join(STATEMENT), envelope.to_json())
}

fn told(folder: &Path, rendered: &Rendered, key: Option<&PrivateKey>, catalogue: &Catalogue, printer: Printer) -> Exit {
    let summary = &rendered.finished.summary;
    let mut progress = Progress::new(printer, catalogue);
    progress.event(&Event::Finished(rendered.finished.clone()));
    let signed = match key {
        Some(key) => format!("signed by {}", key.public().id()),
        None => "unsigned: it proves only that it agrees with itself".to_owned(),
    };
    printer.data(&format!("certificate: {} ({signed})", folder.display()));
    printer.data(crate::certificate::WHAT_IT_IS);
    if summary.failed + summary.unrun == 0 { Exit::Conformant } else { Exit::Failed }
}
