//! The drill of backups.

use crate::steps::{doctor_check, stopped_clock};
use gatehouse_services::backup::{DrillError, Trial, VerifyBackup};
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, PASSWORD, TestServer};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const WEEK: Duration = Duration::from_hours(7 * 24);

/// Records what it is asked to verify, and answers with `result`.
pub(super) struct Verifier {
    asked: Mutex<Vec<Trial>>,
    pub(super) result: Mutex<Result<(), DrillError>>,
}

impl Verifier {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            asked: Mutex::default(),
            result: Mutex::new(Ok(())),
        })
    }

    pub(super) fn function(self: &Arc<Self>) -> VerifyBackup {
        let verifier = Arc::clone(self);
        Arc::new(move |trial| {
            verifier.asked.lock().unwrap().push(trial);
            let result = verifier.result.lock().unwrap().clone();
            Box::pin(async move { result })
        })
    }

    pub(super) fn asked(&self) -> Vec<PathBuf> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|trial| trial.backup.clone()).collect()
    }

    /// Returns whether the last trial had the key of its file, and whether it only reads.
    pub(super) fn last(&self) -> Option<(bool, bool)> {
        let asked = self.asked.lock().unwrap();
        let last = asked.last();
        last.map(|trial| (trial.key.is_some(), trial.reads_only))
    }
}

pub(super) fn unusable(reason: &str) -> DrillError {
    DrillError::Unusable(reason.to_owned())
}

pub(super) async fn drill(server: &TestServer, verifier: &Arc<Verifier>) -> bool {
    let services = server.app().services();
    services.make_due_drill(&verifier.function()).await.unwrap()
}

pub(super) async fn finding(owner: &Actor) -> Value {
    doctor_check(owner, "backup_drill").await
}

/// Restarts the server, and unlocks the vault.
pub(super) async fn restart(server: TestServer, owner: &Actor) -> (TestServer, Actor) {
    let server = server.restart().await;
    let owner = owner.clone().at(server.address());
    let unlock = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/unlock", unlock)
        .await
        .expect(200);
    (server, owner)
}

pub(super) async fn audit_count(owner: &Actor, kind: &str) -> usize {
    let listed = owner.rpc("audit.list", json!({ "kind": kind })).await;
    listed.unwrap()["events"].as_array().unwrap().len()
}

#[tokio::test]
async fn the_newest_backup_is_restored_on_trial_each_week() {
    let clock = stopped_clock();
    let options = Options::default()
        .clock(clock.clone())
        .env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    assert!(!drill(&server, &verifier).await, "there is no backup yet");
    let services = server.app().services();
    services.create_backup(None, None).await.unwrap();
    clock.advance(Duration::from_secs(1));
    let newest = services.create_backup(None, None).await.unwrap();
    assert!(drill(&server, &verifier).await);
    let asked = verifier.asked();
    assert!(asked[0].ends_with(&newest.backup.name), "{asked:?}");
    let good = finding(&owner).await;
    assert_eq!(good["ok"], true, "{good}");
    clock.advance(WEEK.saturating_sub(Duration::from_millis(1)));
    assert!(!drill(&server, &verifier).await, "at the limit");
    clock.advance(Duration::from_millis(1));
    *verifier.result.lock().unwrap() = Err(unusable("the file is cut off"));
    assert!(drill(&server, &verifier).await);
    let bad = finding(&owner).await;
    assert_eq!(bad["ok"], false);
    assert!(
        bad["message"]
            .as_str()
            .unwrap()
            .contains("the file is cut off")
    );
    // The outcome is still known after a restart.
    let (_server, owner) = restart(server, &owner).await;
    assert_eq!(finding(&owner).await, bad);
}

