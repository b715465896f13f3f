//! The sandbox of one server: which engine it has, and which case each of its runs plays.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::lacking;
use super::leash::Leash;
use super::prepare::{Programs, prepare};
use super::stage::Stage;
use super::{EngineChoice, SandboxSettings};
use crate::contract::ids::RunId;
use crate::contract::sandbox::{Lacking, SandboxCase, SandboxEngine, SandboxFacts};
use crate::refusal::Refusal;

/// Engine and runs of one server's sandbox.
#[derive(Debug)]
pub struct Sandbox {
    choice: EngineChoice,
    /// The choice was made before anything was started; otherwise a thread tells the operator when it is.
    chosen_at_once: bool,
    /// Nothing while it is being found out.
    chosen: watch::Receiver<Option<Chosen>>,
    playing: Mutex<HashMap<RunId, SandboxCase>>,
    leash: Arc<Leash>,
}

/// What plays this server's runs, from now on.
#[derive(Debug, Clone)]
pub enum Chosen {
    Staged(Arc<Stage>),
    Simulated {
        fallback: Option<Lacking>,
    },
    /// The engine that was named can't be had, and no other takes its place.
    Unavailable(Lacking),
}

impl Sandbox {
    /// What can be told without starting anything is decided here; the rest on a thread of its own, which tells the operator.
    ///
    /// # Errors
    /// Where an engine was named that isn't there.
    pub fn open(settings: &SandboxSettings, runs_dir: &Path, tell: fn(&str)) -> Result<Self, Refusal> {
        let (sender, chosen) = watch::channel(None);
        let leash = Arc::new(Leash::default());
        let at_once = match settings.choice {
            EngineChoice::Named(SandboxEngine::Simulated) => Some(Chosen::Simulated { fallback: None }),
            choice => match (Programs::find(settings), choice) {
                (Err(lacking), EngineChoice::Auto) => Some(Chosen::Simulated { fallback: Some(lacking) }),
                (Err(lacking), EngineChoice::Named(_)) => return Err(lacking::refusal(lacking)),
                (Ok(programs), _) => {
                    let work = Preparing {
                        programs,
                        settings: settings.clone(),
                        runs_dir: runs_dir.to_owned(),
                        leash: Arc::clone(&leash),
                    };
                    find_out(work, sender.clone(), tell);
                    None
                }
            },
        };
        let chosen_at_once = at_once.is_some();
        if chosen_at_once {
            sender.send_replace(at_once);
        }
        Ok(Self { choice: settings.choice, chosen_at_once, chosen, playing: Mutex::default(), leash })
    }

    /// The server leaves. An engine that is still being prepared is ended; the app ends with the server's own end.
    pub fn leave(&self) {
        self.leash.end();
    }

    /// Whether the choice was made as the sandbox was opened.
    pub fn was_chosen_at_once(&self) -> bool {
        self.chosen_at_once
    }

    pub fn choice(&self) -> EngineChoice {
        self.choice
    }

    /// What is known now.
    pub fn chosen_now(&self) -> Option<Chosen> {
        self.chosen.borrow().clone()
    }

    /// Waits until the engine is prepared or given up.
    pub async fn chosen(&self) -> Chosen {
        let mut chosen = self.chosen.clone();
        let found = chosen.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        // The thread that was to find out is lost.
        found.unwrap_or_else(|| given_up(self.choice, Lacking::EngineFailed))
    }

    /// The sandbox's part of a result of this server, as far as it is known now.
    pub fn facts(&self, case: Option<SandboxCase>) -> SandboxFacts {
        let chosen = self.chosen_now();
        SandboxFacts { case, ..chosen.map_or_else(SandboxFacts::default, |chosen| chosen.facts(self.choice)) }
    }

    /// A run begins to be played. Its case is remembered until it is over.
    pub fn begins(&self, run_id: &RunId, case: SandboxCase) {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner).insert(run_id.clone(), case);
    }

    pub fn is_over(&self, run_id: &RunId) {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner).remove(run_id);
    }

    /// The facts of a run that this server plays.
    pub fn facts_of(&self, run_id: &RunId) -> Option<SandboxFacts> {
        let case = self.playing.lock().unwrap_or_else(PoisonError::into_inner).get(run_id).copied()?;
        Some(self.facts(Some(case)))
    }
}

impl Chosen {
    /// Engine and fallback; the case is the run's.
    pub fn facts(&self, choice: EngineChoice) -> SandboxFacts {
        let (engine, fallback) = match (self, choice) {
            (Self::Staged(stage), _) => (Some(stage.engine()), None),
            (Self::Simulated { fallback }, _) => (Some(SandboxEngine::Simulated), *fallback),
            (Self::Unavailable(_), EngineChoice::Named(named)) => (Some(named), None),
            (Self::Unavailable(_), EngineChoice::Auto) => (None, None),
        };
        SandboxFacts { case: None, engine, fallback }
    }
}

/// All that preparing needs.
struct Preparing {
    programs: Programs,
    settings: SandboxSettings,
    runs_dir: PathBuf,
    leash: Arc<Leash>,
}

fn find_out(work: Preparing, sender: watch::Sender<Option<Chosen>>, tell: fn(&str)) {
    // Without a thread the sender is dropped, and whoever waits is told that the engine failed.
    let _ = std::thread::Builder::new().name("sandbox".to_owned()).spawn(move || {
        let chosen = match prepare(&work.programs, &work.settings, &work.runs_dir, &work.leash) {
            Ok(stage) => Chosen::Staged(Arc::new(stage)),
            Err(lacking) => given_up(work.settings.choice, lacking),
        };
        let line = super::listing::operators_line(&chosen);
        sender.send_replace(Some(chosen));
        tell(&line);
    });
}

fn given_up(choice: EngineChoice, lacking: Lacking) -> Chosen {
    match choice {
        EngineChoice::Auto => Chosen::Simulated { fallback: Some(lacking) },
        EngineChoice::Named(_) => Chosen::Unavailable(lacking),
    }
}
