//! Where scenario and requirement files come from: the ones in the binary, or a folder instead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::expand::{BadScenario, expand};
use super::model::Scenario;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));
}

/// The TOML files of one set, by their path below the set's root.
#[derive(Debug, Clone, Default)]
pub struct Files(Vec<(String, String)>);

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the scenario folder {path} can't be read: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Bad(#[from] BadScenario),
    #[error("{id} is the id of two scenarios, in {first} and in {second}")]
    Twice { id: String, first: String, second: String },
}

const REQUIREMENTS: &str = "requirements/";

impl Files {
    /// The files that were built into this binary.
    pub fn embedded() -> Self {
        Self(embedded::FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect())
    }

    pub fn in_folder(root: &Path) -> Result<Self, LoadError> {
        let mut files = Vec::new();
        collect(root, root, &mut files).map_err(|error| LoadError::Unreadable { path: root.to_owned(), error })?;
        files.sort();
        Ok(Self(files))
    }

    /// The folder if one is named, else the embedded files. A folder without a catalogue is used with the embedded one.
    pub fn of(folder: Option<&Path>) -> Result<Self, LoadError> {
        let Some(folder) = folder else { return Ok(Self::embedded()) };
        let mut files = Self::in_folder(folder)?;
        if files.requirements().next().is_none() {
            files.0.extend(Self::embedded().0.into_iter().filter(|(name, _)| name.starts_with(REQUIREMENTS)));
        }
        Ok(files)
    }

    pub fn requirements(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts(true)
    }

    /// The scenario files, each of which may stand for many scenarios.
    pub fn families(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts(false)
    }

    /// Every scenario of the set, by id.
    pub fn scenarios(&self) -> Result<Vec<Scenario>, LoadError> {
        let mut found: Vec<(Scenario, &str)> = Vec::new();
        for (file, text) in self.families() {
            found.extend(expand(file, text)?.into_iter().map(|scenario| (scenario, file)));
        }
        found.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        if let Some([(one, first), (_, second)]) = found.array_windows().find(|[(a, _), (b, _)]| a.id == b.id) {
            let (first, second) = ((*first).to_owned(), (*second).to_owned());
            return Err(LoadError::Twice { id: one.id.to_string(), first, second });
        }
        Ok(found.into_iter().map(|(scenario, _)| scenario).collect())
    }

    fn parts(&self, requirements: bool) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter(move |(name, _)| name.starts_with(REQUIREMENTS) == requirements)
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string().replace('\\', "/");
            files.push((name, fs::read_to_string(&path)?));
        }
    }
    Ok(())
}
