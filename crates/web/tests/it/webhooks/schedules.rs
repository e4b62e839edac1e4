//! Schedules over RPC and HTTP.

use super::{deliveries, made, send};
use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::json;

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
