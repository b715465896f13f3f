//! What Flow's stand-in wrote down of its starts and its saves, changed in one line.

use serde_json::json;

use crate::evidence::{Evidence, JournalLine};
use crate::power::change::{changed, forget, insert, position, run_results, word};
use crate::power::mutant::Mutant;

pub fn mutants() -> Vec<Mutant> {
    vec![
        Mutant::new(
            "journal/the-save-is-missing",
            "a save that was told isn't in the journal",
            &["save-truth"],
            |green| {
                one_run(green, "done")?;
                forget(green, JournalLine::is_effect)
            },
        ),
        Mutant::new(
            "journal/a-save-before-a-no",
            "a run that said no had saved before it said so",
            &["save-truth"],
            |green| saving_at_the_start(green, "no"),
        ),
        Mutant::new(
            "journal/a-save-before-a-retry",
            "a run that may be tried again had saved",
            &["save-truth"],
            |green| {
                let object = lone(green).filter(|object| object["safe_to_retry"] == true)?;
                let at = position(green, JournalLine::is_launch)?;
                let line = save_of(green, at)?;
                (line.run_id() == Some(word(&object, "run_id"))).then_some(())?;
                insert(green, at, line)
            },
        ),
        Mutant::new("journal/started-twice", "one run is started twice", &["at-most-once"], |green| {
            green.after.launches?;
            let at = position(green, JournalLine::is_launch)?;
            insert(green, at, green.journal[at].clone())
        }),
        Mutant::new(
            "journal/started-without-a-call",
            "Flow is started once more than there are requests",
            &["launches"],
            |green| {
                (green.after.launches.is_none() && requests(green) == launches(green)).then_some(())?;
                let at = position(green, JournalLine::is_launch)?;
                let mut line = green.journal[at].clone();
                let folder = line.text("run_dir")?.rsplit_once('/')?.0.to_owned();
                line.0["run_dir"] = json!(format!("{folder}/run-ffffffffffffffffffffffff"));
                insert(green, at, line)
            },
        ),
        Mutant::new(
            "journal/inputs-readable-for-all",
            "the params file was readable for others",
            &["params-file"],
            |green| {
                let at = position(green, JournalLine::is_launch)?;
                changed(green, |evidence| {
                    evidence.journal[at].0["params_mode"] = "0644".into();
                    Some(())
                })
            },
        ),
        Mutant::new("journal/inputs-by-another-way", "inputs came without a params file", &["params-file"], |green| {
            let at = position(green, JournalLine::is_launch)?;
            changed(green, |evidence| evidence.journal[at].0.as_object_mut()?.shift_remove("params_path").map(drop))
        }),
        Mutant::new("journal/inputs-left-behind", "the params file is still there", &["params-file"], |green| {
            let at = position(green, JournalLine::is_launch)?;
            let path = green.journal[at].text("params_path")?.to_owned();
            let kept = green.files.iter().find(|file| file.mode == 0o600 && !file.planted)?;
            let mut left = kept.clone();
            (left.path, left.text, left.bytes) = (path.into(), "{}".to_owned(), 2);
            changed(green, |evidence| {
                evidence.files.push(left);
                Some(())
            })
        }),
        Mutant::new(
            "journal/two-runs-at-once",
            "two sandbox runs use one app at the same time",
            &["one-at-a-time"],
            |green| {
                let starts: Vec<usize> = (0..green.journal.len()).filter(|at| green.journal[*at].is_launch()).collect();
                let [first, second, ..] = starts[..] else { return None };
                let exit = |line: &JournalLine| line.event() == "exit" && line.pid() == green.journal[first].pid();
                position(green, exit).filter(|end| (first + 1..second).contains(end))?;
                let app = |at: usize| {
                    green.journal[at].0["argv"].to_string().contains("--url=http://127.0.0.1:").then_some(())
                };
                app(first)?;
                app(second)?;
                let moved = green.journal[second].clone();
                let without = changed(green, |evidence| {
                    evidence.journal.remove(second);
                    evidence.journal.insert(first + 1, moved);
                    Some(())
                })?;
                Some(without)
            },
        ),
    ]
}

/// A save of the run right after its start, where its answer says this of a change.
fn saving_at_the_start(green: &Evidence, says: &str) -> Option<Evidence> {
    let object = lone(green).filter(|object| word(object, "record_changed") == says)?;
    let at = position(green, JournalLine::is_launch)?;
    let line = save_of(green, at)?;
    (line.run_id() == Some(word(&object, "run_id"))).then_some(())?;
    insert(green, at, line)
}

fn save_of(green: &Evidence, launch: usize) -> Option<JournalLine> {
    let run_dir = green.journal[launch].text("run_dir")?;
    Some(JournalLine(json!({"event": "effect", "label": "save", "run_dir": run_dir})))
}

/// The only run result, of production, with its only start.
fn lone(green: &Evidence) -> Option<serde_json::Value> {
    let mut results = run_results(green);
    let (_, object) = results.next().filter(|(_, object)| word(object, "mode") == "production")?;
    (results.next().is_none() && launches(green) == 1).then_some(object)
}

fn one_run(green: &Evidence, outcome: &str) -> Option<()> {
    lone(green).filter(|object| word(object, "outcome") == outcome).map(drop)
}

fn launches(green: &Evidence) -> usize {
    green.journal.iter().filter(|line| line.is_launch()).count()
}

fn requests(green: &Evidence) -> usize {
    let ids = green
        .exchanges
        .iter()
        .filter(|call| call.tool.is_some())
        .filter_map(|call| call.arguments.get("request_id")?.as_str());
    ids.collect::<std::collections::BTreeSet<_>>().len()
}
