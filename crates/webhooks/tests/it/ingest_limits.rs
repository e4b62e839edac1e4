//! Limits of ingest: duplicates, rates, floods of refusals, and a database that rejects writes.

use crate::requests::{accepted, code, create, open_webhook, post, post_from, rows, until_rows};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_domain::{Actor, DeliveryStatus, ErrorCode};
use gatehouse_webhooks::{Ingested, WebhooksSettings};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn refusals_of_one_client_are_written_60_times_a_minute() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let made = create(&harness, json!({ "name": "n", "secret": "right" }))
            .await
            .webhook;
        for _ in 0..70 {
            let refused = post(&harness, &made, &[], "{}").await;
            assert_eq!(code(refused), ErrorCode::InvalidCredentials);
        }
        let other = post_from(&harness, "198.51.100.9", &made.public_id, &[], b"{}").await;
        assert_eq!(code(other), ErrorCode::InvalidCredentials);
        drop(until_rows(&harness, 61).await);
        harness.advance(Duration::from_mins(1));
        assert_eq!(
            code(post(&harness, &made, &[], "{}").await),
            ErrorCode::InvalidCredentials
        );
        drop(until_rows(&harness, 62).await);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn refusals_before_verification_and_unreadable_bodies_are_written_60_times_a_minute() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let elsewhere = open_webhook(&harness, json!({ "allowed_cidrs": ["203.0.113.9"] })).await;
        let small = open_webhook(&harness, json!({ "max_body_bytes": 2 })).await;
        for _ in 0..62 {
            let refused = post(&harness, &elsewhere, &[], "{}").await;
            assert_eq!(code(refused), ErrorCode::Forbidden);
            let refused = post(&harness, &small, &[], "{} ").await;
            assert_eq!(code(refused), ErrorCode::PayloadTooLarge);
            let refused = post(&harness, &small, &[], "{").await;
            assert_eq!(code(refused), ErrorCode::ParseError);
        }
        // Refusals because of address or size share a limit. Unreadable bodies have their own limit. Rows of
        // another client are still recorded.
        let other = post_from(&harness, "198.51.100.9", &small.public_id, &[], b"{} ").await;
        assert_eq!(code(other), ErrorCode::PayloadTooLarge);
        let other = post_from(&harness, "198.51.100.9", &small.public_id, &[], b"{").await;
        assert_eq!(code(other), ErrorCode::ParseError);
        let rows = until_rows(&harness, 2 * 60 + 2).await;
        let rejected = |row: &gatehouse_store::DeliveryRow| row.status == DeliveryStatus::Rejected;
        assert!(rows.iter().all(rejected));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_body_without_memory_counts_as_rate_limited() {
    let database = gatehouse_store::testing::sqlite();
    let model = crate::worker::model::start().await;
    let harness = Harness::open(&database, &model).await;
    let webhook = open_webhook(&harness, json!({})).await;
    let (from, headers) = (crate::requests::sender("192.0.2.1"), http::HeaderMap::new());
    let intake = harness
        .webhooks
        .begin_ingest(&webhook.public_id, &from, &headers)
        .await
        .unwrap();
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let received = metrics::with_local_recorder(&recorder, || intake.no_room(1000));
    let problem = gatehouse_domain::Problem::from(received);
    assert_eq!(problem.code, ErrorCode::RateLimited);
    let text = recorder.handle().render();
    let line = format!(
        "webhooks_rate_limited_total{{webhook=\"{}\"}} 1",
        webhook.id
    );
    assert!(text.contains(&line), "{text}");
    assert!(!text.contains("rejected"), "{text}");
    harness.stop().await;
}

