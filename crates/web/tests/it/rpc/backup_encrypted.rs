//! The drill of encrypted backups.

use super::backup_drill::{Verifier, WEEK, audit_count, drill, finding, listed, restart, unusable};
use crate::steps::{doctor_check, stopped_clock};
use gatehouse_domain::ManualClock;
use gatehouse_services::backup::{DrillError, VerifyBackup};
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, PASSWORD, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const RECIPIENT: &str = "age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d";

fn encrypted(clock: &Arc<ManualClock>) -> Options {
    Options::default()
        .clock(Arc::clone(clock))
        .env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *")
        .env("SERVICE_BACKUP__RECIPIENT", RECIPIENT)
}

#[tokio::test]
async fn after_a_restart_only_the_file_of_an_encrypted_backup_is_checked_and_nothing_else_is_claimed()
 {
    let clock = stopped_clock();
    let server = TestServer::start(encrypted(&clock)).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let services = server.app().services();
    let made = services.create_backup(None, None).await.unwrap();
    // The key of the file was in memory only.
    let (server, owner) = restart(server, &owner).await;
    let services = server.app().services();
    assert_eq!(finding(&owner).await, Value::Null, "nothing is restored");
    let waiting = doctor_check(&owner, "backup_encrypted").await;
    assert!(waiting.to_string().contains("test the next"), "{waiting}");
    let command = "`gatehouse backup verify FILE --identity KEY`";
    assert!(waiting.to_string().contains(command), "{waiting}");
    assert_eq!(listed(&owner).await, Value::Null);

    assert!(drill(&server, &verifier).await);
    assert_eq!(finding(&owner).await, Value::Null);
    let received = doctor_check(&owner, "backup_encrypted").await;
    let message = received["message"].as_str().unwrap();
    assert!(message.contains(&made.backup.name), "{message}");
    assert!(message.contains("its file was unchanged"), "{message}");
    assert!(
        message.contains("neither decrypted nor restored"),
        "{message}"
    );
    let command = "`gatehouse backup verify FILE` with `--identity`";
    assert!(message.contains(command), "{message}");
    assert_eq!(listed(&owner).await, "file_unchanged");
    assert_eq!(audit_count(&owner, "backup.verified").await, 0);
    assert_eq!(audit_count(&owner, "backup.not_verified").await, 1);
    assert!(!drill(&server, &verifier).await, "it is not due");

    let path = server.directory().join("backups").join(&made.backup.name);
    let mut bytes = tokio::fs::read(&path).await.unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    tokio::fs::write(&path, bytes).await.unwrap();
    clock.advance(WEEK);
    assert!(drill(&server, &verifier).await);
    let damaged = doctor_check(&owner, "backup_encrypted").await;
    assert_eq!(damaged["ok"], false, "{damaged}");
    assert_eq!(audit_count(&owner, "backup.unusable").await, 1);
    assert_eq!(listed(&owner).await, "unusable");

    // A backup that another program wrote has no checksum.
    services.create_backup(None, None).await.unwrap();
    tokio::fs::remove_file(&path).await.unwrap();
    let made = services.list_backups().await.unwrap().remove(0);
    let from = server.directory().join("backups").join(&made.name);
    let to = from.with_file_name("gatehouse-20380101T000000Z.backup.age");
    tokio::fs::rename(from, to).await.unwrap();
    clock.advance(WEEK);
    assert!(drill(&server, &verifier).await);
    assert_eq!(listed(&owner).await, "header_only");
    let received = doctor_check(&owner, "backup_encrypted").await;
    assert!(
        received.to_string().contains("was not compared"),
        "{received}"
    );
    assert!(verifier.asked().is_empty(), "nothing can be restored");
}

