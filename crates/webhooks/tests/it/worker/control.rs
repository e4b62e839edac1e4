//! Tests for cancelling, retrying and replaying deliveries.

use super::harness::{Harness, everywhere, id};
use super::retries::Receiver;
use gatehouse_domain::{DeliveryId, DeliveryStatus, ErrorCode, Problem};
use gatehouse_webhooks::{MAX_REPLAYED, ReplayQuery, Replayed, WebhooksError};
use serde_json::json;
use std::time::Duration;

fn conflict<T>(result: Result<T, WebhooksError>) {
    match result.map(drop) {
        Err(error) => assert_eq!(Problem::from(error).code, ErrorCode::Conflict),
        Ok(()) => panic!("it was taken"),
    }
}

fn of(id: &DeliveryId) -> &str {
    id.as_str()
}

#[tokio::test]
async fn a_delivery_that_waits_or_runs_is_cancelled_and_the_next_of_its_session_runs() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        let all = [(1, "a"), (2, "a"), (3, "a")];
        harness.arrive(&webhook, &all).await;
        model.until(1).await;
        let waiting = harness.webhooks.cancel_delivery(of(&id(2))).await.unwrap();
        assert_eq!(waiting.status, DeliveryStatus::Failed);
        assert_eq!(waiting.error.as_deref(), Some("Cancelled."));
        assert_eq!(
            (waiting.attempts, waiting.finished_at),
            (0, Some(harness.row(2).await.received_at))
        );
        assert_eq!(waiting.session_id, None);
        let running = harness.webhooks.cancel_delivery(of(&id(1))).await.unwrap();
        assert_eq!(running.error.as_deref(), Some("Cancelled."));
        let session = harness.agents.get_session("a").await.unwrap();
        assert_eq!(running.session_id.as_deref(), Some(session.id.as_str()));
        model.until(2).await;
        model.release(10);
        harness.until(3, DeliveryStatus::Completed).await;
        harness.worker_has_looked().await;
        let first = harness.row(1).await;
        assert_eq!(first.error.as_deref(), Some("Cancelled."));
        assert_eq!((first.status, first.attempts), (DeliveryStatus::Failed, 1));
        for n in [1, 2, 3] {
            conflict(harness.webhooks.cancel_delivery(of(&id(n))).await);
            conflict(harness.webhooks.retry_delivery(of(&id(n))).await);
        }
        let missing = harness.webhooks.cancel_delivery("del_none").await;
        assert!(matches!(missing, Err(WebhooksError::NotFound("delivery"))));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_waits_for_a_retry_is_tried_now() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.answers(503, None);
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Queued).await;
        receiver.answers(200, None);
        harness.webhooks.retry_delivery(of(&id(1))).await.unwrap();
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(done.attempts, 2);
        harness.stop().await;
    })
    .await;
}

/// Counts the matching deliveries without replaying them.
async fn count_replayed(harness: &Harness, query: ReplayQuery) -> i64 {
    let dry = ReplayQuery {
        limit: 10,
        dry_run: true,
        ..query
    };
    let counted = harness.webhooks.replay_many(dry).await.unwrap();
    assert_eq!(counted.replayed, 0);
    counted.matched
}

fn failed() -> ReplayQuery {
    ReplayQuery {
        status: Some(DeliveryStatus::Failed),
        limit: 10,
        ..ReplayQuery::default()
    }
}

/// Three failed deliveries have the event `push`, one of them since `later_ms`.
async fn replay_takes_the_events_of_the_list(harness: &Harness, later_ms: i64) {
    for (filter, expected) in [
        ("push", 3),
        ("pull", 0),
        ("push*", 3),
        ("pu*", 3),
        ("*", 3),
        ("push.*", 0),
        ("PU*", 0),
        ("pu", 0),
    ] {
        let of_event = || ReplayQuery {
            event: Some(filter.to_owned()),
            ..failed()
        };
        let found = count_replayed(harness, of_event()).await;
        assert_eq!(found, expected, "{filter}");
        let later = ReplayQuery {
            since: Some(super::harness::at(later_ms)),
            ..of_event()
        };
        let since = i64::from(expected > 0);
        assert_eq!(count_replayed(harness, later).await, since, "{filter}");
    }
}

#[tokio::test]
async fn what_ended_is_replayed_by_webhook_status_event_and_time() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let gone = json!({ "deliver_only": true, "deliver_to": "telegram:gone" });
        let fails = harness.webhook("a", gone).await;
        let inbox = json!({ "deliver_only": true, "prompt_template": "{n}" });
        let works = harness.webhook("b", inbox).await;
        harness.work();
        harness.arrive(&fails, &[(1, "a"), (2, "b")]).await;
        harness.until_all(&[1, 2], DeliveryStatus::Failed).await;
        harness.advance(Duration::from_mins(1));
        let later = harness.clock_ms();
        harness.arrive(&fails, &[(3, "a")]).await;
        harness.until(3, DeliveryStatus::Failed).await;
        harness.arrive(&works, &[(4, "c"), (5, "c")]).await;
        harness.until_all(&[4, 5], DeliveryStatus::Completed).await;
        let count = async |query: ReplayQuery| count_replayed(&harness, query).await;
        assert_eq!(count(ReplayQuery::default()).await, 5);
        assert_eq!(count(failed()).await, 3);
        let at = Some(super::harness::at(later));
        let (mut since, mut until) = (failed(), failed());
        (since.since, until.until) = (at, at);
        assert_eq!(count(since).await, 1);
        assert_eq!(count(until).await, 2);
        replay_takes_the_events_of_the_list(&harness, later).await;
        let webhook = |name: &str| ReplayQuery {
            webhook: Some(name.to_owned()),
            ..ReplayQuery::default()
        };
        assert_eq!(count(webhook("wh_b")).await, 2);
        let of_b = ReplayQuery {
            limit: 10,
            ..webhook("hook_b")
        };
        let done = harness.webhooks.replay_many(of_b).await.unwrap();
        let expected = Replayed {
            matched: 2,
            replayed: 2,
        };
        assert_eq!(done, expected);
        harness.until_all(&[0; 2], DeliveryStatus::Completed).await;
        let mut texts = harness.inbox().await;
        texts.sort_unstable();
        assert_eq!(texts, ["4", "4", "5", "5"]);
        let one = ReplayQuery {
            limit: 1,
            ..failed()
        };
        let done = harness.webhooks.replay_many(one).await.unwrap();
        assert_eq!((done.matched, done.replayed), (3, 1));
        harness.until_all(&[0; 1], DeliveryStatus::Failed).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_replay_of_many_has_bounds() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        for (limit, fits) in [
            (0, false),
            (1, true),
            (MAX_REPLAYED, true),
            (MAX_REPLAYED + 1, false),
        ] {
            let query = ReplayQuery {
                limit,
                ..ReplayQuery::default()
            };
            assert_eq!(
                harness.webhooks.replay_many(query).await.is_ok(),
                fits,
                "{limit}"
            );
        }
        for status in [DeliveryStatus::Queued, DeliveryStatus::Rejected] {
            let query = ReplayQuery {
                status: Some(status),
                limit: 1,
                ..ReplayQuery::default()
            };
            let refused = harness.webhooks.replay_many(query).await;
            assert!(matches!(
                refused,
                Err(WebhooksError::Invalid {
                    field: "status",
                    ..
                })
            ));
        }
        harness.stop().await;
    })
    .await;
}
