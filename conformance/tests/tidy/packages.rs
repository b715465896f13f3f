//! What gets into a package: this project's own files under its own licence, and nothing of a benchmark's.

use std::process::Command;

use super::files::root;

const PACKAGES: [&str; 5] = ["openadapt-agent", "conformance", "flow-fake", "mockmed", "schemas"];

/// Why a file may not be in a package.
fn unfit(name: &str, text: &str) -> Option<&'static str> {
    let folders = name.to_lowercase();
    if folders.split('/').any(|part| part.starts_with("benchmark") || part.starts_with("openemr")) {
        return Some("material of a benchmark");
    }
    let copyleft = [
        ["GNU ", "General Public"],
        ["GNU ", "Affero"],
        ["GNU ", "Lesser"],
        ["Mozilla ", "Public Licen"],
        ["Share", "Alike"],
    ];
    let tags = ["GPL", "AGPL", "LGPL", "MPL", "CC-BY-SA", "EUPL"]
        .map(|licence| format!("SPDX-{}: {licence}", "License-Identifier"));
    let marked = copyleft.iter().map(|halves| halves.concat()).chain(tags).any(|mark| text.contains(&mark));
    marked.then_some("text under a copyleft licence")
}

fn packed(package: &str) -> Vec<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root())
        .args(["package", "--list", "--allow-dirty", "--locked", "--package", package])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names are text").lines().map(str::to_owned).collect()
}

#[test]
fn no_package_holds_copyleft_or_benchmark_material_and_each_holds_its_licence() {
    for package in PACKAGES {
        let folder = root().join(if package == "openadapt-agent" { "agent" } else { package });
        let names = packed(package);
        for wanted in ["LICENSE", "Cargo.toml", "src/lib.rs"] {
            assert!(names.iter().any(|name| name == wanted), "{package} is packed without {wanted}");
        }
        for name in names {
            // Made by cargo while it packs, these are in no folder.
            let Ok(bytes) = std::fs::read(folder.join(&name)) else { continue };
            assert_eq!(unfit(&name, &String::from_utf8_lossy(&bytes)), None, "{package}: {name}");
        }
    }
}

#[test]
fn copyleft_and_benchmark_material_is_known_when_it_is_seen() {
    assert!(unfit("benchmarks/a.json", "").is_some());
    assert!(unfit("data/OpenEMR/a.sql", "").is_some());
    assert!(unfit("a.rs", &["// SPDX-License-", "Identifier: AGPL-3.0-only"].concat()).is_some());
    assert!(unfit("a.md", &["under the GNU ", "General Public License"].concat()).is_some());
    assert_eq!(unfit("src/bench/mod.rs", "MIT"), None);
}
