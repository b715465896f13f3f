//! Which room may stand on which. Source: design, invariant 1.

use std::collections::{BTreeMap, BTreeSet};

use super::files::text;

/// Package → the packages that it names, from the lock file.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let lock: toml::Table = text("Cargo.lock").parse().expect("the lock file is TOML");
    let packages = lock["package"].as_array().expect("packages");
    let name = |value: &toml::Value| value.as_str().expect("a name").split(' ').next().unwrap_or_default().to_owned();
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        let needs = package.get("dependencies").and_then(toml::Value::as_array);
        let needs = needs.into_iter().flatten().map(name);
        graph.entry(name(&package["name"])).or_default().extend(needs);
    }
    graph
}

fn reached(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(package) = open.pop() {
        for need in graph.get(&package).into_iter().flatten() {
            if reached.insert(need.clone()) {
                open.push(need.clone());
            }
        }
    }
    reached
}

#[test]
fn the_judge_never_stands_on_the_agent() {
    let graph = graph();
    assert!(graph.contains_key("conformance") && graph.contains_key("openadapt-agent"));
    let reached = reached(&graph, "conformance");
    assert!(reached.contains("schemas"), "the graph was read");
    assert!(!reached.contains("openadapt-agent"));
}

/// `hyper` is no framework. Who asks over HTTP stands on it, and is made to ask only: that part which answers isn't built.
#[test]
fn a_web_framework_appears_in_the_clinic_only() {
    let graph = graph();
    for room in ["openadapt-agent", "conformance", "flow-fake", "schemas"] {
        for framework in ["axum", "warp", "actix-web", "rocket", "tiny_http"] {
            assert!(!reached(&graph, room).contains(framework), "{room} reaches {framework}");
        }
    }
    let manifest: toml::Table = text("Cargo.toml").parse().expect("the manifest is TOML");
    let features = manifest["workspace"]["dependencies"]["hyper"]["features"].as_array().expect("features");
    assert!(features.iter().all(|feature| feature.as_str() != Some("server")), "hyper would answer: {features:?}");
}

#[test]
fn nothing_in_the_agent_listens() {
    for name in super::files::tracked().into_iter().filter(|name| name.starts_with("agent/src/")) {
        let text = text(&name);
        for word in ["Listener", "UdpSocket", "UnixDatagram"] {
            assert!(!text.contains(word), "{name} has {word}");
        }
    }
}
