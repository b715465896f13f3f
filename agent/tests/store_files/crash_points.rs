//! No build for people holds a name of a crash point.

/// Source: lifecycle, *Crash points*; issue 6, "a release build holds none of it".
#[test]
fn the_program_knows_crash_points_only_when_it_was_built_with_them() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_openadapt-agent")).unwrap();
    let holds = |name: &str| memchr::memmem::find(&program, name.as_bytes()).is_some();
    let names = [
        "OPENADAPT_AGENT_CRASH_AT",
        "OPENADAPT_AGENT_FAIL_AT",
        "OPENADAPT_AGENT_HOLD_AT",
        "reserve.after_cursor",
        "keeper.before_claim",
        "dispatch.after_intent",
        "project.after_tmp",
        "respond.before",
    ];
    for name in names {
        assert_eq!(holds(name), cfg!(feature = "crash-points"), "{name}");
    }
    assert!(holds("lifecycle.sqlite"), "this is how a name that is in it is found");
}
