//! The map of the house. Its list of files is made from the files themselves and compared, so that it can't fall behind.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::files::{root, text, tracked};

const MAP: &str = "docs/ARCHITECTURE.md";
const FROM: &str = "<!-- files -->";
const RENEW: &str = "RENEW_MAP";

/// Files that can't say in a first line what they are for.
const NAMED: [(&str, &str); 41] = [
    ("conformance/src/report/html/page.css", "how the page for people looks, in the light and in the dark"),
    ("conformance/src/report/html/page.js", "the page's filter and its time axis"),
    ("conformance/real-flow/identify.py", "which openadapt-flow an interpreter has"),
    (".github/workflows/certify.yml", "certifies a Flow, for the repositories of others"),
    (".github/workflows/sandbox-e2e.yml", "the sandbox and the pages on the real Flow, when somebody asks"),
    (".ci/pack", "packs the programs of one target, each archive with its sum"),
    (".ci/bundle", "makes the MCP bundles of a release, and the registry's entry with their sums"),
    (".github/workflows/release.yml", "builds, sums and attests a release"),
    ("book.toml", "the documentation as a site"),
    ("deny.toml", "what cargo-deny holds the dependencies to"),
    ("mcpb/manifest.json", "an MCP bundle: its start line, and what its user chooses"),
    ("flow-fake/src/cli/help.txt", "what `flow-fake --help` says"),
    ("mockmed/src/store/schema.sql", "the tables of the clinic's store"),
    ("agent/src/lifecycle/store/schema.sql", "the tables of the store of actions, and what they refuse"),
    (".ci/run", "what a change has to pass"),
    (".cargo/config.toml", "where the browser's driver is, for cargo"),
    ("agent/src/flow/bridge/flow_bridge.py", "the bridge that Flow's own interpreter runs"),
    ("conformance/src/demo/page.css", "how the demo's page looks"),
    ("conformance/real-flow/prepare.py", "has the real Flow record the bundle that its scenarios run"),
    ("conformance/real-flow/requirements.txt", "the real Flow and everything it needs, pinned"),
    ("conformance/src/browser/package.json", "the browser's driver, pinned"),
    ("conformance/src/browser/package-lock.json", "the browser's driver, pinned to the byte"),
    (".github/workflows/ci.yml", "runs .ci/run on every change"),
    (".gitignore", "what is never kept"),
    ("CHANGELOG.md", "what changed for those who use this"),
    ("Cargo.lock", "the exact version of every crate"),
    ("Cargo.toml", "rooms, versions and lints of the workspace"),
    ("LICENSE", "MIT"),
    ("README.md", "what this is, two commands, and how to plug it in"),
    ("clippy.toml", "what tests may do that the rest may not"),
    ("rustfmt.toml", "how the code is laid out"),
    ("docs/ARCHITECTURE.md", "this map"),
    ("agent/Cargo.toml", "what the agent stands on"),
    ("conformance/Cargo.toml", "what the judge stands on"),
    ("flow-fake/Cargo.toml", "what the stand-in stands on"),
    ("mockmed/Cargo.toml", "what the clinic stands on"),
    ("schemas/Cargo.toml", "what the schemas stand on"),
    ("schemas/samples/derive.py", "makes the samples from what the real program left behind"),
    ("scenarios/README.md", "how a scenario is written"),
    ("scenarios/requirements/README.md", "how a requirement is written"),
    ("schemas/samples/README.md", "where the samples come from"),
];

/// Folders of data, each named by one line instead of file by file.
const FOLDERS: [(&str, &str); 8] = [
    ("conformance/clients/", "clients of other people: pinned lists and the scripts that drive them"),
    ("schemas/published/", "schemas that others published, and where they came from"),
    ("docs/examples/", "workflows to try the server on"),
    ("mockmed/pages/", "the clinic's pages, scripts, styles and pictures"),
    ("scenarios/requirements/", "the requirement catalogue, a file for each part of the design"),
    ("scenarios/", "scenarios as TOML, a folder for each area"),
    ("schemas/samples/", "run directories and reports as the real program leaves them, their texts replaced"),
    ("docs/images/", "pictures"),
];

#[test]
fn the_map_names_every_file_in_one_line() {
    let map = text(MAP);
    let (before, _) = map.split_once(FROM).expect("the map says where the files begin");
    let made = format!("{before}{FROM}\n{}", list());
    if std::env::var_os(RENEW).is_some() {
        std::fs::write(root().join(MAP), &made).expect("the map is written");
    }
    assert!(text(MAP) == made, "{MAP} is behind; `{RENEW}=1 cargo test -p conformance --test tidy` renews it");
}

fn list() -> String {
    let mut rooms: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for name in tracked() {
        let (shown, line) = described(&name);
        let room = shown.split_once('/').map_or("top level", |(room, _)| room);
        rooms.entry(room.to_owned()).or_default().insert(shown, line);
    }
    let mut list = String::new();
    for (room, files) in rooms {
        let _ = write!(list, "\n## {room}\n\n");
        for (name, line) in files {
            let _ = writeln!(list, "- `{name}`: {line}");
        }
    }
    list
}

fn described(name: &str) -> (String, String) {
    if let Some((_, line)) = NAMED.iter().find(|(named, _)| *named == name) {
        return (name.to_owned(), (*line).to_owned());
    }
    if name.ends_with("/LICENSE") {
        return (name.to_owned(), "MIT, for the package".to_owned());
    }
    if let Some((folder, line)) = FOLDERS.iter().find(|(folder, _)| name.starts_with(folder)) {
        return ((*folder).to_owned(), (*line).to_owned());
    }
    let line = match name.rsplit_once('.').map(|(_, kind)| kind) {
        Some("rs") => first_sentence(&text(name), "//! ", name),
        Some("md") => text(name).lines().find_map(|line| line.strip_prefix("# ").map(str::to_owned)),
        Some("json") => json_words(name),
        Some("snap") => Some("a snapshot of what a person reads".to_owned()),
        Some("proptest-regressions" | "txt") => Some("inputs that failed once".to_owned()),
        _ => None,
    };
    let line = line.unwrap_or_else(|| panic!("{name} doesn't say what it is for, and the map has no line for it"));
    (name.to_owned(), line)
}

fn json_words(name: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(&text(name)).ok()?;
    let described = value.get("description").and_then(serde_json::Value::as_str);
    Some(
        described
            .and_then(|words| words.split_inclusive(". ").next())
            .unwrap_or("data of the tests beside it")
            .trim()
            .to_owned(),
    )
}

fn first_sentence(text: &str, mark: &str, name: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().map_while(|line| line.strip_prefix(mark.trim_end())).map(str::trim).collect();
    let whole = lines.split(|line| line.is_empty()).next().unwrap_or_default().join(" ");
    let end = whole.find(". ").map_or(whole.len(), |at| at + 1);
    match whole[..end].trim_end_matches(['.', ':']) {
        "" if name.ends_with("/tests.rs") => Some("tests of the module beside it".to_owned()),
        "" => None,
        sentence => Some(sentence.to_owned()),
    }
}
