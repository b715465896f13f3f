use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Command;

use super::*;

const FOLDERS: [&str; 7] = ["", "runs", "requests", "locks", "servers", "dispatch", "params"];

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The umask belongs to the whole process, so this runs again as a process of its own, once for each umask.
#[test]
fn folders_and_files_are_private_whatever_the_umask() {
    const CHILD: &str = "OPENADAPT_TEST_UMASK_CHILD";
    if let Ok(task) = std::env::var(CHILD) {
        let (umask, runs) = task.split_once(' ').unwrap();
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(u32::from_str_radix(umask, 8).unwrap()));
        let root = StoreRoot::open(Path::new(runs)).unwrap();
        root.records().write_durable("written", b"x").unwrap();
        root.records().create_once("created", b"x").unwrap();
        root.records().lock_file("locked").unwrap();
        return;
    }
    for umask in ["000", "022", "077", "777"] {
        let temp = tempfile::tempdir().unwrap();
        let runs = temp.path().join("new/deeper/runs");
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "runs::root::tests::folders_and_files_are_private_whatever_the_umask", "--nocapture"])
            .env(CHILD, format!("{umask} {}", runs.display()))
            .output()
            .unwrap();
        assert!(child.status.success(), "umask {umask}: {}", String::from_utf8_lossy(&child.stderr));
        for folder in FOLDERS {
            assert_eq!(mode(&runs.join("openadapt-agent").join(folder)), 0o700, "{folder}, umask {umask}");
        }
        for parent in ["new", "new/deeper", "new/deeper/runs"] {
            assert_eq!(mode(&temp.path().join(parent)), 0o700, "{parent}, umask {umask}");
        }
        for file in ["written", "created", "locked"] {
            assert_eq!(mode(&runs.join("openadapt-agent/runs").join(file)), 0o600, "{file}, umask {umask}");
        }
    }
}

#[test]
fn a_runs_folder_may_be_reached_through_a_symlink_and_is_named_by_its_real_path() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("real")).unwrap();
    symlink("real", temp.path().join("link")).unwrap();
    let root = StoreRoot::open(&temp.path().join("link")).unwrap();
    assert_eq!(root.runs_dir(), temp.path().join("real").canonicalize().unwrap());
    let run_id = RunId::random();
    assert_eq!(root.run_dir(&run_id), root.runs_dir().join(run_id.as_str()));
}

#[test]
fn a_symlink_in_place_of_the_store_or_of_one_of_its_folders_is_refused() {
    for link in ["openadapt-agent", "openadapt-agent/runs", "openadapt-agent/dispatch", "openadapt-agent/params"] {
        let temp = tempfile::tempdir().unwrap();
        let runs = temp.path().join("runs");
        fs::create_dir_all(runs.join(link).parent().unwrap()).unwrap();
        fs::create_dir(temp.path().join("elsewhere")).unwrap();
        symlink(temp.path().join("elsewhere"), runs.join(link)).unwrap();
        let fault = StoreRoot::open(&runs).unwrap_err();
        assert!(matches!(fault, RootFault::StoreFolder { fault: FolderFault::NotAFolder, .. }), "{link}: {fault}");
        assert_eq!(fs::read_dir(temp.path().join("elsewhere")).unwrap().count(), 0, "nothing is made behind it");
    }
}

#[test]
fn a_dangling_symlink_as_the_runs_folder_is_refused_and_not_followed() {
    let temp = tempfile::tempdir().unwrap();
    symlink(temp.path().join("nowhere"), temp.path().join("runs")).unwrap();
    assert!(matches!(StoreRoot::open(&temp.path().join("runs")), Err(RootFault::NoRunsFolder(_))));
    assert!(!temp.path().join("nowhere").exists());
}

#[test]
fn a_folder_that_others_may_write_to_is_refused_and_left_as_it_is() {
    for (mode_before, folder) in
        [(0o777, ""), (0o770, ""), (0o702, ""), (0o770, "openadapt-agent"), (0o722, "openadapt-agent/runs")]
    {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join(folder)).unwrap();
        set_mode(&temp.path().join(folder), mode_before);
        let fault = StoreRoot::open(temp.path()).unwrap_err();
        let inner = match fault {
            RootFault::RunsFolder(inner) | RootFault::StoreFolder { fault: inner, .. } => inner,
            other => panic!("{other}"),
        };
        assert!(matches!(inner, FolderFault::WritableByOthers), "{folder} {mode_before:o}: {inner}");
        assert_eq!(mode(&temp.path().join(folder)), mode_before);
    }
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let foreign = if rustix::process::geteuid().is_root() {
        let foreign = temp.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        std::os::unix::fs::chown(&foreign, Some(65534), None).unwrap();
        foreign
    } else {
        PathBuf::from("/usr/lib")
    };
    assert_ne!(fs::metadata(&foreign).unwrap().uid(), rustix::process::geteuid().as_raw());
    let fault = StoreRoot::open(&foreign).unwrap_err();
    assert!(matches!(fault, RootFault::RunsFolder(FolderFault::OtherOwner) | RootFault::RunsFolderShared), "{fault}");
}

#[test]
fn a_readable_runs_folder_is_tightened_when_it_is_empty_or_already_a_runs_folder() {
    let temp = tempfile::tempdir().unwrap();
    for (runs, contents) in [("empty", ""), ("used", "openadapt-agent/runs")] {
        let runs = temp.path().join(runs);
        fs::create_dir_all(runs.join(contents)).unwrap();
        set_mode(&runs, 0o755);
        StoreRoot::open(&runs).unwrap();
        assert_eq!(mode(&runs), 0o700);
        assert_eq!(mode(&runs.join("openadapt-agent")), 0o700);
    }
}

#[test]
fn a_readable_folder_with_other_files_in_it_is_refused_and_left_as_it_is() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("notes.txt"), "").unwrap();
    set_mode(temp.path(), 0o755);
    let fault = StoreRoot::open(temp.path()).unwrap_err();
    assert!(matches!(fault, RootFault::RunsFolderShared), "{fault}");
    assert_eq!(mode(temp.path()), 0o755);
    assert!(!temp.path().join("openadapt-agent").exists());
    set_mode(temp.path(), 0o700);
    StoreRoot::open(temp.path()).unwrap();
}

#[test]
fn a_file_in_place_of_the_runs_folder_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    assert!(matches!(StoreRoot::open(&temp.path().join("file")), Err(RootFault::RunsFolder(FolderFault::NotAFolder))));
    assert!(matches!(StoreRoot::open(&temp.path().join("file/runs")), Err(RootFault::NoRunsFolder(_))));
}

#[test]
fn servers_that_start_at_once_on_a_new_folder_all_open_it() {
    let temp = tempfile::tempdir().unwrap();
    let runs = temp.path().join("a/b");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| StoreRoot::open(&runs).unwrap());
        }
    });
}

#[test]
fn sentences_name_no_path() {
    let temp = tempfile::tempdir().unwrap();
    set_mode(temp.path(), 0o777);
    let fault = StoreRoot::open(temp.path()).unwrap_err();
    assert!(!format!("{fault} {}", fault.hint()).contains(temp.path().to_str().unwrap()));
    set_mode(temp.path(), 0o700);
}
