//! What can be run here: the bundles in a folder, the cards that describe them and the inputs they take.

mod anatomy;
pub(crate) mod bundle;
mod card;
mod catalog;
mod defaults;
mod encrypted;
pub(crate) mod files;
mod identity;
mod inputs;
mod integrity;
mod moment;
mod protected;
mod shape;
#[cfg(test)]
pub(crate) mod testing;
mod wording;

pub use bundle::LoadError;
pub use card::{Card, CardProblem};
pub use catalog::{Catalog, CatalogError, Workflow};
pub use encrypted::AskFlow;
pub use identity::first_free;
pub use inputs::{CheckedInputs, InputKind, InputSet, InputSpec, Omitted};
