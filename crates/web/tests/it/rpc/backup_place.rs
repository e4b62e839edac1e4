//! The directory of `backup.to`.

use crate::steps::{doctor_check, stopped_clock};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);

/// Returns the check of scheduled backups in `doctor`.
async fn finding(owner: &Actor) -> Value {
    doctor_check(owner, "backup").await
}

#[tokio::test]
async fn the_directory_of_a_missing_disk_is_not_created() {
    let clock = stopped_clock();
    let options = Options::default()
        .clock(clock.clone())
        .env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let services = server.app().services();
    // The first poll calculates when the backup is due.
    assert!(!services.make_due_backup().await.unwrap());
    let own = finding(&owner).await;
    assert_eq!(own["ok"], true, "{own}");
    assert!(own.to_string().contains("the file system of the data"));

    let disk = server.directory().with_extension("disk");
    let set = json!({ "key": "backup.to", "value": disk });
    owner.rpc("config.set", set).await.unwrap();
    let missing = finding(&owner).await;
    assert_eq!(missing["ok"], false, "{missing}");
    assert!(missing.to_string().contains("does not exist"), "{missing}");
    for method in ["backup.create", "backup.list"] {
        let refused = owner.rpc(method, json!({})).await;
        assert_eq!(refused, Err("STORAGE_UNAVAILABLE".to_owned()), "{method}");
    }
    clock.advance(DAY);
    assert!(services.make_due_backup().await.unwrap());
    let failed = finding(&owner).await;
    assert_eq!(failed["ok"], false, "{failed}");
    assert!(failed.to_string().contains("does not exist"), "{failed}");
    assert!(!disk.exists());

    tokio::fs::create_dir(&disk).await.unwrap();
    clock.advance(DAY);
    assert!(services.make_due_backup().await.unwrap());
    let made = finding(&owner).await;
    assert_eq!(made["ok"], true, "{made}");
    let mut files = tokio::fs::read_dir(&disk).await.unwrap();
    assert!(files.next_entry().await.unwrap().is_some());
    tokio::fs::remove_dir_all(&disk).await.unwrap();
}

/// Earlier versions accepted any text, so a wrong one may be stored.
#[tokio::test]
async fn a_wrong_recipient_is_refused_and_a_stored_one_is_not_called_a_key() {
    let options = Options::default().env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let set = json!({ "key": "backup.recipient", "value": "age1wrong" });
    let refused = owner.rpc("config.set", set).await;
    assert_eq!(refused, Err("INVALID_PARAMS".to_owned()));
    let services = server.app().services();
    let now = services.clock.now();
    let store = services.store.write(move |conn| {
        Box::pin(async move {
            let stored = json!("age1wrong");
            conn.update_setting("backup.recipient", &stored, now).await
        })
    });
    store.await.unwrap();
    services.apply_settings().await.unwrap();
    let reported = finding(&owner).await;
    assert_eq!(reported["ok"], false, "{reported}");
    assert!(
        reported.to_string().contains("backup.recipient is wrong"),
        "{reported}"
    );
    for id in ["backup_drill", "backup_encrypted"] {
        assert_eq!(doctor_check(&owner, id).await, Value::Null, "{id}");
    }
    services.create_backup(None, None).await.unwrap_err();
}

#[tokio::test]
async fn a_disk_that_is_no_longer_mounted_gets_no_backup() {
    let server = TestServer::start(Options::default()).await;
    server.set_up().await;
    let services = server.app().services();
    let own = server.directory().join("backups");
    let made = services.create_backup(None, None).await.unwrap();
    let now = services.clock.now();
    let stored = json!({ "mount_point": own });
    let store = services.store.write(move |conn| {
        Box::pin(async move { conn.update_setting("backup_place", &stored, now).await })
    });
    store.await.unwrap();
    let file = own.join(&made.backup.name);
    let beside = server.directory().join(&made.backup.name);
    tokio::fs::rename(&file, &beside).await.unwrap();
    let refused = services.create_backup(None, None).await.unwrap_err();
    assert!(
        refused.message.contains("was a mount point"),
        "{}",
        refused.message
    );
    // With a backup in it, the directory is accepted. It is then stored as a directory that is not a mount point.
    tokio::fs::rename(&beside, &file).await.unwrap();
    services.create_backup(None, None).await.unwrap();
    tokio::fs::remove_dir_all(&own).await.unwrap();
    services.create_backup(None, None).await.unwrap();
}
