//! Pure functions from evidence to verdicts.

pub mod matcher;
