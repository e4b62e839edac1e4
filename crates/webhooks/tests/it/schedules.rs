//! Schedules: their records and their runs, including restarts and several nodes.

use crate::requests::{
    accepted, as_json, code, create, input, open_webhook, post, refused, rows, update,
};
use crate::worker::harness::{Harness, START, at, everywhere};
use gatehouse_domain::{Actor, DeliveryStatus, ErrorCode};
use gatehouse_store::DeliveryRow;
use gatehouse_webhooks::WebhooksSettings;
use serde_json::{Value, json};
use std::time::Duration;

/// START is 2026-11-18T11:06:40Z.
pub const HOUR: Duration = Duration::from_hours(1);

pub fn hourly(mut more: Value) -> Value {
    let mut members = json!({
        "name": "Hourly", "source_profile": "schedule", "deliver_only": true,
        "prompt_template": "{scheduled_for} {missed}", "schedule": { "cron": "0 * * * *" },
    });
    let more = std::mem::take(more.as_object_mut().unwrap());
    members.as_object_mut().unwrap().extend(more);
    members
}

pub async fn advance(harness: &Harness, duration: Duration) {
    harness.clock.advance(duration);
    harness.webhooks.schedules_turn().await;
}

fn payload_of(row: &DeliveryRow) -> Value {
    serde_json::from_str(&row.body_preview).unwrap()
}

/// Returns the stored runs, oldest first: when they were due, and how many were missed.
pub async fn runs(harness: &Harness) -> Vec<(String, u64)> {
    let mut rows = rows(harness).await;
    rows.reverse();
    let run = |row: &DeliveryRow| {
        let payload = payload_of(row);
        let scheduled_for = payload["scheduled_for"].as_str().unwrap().to_owned();
        (scheduled_for, payload["missed"].as_u64().unwrap())
    };
    rows.iter().map(run).collect()
}

