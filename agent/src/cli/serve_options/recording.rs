//! The flags of the recording tools, and which other flags can't stand beside them. Source: agent, 6 and 9.4.

use clap::ValueEnum;

use super::{Flags, ModeFlag, heading};
use crate::authoring::opening::{RecordingOptions, Screens};
use crate::authoring::pin::Pin;
use crate::flow::bridge::command::BridgeCommand;
use crate::refusal::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScreensFlag {
    Off,
    Scrubbed,
    Unscrubbed,
}

#[derive(Debug, clap::Args)]
pub struct RecordingFlags {
    /// Adds the tools that record a first demonstration in one pinned window. Runs no workflow by itself, and needs no --bundles.
    #[arg(long, help_heading = heading::RECORDING)]
    pub(super) authoring: bool,
    /// Pins a native Windows app, through an agent server that you have started there. Its token is OAFLOW_AGENT_TOKEN.
    #[arg(long, value_name = "URL", help_heading = heading::RECORDING)]
    windows_agent_url: Option<String>,
    /// Pins the window of a remote-desktop client on this computer, by its app's name.
    #[arg(long, value_name = "APP", help_heading = heading::RECORDING)]
    remote_window: Option<String>,
    /// Which of that app's windows, by its title.
    #[arg(long, value_name = "TITLE", help_heading = heading::RECORDING)]
    remote_window_title: Option<String>,
    /// The remote window is a Citrix client's.
    #[arg(long, help_heading = heading::RECORDING)]
    citrix: bool,
    /// Adds the tool screen, which shows the pinned window as a picture: scrubbed of what identifies somebody, or as it is [default: off].
    #[arg(long, value_enum, value_name = "HOW", help_heading = heading::RECORDING)]
    authoring_screens: Option<ScreensFlag>,
}

impl Flags {
    /// Nothing for a server that doesn't record.
    pub(super) fn recording(
        &self,
        bridge: impl FnOnce() -> Result<BridgeCommand, Refusal>,
    ) -> Result<Option<RecordingOptions>, Refusal> {
        if !self.recording.authoring {
            return self.no_recording_flags().map(|()| None);
        }
        let screens = match self.recording.authoring_screens {
            None | Some(ScreensFlag::Off) => Screens::Off,
            Some(ScreensFlag::Scrubbed) => Screens::Scrubbed,
            Some(ScreensFlag::Unscrubbed) => Screens::Unscrubbed,
        };
        Ok(Some(RecordingOptions { pin: self.pin()?, bridge: bridge()?, screens, form_limit: self.form_limit()? }))
    }

    /// What can't stand beside a recording, whatever is pinned.
    pub(super) fn nothing_beside_a_recording(&self) -> Result<(), Refusal> {
        if !self.recording.authoring {
            return Ok(());
        }
        let sandboxes =
            [("--tutorial", self.sandbox.is_tutorial()), ("--mode sandbox", self.mode == Some(ModeFlag::Sandbox))];
        if let Some((flag, _)) = sandboxes.into_iter().find(|(_, given)| *given) {
            return Err(Refusal::new(
                format!(
                    "--authoring and {flag} can't stand together: the sandbox brings its own workflow, and records nothing"
                ),
                "leave one of them out",
            ));
        }
        let with_bundles = [
            ("--mode production", self.mode == Some(ModeFlag::Production)),
            ("--mode attended", self.mode == Some(ModeFlag::Attended)),
            ("--allow-run", self.allow_run),
            ("--allow-attended-actions", self.allow_attended_actions),
        ];
        match with_bundles.into_iter().find(|(_, given)| *given && self.bundles.is_none()) {
            None => Ok(()),
            Some((flag, _)) => Err(Refusal::new(
                format!("{flag} goes with workflows, and --authoring alone has none"),
                "add --bundles DIR with a folder of compiled workflows, or leave the flag out to record only",
            )),
        }
    }

    pub(super) fn no_recording_flags(&self) -> Result<(), Refusal> {
        let flags = &self.recording;
        let given = [
            ("--windows-agent-url", flags.windows_agent_url.is_some()),
            ("--remote-window", flags.remote_window.is_some()),
            ("--remote-window-title", flags.remote_window_title.is_some()),
            ("--citrix", flags.citrix),
            ("--authoring-screens", flags.authoring_screens.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Refusal::new(
                format!("{flag} goes with recording, and this server would record nothing"),
                format!("add --authoring, or leave {flag} out"),
            )),
        }
    }

    /// The one window.
    fn pin(&self) -> Result<Pin, Refusal> {
        let flags = &self.recording;
        let given = [
            ("--url", self.url.is_some()),
            ("--windows-agent-url", flags.windows_agent_url.is_some()),
            ("--remote-window", flags.remote_window.is_some()),
        ];
        let mut pins = given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag);
        if let (Some(one), Some(other)) = (pins.next(), pins.next()) {
            return Err(Refusal::new(
                format!("{one} and {other} each pin a window, and a recording has one"),
                "leave one of them out",
            ));
        }
        for (flag, given) in
            [("--remote-window-title", flags.remote_window_title.is_some()), ("--citrix", flags.citrix)]
        {
            if given && flags.remote_window.is_none() {
                return Err(Refusal::new(
                    format!("{flag} says more about a remote window, and none is pinned"),
                    format!("add --remote-window APP, or leave {flag} out"),
                ));
            }
        }
        if let Some(url) = &self.url {
            return web(url, self.headed);
        }
        if let Some(url) = &flags.windows_agent_url {
            return Ok(Pin::WindowsAgent { url: address("--windows-agent-url", url)? });
        }
        if let Some(app) = &flags.remote_window {
            let (app, title) = (app.clone(), flags.remote_window_title.clone());
            return Ok(Pin::Remote { app, title, citrix: flags.citrix });
        }
        nothing_pinned()
    }
}

/// A browser that a person can see, and nothing else, is what a page is recorded in.
pub fn web(url: &str, headed: bool) -> Result<Pin, Refusal> {
    if !headed {
        return Err(Refusal::new(
            "a page is recorded in a browser that the person sees, and --headed wasn't given",
            "add --headed",
        ));
    }
    Ok(Pin::Web { url: address("--url", url)?, headed })
}

/// What is recorded where no flag pins a window, which depends on the system.
pub fn nothing_pinned() -> Result<Pin, Refusal> {
    if cfg!(target_os = "macos") {
        return Ok(Pin::Frontmost);
    }
    if cfg!(windows) {
        return Ok(Pin::Nothing);
    }
    Err(Refusal::new("nothing is pinned that could be recorded", "add --url URL --headed with the app's address"))
}

fn address(flag: &str, url: &str) -> Result<String, Refusal> {
    let web =
        ["http://", "https://"].iter().any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    if web && !url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Ok(url.to_owned());
    }
    Err(Refusal::new(format!("{flag} isn't an address"), "write it with http:// or https:// before it"))
}
