//! Provider key files that are kept after a move.

use super::set_aside::numbered;
use super::*;
use gatehouse_domain::SystemRandom;
use gatehouse_store::testing::{TestDatabase, sqlite};
use std::collections::BTreeMap;

/// Returns files in the directory of a database, which is removed with it.
fn files() -> (TestDatabase, ProviderFiles) {
    let database = sqlite();
    let files = ProviderFiles::new(database.directory().to_owned());
    (database, files)
}

fn keys(key: &str) -> ProviderKeys {
    let key = ProviderKey {
        key: key.to_owned(),
        base_url: "https://p.example/v1".to_owned(),
        kind: None,
    };
    ProviderKeys(BTreeMap::from([("p".to_owned(), key)]))
}

fn content(files: &ProviderFiles, name: &str) -> Option<String> {
    let bytes = files.read(name).unwrap()?;
    Some(str::from_utf8(&bytes).unwrap().to_owned())
}

#[test]
fn a_second_move_keeps_the_keys_of_the_first() {
    let dek = Dek::generate(&SystemRandom);
    for (dek, first) in [(None, MOVED_PLAIN), (Some(&dek), MOVED_COPY)] {
        let (_database, files) = files();
        for key in ["sk-1", "sk-2", "sk-2"] {
            files.write_plain(&keys(key)).unwrap();
            files.set_aside(dek, &SystemRandom, &keys(key)).unwrap();
            assert!(
                PROVIDER_FILES
                    .iter()
                    .all(|name| !files.exists(name).unwrap())
            );
        }
        let read = |number| {
            files
                .read_aside((numbered(first, number).as_str(), first), dek)
                .unwrap()
        };
        assert!(read(1) == Some(keys("sk-1")));
        assert!(read(2) == Some(keys("sk-2")));
        assert!(read(3).is_none(), "the same keys need no third file");
        files.remove_set_aside().unwrap();
        assert!(read(1).is_none() && read(2).is_none());
    }
}

#[test]
fn an_unreadable_file_of_an_earlier_move_is_kept() {
    let (_database, files) = files();
    files.write(MOVED_PLAIN, b"damaged").unwrap();
    files.set_aside(None, &SystemRandom, &keys("sk-1")).unwrap();
    assert_eq!(content(&files, MOVED_PLAIN).as_deref(), Some("damaged"));
    assert!(files.exists("provider_keys.json.moved.2").unwrap());
}

#[test]
fn with_a_vault_the_same_keys_do_not_stay_in_plaintext() {
    let (_database, files) = files();
    let dek = Dek::generate(&SystemRandom);
    for key in ["sk-1", "sk-2"] {
        files.set_aside(None, &SystemRandom, &keys(key)).unwrap();
    }
    files
        .set_aside(Some(&dek), &SystemRandom, &keys("sk-2"))
        .unwrap();
    assert_eq!(files.names_of(MOVED_PLAIN).unwrap(), [MOVED_PLAIN]);
    assert_eq!(files.names_of(MOVED_COPY).unwrap(), [MOVED_COPY]);
    files.settle(&dek, &SystemRandom, true).unwrap();
    assert!(files.exists(MOVED_PLAIN).unwrap());
    files.settle(&dek, &SystemRandom, false).unwrap();
    assert!(!files.exists(MOVED_PLAIN).unwrap());
}

#[cfg(unix)]
#[test]
fn at_the_start_no_plaintext_file_stays_readable_for_others() {
    use std::os::unix::fs::PermissionsExt;
    let (_database, files) = files();
    let names = [PLAIN, MOVED_PLAIN, "provider_keys.json.moved.2"];
    for name in names {
        files.write(name, b"{}").unwrap();
        let mode = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(files.path(name), mode).unwrap();
    }
    files.sweep().unwrap();
    for name in names {
        let mode = files.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