#[tokio::test]
async fn an_encrypted_backup_is_restored_on_trial_while_the_server_has_the_key_of_its_file() {
    let clock = stopped_clock();
    let server = TestServer::start(encrypted(&clock)).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let services = server.app().services();
    let make = async || services.create_backup(None, None).await.unwrap();
    let first = make().await;
    assert!(drill(&server, &verifier).await);
    assert_eq!(verifier.last(), Some((true, false)));
    assert!(verifier.asked()[0].ends_with(&first.backup.name));
    assert_eq!(listed(&owner).await, "restored");
    assert_eq!(audit_count(&owner, "backup.verified").await, 1);
    let good = finding(&owner).await;
    assert_eq!(good["ok"], true, "{good}");
    let message = good["message"].as_str().unwrap();
    assert!(message.contains(&first.backup.name), "{message}");
    assert!(message.contains("intact"), "{message}");
    assert!(message.contains("your identity or passphrase"), "{message}");
    assert_eq!(doctor_check(&owner, "backup_encrypted").await, Value::Null);
    assert!(!drill(&server, &verifier).await, "the key is gone");

    // A later check of the file does not replace what is known of its content.
    clock.advance(WEEK);
    assert!(drill(&server, &verifier).await);
    assert_eq!(verifier.asked().len(), 1);
    assert_eq!(listed(&owner).await, "restored");
    let unchanged = finding(&owner).await;
    assert!(unchanged.to_string().contains("intact"), "{unchanged}");
    assert!(
        unchanged.to_string().contains("file was unchanged"),
        "{unchanged}"
    );

    let second = make().await;
    assert!(drill(&server, &verifier).await, "a week after the first");
    assert!(verifier.asked()[1].ends_with(&second.backup.name));
    // The key of a backup that is not due is not kept for later.
    make().await;
    assert!(!drill(&server, &verifier).await);
    clock.advance(WEEK);
    assert!(drill(&server, &verifier).await);
    assert_eq!(listed(&owner).await, "file_unchanged");
    let received = doctor_check(&owner, "backup_encrypted").await;
    assert!(
        received
            .to_string()
            .contains("neither decrypted nor restored"),
        "{received}"
    );
}

#[tokio::test]
async fn a_backup_with_a_passphrase_is_restored_on_trial_and_a_damaged_one_stays_reported() {
    let clock = stopped_clock();
    let server = TestServer::start(Options::default().clock(clock.clone())).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let params = json!({ "passphrase": "a passphrase of the owner" });
    let make = async |owner: &Actor| {
        let password = json!({ "password": PASSWORD });
        owner.post("/api/auth/confirm", password).await.expect(200);
        owner.rpc("backup.create", params.clone()).await.unwrap();
    };
    make(&owner).await;
    *verifier.result.lock().unwrap() = Err(unusable("a checksum differs"));
    assert!(drill(&server, &verifier).await);
    assert_eq!(verifier.last(), Some((true, false)));
    assert_eq!(listed(&owner).await, "unusable");
    assert_eq!(audit_count(&owner, "backup.unusable").await, 1);
    let bad = finding(&owner).await;
    assert_eq!((&bad["ok"], &bad["urgent"]), (&json!(false), &json!(true)));
    assert!(bad.to_string().contains("a checksum differs"), "{bad}");

    // The files of this backup and of the next one are as they were written. That says nothing about their contents.
    clock.advance(WEEK);
    assert!(drill(&server, &verifier).await);
    assert_eq!(finding(&owner).await, bad);
    make(&owner).await;
    let (server, owner) = restart(server, &owner).await;
    clock.advance(WEEK);
    assert!(drill(&server, &verifier).await);
    assert_eq!(verifier.asked().len(), 1);
    assert_eq!(finding(&owner).await, bad);

    make(&owner).await;
    *verifier.result.lock().unwrap() = Ok(());
    assert!(drill(&server, &verifier).await);
    assert_eq!(finding(&owner).await["ok"], true);
    assert_eq!(listed(&owner).await, "restored");
}

