//! The green runs that mutants are made of: of every scenario file that needs nothing but the agent and the stand-in, the first case
//! for each reason that a run ends for.

use std::collections::BTreeSet;

use crate::scenario::{Action, Scenario};

/// One scenario for each family and reason: the family's other cases differ in a value.
pub fn of(scenarios: Vec<Scenario>) -> Vec<Scenario> {
    let mut families = BTreeSet::new();
    let plain = scenarios.into_iter().filter(|scenario| !scenario.world.browser && !scenario.world.real_flow);
    plain.filter(|scenario| families.insert((family(scenario), reason(scenario)))).collect()
}

fn family(scenario: &Scenario) -> String {
    let id = scenario.id.as_str();
    match id.match_indices('/').nth(1) {
        Some((end, _)) => id[..end].to_owned(),
        None => id.to_owned(),
    }
}

/// Why the scenario expects its first run to end as it does.
fn reason(scenario: &Scenario) -> String {
    let mut reasons = scenario.actions.iter().filter_map(|action| match action {
        Action::Call(call) => call.wanted.expect.as_ref()?.written().get("reason").cloned(),
        _ => None,
    });
    reasons.next().map_or_else(String::new, |reason| reason.to_string())
}
