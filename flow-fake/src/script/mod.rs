//! The script: which play belongs to a launch, and the steps of a play.

mod authoring;
mod bridge;
mod certify;
mod error;
mod read;
mod report;
mod step;

pub use authoring::AuthoringSpec;
pub use bridge::{BridgeSpec, BridgeStep, Crash, Fault, Garbage, GarbageKind};
pub use certify::CertifySpec;
pub use error::ScriptError;
pub use report::{Kind, LateReport, ReportSpec, Start};
pub use step::{
    Approval, Drive, Effect, Gate, Grandchild, Hang, Noise, NoiseKind, PauseSpec, STEP_NAMES, Signal, Step, Target,
};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::pause::{Status, Tamper};

/// The script that lies beside a bundle's workflow.
pub const SCRIPT: &str = "flow-fake.json";

/// A parsed script. `None` as the script of a launch, or one without plays, means: behave as an admitting demo run.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub plays: Vec<Play>,
    pub bridge: BridgeSpec,
    pub certify: CertifySpec,
}

#[derive(Debug, Clone)]
pub struct Play {
    pub when: When,
    pub steps: Vec<Step>,
}

/// Every condition that is given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// Name of the bundle's folder.
    pub bundle: Option<String>,
    pub param: Option<ParamIs>,
    /// The Nth launch of this bundle in the journal, from 1.
    pub launch: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamIs {
    pub name: String,
    pub equals: Value,
}

impl Script {
    /// Parses the text of a script file.
    pub fn parse(text: &[u8]) -> Result<Self, ScriptError> {
        read::script(text)
    }

    /// Whether any play of it works in a real browser.
    pub fn drives(&self) -> bool {
        self.plays.iter().flat_map(|play| &play.steps).any(|step| matches!(step, Step::Drive(_)))
    }

    /// The first play whose conditions hold.
    pub fn play_for(&self, bundle: &str, params: &Map<String, Value>, launch: u64) -> Option<&Play> {
        self.plays.iter().find(|play| play.when.holds(bundle, params, launch))
    }
}

impl When {
    fn holds(&self, bundle: &str, params: &Map<String, Value>, launch: u64) -> bool {
        self.bundle.as_ref().is_none_or(|name| name == bundle)
            && self.launch.is_none_or(|number| number == launch)
            && self
                .param
                .as_ref()
                .is_none_or(|wanted| params.get(&wanted.name).is_some_and(|found| text(found) == text(&wanted.equals)))
    }
}

/// A value as the agent would render it: `7` and `"7"` are the same input.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