#[tokio::test]
async fn a_schedule_has_no_secret_and_no_url_and_shows_its_next_runs() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, hourly(json!({}))).await;
        let record = as_json(&made);
        assert_eq!(
            record["schedule"],
            json!({ "cron": "0 * * * *", "timezone": "UTC" })
        );
        assert_eq!(
            record["next_runs"],
            json!([
                "2026-11-18T12:00:00.000Z",
                "2026-11-18T13:00:00.000Z",
                "2026-11-18T14:00:00.000Z",
                "2026-11-18T15:00:00.000Z",
                "2026-11-18T16:00:00.000Z",
            ])
        );
        assert_eq!(record["auth_mode"], "none");
        for absent in ["url", "secret", "warning"] {
            assert_eq!(record.get(absent), None, "{absent}");
        }
        let mut shown = record.clone();
        shown["next_runs"].as_array_mut().unwrap().truncate(5);
        let listed = as_json(&harness.webhooks.list(50, None).await.unwrap());
        assert_eq!(listed["webhooks"][0], record);
        // The ingest URL of a schedule answers like an unknown webhook.
        let outcome = post(&harness, &made.webhook, &[], "{}").await;
        assert_eq!(code(outcome), ErrorCode::NotFound);
        assert!(rows(&harness).await.is_empty());
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_wrong_schedule_is_refused() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let wrong = [
            json!(null),
            json!({}),
            json!({ "cron": "nonsense" }),
            json!({ "cron": "0 0 30 2 *" }),
            json!({ "cron": "0 9 * * *", "timezone": "Mars/Olympus" }),
            json!({ "cron": "0 9 * * *", "every_seconds": 5 }),
            json!({ "every_seconds": 0 }),
            json!({ "every_seconds": 31_622_401 }),
            json!({ "at": "2026-11-18T11:06:40Z" }),
            json!({ "at": "next week" }),
        ];
        for schedule in wrong {
            let members = hourly(json!({ "schedule": schedule }));
            let (code, field) = refused(&harness, members).await;
            assert_eq!(
                (code, &*field),
                (ErrorCode::InvalidParams, "schedule"),
                "{schedule}"
            );
        }
        let (_, field) = refused(&harness, hourly(json!({ "source_profile": "generic" }))).await;
        assert_eq!(field, "schedule");
        let (_, field) = refused(&harness, hourly(json!({ "auth_mode": "bearer" }))).await;
        assert_eq!(field, "auth_mode");
        let (_, field) = refused(&harness, hourly(json!({ "secret": "0123456789abcdef0" }))).await;
        assert_eq!(field, "secret");
        assert!(
            harness
                .webhooks
                .list(50, None)
                .await
                .unwrap()
                .webhooks
                .is_empty()
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn each_run_is_delivered_once_when_it_is_due() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        create(&harness, hourly(json!({}))).await;
        harness.work();
        advance(&harness, Duration::from_millis(53 * 60_000 + 19_999)).await;
        assert!(rows(&harness).await.is_empty(), "it is 11:59:59.999");
        advance(&harness, Duration::from_millis(1)).await;
        advance(&harness, Duration::from_secs(1)).await;
        advance(&harness, HOUR).await;
        let expected = [
            ("2026-11-18T12:00:00.000Z".to_owned(), 0),
            ("2026-11-18T13:00:00.000Z".to_owned(), 0),
        ];
        assert_eq!(runs(&harness).await, expected);
        let row = &rows(&harness).await[0];
        assert_eq!(
            payload_of(row),
            json!({
                "type": "schedule.run", "id": "2026-11-18T13:00:00.000Z", "scheduled_for": "2026-11-18T13:00:00.000Z",
                "local_time": "2026-11-18T13:00:00+00:00", "timezone": "UTC", "missed": 0,
                "next_run": "2026-11-18T14:00:00.000Z",
            })
        );
        assert_eq!(row.event_type.as_deref(), Some("schedule.run"));
        harness.worker_has_looked().await;
        let sent = tokio::time::timeout(Duration::from_secs(20), async {
            while harness.inbox().await.len() < 2 {
                harness.worker_has_looked().await;
            }
        });
        sent.await.unwrap();
        let inbox = harness.inbox().await;
        assert_eq!(
            inbox,
            ["2026-11-18T12:00:00.000Z 0", "2026-11-18T13:00:00.000Z 0"]
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn runs_missed_while_the_server_was_down_become_one() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        create(&harness, hourly(json!({}))).await;
        harness.work();
        advance(&harness, HOUR).await;
        harness.stop().await;
        let harness = Harness::open(&database, &model).await;
        harness.clock.set_wall(at(START + 4 * 3_600_000));
        harness.work();
        harness.webhooks.schedules_turn().await;
        // The run of 12:00 is late, because this test advances the clock by 6 minutes and 40 seconds at once.
        let expected = [
            ("2026-11-18T12:00:00.000Z".to_owned(), 1),
            ("2026-11-18T15:00:00.000Z".to_owned(), 3),
        ];
        assert_eq!(runs(&harness).await, expected);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_schedule_runs_again_after_the_clock_was_a_day_ahead() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        create(&harness, hourly(json!({}))).await;
        let every = json!({ "schedule": { "every_seconds": 600 } });
        create(&harness, hourly(every)).await;
        harness.work();
        harness.webhooks.schedules_turn().await;
        for wall in [START + 24 * 3_600_000, START] {
            harness.clock.set_wall(at(wall));
            harness.webhooks.schedules_turn().await;
        }
        advance(&harness, HOUR).await;
        let runs = runs(&harness).await;
        for expected in [
            ("2026-11-18T12:00:00.000Z".to_owned(), 1),
            ("2026-11-18T12:06:40.000Z".to_owned(), 5),
        ] {
            assert!(runs.contains(&expected), "{runs:?}");
        }
        assert_eq!(runs.len(), 4, "{runs:?}");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nodes_start_each_run_once() {
    everywhere(async |database, model| {
        let first = Harness::open(&database, &model).await;
        if !first.store.engine().is_shared() {
            return first.stop().await;
        }
        let every = json!({ "schedule": { "every_seconds": 60 } });
        for _ in 0..3 {
            create(&first, hourly(every.clone())).await;
        }
        let second = Harness::open(&database.for_another_node(), &model).await;
        first.work();
        second.work();
        for _ in 0..20 {
            let minute = Duration::from_mins(1);
            tokio::join!(advance(&first, minute), advance(&second, minute));
        }
        let mut times = runs(&first).await;
        assert_eq!(times.len(), 60);
        times.dedup();
        assert!(times.iter().all(|(_, missed)| *missed == 0));
        first.stop().await;
        second.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_run_at_a_time_happens_once_and_the_record_stays_editable() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let once = json!({ "schedule": { "at": "2026-11-18T13:00", "timezone": "Europe/Berlin" } });
        let made = as_json(&create(&harness, hourly(once)).await);
        assert_eq!(made["next_runs"], json!(["2026-11-18T12:00:00.000Z"]));
        harness.work();
        advance(&harness, HOUR).await;
        advance(&harness, 24 * HOUR).await;
        assert_eq!(runs(&harness).await.len(), 1);
        let id = made["id"].as_str().unwrap();
        let renamed = json!({ "name": "Done", "schedule": made["schedule"] });
        let record = as_json(&update(&harness, id, renamed).await.unwrap());
        assert_eq!(
            (&record["name"], &record["next_runs"]),
            (&json!("Done"), &json!([]))
        );
        // The same schedule in a different form counts as a change.
        let past = json!({ "schedule": { "at": "2026-11-18T12:00:01Z" } });
        update(&harness, id, past).await.unwrap_err();
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_disabled_schedule_has_no_runs_and_misses_none() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, hourly(json!({}))).await;
        let id = made.webhook.id.as_str();
        harness.work();
        let off = as_json(
            &update(&harness, id, json!({ "enabled": false }))
                .await
                .unwrap(),
        );
        assert_eq!(off["next_runs"], json!([]));
        advance(&harness, 5 * HOUR).await;
        assert!(rows(&harness).await.is_empty());
        let on = as_json(
            &update(&harness, id, json!({ "enabled": true }))
                .await
                .unwrap(),
        );
        assert_eq!(on["next_runs"][0], "2026-11-18T17:00:00.000Z");
        harness.webhooks.schedules_turn().await;
        assert!(rows(&harness).await.is_empty());
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_paused_schedule_stores_no_runs_and_starts_one_for_all_missed_ones_after_it_is_resumed() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, hourly(json!({}))).await;
        let id = made.webhook.id.as_str();
        harness.work();
        let paused = update(&harness, id, json!({ "paused": true })).await;
        assert_eq!(as_json(&paused.unwrap())["next_runs"], json!([]));
        for _ in 0..5 {
            advance(&harness, HOUR).await;
        }
        assert!(rows(&harness).await.is_empty());
        update(&harness, id, json!({ "paused": false }))
            .await
            .unwrap();
        harness.webhooks.schedules_turn().await;
        let combined = ("2026-11-18T16:00:00.000Z".to_owned(), 5);
        assert_eq!(runs(&harness).await, std::slice::from_ref(&combined));
        advance(&harness, HOUR).await;
        let next = ("2026-11-18T17:00:00.000Z".to_owned(), 1);
        assert_eq!(runs(&harness).await, [combined, next]);
        harness.stop().await;
    })
    .await;
}

