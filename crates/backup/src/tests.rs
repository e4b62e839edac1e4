//! Backups from real databases into real databases.

use super::*;
use crate::age::{Identity, Recipient};
use gatehouse_domain::{SeededRandom, Timestamp};
use gatehouse_store::testing::rows::auth_session;
use gatehouse_store::testing::{TestDatabase, empty_databases, migrate, run_sql};
use gatehouse_store::{AuthSessionRow, Conn, Import, ImportError, Snapshot, StoreError};
use secrecy::SecretString;
use std::io::Read as _;
use std::path::Path;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

async fn fill(database: &TestDatabase, rows: i64) {
    let store = database.open().await;
    let write = store.write(move |conn: &mut Conn| {
        Box::pin(async move {
            for n in 0..rows {
                conn.insert_auth_session(&auth_session(n)).await?;
            }
            Ok::<_, StoreError>(())
        })
    });
    write.await.unwrap();
    store.close().await;
}

async fn sessions(database: &TestDatabase) -> Vec<AuthSessionRow> {
    let store = database.open().await;
    let read = store.read(|conn: &mut Conn| {
        Box::pin(async move { conn.list_auth_sessions(at(0), 100_000).await })
    });
    let rows: Result<_, StoreError> = read.await;
    store.close().await;
    let mut rows = rows.unwrap();
    rows.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
    rows
}

fn source(database: &TestDatabase, files: &[(&str, &Path)]) -> Source {
    let files = files
        .iter()
        .map(|(name, path)| ((*name).to_owned(), path.to_path_buf()));
    Source {
        location: database.location.clone(),
        files: files.collect(),
        directories: Vec::new(),
        version: "1.2.3".into(),
        now: at(1_000),
    }
}

/// Returns the content of a backup; `None` if gzip cannot read it.
fn unpacked(file: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let mut reader = flate2::read::MultiGzDecoder::new(file);
    reader.read_to_end(&mut content).ok().map(|_| content)
}

async fn backup(source: &Source, recipient: Option<&Recipient>) -> (Vec<u8>, Created) {
    let mut file = Vec::new();
    let mut last = (0, 0);
    let random = SeededRandom::new(1);
    let created = create(&mut file, source, recipient, &random, |done, total| {
        last = (done, total);
    });
    let created = created.await.unwrap();
    assert_eq!(last, (created.manifest.rows(), created.manifest.rows()));
    assert_eq!(created.bytes, file.len() as u64);
    (file, created)
}

async fn restore(
    file: &[u8],
    identity: Option<&Identity>,
    to: &TestDatabase,
) -> Result<Vec<RestoredFile>, BackupError> {
    let restored = open(file, identity)?
        .restore(&to.location, |_, _| {})
        .await?;
    restored.import.finish().await?;
    Ok(restored.files)
}

#[tokio::test]
async fn every_row_comes_back_on_every_engine() {
    for from in empty_databases().await {
        fill(&from, 2_500).await;
        let key = from.directory().join("key");
        std::fs::File::create(&key).unwrap();
        let missing = from.directory().join("missing");
        let source = source(&from, &[("key", &key), ("missing", &missing)]);
        let (file, created) = backup(&source, None).await;
        assert_eq!(created.manifest.files, ["key"]);
        for to in empty_databases().await {
            let files = restore(&file, None, &to).await.unwrap();
            assert_eq!((files.len(), files[0].name.as_str()), (1, "key"));
            assert_eq!(sessions(&to).await, sessions(&from).await);
            // A second backup from the copy has the same tables with the same number of rows.
            let (_, again) = backup(&self::source(&to, &[]), None).await;
            let mut tables = (again.manifest.tables, created.manifest.tables.clone());
            for tables in [&mut tables.0, &mut tables.1] {
                tables.sort_by(|a, b| a.name.cmp(&b.name));
                tables.iter_mut().for_each(TableEntry::sort_columns);
            }
            assert_eq!(tables.0, tables.1);
        }
    }
}

