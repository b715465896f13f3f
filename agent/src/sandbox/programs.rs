//! Where the sandbox's programs are: beside this one, else on the PATH.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A program of this workspace by its plain name.
pub fn ours(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let here = std::env::current_exe().ok();
    let beside = here.as_deref().and_then(Path::parent).map(|folder| folder.join(&file));
    beside.filter(|program| program.is_file()).or_else(|| on_path(&file, std::env::var_os("PATH").as_deref()))
}

/// Whether a command line's first word names a program that is there.
pub fn is_there(word: &str) -> bool {
    let bare = Path::new(word).components().count() == 1 && !word.starts_with('.');
    if bare { on_path(word, std::env::var_os("PATH").as_deref()).is_some() } else { Path::new(word).is_file() }
}

fn on_path(file: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|folder| folder.join(file)).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_on_the_path_and_nowhere_else() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("tool"), "").expect("a file");
        let path = std::env::join_paths([Path::new("/no/such/folder"), folder.path()]).expect("a PATH");
        assert_eq!(on_path("tool", Some(&path)), Some(folder.path().join("tool")));
        assert_eq!(on_path("other", Some(&path)), None);
        assert_eq!(on_path("tool", None), None);
    }

    #[test]
    fn a_word_with_a_folder_in_it_is_a_path() {
        assert!(is_there("/proc/self/exe"));
        assert!(!is_there("/no/such/program"));
        assert!(is_there("sh"));
        assert!(!is_there("a-program-that-nobody-has"));
    }
}
