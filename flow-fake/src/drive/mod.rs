//! The `drive` step: the recorded workflow, done for real in a browser, and told as the real program would tell it.

mod checks;
#[cfg(feature = "drive")]
mod chromium;
mod contracts;
mod course;
mod found;
mod look;
mod prepare;
mod records;
mod screen;
mod tell;
mod tutorial;

pub use checks::{Verdict, verify};
pub use course::{Course, End, Moment, Told, Witness};
pub use found::{Found, Missing, find, with_driver_named};
pub use look::{Look, take};
pub use prepare::{NotPrepared, Prepared, prepare, write_bundle};
pub use records::{Records, Site};
pub use screen::{Answer, Area, Screen, Trouble};
pub use tell::report;
pub use tutorial::{PARAMETER, STEPS, WORKFLOW, after, identity_steps};

#[cfg(feature = "drive")]
pub use chromium::Chromium;

/// A report made of what was seen must be one that the real program could have written.
#[cfg(feature = "drive")]
pub fn held_against_the_schema(report: &serde_json::Value) -> Result<(), String> {
    schemas::Schema::FlowReport.check(report).map_err(|problem| format!("the report is none: {problem}"))
}

/// Nothing is driven without the feature.
#[cfg(not(feature = "drive"))]
pub fn held_against_the_schema(_: &serde_json::Value) -> Result<(), String> {
    Ok(())
}

/// What must be seen after a recorded step, as a checkpoint has it.
pub fn expected(index: usize) -> serde_json::Value {
    let step = STEPS.iter().skip(index).take(1);
    step.flat_map(|step| step.checks.iter().map(|check| check.postcondition(step.id))).collect()
}

/// A page of its own in a new browser.
#[cfg(feature = "drive")]
pub fn open(found: &Found, headed: bool) -> Answer<Box<dyn Screen>> {
    Ok(Box::new(Chromium::open(found, headed)?))
}

/// Never asked for: without the feature nothing is found.
#[cfg(not(feature = "drive"))]
pub fn open(_: &Found, _: bool) -> Answer<Box<dyn Screen>> {
    Err(Trouble::Broken(Missing::NotBuilt.to_string()))
}