/// More schedules are due than fit into one page of 64.
#[tokio::test]
async fn paused_schedules_do_not_delay_others() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let earlier = json!({ "paused": true, "schedule": { "every_seconds": 60 } });
        for _ in 0..65 {
            create(&harness, hourly(earlier.clone())).await;
        }
        create(&harness, hourly(json!({}))).await;
        harness.work();
        advance(&harness, HOUR).await;
        let expected = ("2026-11-18T12:00:00.000Z".to_owned(), 1);
        assert_eq!(runs(&harness).await, [expected]);
        harness.stop().await;
    })
    .await;
}

/// Runs of schedules need no permit, so they must not use up the permits of webhooks.
#[tokio::test]
async fn runs_do_not_count_against_the_limit_of_all_webhooks_after_a_restart() {
    everywhere(async |database, model| {
        let settings = || WebhooksSettings {
            section: gatehouse_config::Webhooks {
                global_rate_limit_per_minute: 2,
                ..gatehouse_config::Webhooks::default()
            },
            ..WebhooksSettings::default()
        };
        let harness = Harness::open_with(&database, &model, settings()).await;
        let each_second = json!({ "schedule": { "every_seconds": 1 } });
        create(&harness, hourly(each_second)).await;
        let webhook = open_webhook(&harness, json!({})).await;
        harness.work();
        for _ in 0..3 {
            advance(&harness, Duration::from_secs(1)).await;
        }
        assert_eq!(rows(&harness).await.len(), 3);
        harness.stop().await;
        let harness = Harness::open_with(&database, &model, settings()).await;
        for number in 0..2 {
            accepted(post(&harness, &webhook, &[], &number.to_string()).await);
        }
        let third = post(&harness, &webhook, &[], "2").await;
        assert_eq!(code(third), ErrorCode::RateLimited);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_changed_schedule_begins_again_and_another_profile_ends_it() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, hourly(json!({}))).await;
        let id = made.webhook.id.as_str();
        let faster = json!({ "schedule": { "every_seconds": 90 } });
        let changed = as_json(&update(&harness, id, faster).await.unwrap());
        assert_eq!(
            changed["schedule"],
            json!({ "every_seconds": 90, "timezone": "UTC" })
        );
        assert_eq!(changed["next_runs"][0], "2026-11-18T11:08:10.000Z");
        let generic = json!({ "source_profile": "generic" });
        let changed = as_json(&update(&harness, id, generic).await.unwrap());
        assert_eq!(
            (changed.get("schedule"), changed.get("next_runs")),
            (None, None)
        );
        assert!(changed["url"].is_string() && changed["secret"].is_string());
        harness.work();
        advance(&harness, HOUR).await;
        assert!(rows(&harness).await.is_empty());
        // A webhook with a secret that becomes a schedule loses the secret.
        let back = json!({ "source_profile": "schedule", "schedule": { "every_seconds": 1 } });
        let changed = as_json(&update(&harness, id, back).await.unwrap());
        assert_eq!(
            (&changed["auth_mode"], changed.get("secret")),
            (&json!("none"), None)
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_test_of_a_schedule_runs_it_and_does_not_take_the_place_of_a_run() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, hourly(json!({}))).await;
        let id = made.webhook.id.as_str();
        for _ in 0..2 {
            let tested = harness
                .webhooks
                .test(&Actor::cli(), id, None)
                .await
                .unwrap();
            assert_eq!(tested.status, DeliveryStatus::Queued);
        }
        assert_eq!(rows(&harness).await.len(), 2);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_scheduled_turn_is_not_tainted_and_its_answer_reaches_a_channel() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let asks = json!({
            "deliver_only": false, "prompt_template": "{answer}", "deliver_to": "inbox",
            "system_prompt_suffix": "Report the weather.",
        });
        create(&harness, hourly(asks)).await;
        harness.work();
        advance(&harness, HOUR).await;
        let answered = tokio::time::timeout(Duration::from_secs(20), async {
            while harness.inbox().await.is_empty() {
                harness.worker_has_looked().await;
            }
        });
        answered.await.unwrap();
        let session = rows(&harness).await[0].session_id.clone().unwrap();
        let read = harness.store.read(move |conn| {
            Box::pin(async move {
                let id = gatehouse_domain::SessionId::from_text(session);
                conn.find_chat_session(&id).await
            })
        });
        assert!(!read.await.unwrap().unwrap().tainted);
        harness.stop().await;
    })
    .await;
}

#[test]
fn an_unknown_member_of_a_schedule_is_a_mistake() {
    let members = json!({ "name": "n", "schedule": { "crom": "* * * * *" } });
    assert!(
        gatehouse_domain::input::from_value::<gatehouse_webhooks::WebhookInput>(members).is_err()
    );
    drop(input(
        json!({ "name": "n", "schedule": { "cron": "* * * * *" } }),
    ));
}
