//! When scheduled backups are made.

use crate::steps::{by_clock, doctor_check, stopped_clock};
use gatehouse_store::testing::{hold_write_lock, sqlite};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);
const EVERY_MINUTE: &str = "* * * * *";

async fn backup_count(owner: &Actor) -> usize {
    let listed = owner.rpc("backup.list", json!({})).await.unwrap();
    listed["backups"].as_array().unwrap().len()
}

async fn failure_count(owner: &Actor) -> usize {
    let listed = owner.rpc("audit.list", json!({})).await.unwrap();
    let events = listed["events"].as_array().unwrap().iter();
    events
        .filter(|event| event["kind"] == "backup.failed")
        .count()
}

#[tokio::test]
async fn a_scheduled_backup_waits_for_one_that_a_person_makes() {
    let clock = stopped_clock();
    let options = Options::default()
        .clock(clock.clone())
        .env("SERVICE_BACKUP__SCHEDULE", EVERY_MINUTE);
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let services = server.app().services();
    assert!(!services.make_due_backup().await.unwrap());
    clock.advance(MINUTE);
    let other = services.hold_backups().await;
    let waiting = async {
        let made = services.make_due_backup().await;
        assert_eq!(backup_count(&owner).await, 1);
        made
    };
    let held = async {
        let refused = owner.rpc("backup.create", json!({})).await;
        assert_eq!(refused, Err("CONFLICT".to_owned()));
        assert_eq!(backup_count(&owner).await, 0);
        let due = doctor_check(&owner, "backup").await;
        assert_eq!(due["ok"], true, "{due}");
        drop(other);
    };
    let (made, ()) = tokio::join!(waiting, held);
    assert!(made.unwrap());
    assert_eq!(failure_count(&owner).await, 0);
    assert!(!services.make_due_backup().await.unwrap());
    assert_eq!(backup_count(&owner).await, 1);
}

/// Returns the time of the last scheduled backup, as the metrics show it.
async fn last_success(owner: &Actor) -> Option<String> {
    let metrics = owner.get("/metrics").await;
    metrics.expect(200);
    let value = |line: &str| {
        let name = "backup_last_success_timestamp_seconds ";
        line.strip_prefix(name).map(str::to_owned)
    };
    metrics.text.lines().find_map(value)
}

#[tokio::test]
async fn the_metrics_show_the_time_of_the_last_backup_until_the_schedule_is_removed() {
    let clock = stopped_clock();
    let server = by_clock(&clock).await;
    let owner = server.set_up().await;
    let services = server.app().services();
    let schedule = async |pattern: Value| {
        let change = json!({ "key": "backup.schedule", "value": pattern });
        owner.rpc("config.set", change).await.unwrap();
        assert!(!services.make_due_backup().await.unwrap());
    };
    schedule(json!(EVERY_MINUTE)).await;
    clock.advance(MINUTE);
    let began = services.clock.now().as_millis() / 1000;
    assert!(services.make_due_backup().await.unwrap());
    assert!(!services.make_due_backup().await.unwrap());
    assert_eq!(last_success(&owner).await, Some(began.to_string()));
    // The alert ignores this value.
    schedule(Value::Null).await;
    assert_eq!(last_success(&owner).await, Some("NaN".to_owned()));
}

#[tokio::test]
async fn a_poll_of_the_schedule_writes_nothing_before_a_backup_is_due() {
    let clock = stopped_clock();
    let database = sqlite();
    let location = database.location.clone();
    let options = Options::default()
        .clock(clock.clone())
        .database(database)
        .env("SERVICE_BACKUP__SCHEDULE", EVERY_MINUTE);
    let server = TestServer::start(options).await;
    let services = server.app().services();
    assert!(!services.make_due_backup().await.unwrap());
    // Another connection has the only transaction that may write.
    let lock = hold_write_lock(&location).await;
    let polled = tokio::time::timeout(Duration::from_secs(20), services.make_due_backup());
    assert!(!polled.await.unwrap().unwrap());
    drop(lock);
    clock.advance(MINUTE);
    assert!(services.make_due_backup().await.unwrap());
}