#[tokio::test]
async fn a_backup_that_no_schedule_made_is_restored_on_trial_and_the_missing_schedule_is_named() {
    let clock = stopped_clock();
    let verifier = Verifier::new();
    let options = Options::default()
        .clock(clock.clone())
        .env("SERVICE_BACKUP__DRILL_DAYS", "1");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    assert!(!drill(&server, &verifier).await, "there is no backup");
    assert_eq!(finding(&owner).await, Value::Null);
    let none = doctor_check(&owner, "backup").await;
    assert_eq!(none["ok"], true, "{none}");
    assert!(none.to_string().contains("contains none"), "{none}");
    assert!(none["hint"].as_str().unwrap().contains("backup.schedule"));
    let services = server.app().services();
    let made = services.create_backup(None, None).await.unwrap();
    let waits = finding(&owner).await;
    assert!(waits.to_string().contains("will follow"), "{waits}");
    assert!(drill(&server, &verifier).await);
    assert!(verifier.asked()[0].ends_with(&made.backup.name));
    assert_eq!(finding(&owner).await["ok"], true);
    let named = doctor_check(&owner, "backup").await;
    assert_eq!(named["ok"], true, "{named}");
    assert!(named.to_string().contains("is of "), "{named}");
    // Without the files, a trial restore that is late would be reported for ever.
    let directory = server.directory().join("backups");
    tokio::fs::remove_dir_all(directory).await.unwrap();
    clock.advance(WEEK);
    assert!(!drill(&server, &verifier).await);
    assert_eq!(finding(&owner).await, Value::Null);
}

/// Without a schedule, no other check reports a missing directory or a wrong recipient.
#[tokio::test]
async fn without_a_schedule_a_failed_drill_stays_reported_when_its_directory_is_missing() {
    let verifier = Verifier::new();
    let server = TestServer::start(Options::default()).await;
    let owner = server.set_up().await;
    let services = server.app().services();
    services.create_backup(None, None).await.unwrap();
    *verifier.result.lock().unwrap() = Err(unusable("the file is cut off"));
    assert!(drill(&server, &verifier).await);
    let bad = finding(&owner).await;
    assert_eq!(bad["ok"], false, "{bad}");
    let disk = server.directory().with_extension("disk");
    let set = json!({ "key": "backup.to", "value": disk });
    owner.rpc("config.set", set).await.unwrap();
    assert_eq!(finding(&owner).await, bad);
    let now = services.clock.now();
    let store = services.store.write(move |conn| {
        Box::pin(async move {
            let stored = json!("age1wrong");
            conn.update_setting("backup.recipient", &stored, now).await
        })
    });
    store.await.unwrap();
    services.apply_settings().await.unwrap();
    assert_eq!(finding(&owner).await, bad);
}

#[tokio::test]
async fn before_the_setup_nothing_is_said_about_a_missing_schedule() {
    let server = TestServer::start(Options::default()).await;
    let services = server.app().services();
    let checks = gatehouse_services::doctor::checks(services, None).await;
    assert!(
        checks.iter().all(|check| check.id != "backup"),
        "{checks:?}"
    );
}

/// Returns the result of the newest backup in `backup.list`.
pub(super) async fn listed(owner: &Actor) -> Value {
    let password = json!({ "password": PASSWORD });
    owner.post("/api/auth/confirm", password).await.expect(200);
    let list = owner.rpc("backup.list", json!({})).await.unwrap();
    list["backups"][0]["checked"]["result"].clone()
}

#[tokio::test]
async fn the_interval_is_a_setting_and_zero_turns_drills_off() {
    let clock = stopped_clock();
    let options = Options::default()
        .clock(clock.clone())
        .env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let services = server.app().services();
    services.create_backup(None, None).await.unwrap();
    let set = async |days: u16| {
        let change = json!({ "key": "backup.drill_days", "value": days });
        owner.rpc("config.set", change).await
    };
    set(0).await.unwrap();
    assert!(!drill(&server, &verifier).await);
    assert_eq!(finding(&owner).await, Value::Null);
    set(365).await.unwrap();
    assert!(set(366).await.is_err());
    assert!(drill(&server, &verifier).await);
    set(1).await.unwrap();
    clock.advance(Duration::from_hours(24).saturating_sub(Duration::from_millis(1)));
    assert!(!drill(&server, &verifier).await, "at the limit");
    clock.advance(Duration::from_millis(1));
    assert!(drill(&server, &verifier).await);
}

