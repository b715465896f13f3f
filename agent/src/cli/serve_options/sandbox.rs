//! The flags of the sandbox, and which other flags can't stand beside it. Source: *Modes and tool registration*.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use super::{Flags, ModeFlag, Surroundings, expand_home, heading};
use crate::contract::sandbox::SandboxEngine;
use crate::flow::bridge::command::{BridgeCommand, Deployment};
use crate::flow::command::{FlowCommand, FlowSettings};
use crate::refusal::Refusal;
use crate::sandbox::{EngineChoice, SandboxSettings};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineFlag {
    Auto,
    Flow,
    Driven,
    Simulated,
}

#[derive(Debug, clap::Args)]
pub struct SandboxFlags {
    /// Same as --mode sandbox: a made-up workflow on a made-up app.
    #[arg(long, help_heading = heading::SANDBOX)]
    tutorial: bool,
    /// What plays the sandbox [default: auto, the most real one that this computer can run].
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = heading::SANDBOX)]
    sandbox_engine: Option<EngineFlag>,
    /// The command that starts the sandbox's app, as words [default: mockmed beside this program or on the PATH].
    #[arg(long, value_name = "WORDS", help_heading = heading::SANDBOX)]
    sandbox_app: Option<String>,
    /// The port of the sandbox's app on this computer [default: a free one].
    #[arg(long, value_name = "PORT", help_heading = heading::SANDBOX)]
    sandbox_port: Option<u16>,
}

impl SandboxFlags {
    pub(super) fn is_tutorial(&self) -> bool {
        self.tutorial
    }
}

impl Flags {
    /// Without bundles there is nothing else that could be served, unless a mode that needs them was named.
    pub(super) fn wants_sandbox(&self) -> bool {
        let attended = self.allow_attended_actions;
        let named = self.mode == Some(ModeFlag::Sandbox) || self.sandbox.tutorial;
        named || (!self.recording.authoring && self.bundles.is_none() && self.mode.is_none() && !attended)
    }

    /// What the sandbox is started with.
    pub(super) fn sandbox_settings(&self) -> Result<SandboxSettings, Refusal> {
        self.nothing_beside_the_sandbox()?;
        self.no_recording_flags()?;
        let flags = &self.sandbox;
        let choice = match flags.sandbox_engine.unwrap_or(EngineFlag::Auto) {
            EngineFlag::Auto => EngineChoice::Auto,
            EngineFlag::Flow => EngineChoice::Named(SandboxEngine::Flow),
            EngineFlag::Driven => EngineChoice::Named(SandboxEngine::Driven),
            EngineFlag::Simulated => EngineChoice::Named(SandboxEngine::Simulated),
        };
        let words = |words: &String| {
            shlex::split(words).filter(|words| !words.is_empty()).ok_or_else(|| {
                Refusal::new("--sandbox-app isn't a command", "write it as you would in a shell, with quotes closed")
            })
        };
        let app = flags.sandbox_app.as_ref().map(words).transpose()?;
        Ok(SandboxSettings {
            choice,
            bridge: self.engines_bridge()?,
            app,
            port: flags.sandbox_port.unwrap_or(0),
            headed: self.headed,
        })
    }

    fn engines_bridge(&self) -> Result<Option<BridgeCommand>, Refusal> {
        let engine =
            self.flow_cli.as_deref().map(|words| FlowCommand::new(words, FlowSettings::default())).transpose()?;
        if engine.is_none() && self.flow_bridge.is_none() {
            return Ok(None);
        }
        let words = engine.as_ref().map_or(&[][..], FlowCommand::words);
        let named = self.flow_bridge.as_deref();
        BridgeCommand::new(named, words, &Deployment::default(), Duration::ZERO).map(Some)
    }

    fn nothing_beside_the_sandbox(&self) -> Result<(), Refusal> {
        let asked = match (self.mode, self.sandbox.tutorial) {
            (Some(ModeFlag::Sandbox), _) => "--mode sandbox",
            (_, true) => "--tutorial",
            _ => "the sandbox",
        };
        let others = [
            ("--mode production", self.mode == Some(ModeFlag::Production)),
            ("--mode attended", self.mode == Some(ModeFlag::Attended)),
            ("--bundles", self.bundles.is_some()),
            ("--allow-attended-actions", self.allow_attended_actions),
            ("--url", self.url.is_some()),
            ("--config", self.config.is_some()),
            ("--policy", self.policy.is_some()),
            ("--approval-mode", self.approval_mode.is_some()),
            ("--allow-url-override", self.older.allow_url_override),
            ("--allow-synthetic-recorded-defaults", self.older.allow_synthetic_recorded_defaults),
            ("--allow-protected-export", self.older.allow_protected_export),
            ("--extra-run-arg", !self.extra_run_arg.is_empty()),
            ("--form-timeout", self.form_timeout.is_some()),
            ("--require-release-admission", self.require_release_admission),
            ("--admission-ledger", self.admission_ledger.is_some()),
            ("--admission-evidence", self.admission_evidence.is_some()),
        ];
        match others.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) if asked == "the sandbox" => Err(Refusal::new(
                format!("{flag} goes with workflows of yours, and no --bundles were named"),
                "add --bundles DIR with a folder of compiled workflows, or leave the flag out to see the sandbox",
            )),
            Some((flag, _)) => Err(Refusal::new(
                format!("{asked} and {flag} can't stand together: the sandbox brings its own workflow and app"),
                format!(
                    "leave one of them out; workflows of yours run with --mode production --bundles DIR, not with {asked}"
                ),
            )),
        }
    }

    /// The flags that mean nothing without the sandbox.
    pub(super) fn no_sandbox_flags(&self) -> Result<(), Refusal> {
        let flags = &self.sandbox;
        let given = [
            ("--sandbox-engine", flags.sandbox_engine.is_some()),
            ("--sandbox-app", flags.sandbox_app.is_some()),
            ("--sandbox-port", flags.sandbox_port.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Refusal::new(
                format!("{flag} goes with the sandbox, and this server would serve workflows of yours"),
                format!("leave {flag} out, or start without --bundles to see the sandbox"),
            )),
        }
    }
}

/// Never in the project that a client was launched from.
pub(super) fn sandbox_dir(flag: Option<&Path>, around: &Surroundings) -> Result<PathBuf, Refusal> {
    if let Some(named) = flag.or(around.sandbox_dir_variable.as_deref()) {
        return Ok(around.current_dir.join(expand_home(named, around)));
    }
    let home = around.home.as_ref().ok_or_else(|| {
        Refusal::new(
            "there is no home folder to keep the sandbox's runs in",
            "add --runs-dir DIR or set OPENADAPT_AGENT_SANDBOX_DIR",
        )
    })?;
    Ok(home.join(".openadapt/agent-sandbox"))
}
