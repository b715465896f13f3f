use super::*;

fn steps(block: &str) -> Vec<(String, Vec<String>)> {
    console::steps(block).unwrap().into_iter().map(|step| (step.command, step.expected)).collect()
}

fn missing(expected: &[&str], printed: &str) -> Option<String> {
    expected::missing(&expected.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(), printed)
}

#[test]
fn blocks_are_found_with_their_language_and_their_line() {
    let page = "text\n\n```console serves\n$ a\n```\n- item\n  ````markdown\n  ```\n  ````\n";
    let fences = fence::all(page).unwrap();
    assert_eq!(fences.len(), 2);
    assert_eq!((fences[0].language.as_str(), fences[0].line, fences[0].text.as_str()), ("console", 3, "$ a\n"));
    assert_eq!(fences[0].attributes, ["serves"]);
    assert_eq!((fences[1].language.as_str(), fences[1].text.as_str()), ("markdown", "  ```\n"));
    assert_eq!(fence::all("a\n```json\n{}\n"), Err(2));
}

#[test]
fn a_command_goes_on_over_a_backslash_and_ends_at_its_output() {
    assert_eq!(
        steps("$ a \\\n    b\nout\n$ c\n"),
        [("a \\\n    b".to_owned(), vec!["out".to_owned()]), ("c".to_owned(), vec![])]
    );
    assert!(console::steps("a\n").is_err());
    assert!(console::steps("").is_err());
}

#[test]
fn what_was_printed_has_to_be_what_the_page_says_numbers_aside() {
    assert_eq!(missing(&[], "anything"), None);
    assert_eq!(missing(&["took 12 ms"], "took 7 ms\n"), None);
    assert_eq!(missing(&["a", "...", "z"], "a\nb\nc\nz\n"), None);
    assert_eq!(missing(&["a", "..."], "a\nb\n"), None);
    assert_eq!(missing(&["a"], "b\n").as_deref(), Some("a"));
    assert_eq!(missing(&["a"], "").as_deref(), Some("a"));
    assert_eq!(missing(&["...", "z"], "a\n").as_deref(), Some("z"));
    assert!(missing(&["a"], "a\nb\n").is_some(), "a line more is told");
}

/// A workspace whose programs are scripts.
fn place(folder: &Path) -> Place {
    for (name, text) in [
        (".ci/run", "cargo test --workspace --locked\ncargo run --locked -p conformance -- all --out x\n"),
        ("docs/examples/workflows/one/workflow.json", "{}"),
    ] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Place::new(folder, &folder.join("target/debug")).unwrap()
}

#[test]
fn a_page_is_true_only_if_every_block_is() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let tally = |page: &str| run("page.md", page, &place).map_err(|untrue| untrue.to_string());
    let good = "```console\n$ export GREETING=hello\n$ echo $GREETING there\nhello there\n$ ls workflows\none\n```\n```json\n{}\n```\n```text\n\n```\n";
    assert_eq!(tally(good), Ok(Tally { commands: 3, parsed: 1, started: 0, for_the_eye: 1 }));
    assert_eq!(tally("```console serves\n$ echo up; exec sleep 600\nup\n```\n").map(|tally| tally.commands), Ok(1));
    for (bad, why) in [
        ("```console\n$ echo a\nb\n```\n", "page.md:2: `echo a` should have printed b"),
        ("```console\n$ exit 3\n```\n", "ended with"),
        ("```console\n$ no-such-program\n```\n", "ended with"),
        ("```console\n$ cargo bench\n```\n", "is nothing that this check knows"),
        ("```console\n$ cargo run -p conformance -- docs\n```\n", "would run this very check"),
        ("```json\n{\n```\n", "it isn't JSON"),
        ("```json\n\n```\n", "there is no JSON"),
        ("```toml\na\n```\n", "it isn't TOML"),
        ("```\nx\n```\n", "doesn't say what it is"),
        ("```fish\nx\n```\n", "nobody runs"),
        ("```json\n{}\n", "never ends"),
        ("```json\n{\"mcpServers\":{\"a\":{\"command\":\"/no/such/program\"}}}\n```\n", "can't be started"),
    ] {
        let problem = tally(bad).unwrap_err();
        assert!(problem.contains(why), "{bad} ended with {problem}");
    }
}

#[test]
fn what_ci_runs_itself_is_run_by_ci() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    for line in ["cargo test --workspace   # every test", "cargo run -p conformance -- all"] {
        assert_eq!(cargo::read(line, &place), Ok(cargo::Cargo::RunByCi), "{line}");
    }
    assert_eq!(cargo::read("ls", &place), Ok(cargo::Cargo::NotCargo));
    let cargo::Cargo::Real(words) = cargo::read("cargo build --release -p x", &place).unwrap() else { panic!() };
    assert_eq!((words[0].as_str(), &words[4..]), ("build", ["-p".to_owned(), "x".to_owned()].as_slice()));
    assert!(!words.contains(&"--release".to_owned()));
}

#[test]
fn an_argument_that_nobody_gave_and_a_choice_that_nobody_made() {
    let package = serde_json::json!({ "packageArguments": [
        { "type": "positional", "value": "serve" }, { "type": "named", "name": "--bundles", "isRequired": true } ] });
    let answered = std::collections::BTreeMap::from([("--bundles", "/b".to_owned())]);
    assert_eq!(start_line::of_package(&package, "a", &answered).unwrap().arguments, ["serve", "--bundles", "/b"]);
    assert!(start_line::of_package(&package, "a", &std::collections::BTreeMap::new()).is_err());
    let manifest = serde_json::json!({ "server": { "mcp_config": { "command": "${__dirname}/a", "env": { "X": "${user_config.x}", "Y": "${user_config.y}" } } } });
    let chosen = std::collections::BTreeMap::from([("x", "1".to_owned())]);
    let line = start_line::of_bundle(&manifest, &chosen, "/f").unwrap();
    assert_eq!((line.command.as_str(), line.environment["X"].as_str()), ("/f/a", "1"));
    assert_eq!(line.environment["Y"], "${user_config.y}", "as a host leaves it");
}
