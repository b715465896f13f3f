//! Where run folders are found, paging, what is seen of changes, and a figure for many runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::attended::category::Status;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/samples/flow-1.35.1");

struct Runs {
    folder: tempfile::TempDir,
}

impl Runs {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// In memory where the system offers it.
    fn many() -> Self {
        let memory = tempfile::tempdir_in("/dev/shm");
        Self { folder: memory.or_else(|_| tempfile::tempdir()).unwrap() }
    }

    fn path(&self, place: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(place)
    }

    /// A paused run that began `second` seconds after midnight.
    fn paused(&self, place: &str, second: u32) {
        let folder = self.path(place);
        fs::create_dir_all(&folder).unwrap();
        let began = format!("2026-11-29T{:02}:{:02}:{:02}.000000+00:00", second / 3600, second / 60 % 60, second % 60);
        let report =
            json!({"success": false, "started_at": began, "halt": {"observed_texts": []}, "results": [{"ok": false}]});
        fs::write(folder.join("report.json"), report.to_string()).unwrap();
        let pending =
            json!({"workflow_name": "w", "step_index": 0, "step_id": "s", "category": "identity", "status": "pending"});
        fs::write(folder.join("pending_escalation.json"), pending.to_string()).unwrap();
    }

    fn queue(&self) -> AttentionQueue {
        AttentionQueue::open(&self.path("")).unwrap()
    }
}

fn ids(page: &Page) -> Vec<String> {
    page.items.iter().map(|item| item.id.to_string()).collect()
}

fn id(place: &str) -> String {
    AttentionId::of_place(place).to_string()
}

#[test]
fn the_newest_comes_first_and_folders_are_found_two_levels_down() {
    let runs = Runs::new();
    runs.paused("run-a", 10);
    runs.paused("site/run-b", 30);
    runs.paused("run-c", 20);
    runs.paused("site/deep/run-d", 40);
    let page = runs.queue().page(None).unwrap();
    assert_eq!(ids(&page), [id("site/run-b"), id("run-c"), id("run-a")]);
    assert_eq!((page.open, page.next), (3, None));
}

#[test]
fn a_run_folder_is_not_descended_into_not_even_the_runs_folder_itself() {
    let runs = Runs::new();
    runs.paused("run-a", 1);
    runs.paused("run-a/inner", 2);
    assert_eq!(ids(&runs.queue().page(None).unwrap()), [id("run-a")]);
    runs.paused("", 3);
    assert_eq!(ids(&runs.queue().page(None).unwrap()), [id(".")]);
}

#[test]
fn links_lead_nowhere_whether_to_a_folder_or_to_a_report() {
    let (runs, elsewhere) = (Runs::new(), Runs::new());
    elsewhere.paused("run-x", 1);
    symlink(elsewhere.path("run-x"), runs.path("run-link")).unwrap();
    fs::create_dir(runs.path("run-y")).unwrap();
    symlink(elsewhere.path("run-x/report.json"), runs.path("run-y/report.json")).unwrap();
    let queue = runs.queue();
    assert_eq!(queue.page(None).unwrap().open, 0);
    for place in ["run-link", "run-y", "../run-x"] {
        assert_eq!(queue.resolve(&AttentionId::of_place(place)).unwrap(), None, "{place}");
    }
}

#[test]
fn what_happens_in_a_folder_is_seen_by_the_next_look() {
    let runs = Runs::new();
    runs.paused("run-a", 1);
    let queue = runs.queue();
    assert_eq!(queue.page(None).unwrap().items[0].status, Status::Pending);
    // In place, so that the folder itself doesn't change.
    let pending = fs::read_to_string(runs.path("run-a/pending_escalation.json")).unwrap();
    fs::write(runs.path("run-a/pending_escalation.json"), pending.replace("pending", "approved")).unwrap();
    assert_eq!(queue.page(None).unwrap().items[0].status, Status::Approved);
    let found = queue.resolve(&AttentionId::of_place("run-a")).unwrap();
    assert_eq!(found.map(|resolved| resolved.item.status), Some(Status::Approved));
    runs.paused("run-b", 2);
    assert_eq!(queue.page(None).unwrap().open, 2);
    fs::remove_dir_all(runs.path("run-a")).unwrap();
    assert_eq!(queue.resolve(&AttentionId::of_place("run-a")).unwrap(), None);
    assert_eq!(ids(&queue.page(None).unwrap()), [id("run-b")]);
}

#[test]
fn pages_are_whole_and_disjoint_and_the_last_has_no_cursor() {
    let runs = Runs::new();
    for number in 0..450 {
        runs.paused(&format!("run-{number}"), number / 2);
    }
    let queue = runs.queue();
    let (mut seen, mut lengths, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let page = queue.page(after.as_ref()).unwrap();
        assert_eq!(page.open, 450);
        seen.extend(ids(&page));
        lengths.push(page.items.len());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(lengths, [200, 200, 50]);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 450);
}

#[test]
fn a_real_run_folder_is_resolved_by_its_id() {
    let runs = Runs::new();
    fs::create_dir(runs.path("duplicate_record")).unwrap();
    for name in ["report.json", "pending_escalation.json"] {
        fs::copy(format!("{SAMPLES}/duplicate_record/{name}"), runs.path("duplicate_record").join(name)).unwrap();
    }
    let id = AttentionId::parse("3a27e8688e9c58686643ac38").unwrap();
    let found = runs.queue().resolve(&id).unwrap();
    assert_eq!(found.map(|resolved| resolved.place).as_deref(), Some("duplicate_record"));
}

/// Prints a figure: `cargo test -p openadapt-agent ten_thousand -- --nocapture`.
#[test]
fn ten_thousand_paused_runs_are_read_once_and_then_only_looked_at() {
    let runs = Runs::many();
    for number in 0..10_000 {
        runs.paused(&format!("run-{number:024}"), number);
    }
    let queue = runs.queue();
    let settled = Instant::now() + Duration::from_millis(150);
    while Instant::now() < settled {
        std::thread::yield_now();
    }
    let timed = |what: &str, work: &dyn Fn()| {
        let (began, on_cpu) = (Instant::now(), cpu_time());
        work();
        format!("{what} {:?} ({:?} on the processor)", began.elapsed(), cpu_time() - on_cpu)
    };
    let cold = timed("cold", &|| assert_eq!(queue.page(None).unwrap().open, 10_000));
    let warm = timed("warm", &|| assert_eq!(queue.page(None).unwrap().items.len(), 200));
    let item = AttentionId::of_place(&format!("run-{:024}", 5_000));
    let one = timed("one item", &|| assert!(queue.resolve(&item).unwrap().is_some()));
    writeln_figure(&format!("10,000 paused runs: {cold}, {warm}, {one}"));
    assert_eq!(queue.read_folders(), 10_000);
}

/// What this thread has had of a processor so far; nothing where the system doesn't say.
fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(stat.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or(0))
}

fn writeln_figure(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}
