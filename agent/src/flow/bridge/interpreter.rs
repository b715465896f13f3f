//! Flow's own interpreter, told from the command that starts Flow. Files are read; nothing is started.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Flow as Python names it, in a command line and in a script that starts it.
const MODULE: &str = "openadapt_flow";
/// A script that starts Flow is a few lines long.
const LOOKED_AT: u64 = 4 << 10;

/// The words that start the interpreter which Flow runs under. Nothing for a Flow that is no Python program, and for one that
/// is started by a wrapper.
pub fn interpreter_of(flow: &[String], search_path: Option<&OsStr>) -> Option<Vec<String>> {
    match flow {
        [before @ .., flag, module] if flag == "-m" && module == MODULE && !before.is_empty() => Some(before.to_vec()),
        [program] => of_script(&beginning(&found(program, search_path)?)?),
        _ => None,
    }
}

/// A script's interpreter, where the script is one that starts Flow.
fn of_script(text: &str) -> Option<Vec<String>> {
    let mut lines = text.lines();
    let named = lines.next()?.strip_prefix("#!")?.trim();
    let words: Vec<_> = match (named, lines.next()) {
        // An interpreter whose path is too long for the kernel, or holds a space: a line that only the shell reads.
        ("/bin/sh", Some(line)) => {
            shlex::split(line.strip_prefix("'''exec' ")?)?.into_iter().take_while(|word| word != "$0").collect()
        }
        _ => named.split_whitespace().filter(|word| *word != "-S").map(str::to_owned).collect(),
    };
    let is_python = |word: &String| Path::new(word).file_name().is_some_and(begins_python);
    (words.iter().take(2).any(is_python) && text.contains(MODULE)).then_some(words)
}

fn begins_python(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("python") || name.starts_with("pypy"))
}

fn found(program: &str, search_path: Option<&OsStr>) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program));
    }
    std::env::split_paths(search_path?).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn beginning(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(flow: &str) -> Vec<String> {
        flow.split(' ').map(str::to_owned).collect()
    }

    fn of_text(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("openadapt-flow"), text).unwrap();
        let by_path = interpreter_of(&[folder.path().join("openadapt-flow").display().to_string()], None);
        let by_name = interpreter_of(&words("openadapt-flow"), Some(folder.path().as_os_str()));
        assert_eq!(by_path, by_name);
        by_path.map(|words| words.join("|"))
    }

    const REST: &str = "\nimport sys\nfrom openadapt_flow.__main__ import main\nsys.exit(main())\n";

    #[test]
    fn a_module_is_run_by_the_words_before_it() {
        let of = |flow| interpreter_of(&words(flow), None).map(|words| words.join("|"));
        assert_eq!(of("/v/bin/python -X utf8 -m openadapt_flow").as_deref(), Some("/v/bin/python|-X|utf8"));
        assert_eq!(of("python -m another"), None);
        assert_eq!(of("-m openadapt_flow"), None);
    }

    #[test]
    fn a_script_that_starts_flow_names_its_interpreter_in_each_of_the_ways_there_are() {
        let long = "#!/bin/sh\n'''exec' \"/a folder/bin/python3\" \"$0\" \"$@\"\n' '''";
        for (first, expected) in [
            ("#!/v/bin/python3.12", "/v/bin/python3.12"),
            ("#!/usr/bin/env python3", "/usr/bin/env|python3"),
            ("#!/usr/bin/env -S python3 -E", "/usr/bin/env|python3|-E"),
            (long, "/a folder/bin/python3"),
        ] {
            assert_eq!(of_text(&format!("{first}{REST}")).as_deref(), Some(expected), "{first}");
        }
    }

    #[test]
    fn a_wrapper_another_program_and_a_missing_one_have_no_interpreter() {
        let shim = format!("#!/usr/bin/env bash{REST}");
        for text in
            [shim.as_str(), "#!/usr/bin/env python3\nprint('another')\n", "\u{7f}ELF", "", "#!/bin/sh\nexec flow"]
        {
            assert_eq!(of_text(text), None, "{text}");
        }
        assert_eq!(interpreter_of(&words("/no/such/flow"), None), None);
        assert_eq!(interpreter_of(&words("uv run openadapt-flow"), None), None);
    }
}
