//! Tests of the parent module.

use super::*;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn a_name_gives_the_time_back() {
    let moment = at("2026-01-31T12:00:07.891Z");
    let name = file_name(moment, true);
    assert_eq!(name, "gatehouse-20260131T120007Z.backup.age");
    assert_eq!(time_of(&name), Some((at("2026-01-31T12:00:07Z"), 1)));
    for other in [
        "gatehouse-x.backup",
        "x.backup",
        "gatehouse-20260131T120007Z.tar",
        "gatehouse-20260131T120007Z-1.backup",
        "gatehouse-20260131T120007Z-x.backup",
    ] {
        assert_eq!(time_of(other), None, "{other}");
    }
}

#[test]
fn the_oldest_are_deleted_and_other_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let days = ["01", "02", "03"].map(|day| at(&format!("2026-01-{day}T00:00:00Z")));
    for day in days {
        NewFile::create(&path(&file_name(day, false)))
            .unwrap()
            .keep()
            .unwrap();
    }
    File::create(path("notes.backup")).unwrap();
    drop(NewFile::create(&path("gatehouse-20260109T000000Z.backup")).unwrap());
    let newest = path(&file_name(days[2], false));
    assert_eq!(prune(directory.path(), 3, &newest).unwrap().len(), 0);
    let deleted = prune(directory.path(), 2, &newest).unwrap();
    assert_eq!(deleted.len(), 1);
    assert_eq!(deleted[0].created_at, days[0]);
    let left = list(directory.path()).unwrap();
    assert_eq!(left.len(), 2);
    assert_eq!(left[0].created_at, days[2]);
    // If the clock was set back, the new backup is not the newest by name.
    let made = &left[1].path;
    assert_eq!(prune(directory.path(), 1, made).unwrap().len(), 0);
    assert!(path("notes.backup").exists());
    assert_eq!(list(&path("missing")).unwrap().len(), 0);
}

#[test]
fn backups_of_one_second_get_numbers_and_the_last_is_the_newest() {
    let directory = tempfile::tempdir().unwrap();
    let moment = at("2026-01-31T12:00:07Z");
    let path = directory.path().join(file_name(moment, true));
    let made: Vec<PathBuf> = (0..11)
        .map(|_| NewFile::create_numbered(&path).unwrap().keep().unwrap())
        .collect();
    assert_eq!(made[0], path);
    assert!(made[10].ends_with("gatehouse-20260131T120007Z-11.backup.age"));
    let listed = list(directory.path()).unwrap();
    let listed: Vec<&PathBuf> = listed.iter().map(|entry| &entry.path).collect();
    assert_eq!(listed, made.iter().rev().collect::<Vec<_>>());
    let deleted = prune(directory.path(), 1, &made[10]).unwrap();
    assert_eq!(deleted.len(), 10);
    assert!(made[10].exists());
}

#[test]
fn an_existing_file_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.backup");
    NewFile::create(&path).unwrap().keep().unwrap();
    let error = NewFile::create(&path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    let other = directory.path().join("b.backup");
    let (one, two) = (NewFile::create(&other), NewFile::create(&other));
    one.unwrap().keep().unwrap();
    let error = two.unwrap().keep().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn the_files_of_killed_processes_are_deleted_after_a_minute() {
    let directory = tempfile::tempdir().unwrap();
    let aged = |name: &str, age: Duration| {
        let path = directory.path().join(name);
        let file = File::create(&path).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - age).unwrap();
        path
    };
    let margin = Duration::from_secs(10);
    let young = aged(".gatehouse-a.part", QUIET.saturating_sub(margin));
    let old = aged(".gatehouse-b.part", QUIET + margin);
    let others = ["gatehouse-b.part", ".gatehouse-b", ".other.part"];
    let others = others.map(|name| aged(name, QUIET_WITHOUT_LOCKS + margin));
    drop(NewFile::create(&directory.path().join("c.backup")).unwrap());
    assert!(young.exists() && !old.exists());
    assert!(others.iter().all(|path| path.exists()));
}

#[test]
fn a_file_that_cannot_be_opened_is_deleted_after_a_day() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(".gatehouse-a.part");
    let file = File::create(&path).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - QUIET_WITHOUT_LOCKS - Duration::from_secs(10))
        .unwrap();
    drop(file);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    drop(NewFile::create(&directory.path().join("b.backup")).unwrap());
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_being_written_is_not_deleted_however_old_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let slow = NewFile::create(&path("slow.backup")).unwrap();
    let long_ago = QUIET_WITHOUT_LOCKS + QUIET_WITHOUT_LOCKS;
    let file = slow.file.as_file();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - long_ago).unwrap();
    NewFile::create(&path("other.backup"))
        .unwrap()
        .keep()
        .unwrap();
    (&slow).write_all(b"the end").unwrap();
    slow.keep().unwrap();
    assert_eq!(path("slow.backup").metadata().unwrap().len(), 7);
}
