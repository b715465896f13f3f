//! The step `drive`: the recorded workflow in a real browser, with the files and the journal of a run.

use serde_json::{Value, json};

use super::player::{Flow, Player};
use super::{Ending, traceback_text};
use crate::attended::{Gone, checkpoint};
use crate::drive::{self, Course, End, Moment as At, Screen, Site, Told, Trouble, Verdict, Witness};
use crate::output::{self, Pipe};
use crate::pause::{self, Moment};
use crate::report::{Prepared, Profile, Shape};
use crate::script::{Drive, Kind, PauseSpec, ScriptError};
use crate::{clock, files};

/// Drives to the end. A browser that can't be had is the real program's exit 2; a page that can't be opened its traceback.
pub fn drive(player: &mut Player<'_>, spec: &Drive) -> Flow {
    // As with a played report: a launch that names no profile is told as a standard one.
    player.subject.profile.get_or_insert(Profile::Standard);
    let (mut screen, site) = match open(player) {
        Ok(opened) => opened,
        Err(ending) => return Ok(Some(ending)),
    };
    let ended = on_the_page(player, spec, screen.as_mut(), &site);
    screen.close();
    ended
}

/// Does the recorded steps of a paused run again, from the first one on. The exit code.
pub fn resume(mut player: Player<'_>) -> Result<u8, ScriptError> {
    let (mut screen, site) = match open(&player) {
        Ok(opened) => opened,
        Err(ending) => return Ok(ending.take()),
    };
    let ended = again(&mut player, screen.as_mut(), &site);
    screen.close();
    ended?;
    let report = player.report.unwrap_or_default();
    let outcome = report["execution_outcome"].as_str().unwrap_or("FAILED");
    output::line(Pipe::Stdout, &format!("Resume {outcome}: {}/REPORT.md", player.run_dir.display()));
    Ok(crate::report::exit_code(&report))
}

/// The page of the run's address, or how the launch ends without one.
fn open(player: &Player<'_>) -> Result<(Box<dyn Screen>, Site), Ending> {
    let Some((url, site)) = player.subject.url.as_deref().and_then(|url| Some((url, Site::of(url)?))) else {
        output::line(Pipe::Stderr, "drive: --url names no app on this computer (http://127.0.0.1:PORT/…)");
        return Err(Ending::Code(1));
    };
    let found = drive::find().map_err(|missing| {
        output::line(Pipe::Stderr, &missing.to_string());
        Ending::Code(2)
    })?;
    let mut screen = drive::open(&found, player.headed).map_err(|trouble| traceback(&trouble))?;
    match screen.go_to(url) {
        Ok(()) => Ok((screen, site)),
        Err(trouble) => {
            screen.close();
            Err(traceback(&trouble))
        }
    }
}

/// Flow's order on an end that is good: candidate, pause removed, candidate becomes the report.
fn again(player: &mut Player<'_>, screen: &mut dyn Screen, site: &Site) -> Result<(), ScriptError> {
    let (told, shape, mut prepared) = course(player, &Drive::default(), screen, site, true)?;
    // A resumed run doesn't say where it went on.
    if let Some(report) = &mut prepared.value {
        report["execution_origin"] = Value::Null;
        report["execution_entry_url"] = Value::Null;
        prepared.bytes = files::pretty(report);
    }
    let failed = |source| ScriptError::Io { name: "resume", source };
    match category(told.end) {
        None => pause::clear(&player.run_dir).map_err(failed)?,
        Some(category) => drop(stop(player, category, told.results.len() - 1)?),
    }
    let subject = player.subject.clone();
    crate::report::place(&player.run_dir, &prepared).map_err(failed)?;
    player.note(
        "report",
        json!({"shape": shape, "stale": false, "bytes": prepared.bytes.len(), "run_id_sha256": subject.run_id_sha256()}),
    )?;
    player.report = prepared.value;
    Ok(())
}

fn on_the_page(player: &mut Player<'_>, spec: &Drive, screen: &mut dyn Screen, site: &Site) -> Flow {
    let subject = player.subject.clone();
    let governed = matches!(subject.profile, Some(Profile::Standard | Profile::Regulated));
    let steps = if governed { drive::identity_steps() } else { json!([]) };
    let durable = governed || player.durable;
    if let Some(ending) = player.create_run_dir(durable, steps)? {
        return Ok(Some(ending));
    }
    let (told, shape, prepared) = course(player, spec, screen, site, false)?;
    player.put_report(prepared, Some(shape), "report", &subject)?;
    match category(told.end) {
        Some(category) if durable => stop(player, category, told.results.len() - 1),
        _ => Ok(None),
    }
}

/// The steps after those that are done already, in a session that goes on.
pub fn rest(
    player: &mut Player<'_>,
    screen: &mut dyn Screen,
    site: &Site,
    done: Vec<Value>,
    verdicts: Vec<Vec<Verdict>>,
) -> Result<Gone, ScriptError> {
    let subject = player.subject.clone();
    let note = subject.params.get(drive::PARAMETER).and_then(Value::as_str).unwrap_or_default();
    let spec = Drive::default();
    let mut onlooker = Onlooker { player, spec: &spec, fault: None };
    let told = Course::new(screen, &mut onlooker, site, note).after(done, verdicts).run();
    if let Some(fault) = onlooker.fault {
        return Err(fault);
    }
    let (shape, mut report) = drive::report(&told, &subject);
    // A continuation doesn't say where it went on.
    for key in ["execution_target_kind", "execution_origin", "execution_entry_url"] {
        report[key] = Value::Null;
    }
    drive::held_against_the_schema(&report).map_err(|problem| ScriptError::Play { name: "drive", problem })?;
    Ok(Gone { shape, report, category: category(told.end) })
}

/// The results of the steps before the paused one, as the run's report has them.
pub fn results_before(player: &Player<'_>, at: usize) -> Vec<Value> {
    let report = files::read_json(&player.run_dir.join("report.json")).unwrap_or_default();
    report["results"].as_array().map_or_else(Vec::new, |results| results.iter().take(at).cloned().collect())
}

/// A picture of the live session, under the number of the decision's second record.
pub fn attended_picture(player: &Player<'_>, step: &str, moment: &str, png: &[u8]) {
    let _ =
        files::replace(&player.run_dir.join(format!("steps/{step}__0002_attended-{moment}.png")), png, files::PRIVATE);
}

/// The steps on the page, and the report that they come to.
fn course(
    player: &mut Player<'_>,
    spec: &Drive,
    screen: &mut dyn Screen,
    site: &Site,
    again: bool,
) -> Result<(Told, Shape, Prepared), ScriptError> {
    let subject = player.subject.clone();
    let note = subject.params.get(drive::PARAMETER).and_then(Value::as_str).unwrap_or_default();
    let mut onlooker = Onlooker { player, spec, fault: None };
    let governed = matches!(subject.profile, Some(Profile::Standard | Profile::Regulated));
    let course = Course::new(screen, &mut onlooker, site, note).governed(governed);
    let told = if again { course.again() } else { course }.run();
    if let Some(fault) = onlooker.fault {
        return Err(fault);
    }
    let (shape, report) = drive::report(&told, &subject);
    drive::held_against_the_schema(&report).map_err(|problem| ScriptError::Play { name: "drive", problem })?;
    let prepared = Prepared { bytes: files::pretty(&report), kind: Kind::File, value: Some(report) };
    Ok((told, shape, prepared))
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
        point["expected_postconditions"] = drive::expected(index);
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