#[tokio::test]
async fn an_encrypted_backup_needs_its_passphrase() {
    let passphrase = || SecretString::from("a passphrase");
    let from = gatehouse_store::testing::empty_sqlite();
    fill(&from, 3).await;
    let recipient = Recipient::Passphrase(passphrase());
    let (file, _) = backup(&source(&from, &[]), Some(&recipient)).await;
    let to = gatehouse_store::testing::empty_sqlite();
    let error = restore(&file, None, &to).await.unwrap_err();
    assert!(matches!(error, BackupError::NeedsKey));
    let wrong = Identity::Passphrase(SecretString::from("another"));
    assert!(restore(&file, Some(&wrong), &to).await.is_err());
    let right = Identity::Passphrase(passphrase());
    restore(&file, Some(&right), &to).await.unwrap();
    assert_eq!(sessions(&to).await.len(), 3);
}

#[tokio::test]
async fn the_key_of_a_file_is_enough_to_check_it_and_damage_is_noticed() {
    const RECIPIENT: &str = "age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d";
    let from = gatehouse_store::testing::empty_sqlite();
    fill(&from, 50).await;
    let passphrase = Recipient::Passphrase(SecretString::from("a passphrase"));
    for recipient in [passphrase, Recipient::parse(RECIPIENT).unwrap()] {
        let (file, created) = backup(&source(&from, &[]), Some(&recipient)).await;
        let key = Identity::FileKey(created.key.unwrap());
        let check = async |file: &[u8]| open(file, Some(&key))?.check(|_, _| {}).await;
        check(file.as_slice()).await.unwrap();
        for place in (0..file.len()).step_by(97) {
            assert!(check(&file[..place]).await.is_err(), "cut at {place}");
            let mut changed = file.clone();
            changed[place] ^= 0x40;
            let changed = check(changed.as_slice()).await;
            assert!(changed.is_err(), "changed at {place}");
        }
        let to = gatehouse_store::testing::empty_sqlite();
        restore(&file, Some(&key), &to).await.unwrap();
        assert_eq!(sessions(&to).await.len(), 50);
    }
}

#[tokio::test]
async fn a_check_compares_the_checksums_of_the_rows() {
    use std::io::Write;
    let from = gatehouse_store::testing::empty_sqlite();
    fill(&from, 2).await;
    let (file, created) = backup(&source(&from, &[]), None).await;
    assert!(created.key.is_none());
    let content = String::from_utf8(unpacked(&file).unwrap()).unwrap();
    let row = content.lines().find(|line| line.starts_with('['));
    let row = format!("{}\n", row.unwrap());
    let twice = content.replacen(&row, &row.repeat(2), 1);
    for (content, is_good) in [(content, true), (twice, false)] {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(content.as_bytes()).unwrap();
        let file = out.finish().unwrap();
        let checked = open(&*file, None).unwrap().check(|_, _| {}).await;
        assert_eq!(checked.is_ok(), is_good, "{checked:?}");
    }
}

#[tokio::test]
async fn a_damaged_or_cut_backup_leaves_the_database_empty() {
    let from = gatehouse_store::testing::empty_sqlite();
    fill(&from, 50).await;
    let (file, _) = backup(&source(&from, &[]), None).await;
    let to = gatehouse_store::testing::empty_sqlite();
    let whole = unpacked(&file).unwrap();
    for place in (0..file.len()).step_by(97) {
        let cut = restore(&file[..place], None, &to).await;
        assert!(cut.is_err(), "cut at {place}");
        let mut changed = file.clone();
        changed[place] ^= 0x40;
        // Some bits of the gzip header and of the padding between blocks do not affect the unpacked content.
        if unpacked(&changed).is_none_or(|content| content != whole) {
            let changed = restore(&changed, None, &to).await;
            assert!(changed.is_err(), "changed at {place}");
        }
    }
    restore(&file, None, &to).await.unwrap();
    assert_eq!(sessions(&to).await.len(), 50);
}

#[tokio::test]
async fn rows_are_never_mixed_with_others() {
    for to in empty_databases().await {
        let from = gatehouse_store::testing::empty_sqlite();
        fill(&from, 1).await;
        let (file, _) = backup(&source(&from, &[]), None).await;
        fill(&to, 2).await;
        let error = restore(&file, None, &to).await.unwrap_err();
        assert!(matches!(error, BackupError::Import(ImportError::NotEmpty)));
        assert_eq!(sessions(&to).await.len(), 2);
    }
}

#[tokio::test]
async fn a_dropped_restore_leaves_the_database_empty() {
    for to in empty_databases().await {
        let from = gatehouse_store::testing::empty_sqlite();
        fill(&from, 1).await;
        let (file, _) = backup(&source(&from, &[]), None).await;
        drop(
            open(&*file, None)
                .unwrap()
                .restore(&to.location, |_, _| {})
                .await
                .unwrap(),
        );
        restore(&file, None, &to).await.unwrap();
        assert_eq!(sessions(&to).await.len(), 1);
    }
}

