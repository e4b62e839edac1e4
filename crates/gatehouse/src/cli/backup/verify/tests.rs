//! Tests of the parent module.

use super::*;

#[test]
fn a_temporary_directory_is_for_its_owner_only() {
    let base = tempfile::tempdir().unwrap();
    let place = builder().tempdir_in(base.path()).unwrap();
    let mode = place.path().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
