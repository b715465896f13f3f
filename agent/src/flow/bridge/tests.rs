//! The client against bridges that answer, refuse, die, hang and write garbage.

use std::time::Instant;

use super::command::Deployment;
use super::*;

const DIGEST: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const HELLO: &str = r#"{"id":1,"ok":true,"flow_version":"1.35.1","attended":true,"live":true}"#;
const DECISION: &str = r#"{"id":2,"ok":true,"decision":{"decision_id":"0123456789abcdef0123456789abcdef","action":"teach","status":"needs_demonstration","report_success":null,"next_transition":"step_001","transition_receipt_digest":null}}"#;

/// A bridge that notes every start and every line that it reads in `log`, and plays `script` with them.
struct Scripted {
    folder: tempfile::TempDir,
    bridge: FlowBridge,
}

impl Scripted {
    fn playing(script: &str, within: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let body = format!(
            "log={log}; echo start >> $log; next() {{ IFS= read -r line || exit 0; printf '%s\\n' \"$line\" >> $log; }}\n{script}",
            log = log.display()
        );
        let file = folder.path().join("bridge.sh");
        std::fs::write(&file, body).unwrap();
        let words = format!("sh {}", file.display());
        let command = BridgeCommand::new(Some(&words), &[], &Deployment::default(), within).unwrap();
        Self { folder, bridge: FlowBridge::new(command) }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn starts(&self) -> usize {
        self.log().lines().filter(|line| *line == "start").count()
    }

    fn acts(&self) -> usize {
        self.log().lines().filter(|line| line.contains("attended.act")).count()
    }

    fn act(&self) -> Result<Acted, BridgeFault> {
        self.bridge.act(Path::new("/runs"), &request())
    }
}

fn request() -> ActRequest<'static> {
    ActRequest {
        attention_id: "3a27e8688e9c58686643ac38",
        capability_digest: DIGEST,
        idempotency_key: "key-0123456789abcdef",
        action: "teach",
        disposition: "teach_requested",
        operator: "somebody",
    }
}

fn playing(script: &str) -> Scripted {
    Scripted::playing(script, Duration::from_secs(20))
}

fn answering(line: &str) -> Scripted {
    playing(&format!("next; echo '{HELLO}'; next; echo '{line}'; next"))
}

#[test]
fn a_bridge_is_not_started_before_it_is_needed_and_once_for_many_questions() {
    let scripted = playing(&format!(
        "next; echo '{HELLO}'; next; echo '{{\"id\":2,\"ok\":true,\"item\":null}}'; next; echo '{{\"id\":3,\"ok\":true,\"item\":null}}'; next"
    ));
    assert_eq!(scripted.starts(), 0);
    for _ in 0..2 {
        assert_eq!(scripted.bridge.attention_item(Path::new("/runs"), "3a27e8688e9c58686643ac38"), Ok(None));
    }
    assert_eq!(scripted.starts(), 1);
}

#[test]
fn what_is_sent_holds_under_the_schema_of_the_protocol() {
    let scripted = answering(DECISION);
    assert!(matches!(scripted.act(), Ok(Acted::Decided(_))));
    let lines: Vec<Value> = scripted
        .log()
        .lines()
        .filter(|line| *line != "start")
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        schemas::Schema::FlowBridge.check(line).unwrap();
    }
    assert_eq!(lines[1]["decided_by"], "automation");
}

#[test]
fn a_refusal_is_told_apart_from_everything_that_is_no_answer() {
    let told = |line: &str| answering(line).act();
    assert_eq!(told(r#"{"id":2,"ok":false,"kind":"refused"}"#), Ok(Acted::Refused));
    for line in [
        r#"{"id":2,"ok":false,"kind":"failed"}"#,
        r#"{"id":2,"ok":false}"#,
        r#"{"id":2,"ok":true}"#,
        r#"{"id":2,"kind":"refused"}"#,
        r#"{"id":2,"ok":true,"decision":{"decision_id":"Ada","action":"teach","status":"escalated"}}"#,
        r#"{"id":2,"ok":true,"decision":{"decision_id":"0123456789abcdef0123456789abcdef","action":"reject","status":"rejected"}}"#,
        r#"{"id":9,"ok":false,"kind":"refused"}"#,
        r#"{"ok":false,"kind":"refused"}"#,
        "Traceback (most recent call last):",
        "[]",
    ] {
        assert_eq!(told(line), Ok(Acted::Failed), "{line}");
    }
}

#[test]
fn free_text_in_a_decision_is_left_behind() {
    let planted = DECISION.replace("step_001", "Ada Example").replace("null}}", "\"Ada Example\"}}");
    let Ok(Acted::Decided(decision)) = answering(&planted).act() else { panic!("a decision was expected") };
    assert_eq!((decision.next_transition, decision.transition_receipt_digest), (None, None));
}

#[test]
fn a_bridge_that_dies_over_a_decision_has_failed_and_is_not_asked_again() {
    let scripted = playing(&format!("next; echo '{HELLO}'; next; exit 1"));
    assert_eq!(scripted.act(), Ok(Acted::Failed));
    assert_eq!((scripted.starts(), scripted.acts()), (1, 1));
}

#[test]
fn a_bridge_that_does_not_answer_in_time_has_failed_and_is_ended() {
    let scripted =
        Scripted::playing(&format!("next; echo '{HELLO}'; next; exec sleep 600"), Duration::from_millis(200));
    let began = Instant::now();
    assert_eq!(scripted.act(), Ok(Acted::Failed));
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(scripted.acts(), 1);
}

#[test]
fn a_question_is_asked_again_of_a_second_process_and_there_is_no_third() {
    let scripted = playing(&format!("next; echo '{HELLO}'; next; echo garbage; next"));
    let seen = scripted.bridge.attention_item(Path::new("/runs"), "3a27e8688e9c58686643ac38");
    assert_eq!(seen, Err(BridgeFault::Garbage));
    assert_eq!(scripted.act(), Err(BridgeFault::LostTwice));
    assert_eq!((scripted.starts(), scripted.acts()), (2, 0));
}

#[test]
fn without_a_program_or_without_decisions_nothing_is_submitted() {
    let nowhere = BridgeCommand::new(Some("/no/such/bridge"), &[], &Deployment::default(), HELLO_WITHIN).unwrap();
    assert_eq!(FlowBridge::new(nowhere).act(Path::new("/runs"), &request()), Err(BridgeFault::NotStarted));
    let without = HELLO.replace("\"attended\":true", "\"attended\":false");
    let scripted = playing(&format!("next; echo '{without}'; next"));
    assert_eq!(scripted.act(), Err(BridgeFault::NotAttended));
    assert_eq!(scripted.acts(), 0);
}

#[test]
fn the_end_of_the_client_ends_the_bridge() {
    let scripted = playing(&format!("next; echo '{HELLO}'; while next; do :; done"));
    assert!(scripted.bridge.hello().is_ok());
    let Scripted { folder, bridge } = scripted;
    drop(bridge);
    let (log, deadline) = (folder.path().join("log"), Instant::now() + Duration::from_secs(20));
    while !std::fs::read_to_string(&log).unwrap().contains("\"close\"") {
        assert!(Instant::now() < deadline, "the bridge was never told");
        std::thread::yield_now();
    }
}
