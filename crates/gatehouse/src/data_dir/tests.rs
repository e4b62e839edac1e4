//! Tests of the parent module.

use super::*;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_directory_and_its_files_are_for_their_owner_alone() {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("a/b");
    prepare(&path).unwrap();
    open_private(&path.join("f")).unwrap();
    assert_eq!((mode(&path), mode(&path.join("f"))), (0o700, 0o600));
}

#[test]
fn root_changes_nothing_through_a_link_of_another_user() {
    let (base, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    if std::os::unix::fs::chown(base.path(), Some(65534), Some(65534)).is_err() {
        eprintln!("LEFT OUT: files of another user, because the test does not run as root");
        return;
    }
    let (target, link) = (elsewhere.path().join("target"), base.path().join("link"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    open_private(&link).unwrap_err();
    assert!(!target.exists());
    File::create(&target).unwrap();
    std::fs::set_permissions(&target, Permissions::from_mode(0o644)).unwrap();
    open_private(&link).unwrap();
    assert_eq!(mode(&target), 0o644);
}

#[test]
fn our_own_loses_the_permissions_of_others_and_a_shared_one_is_left_alone() {
    for (file, expected) in [
        (None, 0o700),
        (Some("gatehouse.db"), 0o700),
        (Some("x"), 0o755),
    ] {
        let base = tempfile::tempdir().unwrap();
        if let Some(name) = file {
            File::create(base.path().join(name)).unwrap();
        }
        std::fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
        prepare(base.path()).unwrap();
        assert_eq!(mode(base.path()), expected, "{file:?}");
    }
}

#[test]
fn deleting_the_lock_file_does_not_unlock_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("gatehouse.db");
    let held = Locks::take(directory.path(), &database).unwrap();
    std::fs::remove_file(directory.path().join(LOCK_FILE)).unwrap();
    // The first call creates the file again.
    for _ in 0..2 {
        assert!(matches!(
            Locks::take(directory.path(), &database),
            Err(DataDirError::Locked { .. })
        ));
    }
    drop(held);
    assert!(Locks::take(directory.path(), &database).is_ok());
}

#[test]
fn deleting_the_lock_file_does_not_unlock_a_database_outside_the_data_directory() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let database = b.path().join("gatehouse.db");
    let held = Locks::take(a.path(), &database).unwrap();
    std::fs::remove_file(b.path().join(LOCK_FILE)).unwrap();
    let c = tempfile::tempdir().unwrap();
    for data_dir in [b.path(), c.path(), b.path()] {
        let Err(DataDirError::Locked { path }) = Locks::take(data_dir, &database) else {
            panic!("not locked: {}", data_dir.display());
        };
        assert_eq!(path, real(b.path()).join(LOCK_FILE));
    }
    drop(held);
    assert!(Locks::take(b.path(), &database).is_ok());
}

#[test]
fn databases_with_other_names_in_one_directory_do_not_exclude_each_other() {
    let [a, b, c] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let _one = Locks::take(a.path(), &c.path().join("one.db")).unwrap();
    let _two = Locks::take(b.path(), &c.path().join("two.db")).unwrap();
    // The directory is not the data directory of these servers.
    assert!(Locks::take(c.path(), &c.path().join("gatehouse.db")).is_ok());
}

#[test]
fn a_directory_that_cannot_be_opened_is_not_locked() {
    let base = tempfile::tempdir().unwrap();
    let missing = base.path().join("missing");
    let locked = lock_directory(&missing, &missing.join(LOCK_FILE));
    assert!(matches!(locked, Ok(None)), "{locked:?}");
}

#[test]
fn one_at_a_time_also_over_one_database_from_two_directories() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let database = a.path().join("gatehouse.db");
    let held = Locks::take(a.path(), &database).unwrap();
    assert!(matches!(
        Locks::take(a.path(), &database),
        Err(DataDirError::Locked { .. })
    ));
    drop(held);
    let c = tempfile::tempdir().unwrap();
    let held = Locks::take(a.path(), &database).unwrap();
    assert!(matches!(
        Locks::take(c.path(), &database),
        Err(DataDirError::Locked { .. })
    ));
    drop(held);
    let link = c.path().join("link");
    std::os::unix::fs::symlink(a.path(), &link).unwrap();
    drop(Locks::take(&link, &link.join("gatehouse.db")).unwrap());
    let elsewhere = a.path().join("other.db");
    let held = Locks::take(b.path(), &elsewhere).unwrap();
    assert!(matches!(
        Locks::take(c.path(), &elsewhere),
        Err(DataDirError::Locked { .. })
    ));
    drop(held);
    assert!(Locks::take(c.path(), &elsewhere).is_ok());
}
