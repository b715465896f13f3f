//! `run`: the checks that come before any script, then the play.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::argparse::{self, Parsed, Stop};
use super::own::Settings;
use super::{flags, help, script_fault};
use crate::journal::Journal;
use crate::launch::{self, BadInputs, Bundle, Unloadable};
use crate::output::{self, Pipe};
use crate::play::{Ending, Player, refusal};
use crate::report::Profile;
use crate::script::{Effect, Gate, Play, ReportSpec, ScriptError, Step, When};
use crate::{clock, report};

pub fn run(settings: &Settings, args: &[String]) -> u8 {
    match play(settings, args) {
        Ok(ending) => ending.take(),
        Err(error) => script_fault(&error),
    }
}

fn play(settings: &Settings, args: &[String]) -> Result<Ending, ScriptError> {
    let mut journal = settings.open_journal()?;
    let parsed = match argparse::parse(&flags::RUN, args) {
        Ok(parsed) => parsed,
        Err(Stop::Help) => return Ok(Ending::Code(help::stop(&flags::RUN, &Stop::Help))),
        Err(stop) => return Ok(misused(&mut journal, &stop)),
    };
    let path = PathBuf::from(parsed.positional(0));
    let folder = launch::folder_name(&path);
    let params = launch::read_params(parsed.value("--params-file"), parsed.values("--param"));
    let run_dir = parsed.value("--run-dir").map_or_else(default_run_dir, PathBuf::from);
    journal.carry("run_dir", json!(absolute(&run_dir)));
    let number = journal
        .launch(&folder, launch_facts(&parsed, params.as_ref().ok()))
        .map_err(|source| ScriptError::Io { name: "journal", source })?;

    let (bundle, params) = match checked(&parsed, &path, params) {
        Ok(checked) => checked,
        Err(early) => return Ok(early.end(&mut journal)),
    };
    let profile = parsed.value("--profile").and_then(Profile::named);
    let script = settings.load_script(Some(&path)).and_then(|script| match script {
        None => Ok(demo_play(&parsed, profile)),
        Some(script) if script.plays.is_empty() => Ok(demo_play(&parsed, profile)),
        Some(script) => script.play_for(&folder, &params, number).cloned().ok_or(ScriptError::NoPlay),
    });
    let subject =
        bundle.subject(profile, parsed.value("--policy").unwrap_or("clinical-write"), parsed.value("--url"), params);
    let played = script.and_then(|play| {
        let dry_run = parsed.has("--dry-run") || parsed.has("--explain");
        Player::new(&mut journal, settings.control.clone(), bundle, subject, run_dir, dry_run)
            .headed(parsed.has("--headed"))
            .durable(parsed.has("--durable"))
            .play(&play.steps)
    });
    if let Err(error) = &played {
        let _ = journal.write("bad_script", json!({"problem": error.to_string(), "hint": error.hint()}));
        let _ = journal.write("exit", json!({"code": super::HARNESS_FAULT}));
    }
    played
}

/// What an admitted run does when nobody wrote a script.
fn demo_play(parsed: &Parsed, profile: Option<Profile>) -> Play {
    let governed = matches!(profile, Some(Profile::Standard | Profile::Regulated));
    let shape = match profile {
        None => report::Shape::NoProfileSuccess,
        Some(Profile::Demo) => report::Shape::CompletedUnverified,
        Some(_) => report::Shape::Verified,
    };
    Play {
        when: When::default(),
        steps: vec![
            Step::Gate(Gate::Admit),
            if governed || parsed.has("--durable") { Step::RunDir } else { Step::PlainRunDir },
            Step::Effect(Effect { label: "save".into(), to: None }),
            Step::Report(Box::new(ReportSpec::of(shape))),
        ],
    }
}

/// An end that the real program comes to before its gate.
enum Early {
    Unloadable(Unloadable),
    Inputs(BadInputs),
    Config(String),
}

impl Early {
    fn end(self, journal: &mut Journal) -> Ending {
        let code = match self {
            Self::Unloadable(error) => {
                output::line(Pipe::Stdout, &refusal(&error.to_string()));
                2
            }
            Self::Inputs(error) => {
                output::line(Pipe::Stderr, &error.to_string());
                1
            }
            Self::Config(error) => {
                output::write(Pipe::Stderr, crate::play::traceback_text(&error).as_bytes());
                1
            }
        };
        ended(journal, code)
    }
}

/// The order of the real program: the bundle, the inputs, the configuration.
fn checked(
    parsed: &Parsed,
    path: &Path,
    params: Result<Map<String, Value>, BadInputs>,
) -> Result<(Bundle, Map<String, Value>), Early> {
    let bundle = Bundle::load(path).map_err(Early::Unloadable)?;
    let params = params.map_err(Early::Inputs)?;
    if let Some(config) = parsed.value("--config")
        && let Err(error) = std::fs::read(config)
    {
        return Err(Early::Config(format!("FileNotFoundError: {config}: {error}")));
    }
    Ok((bundle, params))
}

/// A command line that argparse refuses is a launch too: the judge counts every start.
fn misused(journal: &mut Journal, stop: &Stop) -> Ending {
    journal.carry("run_dir", Value::Null);
    let facts = json!({"argv": whole_command_line(), "params": null, "params_path": null, "params_mode": null});
    let _ = journal.launch("", facts);
    let code = help::stop(&flags::RUN, stop);
    ended(journal, code)
}

fn ended(journal: &mut Journal, code: u8) -> Ending {
    let _ = journal.write("exit", json!({"code": code}));
    Ending::Code(code)
}

fn launch_facts(parsed: &Parsed, params: Option<&Map<String, Value>>) -> Value {
    let path = parsed.value("--params-file");
    json!({
        "argv": whole_command_line(),
        "cwd": std::env::current_dir().ok(),
        "params": params,
        "params_path": path,
        "params_mode": path.and_then(|path| launch::mode_of(Path::new(path)).ok()),
        "profile": parsed.value("--profile"),
        "stdin": stdin_kind(),
    })
}

/// Every argument of this process, its name first.
pub fn whole_command_line() -> Vec<String> {
    std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

/// What stands at file descriptor 0. A closed one reads as `null`: the runtime opens the null device there.
fn stdin_kind() -> &'static str {
    use std::os::fd::AsFd;
    let stdin = std::io::stdin();
    let Ok(found) = rustix::fs::fstat(stdin.as_fd()) else { return "other" };
    match rustix::fs::FileType::from_raw_mode(found.st_mode) {
        rustix::fs::FileType::CharacterDevice
            if std::fs::metadata("/dev/null").is_ok_and(|null| is_same(&null, found.st_rdev)) =>
        {
            "null"
        }
        rustix::fs::FileType::Fifo => "pipe",
        rustix::fs::FileType::CharacterDevice => "terminal",
        rustix::fs::FileType::RegularFile => "file",
        _ => "other",
    }
}

fn is_same(null: &std::fs::Metadata, device: u64) -> bool {
    std::os::unix::fs::MetadataExt::rdev(null) == device
}

fn default_run_dir() -> PathBuf {
    PathBuf::from("runs").join(clock::now().strftime("replay-%Y%m%d-%H%M%S").to_string())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
