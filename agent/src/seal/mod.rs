//! Seals: a signed receipt of the issuer, checked against keys that a person has pinned on this computer. Nothing here ever makes
//! one, and no key is ever fetched to check one.

pub mod document;
pub mod keys;
pub mod pin;
pub mod receipt;
pub mod run;

pub use keys::Keys;
