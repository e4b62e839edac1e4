//! Schedules that cannot run: their time zone is missing on this machine, or their settings are damaged.

use crate::requests::create;
use crate::schedules::{HOUR, advance, hourly, runs};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_store::testing::run_sql;
use serde_json::{Value, json};
use std::time::Duration;

fn in_berlin() -> Value {
    hourly(json!({ "schedule": { "cron": "0 * * * *", "timezone": "Europe/Berlin" } }))
}

fn zone_becomes(from: &str, to: &str) -> String {
    format!("UPDATE webhooks SET config = replace(config, '{from}', '{to}')")
}

#[tokio::test]
async fn a_schedule_without_its_zone_is_reported_and_runs_once_the_zone_is_there() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, in_berlin()).await;
        let mut paused = in_berlin();
        paused["paused"] = json!(true);
        create(&harness, paused).await;
        create(&harness, hourly(json!({}))).await;
        assert!(harness.webhooks.without_zone().await.unwrap().is_empty());
        let gone = zone_becomes("Europe/Berlin", "Europe/Nowhere");
        run_sql(&database.location, &gone).await;
        harness.webhooks.reload().await.unwrap();
        let named = (made.webhook.id.to_string(), "Hourly".to_owned());
        assert_eq!(harness.webhooks.without_zone().await.unwrap(), [named]);
        harness.work();
        advance(&harness, HOUR).await;
        let run = ("2026-11-18T12:00:00.000Z".to_owned(), 1);
        assert_eq!(runs(&harness).await, std::slice::from_ref(&run));

        let back = zone_becomes("Europe/Nowhere", "Europe/Berlin");
        run_sql(&database.location, &back).await;
        harness.webhooks.reload().await.unwrap();
        harness.webhooks.schedules_turn().await;
        assert_eq!(runs(&harness).await, [run.clone(), run]);
        assert!(harness.webhooks.without_zone().await.unwrap().is_empty());
        harness.stop().await;
    })
    .await;
}

/// More schedules are due than fit into one page of 64.
#[tokio::test]
async fn schedules_without_their_zone_do_not_delay_others() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        for _ in 0..65 {
            create(&harness, in_berlin()).await;
        }
        let later = json!({ "schedule": { "cron": "5 * * * *" } });
        create(&harness, hourly(later)).await;
        let gone = zone_becomes("Europe/Berlin", "Europe/Nowhere");
        run_sql(&database.location, &gone).await;
        harness.webhooks.reload().await.unwrap();
        harness.work();
        advance(&harness, HOUR).await;
        let expected = ("2026-11-18T12:05:00.000Z".to_owned(), 1);
        assert_eq!(runs(&harness).await, [expected]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_damaged_schedule_is_reported_and_put_off_and_runs_once_it_is_repaired() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, in_berlin()).await;
        create(&harness, hourly(json!({}))).await;
        let damaged = async || harness.webhooks.damaged().await.unwrap();
        assert!(damaged().await.is_empty());
        let (zone, list) = (r#""Europe/Berlin""#, r#"["Europe/Berlin"]"#);
        run_sql(&database.location, &zone_becomes(zone, list)).await;
        harness.webhooks.reload().await.unwrap();
        let named = (made.webhook.id.to_string(), "Hourly".to_owned());
        assert_eq!(damaged().await, [named]);
        let page = harness.webhooks.list(10, None).await.unwrap();
        assert_eq!(
            page.webhooks.len(),
            1,
            "the list omits only the damaged one"
        );
        harness.work();
        advance(&harness, HOUR).await;
        let run = ("2026-11-18T12:00:00.000Z".to_owned(), 1);
        assert_eq!(runs(&harness).await, std::slice::from_ref(&run));
        // The loop waits for one second after an error that may end soon.
        let rest = harness.webhooks.schedules_turn().await;
        assert!(rest > Duration::from_secs(1), "{rest:?}");

        run_sql(&database.location, &zone_becomes(list, zone)).await;
        harness.webhooks.reload().await.unwrap();
        harness.webhooks.schedules_turn().await;
        assert_eq!(runs(&harness).await, [run.clone(), run]);
        assert!(damaged().await.is_empty());
        harness.stop().await;
    })
    .await;
}
