//! One scenario's temporary folder, its processes and its record.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use std::{fs, io};

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::clinic::Clinic;
use super::forms::Forms;
use super::mailbox::Mailbox;
use super::subject::{Subject, join};
use super::variables::{Folders, VariableError, Variables};
use super::{bundle, limits, older, process, special};
use crate::evidence::Step;
use crate::evidence::files::SeenFile;
use crate::leak::{Marks, marks};
use crate::real_flow::RealFlow;
use crate::scenario::Scenario;
use crate::scenario::action::FlowProgram;
use crate::scenario::files::PlantedFile;
use crate::scenario::model::{Bundle, Era, Mode, RunsFolder, ServerPlan};
use crate::wire::client::{Client, Identity, MODERN};
use crate::wire::server::{Launch, Server};
use crate::wire::tail::{Tail, follow};
use crate::wire::transcript::Transcript;

pub struct World<'a> {
    pub scenario: &'a Scenario,
    pub subject: &'a Subject,
    pub variables: RefCell<Variables>,
    pub transcript: Rc<Transcript>,
    pub client: Client,
    pub servers: RefCell<Vec<(Rc<Server>, Identity)>>,
    pub steps: RefCell<Vec<Step>>,
    /// Exchanges of calls that weren't waited for, by their name.
    pub background: RefCell<BTreeMap<String, (Vec<usize>, crate::scenario::action::Wanted)>>,
    pub planted: RefCell<Vec<SeenFile>>,
    /// The canaries that Flow was told to say.
    pub printed: RefCell<BTreeSet<String>>,
    pub forms: Forms,
    pub folders: Folders,
    /// No process of this world lives any more: nothing is left to end when it is dropped.
    pub swept: Cell<bool>,
    follower: JoinHandle<io::Result<()>>,
    /// Ends when the world does.
    pub clinic: Option<Clinic>,
    mailbox: Option<Mailbox>,
    /// Removed when the world is dropped.
    _folder: TempDir,
}

/// A world couldn't be made.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Variable(#[from] VariableError),
    #[error("{0}")]
    Scenario(String),
}

