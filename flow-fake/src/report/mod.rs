//! Reports: which shapes there are, how each is built, changed and put in place.

mod build;
mod edit;
mod place;
pub mod results;
mod shape;
mod subject;

pub use build::{Facts, assemble, build, identity_steps};
pub use edit::{Prepared, prepare};
pub use place::place;
pub use shape::{Origin, Profile, ProfileChoice, Shape};
pub use subject::{Subject, contract_digest};

/// The exit code that the real program gives for a report: under standard and regulated only VERIFIED is 0.
pub fn exit_code(report: &serde_json::Value) -> u8 {
    let good = match report["execution_profile"].as_str() {
        Some("standard" | "regulated") => report["execution_outcome"] == "VERIFIED",
        _ => report["success"] == true,
    };
    u8::from(!good)
}