#[tokio::test]
async fn of_concurrent_duplicates_exactly_one_is_accepted() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "rate_limit_per_minute": 2 })).await;
        let sent = [("x-delivery-id", "same")];
        let all = (0..50).map(|_| post(&harness, &webhook, &sent, "{}"));
        let outcomes = futures_util::future::join_all(all).await;
        let mut first = None;
        let mut duplicates = Vec::new();
        for outcome in outcomes {
            match outcome.unwrap() {
                Ingested::Accepted(id) => assert!(first.replace(id).is_none(), "a second one"),
                Ingested::Deduplicated(id) => duplicates.push(id),
                other => panic!("{other:?}"),
            }
        }
        let first = first.unwrap();
        assert_eq!(duplicates.len(), 49);
        assert!(duplicates.iter().all(|id| *id == first));
        let rows = until_rows(&harness, 50).await;
        let duplicates = rows
            .iter()
            .filter(|row| row.duplicate_of.as_ref() == Some(&first));
        assert!(
            duplicates
                .clone()
                .all(|row| row.status == DeliveryStatus::Deduplicated)
        );
        assert_eq!(duplicates.count(), 49);
        // Duplicates do not count, so exactly one of two permits remains.
        accepted(post(&harness, &webhook, &[], "1").await);
        assert_eq!(
            code(post(&harness, &webhook, &[], "2").await),
            ErrorCode::RateLimited
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_key_belongs_to_its_webhook() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let one = open_webhook(&harness, json!({})).await;
        let two = open_webhook(&harness, json!({})).await;
        let sent = [("x-delivery-id", "same")];
        accepted(post(&harness, &one, &sent, "1").await);
        accepted(post(&harness, &two, &sent, "1").await);
        // Without an ID, the body is the key, so a different body is a different delivery.
        accepted(post(&harness, &one, &[], "{\"n\":1}").await);
        accepted(post(&harness, &one, &[], "{\"n\":2}").await);
        let again = post(&harness, &one, &[], "{\"n\":1}").await.unwrap();
        assert!(matches!(again, Ingested::Deduplicated(_)));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn limits_hold_for_the_webhook_and_over_all() {
    everywhere(async |database, model| {
        let settings = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                global_rate_limit_per_minute: 5,
                ..gatehouse_config::Webhooks::default()
            },
            ..WebhooksSettings::default()
        };
        let harness = Harness::open_with(&database, &model, settings).await;
        let one = open_webhook(&harness, json!({ "rate_limit_per_minute": 3 })).await;
        let two = open_webhook(&harness, json!({})).await;
        for number in 0..3 {
            accepted(post(&harness, &one, &[], &number.to_string()).await);
        }
        let problem = post(&harness, &one, &[], "3").await.unwrap_err();
        assert_eq!(problem.code, ErrorCode::RateLimited);
        assert_eq!(problem.details["retry_after_seconds"], 60);
        // A duplicate is recognized even when the limit is reached.
        let again = post(&harness, &one, &[], "1").await.unwrap();
        assert!(matches!(again, Ingested::Deduplicated(_)));
        accepted(post(&harness, &two, &[], "4").await);
        accepted(post(&harness, &two, &[], "5").await);
        assert_eq!(
            code(post(&harness, &two, &[], "6").await),
            ErrorCode::RateLimited
        );
        let actor = Actor::cli();
        let wider = crate::requests::input(json!({ "rate_limit_per_minute": 4 }));
        drop(
            harness
                .webhooks
                .update(&actor, one.id.as_str(), wider)
                .await
                .unwrap(),
        );
        assert_eq!(
            code(post(&harness, &one, &[], "7").await),
            ErrorCode::RateLimited,
            "over all"
        );
        harness
            .webhooks
            .update_settings(WebhooksSettings::default());
        accepted(post(&harness, &one, &[], "7").await);
        assert_eq!(
            code(post(&harness, &one, &[], "8").await),
            ErrorCode::RateLimited,
            "its own"
        );
        harness.advance(Duration::from_mins(1));
        accepted(post(&harness, &one, &[], "8").await);
        let stored = until_rows(&harness, 8).await;
        assert!(
            stored
                .iter()
                .all(|row| row.status != DeliveryStatus::Rejected)
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn filtered_deliveries_do_not_count_against_the_limits() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members = json!({ "rate_limit_per_minute": 1, "events": ["push"] });
        let webhook = open_webhook(&harness, members).await;
        for number in 0..5 {
            let body = number.to_string();
            let filtered = post(&harness, &webhook, &[("x-event-type", "fork")], &body).await;
            assert!(matches!(filtered.unwrap(), Ingested::Filtered(_)));
        }
        accepted(post(&harness, &webhook, &[("x-event-type", "push")], "{}").await);
        let second = post(&harness, &webhook, &[("x-event-type", "push")], "[]").await;
        assert_eq!(code(second), ErrorCode::RateLimited);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn limits_survive_a_restart() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "rate_limit_per_minute": 2 })).await;
        accepted(post(&harness, &webhook, &[], "1").await);
        accepted(post(&harness, &webhook, &[], "2").await);
        harness.stop().await;
        let harness = Harness::open(&database, &model).await;
        assert_eq!(
            code(post(&harness, &webhook, &[], "3").await),
            ErrorCode::RateLimited
        );
        harness.advance(Duration::from_mins(1));
        accepted(post(&harness, &webhook, &[], "3").await);
        harness.stop().await;
    })
    .await;
}

