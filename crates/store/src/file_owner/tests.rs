//! Tests of the parent module.

use super::*;
use crate::testing::{TestDatabase, empty_sqlite};
use std::os::unix::fs::{chown, symlink};

const NOBODY: u32 = 65534;

fn owner(path: &Path) -> (u32, u32) {
    let found = path.symlink_metadata().unwrap();
    (found.uid(), found.gid())
}

/// Returns a data directory of another user; `None` if the test does not run as root.
fn data_dir_of_another_user() -> Option<TestDatabase> {
    let database = empty_sqlite();
    let given = chown(database.directory(), Some(NOBODY), Some(NOBODY));
    if given.is_err() {
        eprintln!("LEFT OUT: files of another user, because the test does not run as root");
    }
    given.is_ok().then_some(database)
}

#[test]
fn new_files_and_directories_get_the_owner_of_the_data_directory() {
    let Some(database) = data_dir_of_another_user() else {
        return;
    };
    let data_dir = database.directory();
    let given = FileOwner::of(data_dir);
    let folder = data_dir.join("a/b");
    given.create_directory(&folder).unwrap();
    let path = folder.join("file");
    given.give(&File::create(&path).unwrap(), &path);
    for path in [&data_dir.join("a"), &folder, &path] {
        assert_eq!(owner(path), (NOBODY, NOBODY), "{}", path.display());
    }
    // Existing directories keep their owner.
    let kept = data_dir.join("kept");
    std::fs::create_dir(&kept).unwrap();
    let before = owner(&kept);
    given.create_directory(&kept).unwrap();
    assert_eq!(owner(&kept), before);
}

#[test]
fn files_in_directories_of_others_keep_their_owner() {
    let Some(database) = data_dir_of_another_user() else {
        return;
    };
    let elsewhere = empty_sqlite();
    let given = FileOwner::of(database.directory());
    let link = database.directory().join("link");
    symlink(elsewhere.directory(), &link).unwrap();
    let before = owner(elsewhere.directory());
    for folder in [elsewhere.directory(), link.as_path()] {
        let path = folder.join("file");
        given.give(&File::create(&path).unwrap(), &path);
        assert_eq!(owner(&path), before);
        let below = folder.join("below");
        given.create_directory(&below).unwrap();
        assert_eq!(owner(&below), before);
        std::fs::remove_dir(&below).unwrap();
    }
}

#[test]
fn a_file_that_is_not_at_its_path_keeps_its_owner() {
    let Some(database) = data_dir_of_another_user() else {
        return;
    };
    let elsewhere = empty_sqlite();
    let given = FileOwner::of(database.directory());
    let before = owner(elsewhere.directory());
    let created = elsewhere.directory().join("file");
    let file = File::create(&created).unwrap();
    let path = database.directory().join("file");
    // Simulates a link to a directory of root that the user replaces with a directory of its own.
    given.give(&file, &path);
    assert_eq!(owner(&created), before);
    File::create(&path).unwrap();
    given.give(&file, &path);
    assert_eq!((owner(&created), owner(&path)), (before, before));
    std::fs::remove_file(&path).unwrap();
    symlink(&created, &path).unwrap();
    given.give(&file, &path);
    assert_eq!(owner(&created), before);
}

#[test]
fn a_file_with_two_links_keeps_its_owner() {
    let Some(database) = data_dir_of_another_user() else {
        return;
    };
    let given = FileOwner::of(database.directory());
    let path = database.directory().join("file");
    let other = database.directory().join("other");
    let file = File::create(&path).unwrap();
    let before = owner(&path);
    std::fs::hard_link(&path, &other).unwrap();
    given.give(&file, &path);
    assert_eq!(owner(&path), before);
    std::fs::remove_file(&other).unwrap();
    given.give(&file, &path);
    assert_eq!(owner(&path), (NOBODY, NOBODY));
}

#[test]
fn a_directory_that_was_exchanged_keeps_its_owner() {
    let Some(database) = data_dir_of_another_user() else {
        return;
    };
    let elsewhere = empty_sqlite();
    let before = owner(elsewhere.directory());
    let data_dir = database.directory();
    let above = open_directory(data_dir).unwrap();
    let give = |name: &str| give_directory((NOBODY, NOBODY), &above, OsStr::new(name));
    symlink(elsewhere.directory(), data_dir.join("link")).unwrap();
    assert!(give("link").is_err());
    assert_eq!(owner(elsewhere.directory()), before);
    let used = data_dir.join("used");
    std::fs::create_dir(&used).unwrap();
    File::create(used.join("file")).unwrap();
    assert!(!give("used").unwrap());
    assert_eq!(owner(&used), before);
    std::fs::remove_file(used.join("file")).unwrap();
    assert!(give("used").unwrap());
    assert_eq!(owner(&used), (NOBODY, NOBODY));
}

#[test]
fn a_path_without_a_directory_is_in_the_current_one() {
    assert_eq!(directory_of(Path::new("file")), Path::new("."));
    assert_eq!(directory_of(Path::new("a/file")), Path::new("a"));
    assert_eq!(directory_of(Path::new("/")), Path::new("/"));
}

#[test]
fn an_own_data_directory_and_a_missing_one_change_nothing() {
    let database = empty_sqlite();
    let path = database.directory().join("file");
    let file = File::create(&path).unwrap();
    let before = owner(&path);
    for data_dir in [
        database.directory(),
        database.directory().join("missing").as_path(),
    ] {
        FileOwner::of(data_dir).give(&file, &path);
        assert_eq!(owner(&path), before);
    }
}
