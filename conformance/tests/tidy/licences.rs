//! Licences and bans: the lists of deny.toml, held where cargo-deny isn't installed.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};

use super::files::{root, text, tracked};

fn deny() -> toml::Table {
    text("deny.toml").parse().expect("deny.toml is TOML")
}

fn texts(value: &toml::Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|value| value.as_str().expect("text")).collect()
}

/// What cargo knows of every package that is built for this system.
fn packages() -> &'static [Value] {
    static PACKAGES: OnceLock<Vec<Value>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let version = Command::new(cargo()).arg("-vV").output().expect("cargo says what it is").stdout;
        let version = String::from_utf8(version).expect("text");
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("the system's name");
        let output = Command::new(cargo())
            .current_dir(root())
            .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        metadata["packages"].as_array().expect("packages").clone()
    })
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether licences of the list are enough for the expression.
fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let allowed: Vec<Licensee> = allowed.iter().map(|name| Licensee::parse(name).expect("a licence")).collect();
    let parsed =
        Expression::parse_mode(expression, ParseMode::LAX).unwrap_or_else(|error| panic!("{expression}: {error}"));
    parsed.evaluate(|wanted| allowed.iter().any(|licence| licence.satisfies(wanted)))
}

#[test]
fn every_dependency_has_a_licence_of_the_list() {
    let deny = deny();
    let allowed = texts(&deny["licenses"]["allow"]);
    assert!(packages().len() > 100, "only {} packages were read", packages().len());
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or_else(|| panic!("{} names no licence", package["name"]));
        assert!(satisfied(licence, &allowed), "{} is under {licence}", package["name"]);
    }
}

#[test]
fn a_copyleft_licence_is_not_of_the_list() {
    let deny = deny();
    let allowed = texts(&deny["licenses"]["allow"]);
    for refused in ["GPL-3.0-only", "AGPL-3.0-or-later", "MIT AND LGPL-2.1-only", "MPL-2.0", "BUSL-1.1"] {
        assert!(!satisfied(refused, &allowed), "{refused}");
    }
    for taken in ["MIT/Apache-2.0", "MIT OR GPL-3.0-only", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(satisfied(taken, &allowed), "{taken}");
    }
}

#[test]
fn a_banned_crate_stands_only_where_deny_toml_lets_it() {
    let lock: toml::Table = text("Cargo.lock").parse().expect("the lock file is TOML");
    let deny = deny();
    let bans = deny["bans"]["deny"].as_array().expect("a list");
    assert!(
        bans.iter().any(|ban| ban["crate"].as_str() == Some("axum")),
        "the web framework is banned outside the clinic"
    );
    for ban in bans {
        let name = ban["crate"].as_str().expect("a name");
        let wrappers: BTreeSet<&str> = ban.get("wrappers").map(texts).unwrap_or_default().into_iter().collect();
        for package in lock["package"].as_array().expect("packages") {
            let needs = package.get("dependencies").and_then(toml::Value::as_array);
            let needed = needs.into_iter().flatten().filter_map(toml::Value::as_str);
            let here = needed.filter_map(|need| need.split(' ').next()).any(|need| need == name);
            let by = package["name"].as_str().expect("a name");
            assert!(!here || wrappers.contains(by), "{by} stands on {name}");
        }
    }
}

#[test]
fn every_package_of_ours_is_mit_says_so_and_has_the_text() {
    let licence = text("LICENSE");
    let manifests: Vec<_> = tracked().into_iter().filter(|name| name.ends_with("/Cargo.toml")).collect();
    assert!(manifests.len() >= 5);
    let ours: Vec<_> = packages().iter().filter(|package| package["source"].is_null()).collect();
    assert_eq!(ours.len(), manifests.len());
    for package in ours {
        assert_eq!(package["license"], "MIT", "{}", package["name"]);
        assert!(package["description"].as_str().is_some_and(|words| words.len() > 20), "{}", package["name"]);
        let manifest = package["manifest_path"].as_str().expect("a path");
        let beside = std::path::Path::new(manifest).with_file_name("LICENSE");
        assert_eq!(std::fs::read_to_string(&beside).ok().as_ref(), Some(&licence), "{}", package["name"]);
    }
}