/// Waiting deliveries have no permit yet, so they must not use up permits of other webhooks after a restart.
#[tokio::test]
async fn deliveries_that_wait_for_their_webhooks_rate_do_not_count_after_a_restart() {
    everywhere(async |database, model| {
        let settings = || WebhooksSettings {
            section: gatehouse_config::Webhooks {
                global_rate_limit_per_minute: 5,
                ..gatehouse_config::Webhooks::default()
            },
            ..WebhooksSettings::default()
        };
        let harness = Harness::open_with(&database, &model, settings()).await;
        let members = json!({ "rate_limit_per_minute": 2, "on_limit": "queue" });
        let queued = open_webhook(&harness, members).await;
        let other = open_webhook(&harness, json!({})).await;
        for number in 0..6 {
            accepted(post(&harness, &queued, &[], &number.to_string()).await);
        }
        harness.stop().await;
        let harness = Harness::open_with(&database, &model, settings()).await;
        for number in 0..3 {
            accepted(post(&harness, &other, &[], &number.to_string()).await);
        }
        assert_eq!(
            code(post(&harness, &other, &[], "3").await),
            ErrorCode::RateLimited
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_jumps_changes_no_window() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "rate_limit_per_minute": 1 })).await;
        accepted(post(&harness, &webhook, &[], "1").await);
        harness
            .clock
            .set_wall(gatehouse_domain::Timestamp::from_millis(0));
        assert_eq!(
            code(post(&harness, &webhook, &[], "2").await),
            ErrorCode::RateLimited
        );
        harness.advance(Duration::from_mins(1));
        accepted(post(&harness, &webhook, &[], "2").await);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nothing_is_acknowledged_that_is_not_on_disk() {
    // Another process holds the write lock. SQLite only: PostgreSQL locks differently.
    let database = gatehouse_store::testing::sqlite();
    let model = crate::worker::model::start().await;
    let harness = Harness::open(&database, &model).await;
    let webhook = open_webhook(&harness, json!({ "rate_limit_per_minute": 1 })).await;
    let filtering = open_webhook(&harness, json!({ "events": ["push"] })).await;
    let held = gatehouse_store::testing::hold_write_lock(&database.location).await;
    let (one, two) = tokio::join!(
        post(&harness, &webhook, &[], "1"),
        post(&harness, &filtering, &[], "1")
    );
    for outcome in [one, two] {
        assert_eq!(code(outcome), ErrorCode::StorageUnavailable);
    }
    drop(held);
    // The permit was released.
    accepted(post(&harness, &webhook, &[], "1").await);
    assert_eq!(rows(&harness).await.len(), 1);
    harness.stop().await;
}

#[tokio::test]
async fn many_at_once_are_all_stored_and_counted() {
    everywhere(async |database, model| {
        let settings = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                global_rate_limit_per_minute: 100_000,
                ..gatehouse_config::Webhooks::default()
            },
            ..WebhooksSettings::default()
        };
        let harness = Harness::open_with(&database, &model, settings).await;
        let members = json!({ "rate_limit_per_minute": 100_000 });
        let webhook = open_webhook(&harness, members).await;
        let bodies: Vec<_> = (0..700)
            .map(|number| format!("{{\"n\":{number}}}"))
            .collect();
        let all = bodies
            .iter()
            .map(|body| post(&harness, &webhook, &[], body));
        for outcome in futures_util::future::join_all(all).await {
            accepted(outcome);
        }
        let shown = harness.webhooks.get(webhook.id.as_str()).await.unwrap();
        assert_eq!(shown.delivery_count, 700);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nodes_share_the_limits_of_a_webhook_and_of_all() {
    everywhere(async |database, model| {
        let first = Harness::open(&database, &model).await;
        if !first.store.engine().is_shared() {
            return first.stop().await;
        }
        let own = open_webhook(&first, json!({ "rate_limit_per_minute": 60 })).await;
        let wide = open_webhook(&first, json!({ "rate_limit_per_minute": 1000 })).await;
        let second = Harness::open(&database.for_another_node(), &model).await;
        let nodes = [&first, &second];
        let mut body = 0;
        let mut send = async |webhook, count: usize| {
            let mut taken = 0;
            for number in 0..count {
                body += 1;
                match post(nodes[number % 2], webhook, &[], &body.to_string()).await {
                    Ok(_) => taken += 1,
                    refused => assert_eq!(code(refused), ErrorCode::RateLimited),
                }
            }
            taken
        };
        // Each node keeps at most a twentieth of the limit unused.
        let taken = send(&own, 100).await;
        assert!((57..=60).contains(&taken), "{taken}");
        for node in nodes {
            node.advance(Duration::from_mins(1));
        }
        assert!(
            send(&own, 1).await == 1,
            "after a minute all permits are free"
        );

        let few = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                global_rate_limit_per_minute: 100,
                ..gatehouse_config::Webhooks::default()
            },
            ..WebhooksSettings::default()
        };
        for node in nodes {
            node.webhooks.update_settings(few.clone());
        }
        let taken = send(&wide, 150).await;
        assert!((94..=99).contains(&taken), "{taken}");
        first.stop().await;
        second.stop().await;
    })
    .await;
}

