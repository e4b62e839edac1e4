//! Schedules over RPC and HTTP.

use super::{deliveries, made, send};
use crate::steps::{doctor_check, light_owner};
use gatehouse_store::testing::{run_sql, sqlite};
use gatehouse_testkit::Options;
use serde_json::{Value, json};

#[tokio::test]
async fn a_schedule_shows_its_next_runs_and_takes_no_deliveries() {
    // The clock of these tests is set to 2027-01-15T08:00:00Z.
    let (server, owner) = light_owner(Options::default()).await;
    let schedule = json!({ "cron": "0 9 * * *", "timezone": "Europe/Berlin" });
    let preview = json!({ "schedule": schedule });
    let preview = owner
        .rpc("webhooks.schedule.preview", preview)
        .await
        .unwrap();
    assert_eq!(preview["schedule"], schedule);
    let runs: Vec<_> = (16..21)
        .map(|day| format!("2027-01-{day}T08:00:00.000Z"))
        .collect();
    assert_eq!(preview["next_runs"], json!(runs));
    let members = json!({ "source_profile": "schedule", "schedule": schedule });
    let hook = made(&owner, members).await;
    assert_eq!(hook.record["next_runs"], json!(runs));
    let shown = json!({ "id": hook.id() });
    let shown = owner.rpc("webhooks.get", shown).await.unwrap();
    assert_eq!(shown, hook.record);
    let remote = server.remote();
    let unknown = send(&remote, "/api/webhooks/ingest/wh_unknown", &[], "{}").await;
    let refused = send(&remote, &hook.path(), &[], "{}").await;
    assert_eq!(refused.status.as_u16(), 404);
    assert_eq!(refused.json()["code"], unknown.json()["code"]);
    assert!(deliveries(&owner, &hook).await.is_empty());
    let tested = owner.rpc("webhooks.test", json!({ "id": hook.id() })).await;
    assert_eq!(tested.unwrap()["status"], "queued");
}

#[tokio::test]
async fn a_schedule_whose_time_zone_is_missing_is_an_urgent_failure() {
    let database = sqlite();
    let location = database.location.clone();
    let (server, owner) = light_owner(Options::default().database(database)).await;
    assert_eq!(doctor_check(&owner, "schedules").await, Value::Null);
    let schedule = json!({ "cron": "0 9 * * *", "timezone": "Europe/Berlin" });
    let members = json!({ "source_profile": "schedule", "schedule": schedule });
    let hook = made(&owner, members).await;
    let check = doctor_check(&owner, "schedules").await;
    assert_eq!(
        (&check["ok"], &check["urgent"]),
        (&json!(true), &Value::Null)
    );
    // As on a machine that does not have the zone.
    let gone = "UPDATE webhooks SET config = replace(config, 'Europe/Berlin', 'Europe/Nowhere')";
    run_sql(&location, gone).await;
    server.app().services().webhooks.reload().await.unwrap();
    let check = doctor_check(&owner, "schedules").await;
    // `notify.health` reports urgent failures.
    assert_eq!(
        (&check["ok"], &check["urgent"]),
        (&json!(false), &json!(true)),
        "{check}"
    );
    assert_eq!(check["subjects"][0]["id"], hook.id());
}
