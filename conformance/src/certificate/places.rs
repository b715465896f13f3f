//! Words that name this machine, and what stands in their place where others read.

use std::env;
use std::fs;
use std::path::Path;

/// Longest first, so that a folder's own name goes before that of the folder around it.
#[derive(Debug, Clone, Default)]
pub struct Places(Vec<(String, String)>);

/// Folders that every machine has.
const COMMON: [&str; 9] = ["/", "/usr", "/bin", "/lib", "/etc", "/opt", "/tmp", "/var", "/home"];
/// Shorter names of a machine or an account would be found in words that mean something else.
const SHORTEST_NAME: usize = 3;

impl Places {
    /// What every machine has: a home, a current folder, a name, an account. What was named before keeps its word.
    pub fn and_this_machine(mut self) -> Self {
        let places = &mut self;
        if let Ok(here) = env::current_dir() {
            places.folder(&here, "/here");
        }
        if let Ok(judge) = env::current_exe() {
            places.program(&judge, "/judge");
        }
        if let Some(home) = env::var_os("HOME") {
            places.folder(Path::new(&home), "/home-folder");
        }
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        places.name(&host, "this-machine");
        places.name(&env::var("USER").unwrap_or_default(), "this-account");
        self
    }

    /// A program, the folder that it lies in and the one that all of its installation lies in.
    pub fn program(&mut self, program: &Path, shown: &str) {
        let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
        for path in [program, &real] {
            if let Some(folder) = path.parent() {
                self.folder(folder, shown);
                let installed = folder.file_name().is_some_and(|name| name == "bin");
                if let Some(around) = folder.parent().filter(|_| installed) {
                    self.folder(around, shown);
                }
            }
        }
    }

    pub fn folder(&mut self, folder: &Path, shown: &str) {
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        for path in [folder.to_owned(), real] {
            let text = path.display().to_string();
            if path.is_absolute() && !common(&path) {
                self.add(text, shown);
            }
        }
    }

    pub fn name(&mut self, name: &str, shown: &str) {
        if name.len() >= SHORTEST_NAME && !["root", "judge", "localhost"].contains(&name) {
            self.add(name.to_owned(), shown);
        }
    }

    /// What was found of them in a text.
    pub fn named_in(&self, text: &str) -> Option<&str> {
        let stands = |place: &&(String, String)| occurrences(text, &place.0).next().is_some();
        self.0.iter().find(stands).map(|(place, _)| place.as_str())
    }

    pub fn without(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, shown) in &self.0 {
            let found: Vec<usize> = occurrences(&text, place).collect();
            for at in found.into_iter().rev() {
                text.replace_range(at..at + place.len(), shown);
            }
        }
        text
    }

    fn add(&mut self, place: String, shown: &str) {
        if !self.0.iter().any(|(known, _)| *known == place) {
            self.0.push((place, shown.to_owned()));
            self.0.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        }
    }
}

fn common(path: &Path) -> bool {
    COMMON.iter().any(|common| path == Path::new(common))
        || ["/usr/bin", "/usr/local", "/usr/local/bin"].iter().any(|common| path == Path::new(common))
}

/// Where a place stands as a whole: not as the beginning or the end of a longer word.
fn occurrences<'a>(text: &'a str, place: &'a str) -> impl Iterator<Item = usize> + 'a {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    text.match_indices(place).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + place.len());
        let begins = place.starts_with('/') || !before.is_some_and(word);
        begins && !after.is_some_and(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        let mut places = Places::default();
        places.folder(Path::new("/srv/flow"), "/flow");
        places.folder(Path::new("/srv/flow/venv"), "/venv");
        places.name("box7", "this-machine");
        places
    }

    #[test]
    fn a_place_goes_and_what_only_looks_like_one_stays() {
        let places = places();
        assert_eq!(
            places.without("/srv/flow/venv/bin/x /srv/flow/y /srv/flower box7 box70"),
            "/venv/bin/x /flow/y /srv/flower this-machine box70"
        );
        assert_eq!(places.named_in("at box7"), Some("box7"));
        assert_eq!(places.named_in("at abox7"), None);
    }

    #[test]
    fn folders_that_every_machine_has_stay() {
        let mut places = Places::default();
        places.program(Path::new("/usr/bin/python3.9x"), "/python");
        assert_eq!(places.without("/usr/bin/env"), "/usr/bin/env");
    }
}