impl<'a> World<'a> {
    pub fn create(scenario: &'a Scenario, subject: &'a Subject) -> Result<Self, WorldError> {
        let marks = Marks::random();
        let folder = tempfile::Builder::new().prefix(&format!("conformance-{}-", marks.path())).tempdir()?;
        let folders = folders_of(&folder.path().canonicalize()?, scenario.world.runs);
        for path in [&folders.home, &folders.bundles, &folders.tmp, &folders.control] {
            fs::create_dir_all(path)?;
        }
        let clinic = match scenario.world.clinic {
            true => Some(Clinic::start(&folders.world.join("clinic.jsonl"), scenario.world.clinic_seeded)?),
            false => None,
        };
        let tail = Tail::create(&folders.journal)?;
        let transcript = Rc::new(Transcript::new(tail));
        let follower = tokio::task::spawn_local(follow(folders.journal.clone(), transcript.clone()));
        let limit = Duration::from_secs(scenario.deadline_s);
        let mut world = Self {
            scenario,
            subject,
            variables: RefCell::new(Variables::new(folders.clone(), marks)),
            client: Client::new(transcript.clone(), limit),
            transcript,
            servers: RefCell::default(),
            steps: RefCell::default(),
            background: RefCell::default(),
            planted: RefCell::default(),
            printed: RefCell::default(),
            forms: Forms::default(),
            folders,
            swept: Cell::new(false),
            follower,
            clinic,
            mailbox: None,
            _folder: folder,
        };
        if let Some(clinic) = &world.clinic {
            world.variables.borrow_mut().set("clinic", clinic.url.clone().into());
        }
        world.furnish()?;
        let answers = world.variables.borrow_mut().resolve(&scenario.world.mailbox)?;
        world.mailbox = answers.map(|answers| Mailbox::start(answers, &world.folders.journal)).transpose()?;
        Ok(world)
    }

    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.scenario.deadline_s)
    }

    pub fn server(&self, name: Option<&str>) -> Option<(Rc<Server>, Identity)> {
        let name = name.unwrap_or("s1");
        self.servers.borrow().iter().rev().find(|(server, _)| server.name == name).cloned()
    }

    /// Starts a server without a word to it.
    pub fn spawn(&self, name: &str, plan: &ServerPlan) -> Result<(Rc<Server>, Identity), WorldError> {
        let plan = self.scenario.world.server.overridden_by(plan);
        let plan: ServerPlan = self.variables.borrow_mut().resolve(&plan)?;
        let modern = plan.era == Some(Era::Modern);
        let identity = Identity {
            modern,
            name: self.variables.borrow_mut().marks.canary(marks::CLIENT),
            protocol: plan.protocol.clone().unwrap_or_else(|| if modern { MODERN } else { "2025-11-25" }.into()),
            capabilities: plan.capabilities.clone().unwrap_or_default(),
            forms: plan.forms.clone(),
        };
        let launch = Launch {
            name: name.to_owned(),
            argv: limits::under(&plan, [self.subject.agent_for(self.scenario), self.arguments(&plan)?].concat())?,
            env: self.environment(plan.env.as_ref()),
            cwd: self.folders.world.clone(),
            umask: Some(octal(plan.umask.as_deref().unwrap_or("0022"))?),
            stdio: plan.stdio.unwrap_or_default(),
            stderr: plan.stderr.unwrap_or_default(),
            modern,
        };
        let server = Rc::new(Server::start(&launch, self.transcript.clone())?);
        if let Some(pid) = server.pid {
            fs::write(self.folders.control.join("server.pid"), pid.to_string())?;
        }
        self.servers.borrow_mut().push((server.clone(), identity.clone()));
        Ok((server, identity))
    }

    /// What every child of this world gets, and nothing else.
    pub fn environment(&self, more: Option<&BTreeMap<String, String>>) -> Vec<(String, String)> {
        let folders = &self.folders;
        let secret = self.variables.borrow_mut().marks.canary(marks::ENVIRONMENT);
        let text = |path: &Path| path.display().to_string();
        let mut env = BTreeMap::from([
            ("HOME".to_owned(), text(&folders.home)),
            ("PATH".into(), std::env::var("PATH").unwrap_or_default()),
            ("TMPDIR".into(), text(&folders.tmp)),
            ("TERM".into(), "dumb".into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("USER".into(), "judge".into()),
            ("LOGNAME".into(), "judge".into()),
            ("SHELL".into(), "/bin/sh".into()),
            ("CLINIC_PORTAL_PASSWORD".into(), secret),
            ("FLOW_FAKE_SCRIPT".into(), text(&folders.script)),
            ("FLOW_FAKE_JOURNAL".into(), text(&folders.journal)),
            ("FLOW_FAKE_CONTROL".into(), text(&folders.control)),
        ]);
        if self.scenario.world.runs == RunsFolder::Env {
            env.insert("OPENADAPT_AGENT_RUNS_DIR".into(), text(&folders.runs));
        }
        let needed = self.subject.player.needs_browser_in(&self.scenario.world);
        if let Some(browser) = self.subject.browser.as_ref().filter(|_| needed) {
            env.extend(browser.variables());
        }
        if let Some(mailbox) = &self.mailbox {
            env.insert("OPENADAPT_AGENT_MAILBOX_ORIGIN".into(), mailbox.origin.clone());
        }
        if let Some(flow) = self.real_flow() {
            env.extend(flow.environment());
        }
        env.extend(more.cloned().unwrap_or_default());
        env.into_iter().collect()
    }

    fn arguments(&self, plan: &ServerPlan) -> Result<Vec<String>, WorldError> {
        if let Some(argv) = &plan.argv {
            return Ok(argv.clone());
        }
        let world = &self.scenario.world;
        let bundles = self.folders.bundles.display().to_string();
        let mut words: Vec<String> = vec!["serve".into()];
        match world.mode {
            Mode::Production => words.extend(["--mode".into(), "production".into(), "--bundles".into(), bundles]),
            Mode::Attended => words.extend(["--mode".into(), "attended".into(), "--bundles".into(), bundles]),
            Mode::ReadOnly => words.extend(["--bundles".into(), bundles]),
            Mode::AllowRun => words.extend(["--allow-run".into(), "--bundles".into(), bundles]),
            Mode::Bare => {}
        }
        if world.runs == RunsFolder::Flag {
            words.extend(["--runs-dir".into(), self.folders.runs.display().to_string()]);
        }
        if world.mode != Mode::Bare {
            words.extend(["--flow-cli".into(), self.flow_words()?]);
        }
        if let Some(seconds) = plan.timeout_s {
            words.extend(["--timeout".into(), seconds.to_string()]);
        }
        words.extend(plan.serve.clone().unwrap_or_default());
        Ok(words)
    }

    /// Nothing in a world that plays with the stand-in.
    pub fn real_flow(&self) -> Option<&RealFlow> {
        self.subject.real_flow_in(&self.scenario.world)
    }

    fn given_flow(&self) -> String {
        join(&self.flow_program(FlowProgram::Cli))
    }

    /// The words that start one of Flow's programs. Without the real Flow they are all the stand-in's.
    pub fn flow_program(&self, which: FlowProgram) -> Vec<String> {
        match (which, self.real_flow()) {
            (FlowProgram::Standard, _) => vec![self.standard().display().to_string()],
            (FlowProgram::Cli, Some(flow)) => flow.words.clone(),
            (FlowProgram::Python, Some(flow)) => {
                flow.python.iter().map(|python| python.display().to_string()).collect()
            }
            (_, None) => self.subject.flow.clone(),
        }
    }

    /// A program that makes standard runs, whatever it is told of profiles: the agent is to think that it starts none.
    fn standard(&self) -> PathBuf {
        self.folders.control.join("standard")
    }

    /// Without an admission the real Flow's command line makes no standard run; the bridge that the agent carries does.
    fn furnish_standard(&self) -> io::Result<()> {
        let words = match self.real_flow() {
            None => self.subject.flow.clone(),
            Some(flow) => {
                let bridge = self.folders.control.join("flow_bridge.py");
                fs::write(&bridge, flow.carried.as_deref().unwrap_or_default())?;
                flow.python
                    .iter()
                    .map(|python| python.display())
                    .chain([bridge.display()])
                    .map(|w| w.to_string())
                    .collect()
            }
        };
        let script =
            format!("#!/bin/sh\n[ \"$1\" = run ] && set -- \"$@\" --profile=standard\nexec {} \"$@\"\n", join(&words));
        fs::write(self.standard(), script)?;
        fs::set_permissions(self.standard(), fs::Permissions::from_mode(0o700))
    }

    fn flow_words(&self) -> Result<String, WorldError> {
        Ok(match self.scenario.world.flow_cli.as_str() {
            "given" => self.given_flow(),
            "missing" => self.folders.world.join("no-such-program").display().to_string(),
            other => self.variables.borrow_mut().text(other)?,
        })
    }

    /// The bundle that the Flow of this world recorded on the clinic.
    fn recorded(&self, wanted: &Bundle) -> io::Result<bundle::Written> {
        let Some(flow) = self.real_flow() else {
            bundle::ask_for(&self.subject.flow, &self.folders.bundles.join(&wanted.dir))?;
            return Ok(bundle::Written { dir: wanted.dir.clone(), public_id: None });
        };
        bundle::copy(&self.folders.bundles, wanted, flow.bundle.as_deref())
    }

    /// Puts everything in place that must stand before a server starts.
    fn furnish(&self) -> Result<(), WorldError> {
        let world = &self.scenario.world;
        {
            let mut variables = self.variables.borrow_mut();
            variables.set("agent", Value::from(self.subject.agent_as_text()));
            variables.set("flow", Value::from(self.given_flow()));
            let python = self.real_flow().and_then(|flow| flow.python.clone());
            variables.set("flow_python", python.map_or(Value::Null, |python| python.display().to_string().into()));
            let recorded = self.real_flow().and_then(|flow| flow.bundle.as_ref());
            variables.set("recorded", recorded.map_or(Value::Null, |bundle| bundle.display().to_string().into()));
            variables.set("standard", Value::from(join(&self.flow_program(FlowProgram::Standard))));
            if world.is_for_any_engine() {
                self.furnish_standard()?;
            }
            variables.set("mockmed", Value::from(super::clinic::program()?.display().to_string()));
            for written in world.bundles() {
                let mut wanted: Bundle = variables.resolve(&written)?;
                let written = if wanted.recorded {
                    let copied = self.recorded(&wanted)?;
                    bundle::furnish_recorded(&self.folders.bundles, &wanted)?;
                    copied
                } else {
                    fill_with_canaries(&mut wanted, &mut variables.marks);
                    bundle::write(&self.folders.bundles, &wanted)?
                };
                if let Some(id) = written.public_id {
                    variables.set(&format!("workflow:{}", written.dir), id.into());
                }
            }
            let script = variables.resolve(&self.scenario.flow)?;
            let script = serde_json::to_string(&script).map_err(io::Error::other)?;
            self.printed.borrow_mut().extend(variables.marks.named_in(&script));
            // The real Flow says on its own output what it found in the app's record.
            self.printed.borrow_mut().extend(self.real_flow().map(|_| "note".to_owned()));
            fs::write(&self.folders.script, script)?;
            for written in &world.older {
                let wanted = variables.resolve(written)?;
                older::write(&self.folders, &wanted)?;
            }
        }
        for written in &world.files {
            let wanted = self.variables.borrow_mut().resolve(written)?;
            plant(&wanted)?;
        }
        let mut planted = crate::evidence::files::walk(&self.folders.world);
        planted.retain(|file| !file.path.starts_with(&self.folders.control));
        *self.planted.borrow_mut() = planted;
        Ok(())
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        self.follower.abort();
        if !self.swept.get() {
            process::kill_all(&self.folders.home);
        }
    }
}

