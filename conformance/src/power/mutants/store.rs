//! A file of the agent's store that shouldn't be as it is.

use crate::evidence::Evidence;
use crate::evidence::files::SeenFile;
use crate::power::change::changed;
use crate::power::mutant::Mutant;
use crate::scenario::files::FileKind;

const MODES: &[&str] = &["store-modes"];

pub fn mutants() -> Vec<Mutant> {
    let mut all = Vec::new();
    for mode in [0o644, 0o640, 0o666, 0o700] {
        let said = format!("a file of the store has mode {mode:04o}");
        all.push(Mutant::new(format!("store/file-{mode:04o}"), said, MODES, move |green| {
            change(green, |file| file.kind == Some(FileKind::File), |file| file.mode = mode)
        }));
    }
    for mode in [0o755, 0o750, 0o777] {
        let said = format!("a folder of the store has mode {mode:04o}");
        all.push(Mutant::new(format!("store/folder-{mode:04o}"), said, MODES, move |green| {
            change(green, |file| file.kind == Some(FileKind::Dir), |file| file.mode = mode)
        }));
    }
    for (name, kind) in [("a-link", FileKind::Symlink), ("a-pipe", FileKind::Other)] {
        let said = format!("{} stands in the store", name.replace('-', " "));
        all.push(Mutant::new(format!("store/{name}"), said, MODES, move |green| {
            change(green, |file| file.kind == Some(FileKind::File), |file| file.kind = Some(kind))
        }));
    }
    let said = "a file of inputs is left in the store";
    all.push(Mutant::new("store/forgotten-inputs", said, &["params-file"], |green| {
        let mut left = green.files.iter().find(|file| is_own(file) && file.kind == Some(FileKind::File))?.clone();
        left.path = left.path.with_file_name("openadapt_agent_params_left.json");
        left.text = "{}".to_owned();
        changed(green, |evidence| {
            evidence.files.push(left);
            Some(())
        })
    }));
    all
}

/// Changes the first file of the store that the scenario has nothing to do with.
fn change(green: &Evidence, fits: impl Fn(&SeenFile) -> bool, how: impl Fn(&mut SeenFile)) -> Option<Evidence> {
    green.after.files.is_empty().then_some(())?;
    let at = green.files.iter().position(|file| is_own(file) && fits(file))?;
    changed(green, |evidence| {
        how(&mut evidence.files[at]);
        Some(())
    })
}

fn is_own(file: &SeenFile) -> bool {
    !file.planted && file.path.components().any(|part| part.as_os_str() == "openadapt-agent")
}
