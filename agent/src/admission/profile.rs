//! Under which profile a run of the operator's own workflows would be started, read from the words and the file that Flow is
//! given. Source: *Governed runs*, "Standard and Regulated need an active workflow admission".

use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, Yaml};

use crate::workflows::files;

const CONFIG_LIMIT: usize = 1 << 20;
/// The shortest beginnings of two of Flow's flags that its parser takes for them and for no other.
const PROFILE: (&str, &str) = ("--profile", "--prof");
const AUTHORITY: (&str, &str) = ("--qualification-authority-file", "--qualification-a");

/// The posture that a run is started under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// No profile is named anywhere.
    None,
    Demo,
    /// Standard, regulated, and every word that isn't known here.
    Governed,
}

/// The profile of a run: a flag outranks the deployment file. A deployment file that can't be read may say anything.
pub fn of_run(extra: &[String], config: Option<&Path>) -> Profile {
    match (value_of(extra, PROFILE), config) {
        (Some(word), _) => from_word(word),
        (None, None) => Profile::None,
        (None, Some(config)) => in_deployment(config).unwrap_or(Profile::Governed),
    }
}

/// The authority file that Flow is given.
pub fn authority_file(extra: &[String]) -> Option<PathBuf> {
    value_of(extra, AUTHORITY).map(PathBuf::from)
}

fn from_word(word: &str) -> Profile {
    if word == "demo" { Profile::Demo } else { Profile::Governed }
}

/// `runtime.profile`.
fn in_deployment(config: &Path) -> Option<Profile> {
    let bytes = files::read(&config.canonicalize().ok()?, CONFIG_LIMIT).ok()?;
    let documents = Yaml::load_from_str(std::str::from_utf8(&bytes).ok()?).ok()?;
    let document = match documents.as_slice() {
        [] => return Some(Profile::None),
        [document] => document,
        _ => return None,
    };
    if document.is_null() {
        return Some(Profile::None);
    }
    let merged = |node: &Yaml<'_>| node.as_mapping_get("<<").is_some();
    document.as_mapping()?;
    if merged(document) {
        return None;
    }
    let runtime = match document.as_mapping_get("runtime") {
        None => return Some(Profile::None),
        Some(runtime) if runtime.is_null() => return Some(Profile::None),
        Some(runtime) => runtime,
    };
    runtime.as_mapping()?;
    if merged(runtime) {
        return None;
    }
    match runtime.as_mapping_get("profile") {
        None => Some(Profile::None),
        Some(profile) if profile.is_null() => Some(Profile::None),
        Some(profile) => profile.as_str().map(from_word),
    }
}

/// The value of the last such flag, whether it stands behind a `=` or is the next word.
fn value_of<'a>(words: &'a [String], (name, shortest): (&str, &str)) -> Option<&'a str> {
    let mut value = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (flag, own) = word.split_once('=').map_or((word.as_str(), None), |(flag, own)| (flag, Some(own)));
        if flag.len() >= shortest.len() && name.starts_with(flag) {
            value = own.or_else(|| rest.next().map(String::as_str)).or(Some(""));
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str], deployment: Option<&str>) -> Profile {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("flow.yaml");
        if let Some(text) = deployment {
            std::fs::write(&config, text).unwrap();
        }
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        of_run(&words, deployment.map(|_| config.as_path()))
    }

    #[test]
    fn a_profile_is_read_from_the_words_as_flow_reads_them() {
        for words in [
            &["--profile=standard"][..],
            &["--profile", "regulated"],
            &["--prof=standard"],
            &["--durable", "--profil", "standard"],
            &["--profile=demo", "--profile=standard"],
            &["--profile=unheard"],
            &["--profile"],
        ] {
            assert_eq!(of(words, None), Profile::Governed, "{words:?}");
            assert_eq!(of(words, Some("runtime: {profile: demo}\n")), Profile::Governed, "{words:?}");
        }
        for words in [&["--profile=demo"][..], &["--profile", "demo"], &["--profile=standard", "--profile=demo"]] {
            assert_eq!(of(words, Some("runtime: {profile: standard}\n")), Profile::Demo, "{words:?}");
        }
        for words in [&[][..], &["--durable"], &["--pro=standard"], &["--process-runner-id=standard"]] {
            assert_eq!(of(words, None), Profile::None, "{words:?}");
        }
    }

    #[test]
    fn a_profile_is_read_from_the_deployment_file() {
        for text in [
            "runtime:\n  profile: standard\n",
            "{runtime: {profile: 'regulated'}}",
            "runtime: {profile: [demo]}",
            "a: b: c",
            "- x",
            "a: 1\n---\na: 2",
            "runtime: {<<: {profile: demo}}",
        ] {
            assert_eq!(of(&[], Some(text)), Profile::Governed, "{text}");
        }
        for text in [
            "backend: {}\n",
            "",
            "runtime:\n",
            "runtime: {durable: true}",
            "runtime: {profile: null}",
            "profile: standard",
        ] {
            assert_eq!(of(&[], Some(text)), Profile::None, "{text}");
        }
        assert_eq!(of(&[], Some("runtime:\n  profile: \"demo\"  # for now\n")), Profile::Demo);
        assert_eq!(of_run(&[], Some(Path::new("/nowhere/at/all"))), Profile::Governed);
    }

    #[test]
    fn the_authority_file_is_the_one_that_flow_is_given() {
        let words = |words: &[&str]| authority_file(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["--qualification-authority-file", "/a"]), Some("/a".into()));
        assert_eq!(words(&["--qualification-auth=/b"]), Some("/b".into()));
        assert_eq!(words(&["--qualification-trust=/c"]), None);
    }
}
