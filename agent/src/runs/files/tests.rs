use std::os::unix::fs::symlink;

use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let temp = tempfile::tempdir().unwrap();
    let folder = Folder::open(temp.path()).unwrap();
    (temp, folder)
}

fn content(folder: &Folder, name: &str) -> Vec<u8> {
    match folder.read(name, 1 << 20).unwrap() {
        FileRead::Content { bytes, .. } => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_durable_write_replaces_the_whole_file_and_leaves_no_other_file() {
    let (_temp, folder) = folder();
    folder.write_durable("a", b"a long first text").unwrap();
    folder.write_durable("a", b"short").unwrap();
    assert_eq!(content(&folder, "a"), b"short");
    assert_eq!(folder.names().unwrap(), ["a"]);
}

#[test]
fn a_durable_write_replaces_a_symlink_and_does_not_follow_it() {
    let (temp, folder) = folder();
    std::fs::write(temp.path().join("target"), "kept").unwrap();
    symlink("target", temp.path().join("a")).unwrap();
    folder.write_durable("a", b"new").unwrap();
    assert_eq!(content(&folder, "a"), b"new");
    assert_eq!(content(&folder, "target"), b"kept");
}

#[test]
fn a_failed_write_leaves_the_old_content_and_no_temporary_file() {
    let (temp, folder) = folder();
    std::fs::create_dir_all(temp.path().join("a/b")).unwrap();
    assert!(folder.write_durable("a", b"x").is_err());
    assert_eq!(folder.names().unwrap(), ["a"]);
}

#[test]
fn of_many_creators_exactly_one_wins_and_every_reader_sees_its_whole_content() {
    let (_temp, folder) = folder();
    let text = |creator: usize| vec![b'a' + creator as u8; 100_000];
    let winners: Vec<usize> = std::thread::scope(|scope| {
        let (folder, text) = (&folder, &text);
        let threads: Vec<_> = (0..16)
            .map(|creator| {
                scope.spawn(move || {
                    let creation = folder.create_once("claim", &text(creator)).unwrap();
                    let seen = content(folder, "claim");
                    assert!(seen.len() == 100_000 && seen.iter().all(|byte| *byte == seen[0]));
                    (creation == Creation::Won).then_some(creator)
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(winners.len(), 1);
    assert_eq!(content(&folder, "claim"), text(winners[0]));
    assert_eq!(folder.names().unwrap(), ["claim"]);
}

#[test]
fn a_creator_loses_to_a_symlink_that_points_nowhere() {
    let (temp, folder) = folder();
    symlink("nowhere", temp.path().join("claim")).unwrap();
    assert_eq!(folder.create_once("claim", b"x").unwrap(), Creation::Lost);
}

#[test]
fn a_read_tells_missing_oversized_and_unfit_apart() {
    let (temp, folder) = folder();
    folder.write_durable("five", b"12345").unwrap();
    symlink("five", temp.path().join("link")).unwrap();
    std::fs::create_dir(temp.path().join("dir")).unwrap();
    let fifo = temp.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert_eq!(folder.read("none", 5).unwrap(), FileRead::Missing);
    assert_eq!(folder.read("five", 5).unwrap(), FileRead::Content { bytes: b"12345".to_vec(), mode: 0o600 });
    assert_eq!(folder.read("five", 4).unwrap(), FileRead::Unfit(Unfit::TooLarge));
    for unfit in ["link", "dir", "fifo"] {
        assert_eq!(folder.read(unfit, 5).unwrap(), FileRead::Unfit(Unfit::NotARegularFile), "{unfit}");
    }
}

#[test]
fn what_is_set_aside_keeps_its_content_under_a_free_name() {
    let (_temp, folder) = folder();
    for text in ["first", "second"] {
        folder.write_durable("r.json", text.as_bytes()).unwrap();
        folder.set_aside("r.json").unwrap();
    }
    folder.set_aside("r.json").unwrap();
    assert_eq!(folder.read("r.json", 10).unwrap(), FileRead::Missing);
    assert_eq!(content(&folder, "r.json.corrupt-1"), b"first");
    assert_eq!(content(&folder, "r.json.corrupt-2"), b"second");
}

#[test]
fn an_absolute_path_with_a_symlink_anywhere_is_refused_where_none_is_allowed() {
    let temp = tempfile::tempdir().unwrap();
    let real = temp.path().canonicalize().unwrap();
    std::fs::create_dir_all(real.join("a/b")).unwrap();
    symlink("a", real.join("link")).unwrap();
    assert!(Folder::open_without_symlinks(&real.join("a/b")).is_ok());
    assert!(matches!(Folder::open_without_symlinks(&real.join("link/b")), Err(FolderFault::NotAFolder)));
}

#[test]
fn a_folder_that_was_moved_is_noticed() {
    let (temp, _) = folder();
    let inner = temp.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let folder = Folder::open(&inner).unwrap();
    assert!(folder.is_where_it_was());
    std::fs::rename(&inner, temp.path().join("moved")).unwrap();
    assert!(!folder.is_where_it_was());
    std::fs::create_dir(&inner).unwrap();
    assert!(!folder.is_where_it_was());
}
