//! A continuation in a real browser: the step that a person did is looked at there, and the steps after it are driven.

use serde_json::{Value, json};

use super::Action;
use super::check::Ready;
use crate::drive::{self, Site, Verdict};
use crate::play::{Player, driven};
use crate::report::{Shape, results};
use crate::script::ScriptError;

/// What was decided about, and by which action.
pub struct Attended<'a> {
    pub ready: &'a Ready,
    pub action: Action,
}

/// How the rest of the run went.
pub struct Gone {
    pub shape: Shape,
    pub report: Value,
    /// Of a pause that it came to.
    pub category: Option<&'static str>,
}

/// Nothing when the step isn't seen to be done.
pub fn go_on(player: &mut Player<'_>, attended: &Attended<'_>, url: &str) -> Result<Option<Gone>, ScriptError> {
    let unplayable = |problem: String| ScriptError::Play { name: "drive", problem };
    let site = Site::of(url).ok_or_else(|| unplayable("the deployment names no app on this computer".into()))?;
    let at =
        attended.ready.capability["step_index"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
    let step = drive::STEPS.get(at).ok_or_else(|| unplayable("no such step was recorded".into()))?;
    let found = drive::find().map_err(|missing| unplayable(missing.to_string()))?;
    // As visible as it can be: a person has been at it.
    let headed = std::env::var_os("DISPLAY").is_some() || std::env::var_os("WAYLAND_DISPLAY").is_some();
    let mut screen = drive::open(&found, headed).map_err(|trouble| unplayable(trouble.to_string()))?;
    let seen = (|| {
        screen.go_to(url)?;
        driven::attended_picture(player, step.id, "before", &screen.picture()?);
        let verdicts = drive::verify(step.checks, screen.as_mut())?;
        driven::attended_picture(player, step.id, "after", &screen.picture()?);
        Ok(verdicts)
    })()
    .map_err(|trouble: drive::Trouble| unplayable(trouble.to_string()));
    let gone = match seen {
        Ok(verdicts) if verdicts.iter().all(|verdict| *verdict == Verdict::Passed) => {
            let mut result = results::blank((step.id, step.intent));
            let skipped = attended.action == Action::Skip;
            result["ok"] = json!(true);
            result["actuation"] = json!(if skipped { "human_attended_skip" } else { "human_attended" });
            result["delivery_attempted"] = json!(false);
            result["skipped"] = json!(skipped);
            result["postconditions_ok"] = json!(true);
            result["identity"] = attended.ready.capability["source_identity"].clone();
            result["risk_explanation"] = json!("the control's words name no change that lasts");
            let mut done: Vec<Value> = driven::results_before(player, at);
            let mut told: Vec<Vec<Verdict>> =
                drive::STEPS.iter().take(at).map(|step| vec![Verdict::Passed; step.checks.len().max(1)]).collect();
            done.push(result);
            told.push(verdicts);
            driven::rest(player, screen.as_mut(), &site, done, told).map(Some)
        }
        Ok(_) => Ok(None),
        Err(fault) => Err(fault),
    };
    screen.close();
    gone
}