#[tokio::test]
async fn the_audit_log_records_each_drill() {
    let clock = stopped_clock();
    let options = Options::default()
        .clock(clock.clone())
        .env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let services = server.app().services();
    let made = services.create_backup(None, None).await.unwrap();
    assert!(drill(&server, &verifier).await);
    *verifier.result.lock().unwrap() = Err(unusable("the file is cut off"));
    clock.advance(WEEK);
    assert!(drill(&server, &verifier).await);
    let list = owner.rpc("audit.list", json!({})).await.unwrap();
    let row = |kind: &str| {
        let mut rows = list["events"].as_array().unwrap().iter();
        rows.find(|row| row["kind"] == kind).unwrap()["detail"].clone()
    };
    let name = json!(made.backup.name);
    assert_eq!(row("backup.verified")["name"], name);
    let unusable = json!({ "name": name, "error": "the file is cut off" });
    assert_eq!(row("backup.unusable"), unusable);
}

#[tokio::test]
async fn of_two_nodes_the_one_with_the_newest_backup_makes_the_drill() {
    let Some(database) = postgres().await else {
        return;
    };
    let there = database.for_another_node();
    let clock = stopped_clock();
    let options = || {
        Options::default()
            .clock(clock.clone())
            .env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *")
    };
    let one = TestServer::start(options().database(database)).await;
    one.set_up().await;
    let two = TestServer::start(options().database(there)).await;
    let verifier = Verifier::new();
    for server in [&one, &two] {
        let services = server.app().services();
        services.create_backup(None, None).await.unwrap();
        clock.advance(Duration::from_secs(1));
    }
    // Each offers its backup.
    for server in [&one, &two, &one, &two] {
        assert!(!drill(server, &verifier).await);
    }
    clock.advance(Duration::from_mins(20));
    assert!(!drill(&one, &verifier).await);
    assert!(drill(&two, &verifier).await);
    assert!(!drill(&one, &verifier).await);
    let asked = verifier.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with(two.directory()), "{asked:?}");
}

#[tokio::test]
async fn backups_of_the_same_second_have_different_names() {
    let server = TestServer::start(Options::default().clock(stopped_clock())).await;
    let owner = server.set_up().await;
    let mut names = Vec::new();
    for _ in 0..3 {
        let made = owner.rpc("backup.create", json!({})).await.unwrap();
        names.push(made["name"].as_str().unwrap().to_owned());
    }
    let listed = owner.rpc("backup.list", json!({})).await.unwrap();
    let listed = listed["backups"].as_array().unwrap().iter();
    let mut listed: Vec<&str> = listed.map(|it| it["name"].as_str().unwrap()).collect();
    // The newest is first.
    listed.reverse();
    assert_eq!(listed, names);
}

#[tokio::test]
async fn a_drill_that_cannot_be_made_does_not_blame_the_backup() {
    let clock = stopped_clock();
    let options = Options::default()
        .clock(clock.clone())
        .env("SERVICE_BACKUP__SCHEDULE", "30 3 * * *");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let verifier = Verifier::new();
    let services = server.app().services();
    services.create_backup(None, None).await.unwrap();
    *verifier.result.lock().unwrap() = Err(DrillError::NotMade("no space is left".to_owned()));
    assert!(drill(&server, &verifier).await);
    let received = finding(&owner).await;
    assert_eq!(received["ok"], false, "{received}");
    let message = received["message"].as_str().unwrap();
    assert!(message.contains("no space is left"), "{message}");
    assert!(message.contains("was not checked"), "{message}");
    assert_eq!(audit_count(&owner, "backup.unusable").await, 0);
    assert_eq!(audit_count(&owner, "backup.not_verified").await, 1);
    // The trial restore is repeated after a day, like one that found a fault.
    clock.advance(Duration::from_hours(24).saturating_sub(Duration::from_millis(1)));
    assert!(!drill(&server, &verifier).await, "at the limit");
    *verifier.result.lock().unwrap() = Ok(());
    clock.advance(Duration::from_millis(1));
    assert!(drill(&server, &verifier).await);
    assert_eq!(finding(&owner).await["ok"], true);
}
