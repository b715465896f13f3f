//! The JSON Schema 2020-12 files that every room shares, embedded in the binary.
//!
//! Each schema's `$id` is `urn:openadapt:<file stem>:v1`: a name, not an address. Nothing is ever fetched; a reference from
//! one file to another is answered from the embedded set.
//!
//! With the feature `validate` there is [`Schema::check`]. Its sentences quote the values that they complain about: they
//! are for the judge and for tests, never for an answer of the product.

mod registry;
#[cfg(feature = "validate")]
mod validate;

pub use registry::Schema;
#[cfg(feature = "validate")]
pub use validate::{Violation, Violations};