#[tokio::test]
async fn a_backup_that_could_not_be_tried_is_not_blamed_and_the_one_of_the_next_day_is() {
    let clock = stopped_clock();
    let server = TestServer::start(encrypted(&clock)).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let services = server.app().services();
    let make = async || services.create_backup(None, None).await.unwrap();
    make().await;
    let not_made = DrillError::NotMade("no space is left".to_owned());
    *verifier.result.lock().unwrap() = Err(not_made);
    assert!(drill(&server, &verifier).await);
    let received = finding(&owner).await;
    assert!(
        received.to_string().contains("was not checked"),
        "{received}"
    );
    assert!(
        received["hint"].as_str().unwrap().contains("after a day"),
        "{received}"
    );
    assert_eq!(listed(&owner).await, "not_checked");
    *verifier.result.lock().unwrap() = Ok(());
    // A backup of each day is made a little earlier or later than the last one.
    clock.advance(Duration::from_hours(18).saturating_sub(Duration::from_millis(1)));
    make().await;
    assert!(!drill(&server, &verifier).await, "at the limit");
    clock.advance(Duration::from_millis(1));
    make().await;
    assert!(drill(&server, &verifier).await);
    assert_eq!(listed(&owner).await, "restored");
}

#[tokio::test]
async fn a_backup_that_is_deleted_during_its_trial_is_not_called_unusable() {
    let server = TestServer::start(encrypted(&stopped_clock())).await;
    let owner = server.set_up().await;
    let services = server.app().services();
    services.create_backup(None, None).await.unwrap();
    let verify: VerifyBackup = Arc::new(|trial| {
        Box::pin(async move {
            tokio::fs::remove_file(&trial.backup).await.unwrap();
            Err(unusable("No such file or directory"))
        })
    });
    assert!(services.make_due_drill(&verify).await.unwrap());
    let received = finding(&owner).await;
    assert!(
        received.to_string().contains("deleted during"),
        "{received}"
    );
    assert_eq!(audit_count(&owner, "backup.unusable").await, 0);
}

#[tokio::test]
async fn no_key_is_kept_while_trial_restores_are_off() {
    let clock = stopped_clock();
    let server = TestServer::start(encrypted(&clock)).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let services = server.app().services();
    let set = async |days: u16| {
        let change = json!({ "key": "backup.drill_days", "value": days });
        owner.rpc("config.set", change).await.unwrap();
    };
    set(0).await;
    services.create_backup(None, None).await.unwrap();
    set(7).await;
    assert!(drill(&server, &verifier).await);
    assert!(verifier.asked().is_empty());
    assert_eq!(listed(&owner).await, "file_unchanged");
}

/// Only the node that made the backup has its key, so it does not wait for others. Its disk has no copy of the database
/// otherwise.
#[tokio::test]
async fn with_postgresql_an_encrypted_backup_is_read_at_once_and_not_written_to_the_disk() {
    let Some(database) = postgres().await else {
        return;
    };
    let there = database.for_another_node();
    let clock = stopped_clock();
    let one = TestServer::start(encrypted(&clock).database(database)).await;
    let owner = one.set_up().await;
    let two = TestServer::start(encrypted(&clock).database(there)).await;
    let verifier = Verifier::new();
    let services = one.app().services();
    services.create_backup(None, None).await.unwrap();
    assert!(!drill(&two, &verifier).await);
    assert!(drill(&one, &verifier).await);
    assert_eq!(verifier.last(), Some((true, true)));
    assert_eq!(listed(&owner).await, "decrypted");
    assert_eq!(finding(&owner).await, Value::Null, "nothing is restored");
    let received = doctor_check(&owner, "backup_encrypted").await;
    assert_eq!(received["ok"], true, "{received}");
    assert!(
        received.to_string().contains("It was not restored"),
        "{received}"
    );
    assert_eq!(audit_count(&owner, "backup.verified").await, 0);
    assert!(!drill(&two, &verifier).await, "it is not due");
}