#[tokio::test]
async fn nodes_count_the_wrong_tokens_of_a_client_together() {
    everywhere(async |database, model| {
        let first = Harness::open(&database, &model).await;
        if !first.store.engine().is_shared() {
            return first.stop().await;
        }
        let members = json!({ "name": "n", "auth_mode": "bearer", "secret": "short" });
        let made = create(&first, members).await.webhook;
        let second = Harness::open(&database.for_another_node(), &model).await;
        let nodes = [&first, &second];
        let send = async |number: usize, token: &str, body: &str| {
            let headers = [("authorization", token)];
            post(nodes[number % 2], &made, &headers, body).await
        };
        // Correct tokens do not count.
        for number in 0..50 {
            let right = send(number, "Bearer short", &number.to_string()).await;
            assert!(right.is_ok(), "{number}: {right:?}");
        }
        let mut compared = 0;
        for number in 0..60 {
            match code(send(number, "Bearer wrong", "{}").await) {
                ErrorCode::InvalidCredentials => compared += 1,
                code => assert_eq!(code, ErrorCode::RateLimited),
            }
        }
        assert_eq!(compared, 20);
        for number in 0..2 {
            let right = send(number, "Bearer short", "{}").await;
            assert_eq!(code(right), ErrorCode::RateLimited, "even a right one");
        }
        for node in nodes {
            node.advance(Duration::from_mins(1));
        }
        assert!(send(1, "Bearer short", "{}").await.is_ok());
        first.stop().await;
        second.stop().await;
    })
    .await;
}
