//! A start on a data directory without a database.

use crate::process::Installation;
use std::path::Path;

/// Creates a file in the data directory.
async fn put(installation: &Installation, name: &str, content: &str) {
    let path = installation.data_dir().join(name);
    let parent = path.parent().map(Path::to_path_buf).unwrap();
    tokio::fs::create_dir_all(parent).await.unwrap();
    tokio::fs::write(path, content).await.unwrap();
}

#[tokio::test]
async fn a_start_without_its_database_is_no_new_installation_beside_files_of_an_earlier_one() {
    for (name, shown) in [
        ("gatehouse.db-wal", "gatehouse.db-wal"),
        ("gatehouse.db-shm", "gatehouse.db-shm"),
        ("provider_keys.json", "provider_keys.json"),
        ("provider_keys.json.enc", "provider_keys.json.enc"),
        ("provider_keys.json.moved", "provider_keys.json.moved"),
        ("backups/gatehouse-20260131T120000Z.backup.age", "backups"),
    ] {
        for has_empty_file in [false, true] {
            let installation = Installation::new();
            put(&installation, name, "x").await;
            if has_empty_file {
                put(&installation, "gatehouse.db", "").await;
            }
            for args in [
                &["serve", "--bind", "127.0.0.1:0"] as &[&str],
                &["auth", "setup-code"],
            ] {
                let error = installation.run(args).failed(1);
                for part in [shown, "missing or empty", "move these files away"] {
                    assert!(error.contains(part), "{name} {args:?}: {error}");
                }
            }
            let path = installation.data_dir().join(name);
            assert_eq!(tokio::fs::read(&path).await.unwrap(), b"x", "{name}");
            let database = installation.data_dir().join("gatehouse.db");
            let size = database.metadata().ok().map(|found| found.len());
            assert_eq!(size, has_empty_file.then_some(0), "{name}");
            tokio::fs::remove_file(&path).await.unwrap();
            installation.start().stop();
        }
    }
}

#[tokio::test]
async fn a_first_start_accepts_what_may_be_there_before_it() {
    let installation = Installation::new();
    for name in [
        "gatehouse.db",
        "gatehouse.db-wal",
        "gatehouse.lock",
        "gatehouse.toml",
        "self-signed-cert.pem",
        "backups/notes.txt",
    ] {
        put(&installation, name, "").await;
    }
    put(&installation, "cli.key", "a key of another server").await;
    installation.start().stop();
}

#[tokio::test]
async fn a_server_whose_database_was_deleted_does_not_start_as_a_new_one() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    // After a kill, the log and its index stay.
    server.kill();
    let database = installation.data_dir().join("gatehouse.db");
    let away = installation.data_dir().join("away.db");
    tokio::fs::rename(&database, &away).await.unwrap();
    let error = installation.run(&["serve", "--bind", "127.0.0.1:0"]);
    let error = error.failed(1);
    assert!(error.contains("gatehouse.db-"), "{error}");
    tokio::fs::rename(&away, &database).await.unwrap();
    installation.start().stop();
}