/// What a scenario leaves open of a bundle is something that must not leave it.
fn fill_with_canaries(bundle: &mut Bundle, marks: &mut Marks) {
    if bundle.params.is_none() {
        let recorded = marks.canary(marks::RECORDED);
        bundle.params = Some(serde_json::Map::from_iter([("note".to_owned(), Value::from(recorded))]));
    }
    if bundle.steps.is_none() {
        let intent = marks.canary(marks::INTENT);
        bundle.steps =
            Some(vec![serde_json::json!({"id": "step_000", "intent": intent, "action": "key", "key": "Tab"})]);
    }
}

fn folders_of(world: &Path, runs: RunsFolder) -> Folders {
    let home = world.join("home");
    Folders {
        runs: match runs {
            RunsFolder::Default => home.join(".openadapt/runs"),
            RunsFolder::Flag | RunsFolder::Env => world.join("runs"),
        },
        bundles: world.join("bundles"),
        tmp: world.join("tmp"),
        control: world.join("control"),
        script: world.join("script.json"),
        journal: world.join("journal.jsonl"),
        world: world.to_owned(),
        home,
    }
}

fn plant(file: &PlantedFile) -> Result<(), WorldError> {
    let path = if file.odd { special::oddly_named(&file.path) } else { PathBuf::from(&file.path) };
    if !path.is_absolute() {
        return Err(WorldError::Scenario(format!("{} is no absolute path", file.path)));
    }
    if let Some(parent) = path.parent() {
        private_folders(parent)?;
    }
    if file.dir {
        private_folders(&path)?;
    } else if let Some(target) = &file.symlink_to {
        return Ok(symlink(target, &path)?);
    } else if let Some(target) = &file.hard_link_to {
        return Ok(fs::hard_link(target, &path)?);
    } else if let Some(source) = &file.copy_of {
        return Ok(special::copy(Path::new(source), &path)?);
    } else if file.fifo {
        return Ok(special::fifo(&path)?);
    } else if file.socket {
        return Ok(special::socket(&path)?);
    } else if file.foreign {
        return Ok(special::foreign_folder(&path)?);
    } else {
        fs::write(&path, content_of(file)?)?;
    }
    let usual = if file.dir { "0700" } else { "0600" };
    fs::set_permissions(&path, fs::Permissions::from_mode(octal(file.mode.as_deref().unwrap_or(usual))?))?;
    Ok(())
}

fn content_of(file: &PlantedFile) -> Result<Vec<u8>, WorldError> {
    match (&file.text, &file.json, &file.hex) {
        (Some(text), None, None) => Ok(text.clone().into_bytes()),
        (None, Some(json), None) => Ok(json.to_string().into_bytes()),
        (None, None, Some(hex)) => unhex(hex).ok_or_else(|| WorldError::Scenario(format!("{hex:?} is no hex"))),
        _ => Err(WorldError::Scenario(format!(
            "{}: one of text, json, hex, symlink_to, hard_link_to, copy_of, dir, fifo, socket, foreign",
            file.path
        ))),
    }
}

/// Makes the folders that are missing, 0700 each.
pub fn private_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        private_folders(parent)?;
    }
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

pub fn octal(text: &str) -> Result<u32, WorldError> {
    u32::from_str_radix(text, 8).map_err(|_| WorldError::Scenario(format!("{text:?} is no octal mode")))
}

pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16).ok())
        .collect()
}
