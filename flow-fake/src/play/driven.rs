//! The step `drive`: the recorded workflow in a real browser, with the files and the journal of a run.

use serde_json::{Value, json};

use super::player::{Flow, Player};
use super::{Ending, traceback_text};
use crate::attended::checkpoint;
use crate::drive::{self, Course, End, Moment as At, Screen, Site, Trouble, Witness};
use crate::output::{self, Pipe};
use crate::pause::{self, Moment};
use crate::report::{Prepared, Profile};
use crate::script::{Drive, Kind, PauseSpec, ScriptError};
use crate::{clock, files};

/// Drives to the end. A browser that can't be had is the real program's exit 2; a page that can't be opened its traceback.
pub fn drive(player: &mut Player<'_>, spec: &Drive) -> Flow {
    // As with a played report: a launch that names no profile is told as a standard one.
    player.subject.profile.get_or_insert(Profile::Standard);
    let subject = player.subject.clone();
    let Some((url, site)) = subject.url.as_deref().and_then(|url| Some((url, Site::of(url)?))) else {
        output::line(Pipe::Stderr, "drive: --url names no app on this computer (http://127.0.0.1:PORT/…)");
        return Ok(Some(Ending::Code(1)));
    };
    let found = match drive::find() {
        Ok(found) => found,
        Err(missing) => {
            output::line(Pipe::Stderr, &missing.to_string());
            return Ok(Some(Ending::Code(2)));
        }
    };
    let mut screen = match drive::open(&found, player.headed) {
        Ok(screen) => screen,
        Err(trouble) => return Ok(Some(traceback(&trouble))),
    };
    if let Err(trouble) = screen.go_to(url) {
        screen.close();
        return Ok(Some(traceback(&trouble)));
    }
    let ended = on_the_page(player, spec, screen.as_mut(), &site);
    screen.close();
    ended
}

fn on_the_page(player: &mut Player<'_>, spec: &Drive, screen: &mut dyn Screen, site: &Site) -> Flow {
    let subject = player.subject.clone();
    let governed = matches!(subject.profile, Some(Profile::Standard | Profile::Regulated));
    let steps = if governed { drive::identity_steps() } else { json!([]) };
    if let Some(ending) = player.create_run_dir(governed, steps)? {
        return Ok(Some(ending));
    }
    let note = subject.params.get(drive::PARAMETER).and_then(Value::as_str).unwrap_or_default();
    let mut onlooker = Onlooker { player, spec, fault: None };
    let told = Course::new(screen, &mut onlooker, site, note).run();
    if let Some(fault) = onlooker.fault {
        return Err(fault);
    }
    let (shape, report) = drive::report(&told, &subject);
    drive::held_against_the_schema(&report).map_err(|problem| ScriptError::Play { name: "drive", problem })?;
    let prepared = Prepared { bytes: files::pretty(&report), kind: Kind::File, value: Some(report) };
    player.put_report(prepared, Some(shape), "report", &subject)?;
    match category(told.end) {
        Some(category) if governed => stop(player, category, told.results.len() - 1),
        _ => Ok(None),
    }
}

fn category(end: End) -> Option<&'static str> {
    match end {
        End::Done => None,
        End::WrongRecord => Some("identity"),
        End::Broken => Some("halt"),
        End::Stopped(category) | End::InDoubt(category) => Some(category),
    }
}

/// Leaves the pause at the step that the course stopped at.
fn stop(player: &mut Player<'_>, category: &str, index: usize) -> Flow {
    let spec = PauseSpec::of(category);
    let mut moment = Moment::of(&player.subject, &spec, player.report.as_ref());
    moment.next = drive::after(index).to_owned();
    pause::write(&player.run_dir, &moment, &spec, clock::now())
        .map_err(|source| ScriptError::Io { name: "drive", source })?;
    player.note("pause", json!({"category": category, "status": spec.status.name()}))?;
    Ok(None)
}

/// Writes down what the course does, and holds it where the script says so.
struct Onlooker<'p, 'j, 's> {
    player: &'p mut Player<'j>,
    spec: &'s Drive,
    /// The harness can't go on.
    fault: Option<ScriptError>,
}

impl Witness for Onlooker<'_, '_, '_> {
    fn at(&mut self, step: &str, moment: At) -> drive::Answer<()> {
        let wanted = match moment {
            At::Before => &self.spec.hold_before,
            At::Acted => &self.spec.hold_after,
        };
        if wanted.as_deref() != Some(step) {
            return Ok(());
        }
        match self.player.hold(step) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => std::process::exit(i32::from(crate::cli::HARNESS_FAULT)),
            Err(fault) => {
                self.fault = Some(fault);
                Err(Trouble::Broken("the script can't be played".into()))
            }
        }
    }

    fn freezes(&mut self, step: &str, moment: At) -> bool {
        let wanted = match moment {
            At::Before => &self.spec.freeze_before,
            At::Acted => &self.spec.freeze_after,
        };
        wanted.as_deref() == Some(step)
    }

    fn picture(&mut self, name: &str, png: &[u8]) {
        let path = self.player.run_dir.join(name);
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let kept = folder.and_then(|()| files::replace(&path, png, files::PRIVATE));
        self.keep("drive", kept);
    }

    fn verified(&mut self, index: usize, result: &Value) {
        let folder = self.player.run_dir.join("checkpoints");
        if !folder.is_dir() {
            return;
        }
        let mut point = checkpoint::of(&self.player.subject, result, index, None);
        point["expected_postconditions"] = drive::STEPS
            .iter()
            .skip(index)
            .take(1)
            .flat_map(|step| step.checks)
            .map(|check| check.postcondition())
            .collect();
        let kept = files::replace_json(&folder.join(checkpoint::name(result, index)), &point, files::PRIVATE);
        self.keep("drive", kept);
    }

    fn saved(&mut self) {
        if let Err(fault) = self.player.note("effect", json!({"label": "save"})) {
            self.fault.get_or_insert(fault);
        }
    }
}

impl Onlooker<'_, '_, '_> {
    fn keep(&mut self, name: &'static str, kept: std::io::Result<()>) {
        if let Err(source) = kept {
            self.fault.get_or_insert(ScriptError::Io { name, source });
        }
    }
}

fn traceback(trouble: &Trouble) -> Ending {
    output::write(Pipe::Stderr, traceback_text(&trouble.to_string()).as_bytes());
    Ending::Code(1)
}