#[tokio::test]
async fn other_files_and_other_formats_are_named() {
    let error = open(&b"PK\x03\x04"[..], None).unwrap_err();
    assert!(matches!(error, BackupError::NotABackup));
    let gzip = |text: &str| {
        use std::io::Write;
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    };
    let error = open(&*gzip("{\"a\": 1}\n"), None).unwrap_err();
    assert!(matches!(error, BackupError::NotABackup));
    let error = open(&*gzip("{\"gatehouse_backup\": 2}\n"), None).unwrap_err();
    assert!(matches!(error, BackupError::Format { found: 2, known: 1 }));
    let unknown = Import::begin(&gatehouse_store::testing::empty_sqlite().location, 9_999).await;
    assert!(matches!(
        unknown.unwrap_err(),
        ImportError::UnknownVersion { version: 9_999 }
    ));
}

#[tokio::test]
async fn a_refused_restore_does_not_migrate_the_other_database() {
    const OLD: i64 = 23;
    for to in empty_databases().await {
        let from = gatehouse_store::testing::empty_sqlite();
        fill(&from, 1).await;
        let (file, _) = backup(&source(&from, &[]), None).await;
        migrate(&to.location, Some(OLD)).await;
        let row = "INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 1)";
        run_sql(&to.location, row).await;
        let error = restore(&file, None, &to).await.unwrap_err();
        assert!(matches!(error, BackupError::Import(ImportError::NotEmpty)));
        let version = Snapshot::open(&to.location).await.unwrap().version();
        assert_eq!(version, OLD);
    }
}

#[tokio::test]
async fn a_database_of_an_older_version_is_backed_up_and_migrated_at_the_restore() {
    for from in empty_databases().await {
        migrate(&from.location, Some(23)).await;
        let row = "INSERT INTO settings (key, value, updated_at) VALUES ('a.b', '1', 1)";
        run_sql(&from.location, row).await;
        let (file, created) = backup(&source(&from, &[]), None).await;
        assert_eq!(created.manifest.schema, 23);
        let to = gatehouse_store::testing::empty_sqlite();
        restore(&file, None, &to).await.unwrap();
        let newest = gatehouse_store::migration_versions().last().copied();
        let version = Snapshot::open(&to.location).await.unwrap().version();
        assert_eq!(Some(version), newest);
    }
}

#[tokio::test]
async fn views_are_not_part_of_a_backup() {
    for from in empty_databases().await {
        fill(&from, 1).await;
        run_sql(&from.location, "CREATE VIEW other AS SELECT 1.5 AS number").await;
        let (_, created) = backup(&source(&from, &[]), None).await;
        assert!(
            created
                .manifest
                .tables
                .iter()
                .all(|table| table.name != "other")
        );
    }
}

#[tokio::test]
async fn deliveries_that_a_sealed_vault_held_wait_for_the_owner_too() {
    for from in empty_databases().await {
        fill(&from, 1).await;
        for row in [
            "INSERT INTO webhooks (id, public_id, name, config, enabled, created_at, updated_at)
             VALUES ('hook_1', 'wh_1', 'a', '{}', 1, 1, 1)",
            "INSERT INTO held_deliveries (id, webhook_id, client, size, sealed)
             VALUES ('del_1', 'hook_1', 'c', 1, 's')",
        ] {
            run_sql(&from.location, row).await;
        }
        let (file, _) = backup(&source(&from, &[]), None).await;
        let to = gatehouse_store::testing::empty_sqlite();
        let archive = open(&*file, None).unwrap();
        let mut restored = archive.restore(&to.location, |_, _| {}).await.unwrap();
        assert_eq!(restored.import.hold_deliveries(at(1)).await.unwrap(), 1);
        restored.import.finish().await.unwrap();
        let store = to.open().await;
        for expected in [(true, 1), (false, 0)] {
            let write = store.write_queue(|conn: &mut Conn| {
                Box::pin(async move {
                    let holds = conn.holds_sealed_deliveries().await?;
                    Ok::<_, StoreError>((holds, conn.release_deliveries(at(1)).await?))
                })
            });
            assert_eq!(write.await.unwrap(), expected);
        }
        store.close().await;
    }
}
