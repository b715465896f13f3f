//! The files that the agent keeps: who may read them, and what must not stay.

use super::verdict::{Check, Cite, Verdict};
use crate::evidence::Evidence;
use crate::scenario::Action;
use crate::scenario::files::FileKind;

pub const MODES: Check =
    Check { id: "store-modes", sentence: "Files of the store are 0600, in folders 0700.", judge: modes };

pub const PARAMS: Check = Check {
    id: "params-file",
    sentence: "Inputs go to Flow in a file of mode 0600, which is gone afterwards.",
    judge: params,
};

fn modes(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let recorded = evidence.tool_results().any(|(_, object)| object.get("run_id").is_some_and(|run| run.is_string()));
    let mut verdict = verdict.due(recorded);
    let planted = planted_under_way(evidence);
    for file in evidence.files.iter().filter(|file| !file.planted && in_store(&file.path)) {
        verdict.saw();
        if planted.iter().any(|path| is_of(&file.path, path)) {
            continue;
        }
        let wanted = match file.kind {
            Some(FileKind::Dir) => 0o700,
            Some(FileKind::File) => 0o600,
            _ => {
                verdict.fails("a plain file or a folder", format!("{:?}", file.kind), [Cite::File(file.path.clone())]);
                continue;
            }
        };
        if file.mode != wanted {
            let actual = format!("mode {:04o}: {}", file.mode, file.path.display());
            verdict.fails(format!("mode {wanted:04o}"), actual, [Cite::File(file.path.clone())]);
        }
    }
    verdict
}

/// Where the scenario itself put something that is no plain file.
fn planted_under_way(evidence: &Evidence) -> Vec<&str> {
    let edits = evidence.steps.iter().filter_map(|step| match &step.action {
        Action::Edit(edit) => Some(edit),
        _ => None,
    });
    edits.filter(|edit| edit.fifo || edit.socket || edit.symlink_to.is_some()).map(|edit| edit.edit.as_str()).collect()
}

/// The path itself, or what the agent set aside from there.
fn is_of(found: &std::path::Path, path: &str) -> bool {
    let rest = found.to_str().and_then(|found| found.strip_prefix(path));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(".corrupt-"))
}

fn params(evidence: &Evidence, verdict: Verdict) -> Verdict {
    let launched = evidence.journal.iter().any(|line| line.is_launch());
    let mut verdict = verdict.due(launched);
    for (index, line) in evidence.journal.iter().enumerate().filter(|(_, line)| line.is_launch()) {
        verdict.saw();
        let Some(path) = line.text("params_path") else {
            verdict.fails("inputs in a params file", "Flow was started without one", [Cite::Journal(index)]);
            continue;
        };
        let mode = line.text("params_mode").unwrap_or("unknown");
        if mode != "0600" {
            verdict.fails("a params file of mode 0600", format!("mode {mode}"), [Cite::Journal(index)]);
        }
        if evidence.files.iter().any(|file| file.path.as_os_str() == path && file.kind.is_some()) {
            verdict.fails("no params file afterwards", format!("{path} is there"), [Cite::Journal(index)]);
        }
    }
    for file in evidence.files.iter().filter(|file| !file.planted && looks_like_params(&file.path)) {
        verdict.saw();
        verdict.fails(
            "no params file afterwards",
            format!("{} is there", file.path.display()),
            [Cite::File(file.path.clone())],
        );
    }
    verdict
}

fn in_store(path: &std::path::Path) -> bool {
    path.components().any(|part| part.as_os_str() == "openadapt-agent")
}

fn looks_like_params(path: &std::path::Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (in_store(path) && name == "params.json") || name.starts_with("openadapt_agent_params_")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{fails, file, folder, holds, saved};
    use super::*;

    const STORE: &str = "/w/runs/openadapt-agent";

    #[test]
    fn the_sample_holds() {
        holds(&MODES, &saved());
        holds(&PARAMS, &saved());
    }

    #[test]
    fn a_file_or_folder_that_others_may_read_fails() {
        let mut evidence = saved();
        evidence.files.push(crate::evidence::files::SeenFile { mode: 0o644, ..file(&format!("{STORE}/x"), "") });
        fails(&MODES, &evidence);
        let mut evidence = saved();
        evidence.files.push(crate::evidence::files::SeenFile { mode: 0o755, ..folder(&format!("{STORE}/locks")) });
        fails(&MODES, &evidence);
    }

    #[test]
    fn what_the_scenario_planted_says_nothing() {
        let mut evidence = saved();
        let planted =
            crate::evidence::files::SeenFile { mode: 0o644, planted: true, ..file(&format!("{STORE}/x"), "") };
        evidence.files.push(planted);
        holds(&MODES, &evidence);
    }

    #[test]
    fn what_the_scenario_put_in_a_files_place_says_nothing_and_what_stands_beside_it_does() {
        let link = |path: &str| crate::evidence::files::SeenFile { kind: Some(FileKind::Symlink), ..file(path, "") };
        let with = |found: &str| {
            let mut evidence = saved();
            let edit = serde_json::json!({"edit": format!("{STORE}/x"), "symlink_to": "/dev/zero"});
            evidence.steps[0].action = serde_json::from_value(edit).unwrap();
            evidence.files.push(link(found));
            evidence
        };
        holds(&MODES, &with(&format!("{STORE}/x")));
        holds(&MODES, &with(&format!("{STORE}/x.corrupt-1")));
        fails(&MODES, &with(&format!("{STORE}/xy")));
    }

    #[test]
    fn a_run_that_left_no_store_fails() {
        let mut evidence = saved();
        evidence.files.clear();
        fails(&MODES, &evidence);
    }

    #[test]
    fn a_params_file_that_is_open_left_or_missing_fails() {
        let mut open = saved();
        open.journal[0].0["params_mode"] = "0644".into();
        fails(&PARAMS, &open);
        let mut left = saved();
        left.files.push(file(left.journal[0].text("params_path").unwrap(), "{}"));
        fails(&PARAMS, &left);
        let mut missing = saved();
        missing.journal[0].0["params_path"] = serde_json::Value::Null;
        fails(&PARAMS, &missing);
        let mut stray = saved();
        stray.files.push(file("/w/tmp/openadapt_agent_params_1.json", "{}"));
        fails(&PARAMS, &stray);
    }
}
