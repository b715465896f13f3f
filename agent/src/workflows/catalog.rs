//! The catalogue: every bundle in a folder, under the names that callers use.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::bundle::{self, Bundle, LoadError};
use super::card::{Card, CardProblem};
use super::encrypted::{self, AskFlow};
use super::identity::{first_free, id_of_loaded, id_of_unloadable, slug};
use super::inputs::Omitted;

/// Every bundle that was found when the server started, in order of discovery.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    workflows: Vec<Workflow>,
}

/// The folder of bundles can't be listed.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("the bundles folder doesn't exist or isn't a folder")]
    NotAFolder,
    #[error("the bundles folder can't be listed")]
    Unreadable(#[source] std::io::Error),
}

/// One bundle, described or listed as unavailable.
#[derive(Debug, Clone)]
pub struct Workflow {
    /// Opaque and unique: `workflow_` and 24 hex digits of a digest, with a suffix where two bundles are the same.
    pub public_id: String,
    /// For the person at this computer only.
    pub slug: String,
    pub card: Card,
    /// Nothing for a bundle that didn't load.
    pub step_count: Option<usize>,
    pub encrypted: bool,
    /// True unless every step is known to change nothing.
    pub changes_records: bool,
    pub load_error: Option<LoadError>,
    /// The operator's card file was ignored, for this reason.
    pub card_problem: Option<CardProblem>,
    pub bundle_dir: PathBuf,
    /// What the bundle was sealed as. Nothing for one without a manifest.
    pub content_digest: Option<String>,
    root: PathBuf,
    loaded: Loaded,
}

/// Where a workflow comes from.
#[derive(Debug, Clone)]
enum Loaded {
    /// The program itself: there is no bundle.
    BuiltIn,
    FromDisk(Option<Bundle>),
}

impl Catalog {
    /// Flow is asked about encrypted bundles only.
    pub fn discover(folder: &Path, ask: AskFlow<'_>) -> Result<Self, CatalogError> {
        if !folder.is_dir() {
            return Err(CatalogError::NotAFolder);
        }
        let mut catalog = Self::default();
        for bundle_dir in bundle::discover(folder).map_err(CatalogError::Unreadable)? {
            let workflow = catalog.describe(bundle_dir, folder, ask);
            catalog.workflows.push(workflow);
        }
        Ok(catalog)
    }

    /// The one workflow that needs no bundle.
    pub fn built_in(card: Card) -> Self {
        Self { workflows: vec![Workflow::built_in(card)] }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Workflow> {
        self.workflows.iter()
    }

    pub fn by_name(&self, name: &str) -> Option<&Workflow> {
        self.iter().find(|workflow| workflow.name() == name)
    }

    pub fn by_public_id(&self, public_id: &str) -> Option<&Workflow> {
        self.iter().find(|workflow| workflow.public_id == public_id)
    }

    fn describe(&self, bundle_dir: PathBuf, root: &Path, ask: AskFlow<'_>) -> Workflow {
        let outcome = bundle::admit(&bundle_dir, root).and_then(|()| match bundle::is_encrypted(&bundle_dir) {
            true => encrypted::load(&bundle_dir, ask),
            false => bundle::load(&bundle_dir),
        });
        let (loaded, load_error) = outcome.map_or_else(|error| (None, Some(error)), |bundle| (Some(bundle), None));
        let base_id = match &loaded {
            Some(bundle) => id_of_loaded(bundle.seal.digest()),
            None => id_of_unloadable(&bundle_dir),
        };
        let public_id = first_free(&base_id, |id| self.by_public_id(id).is_some());
        let (mut card, card_problem) = match &loaded {
            Some(bundle) => Card::plain(&public_id, &bundle.shape.params).described_in(&bundle_dir),
            None => (Card::plain(&public_id, &[]), None),
        };
        card.name = first_free(&card.name, |name| self.by_name(name).is_some());
        Workflow {
            slug: self.slug(loaded.as_ref().map(|bundle| bundle.shape.name.as_str()), &bundle_dir),
            public_id,
            card,
            step_count: loaded.as_ref().map(|bundle| bundle.shape.step_count),
            encrypted: bundle::is_encrypted(&bundle_dir),
            changes_records: loaded.as_ref().is_none_or(|bundle| bundle.shape.changes_records),
            load_error,
            card_problem,
            content_digest: loaded.as_ref().and_then(|bundle| bundle.seal.sealed().map(str::to_owned)),
            root: root.to_path_buf(),
            bundle_dir,
            loaded: Loaded::FromDisk(loaded),
        }
    }

    fn slug(&self, name: Option<&str>, bundle_dir: &Path) -> String {
        let folder = bundle_dir.file_name().unwrap_or_default().to_string_lossy();
        let own = slug(name.unwrap_or(&folder));
        let taken = self.iter().any(|workflow| workflow.slug == own);
        if taken { slug(&format!("{own}_{folder}")) } else { own }
    }
}

impl Workflow {
    fn built_in(card: Card) -> Self {
        Self {
            public_id: id_of_loaded(&card.name),
            slug: slug(&card.name),
            card,
            step_count: None,
            encrypted: false,
            changes_records: true,
            load_error: None,
            card_problem: None,
            bundle_dir: PathBuf::new(),
            content_digest: None,
            root: PathBuf::new(),
            loaded: Loaded::BuiltIn,
        }
    }

