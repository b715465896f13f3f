//! What can be run here: the bundles in a folder, the cards that describe them and the inputs they take.

mod anatomy;
pub mod bundle;
pub mod card;
pub mod catalog;
mod files;
pub mod identity;
pub mod inputs;
mod integrity;
mod moment;
mod shape;
#[cfg(test)]
mod testing;
mod wording;

pub use bundle::LoadError;
pub use card::{Card, CardProblem};
pub use catalog::{Catalog, CatalogError, Workflow};
pub use inputs::{CheckedInputs, InputProblem, InputSet, InvalidInput, Omitted};
