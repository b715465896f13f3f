//! The parts of a workflow file: which part holds which, and which of its keys name a picture.

use std::collections::BTreeMap;

use crate::flow::canonical::Tree;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Workflow,
    ParamSpec,
    Step,
    Anchor,
    Locator,
    Postcondition,
    Effect,
    Expression,
    ApiBinding,
    Predicate,
    Guard,
    Interstitial,
    Graph,
    State,
    Decision,
    Transition,
}

impl Part {
    /// Keys of this part under which other parts stand: one, or a list or map of them.
    fn children(self) -> &'static [(&'static str, Count, Part)] {
        match self {
            Self::Workflow => &[
                ("param_specs", Count::Many, Self::ParamSpec),
                ("steps", Count::Many, Self::Step),
                ("interstitials", Count::Many, Self::Interstitial),
                ("program", Count::One, Self::Graph),
                ("subflows", Count::Many, Self::Graph),
            ],
            Self::Step => &[
                ("anchor", Count::One, Self::Anchor),
                ("drag_end_anchor", Count::One, Self::Anchor),
                ("expect", Count::Many, Self::Postcondition),
                ("effects", Count::Many, Self::Effect),
                ("api_binding", Count::One, Self::ApiBinding),
                ("wait_until", Count::One, Self::Predicate),
                ("guard", Count::One, Self::Guard),
            ],
            Self::Anchor => &[("structural", Count::One, Self::Locator)],
            Self::Effect => &[
                ("match", Count::Many, Self::Expression),
                ("value", Count::One, Self::Expression),
                ("idempotency_key", Count::One, Self::Expression),
            ],
            Self::ApiBinding => &[("effects", Count::Many, Self::Effect)],
            Self::Predicate => &[("anchor", Count::One, Self::Anchor), ("operands", Count::Many, Self::Predicate)],
            Self::Guard => &[("predicate", Count::One, Self::Predicate)],
            Self::Interstitial => &[
                ("detect", Count::One, Self::Predicate),
                ("dismiss_anchor", Count::One, Self::Anchor),
                ("clearance", Count::One, Self::Predicate),
            ],
            Self::Graph => &[("states", Count::Many, Self::State)],
            Self::State => &[
                ("step", Count::One, Self::Step),
                ("decision", Count::One, Self::Decision),
                ("transitions", Count::Many, Self::Transition),
            ],
            Self::Decision => &[("revalidation", Count::Many, Self::Predicate)],
            Self::Transition => &[("guard", Count::One, Self::Predicate)],
            Self::ParamSpec | Self::Locator | Self::Postcondition | Self::Expression => &[],
        }
    }

    /// Keys that hold the path of a picture inside the bundle, or nothing.
    fn asset_keys(self) -> &'static [&'static str] {
        match self {
            Self::Anchor => &["template", "identifier_crop"],
            Self::Postcondition => &["template"],
            _ => &[],
        }
    }
}

/// Calls `each` on this part and, afterwards, on every part below it.
pub fn visit(tree: &mut Tree, part: Part, each: &mut dyn FnMut(Part, &mut BTreeMap<String, Tree>)) {
    let Some(entries) = tree.as_map_mut() else { return };
    each(part, entries);
    for (key, count, child) in part.children() {
        let Some(value) = entries.get_mut(*key) else { continue };
        match (count, value) {
            (Count::One, value) => visit(value, *child, each),
            (Count::Many, Tree::List(items)) => items.iter_mut().for_each(|item| visit(item, *child, each)),
            (Count::Many, Tree::Map(items)) => items.values_mut().for_each(|item| visit(item, *child, each)),
            (Count::Many, _) => {}
        }
    }
}

/// The path of every picture that the workflow names.
pub fn asset_paths(workflow: &mut Tree) -> Vec<String> {
    let mut paths = Vec::new();
    visit(workflow, Part::Workflow, &mut |part, entries| {
        let values = part.asset_keys().iter().filter_map(|key| entries.get(*key)?.as_text());
        paths.extend(values.filter(|path| !path.is_empty()).map(str::to_owned));
    });
    paths
}

#[derive(Clone, Copy)]
enum Count {
    One,
    Many,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_under_a_callers_own_key_is_no_part() {
        let text = r#"{"params":{"steps":"x"},"data_sources":{"structural":{"frame_path":null}},
            "program":{"states":{"effects":{"step":{"effects":[{"match":{"structural":{"frame_path":null}}}]}}}}}"#;
        let mut tree = Tree::parse(text.as_bytes(), 1000).unwrap();
        let mut met = Vec::new();
        visit(&mut tree, Part::Workflow, &mut |part, _| met.push(part));
        assert_eq!(met, [Part::Workflow, Part::Graph, Part::State, Part::Step, Part::Effect, Part::Expression]);
    }
}