    /// The name that callers use.
    pub fn name(&self) -> &str {
        &self.card.name
    }

    /// The digest of what was listed, sealed or not.
    pub fn digest(&self) -> Option<&str> {
        self.bundle().map(|bundle| bundle.seal.digest())
    }

    /// What was loaded from the disk.
    pub(super) fn bundle(&self) -> Option<&Bundle> {
        if let Loaded::FromDisk(Some(bundle)) = &self.loaded { Some(bundle) } else { None }
    }

    pub fn available(&self) -> bool {
        self.load_error.is_none()
    }

    /// Loads the bundle again, seal and all: what is run is what was listed.
    pub fn recheck(&self) -> Result<(), LoadError> {
        let listed = match &self.loaded {
            Loaded::BuiltIn => return Ok(()),
            Loaded::FromDisk(Some(listed)) => listed,
            Loaded::FromDisk(None) => return Err(self.load_error.unwrap_or(LoadError::Unreadable)),
        };
        bundle::admit(&self.bundle_dir, &self.root)?;
        let unchanged = match (&listed.ciphertext, bundle::is_encrypted(&self.bundle_dir)) {
            (Some(ciphertext), true) => encrypted::fingerprint(&self.bundle_dir)? == *ciphertext,
            (None, false) => bundle::load(&self.bundle_dir)? == *listed,
            (None, true) | (Some(_), false) => false,
        };
        if unchanged { Ok(()) } else { Err(LoadError::Replaced) }
    }

    /// The row of `list_workflows`. No label, recorded value, intent or path is in it.
    pub fn row(&self, omitted: Omitted) -> Map<String, Value> {
        let described = [
            ("name", self.name().into()),
            ("purpose", self.card.purpose.clone().into()),
            ("done_means", self.card.done_means.clone().into()),
            ("inputs", self.card.inputs.schema(omitted)),
            ("changes_records", self.changes_records.into()),
            ("available", self.available().into()),
        ];
        let of_its_bundle = [
            ("id", self.public_id.clone().into()),
            ("step_count", json!(self.step_count)),
            ("parameters", self.card.inputs.parameters(omitted).into()),
            ("encrypted", self.encrypted.into()),
        ];
        let from_disk = matches!(self.loaded, Loaded::FromDisk(_));
        let row = described.into_iter().chain(of_its_bundle.into_iter().filter(|_| from_disk));
        row.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests;
