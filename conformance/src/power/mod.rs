//! How well the judge sees: evidence that was changed in one fact, and agents that lie. Each must be seen, by the checks that are named.

pub mod baseline;
pub mod change;
pub mod liar;
pub mod liars;
pub mod measure;
pub mod mutant;
pub mod mutants;
