//! Plays the cases through the real agent over real stdio, and reads the app's store itself before and after each.

use std::cell::RefCell;
use std::pin::pin;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cases::{CASES, Case};
use super::report;
use super::scene::{Demo, Said, Scene, Store, Write};
use crate::check::judge;
use crate::evidence::{Seen, Stopped};
use crate::run::act::act;
use crate::run::answers;
use crate::run::perform::{perform_by, start};
use crate::run::smoke::introduction;
use crate::run::subject::Subject;
use crate::run::world::World;
use crate::scenario::Scenario;
use crate::scenario::expand::{BadScenario, expand};
use crate::scenario::model::ServerPlan;

/// How the cases are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// As `--sandbox-engine` takes it.
    pub engine: &'static str,
    /// An app and a browser are there to be used.
    pub real: bool,
    /// The engine is the real Flow, where the judge knows it.
    pub flow: bool,
    pub headed: bool,
    /// Slow enough to look on.
    pub slow: bool,
}

/// Who looks on.
pub trait Onlooker {
    fn begins(&mut self, number: usize, case: &Case);
    /// Again and again while a case is played: the steps that were done, and how long it took until now.
    fn goes_on(&mut self, steps: usize, took: Duration);
    fn played(&mut self, number: usize, scene: &Scene);
}

/// How often the onlooker is told that a case goes on.
const LOOK: Duration = Duration::from_millis(200);

/// The app of this world is the judge's own, so that its store and journal are a witness of the judge's.
const APP: &str = r#"
clinic="$clinic"
printf '{"event":"listening","port":%s}\n' "$${clinic##*:}"
exec cat
"#;

pub async fn play(plan: Plan, subject: &Subject, onlooker: &mut dyn Onlooker) -> Result<Demo, BadScenario> {
    let scenario = scenario(plan)?;
    let scenes = RefCell::new(Vec::new());
    let local = tokio::task::LocalSet::new();
    let began = Instant::now();
    let playing = perform_by(&scenario, subject, async |world: &World<'_>| {
        start(world, "s1", &ServerPlan::default(), None).await?;
        for (index, case) in CASES.iter().enumerate() {
            onlooker.begins(index + 1, case);
            let scene = one(world, index, case, onlooker).await?;
            onlooker.played(index + 1, &scene);
            scenes.borrow_mut().push(scene);
        }
        Ok(())
    });
    let evidence = local.run_until(playing).await;
    let agent =
        introduction(&evidence).map_or("unknown".to_owned(), |agent| format!("{} {}", agent.name, agent.version));
    let judgement = judge(&evidence);
    Ok(Demo { agent, scenes: scenes.into_inner(), judgement, took: began.elapsed() })
}

async fn one(world: &World<'_>, index: usize, case: &Case, onlooker: &mut dyn Onlooker) -> Result<Scene, Stopped> {
    let before = world.clinic.as_ref().and_then(|clinic| clinic.emptied());
    let began = Instant::now();
    let launched = world.transcript.journal().len();
    let mut playing = pin!(act(world, index, &world.scenario.actions[index]));
    let mut looks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            done = &mut playing => break done?,
            _ = looks.tick() => onlooker.goes_on(steps_of(world, launched), began.elapsed()),
        }
    }
    let took = began.elapsed();
    let after = world.clinic.as_ref().and_then(|clinic| clinic.seen());
    let said = said(world);
    let run_dir = world.folders.runs.join(&said.run_id);
    let results = if said.run_id.is_empty() { Vec::new() } else { report::results(&run_dir) };
    let told = before.as_ref().map_or(0, |seen| seen.journal.len());
    let writes = after.as_ref().and_then(|seen| seen.journal.get(told..)).map(Write::all_in).unwrap_or_default();
    Ok(Scene {
        case: *case,
        screen: report::screen(&results),
        before: before.as_ref().map(Store::from),
        after: after.as_ref().map(Store::from),
        writes,
        pictures: report::pictures(&run_dir, &results),
        said,
        took,
    })
}

fn steps_of(world: &World<'_>, launched: usize) -> usize {
    let journal = world.transcript.journal();
    let launch = journal.iter().skip(launched).find(|line| line.is_launch());
    let run = launch.and_then(|line| line.run_id()).map(str::to_owned);
    drop(journal);
    run.map_or(0, |run| report::steps_so_far(&world.folders.runs.join(run)))
}

/// The answer to the call that was the last step.
fn said(world: &World<'_>) -> Said {
    let steps = world.steps.borrow();
    let Some(Seen::Answers { exchanges, .. }) = steps.last().map(|step| &step.seen) else { return Said::default() };
    let answered = answers::first_object(world, exchanges).unwrap_or_default();
    serde_json::from_value(answered).unwrap_or_default()
}

/// A world and five calls, in the words of any scenario.
fn scenario(plan: Plan) -> Result<Scenario, BadScenario> {
    let mut serve = vec!["--sandbox-engine", plan.engine];
    if plan.real {
        serve.extend(["--sandbox-app", "sh $world/app.sh"]);
    }
    if plan.flow {
        serve.extend(["--flow-cli", "$flow"]);
    }
    if plan.headed {
        serve.push("--headed");
    }
    let slow = if plan.slow { "env = { FLOW_FAKE_SLOW_MS = \"350\" }" } else { "" };
    let app = match plan.real {
        true => format!("[[world.files]]\npath = \"$world/app.sh\"\ntext = '''{APP}'''"),
        false => String::new(),
    };
    let mut written = format!(
        r#"
id = "demo"
title = "The five cases of the sandbox, for a person"
proves = ["SAND-results-carry-engine"]
deadline_s = 900
[world]
mode = "bare"
browser = {real}
clinic = {real}
real_flow = {flow}
serve = {serve}
{slow}
{app}
[flow]
steps = [{{ gate = "admit" }}, "drive"]
"#,
        real = plan.real,
        flow = plan.flow,
        serve = json!(serve),
    );
    for case in CASES {
        written.push_str(&call(&case));
    }
    let nothing = || BadScenario { file: "demo".into(), problem: "no scenario".into() };
    expand("demo", &written)?.pop().ok_or_else(nothing)
}

fn call(case: &Case) -> String {
    let (name, note) = (case.name, Value::from(case.note));
    format!(
        r#"
[[do]]
call = "run_workflow"
args = {{ workflow = "add_triage_note", request_id = "$rid:{name}", inputs = {{ note = {note}, sandbox_case = "{name}" }}, wait_seconds = 600 }}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_is_a_scenario_with_a_call_for_each_case() {
        for real in [true, false] {
            for flow in [true, false] {
                let plan = Plan { engine: "auto", real, flow, headed: real, slow: flow };
                let scenario = scenario(plan).unwrap();
                assert_eq!(scenario.actions.len(), CASES.len());
                assert_eq!((scenario.world.clinic, scenario.world.browser), (real, real));
            }
        }
    }
}
