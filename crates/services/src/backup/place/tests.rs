//! Tests of the parent module.

use super::*;
use futures_util::FutureExt;
use std::os::unix::fs::symlink;

fn place(directory: &Path, data_dir: &Path, state: State) -> BackupDirectory {
    BackupDirectory {
        directory: directory.to_owned(),
        data_dir: data_dir.to_owned(),
        state,
    }
}

#[test]
fn only_a_directory_below_the_data_directory_may_be_missing() {
    let base = tempfile::tempdir().unwrap();
    let data = base.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let (own, other) = (data.join("a/b"), base.path().join("disk"));
    let with_data = DirectoryFacts {
        is_mount_point: false,
        is_with_data: true,
    };
    let check = |directory: &Path| place(directory, &data, State::default()).check();
    assert_eq!(check(&own).unwrap(), with_data);
    for other in [&other, &data.join("../disk")] {
        assert!(matches!(check(other), Err(PlaceError::Missing)));
    }
    assert!(!other.exists());
    std::fs::create_dir(&other).unwrap();
    assert_eq!(check(&other).unwrap(), with_data);
    std::fs::File::create(data.join("file")).unwrap();
    assert!(matches!(check(&data.join("file")), Err(PlaceError::Io(_))));
}

#[test]
fn no_directory_is_created_where_a_link_leads_out_of_the_data_directory() {
    let base = tempfile::tempdir().unwrap();
    let (data, disk) = (base.path().join("data"), base.path().join("disk"));
    std::fs::create_dir(&data).unwrap();
    std::fs::create_dir(&disk).unwrap();
    symlink(&disk, data.join("link")).unwrap();
    symlink(disk.join("gone"), data.join("broken")).unwrap();
    symlink(&data, base.path().join("alias")).unwrap();
    let check = |directory: PathBuf| place(&directory, &data, State::default()).check();
    check(data.join("link")).unwrap();
    for outside in ["link/backups", "broken", "broken/backups", "new/../../new"] {
        let found = check(data.join(outside));
        assert!(matches!(found, Err(PlaceError::Missing)), "{outside}");
    }
    // Uses another name of the data directory.
    check(base.path().join("alias/backups")).unwrap();
}

#[test]
fn the_data_directory_of_a_command_may_be_missing() {
    let base = tempfile::tempdir().unwrap();
    let data = base.path().join("data");
    let check = |directory: &Path| place(directory, &data, State::default()).check();
    assert!(check(&data.join("backups")).unwrap().is_with_data);
    let outside = check(&data.join("../backups"));
    assert!(matches!(outside, Err(PlaceError::Missing)));
    assert!(!check(base.path()).unwrap().is_with_data);
}

#[tokio::test]
async fn an_examination_that_does_not_end_occupies_one_thread() {
    let data = tempfile::tempdir().unwrap();
    let place = place(data.path(), data.path(), State::default());
    let turn: Arc<Mutex<()>> = Arc::default();
    let unending = Arc::clone(&turn).lock_owned().await;
    let check = examine(&turn, place.clone(), BackupDirectory::check);
    assert!(check.now_or_never().is_none());
    drop(unending);
    examine(&turn, place, BackupDirectory::check)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn an_examination_without_an_answer_is_given_up() {
    let data = tempfile::tempdir().unwrap();
    let place = place(data.path(), data.path(), State::default());
    let turn: Arc<Mutex<()>> = Arc::default();
    let unending = Arc::clone(&turn).lock_owned().await;
    let ended = within(
        Duration::ZERO,
        examine(&turn, place.clone(), BackupDirectory::check),
    )
    .await;
    assert!(matches!(ended, Err(PlaceError::NoAnswer)), "{ended:?}");
    let ended = within(
        Duration::ZERO,
        examine(&turn, place.clone(), BackupDirectory::list),
    )
    .await;
    assert!(matches!(ended, Err(PlaceError::NoAnswer)), "{ended:?}");
    drop(unending);
    let check = examine(&turn, place.clone(), BackupDirectory::check);
    assert!(within(LONGEST_WAIT, check).await.unwrap().is_with_data);
    let list = examine(&turn, place, BackupDirectory::list);
    assert!(within(LONGEST_WAIT, list).await.unwrap().is_empty());
}

#[test]
fn a_mount_point_is_recognized() {
    let data = tempfile::tempdir().unwrap();
    let found = place(Path::new("/dev"), data.path(), State::default()).check();
    let elsewhere = DirectoryFacts {
        is_mount_point: true,
        is_with_data: false,
    };
    assert_eq!(found.unwrap(), elsewhere);
}

#[test]
fn nothing_is_written_to_the_empty_mount_point_of_a_disk_that_is_missing() {
    let base = tempfile::tempdir().unwrap();
    let (data, disk) = (base.path().join("data"), base.path().join("disk"));
    std::fs::create_dir(&data).unwrap();
    std::fs::create_dir(&disk).unwrap();
    let check = |state: State| place(&disk, &data, state).check();
    assert!(matches!(check(mounted(&disk)), Err(PlaceError::NotMounted)));
    // The mount point was another directory.
    check(mounted(&data)).unwrap();
    // A user has created a backup in this directory.
    std::fs::File::create(disk.join("gatehouse-20260131T120000Z.backup")).unwrap();
    check(mounted(&disk)).unwrap();
    // A mount point in the data directory is not created either.
    let own = data.join("backups");
    let gone = place(&own, &data, mounted(&own)).check();
    assert!(matches!(gone, Err(PlaceError::Missing)));
}

#[test]
fn what_is_wrong_with_the_directory_is_part_of_the_check() {
    let check = || Check::fine("backup", "Backups are scheduled.");
    let found = |is_with_data| DirectoryFacts {
        is_mount_point: false,
        is_with_data,
    };
    assert_eq!(with_place(check(), &Ok(found(false))), check());
    let same = with_place(check(), &Ok(found(true)));
    assert!(same.ok && same.hint.is_some(), "{same:?}");
    assert_eq!(
        same.message,
        "Backups are scheduled. Backups are on the file system of the data directory."
    );
    for error in [PlaceError::Missing, PlaceError::NotMounted] {
        let bad = with_place(check(), &Err(error));
        assert!(!bad.ok && bad.message.contains("mount its disk"), "{bad:?}");
        // Another node may have the directory.
        assert!(bad.is_of_node, "{bad:?}");
    }
    let unreadable = PlaceError::Io(io::ErrorKind::PermissionDenied.into());
    assert_eq!(with_place(check(), &Err(unreadable)), check());
}
