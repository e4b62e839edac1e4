//! Deliveries that wait for a channel or a webhook.

use super::harness::{Harness, everywhere, id, settings};
use super::pools::hanging_account;
use super::retries::Receiver;
use crate::requests::{accepted, open_webhook, post, update};
use gatehouse_channels::{AccountChange, ChannelsError};
use gatehouse_domain::{Actor, DeliveryStatus, ErrorCode, Problem};
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;
use std::time::Duration;

async fn enable(harness: &Harness, enabled: bool) {
    let change = AccountChange {
        enabled: Some(enabled),
        ..AccountChange::default()
    };
    let actor = Actor::cli();
    let updated = harness.channels.update(&actor, true, "there", change);
    updated.await.unwrap();
}

async fn error_of(harness: &Harness, n: u32) -> Option<String> {
    let delivery = harness.webhooks.delivery(id(n).as_str()).await.unwrap();
    assert_eq!(delivery.status, DeliveryStatus::Queued, "{n}");
    delivery.error
}

#[tokio::test]
async fn what_a_disabled_channel_gets_waits_without_an_attempt_and_goes_in_order() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        let inbox = harness.webhook("b", json!({ "deliver_only": true })).await;
        enable(&harness, false).await;
        harness.work();
        let all: Vec<_> = (1..=5).map(|n| (n, "s")).collect();
        harness.arrive(&webhook, &all).await;
        harness.arrive(&inbox, &[(9, "t")]).await;
        harness.until(9, DeliveryStatus::Completed).await;
        harness.worker_has_looked().await;
        for n in 1..=5 {
            let error = error_of(&harness, n).await.unwrap();
            assert!(error.contains("the channel Receiver is enabled"), "{error}");
            assert_eq!(harness.row(n).await.attempts, 0);
        }
        assert_eq!(receiver.count(), 0);
        enable(&harness, true).await;
        let order = harness.until_all(&[1, 2, 3, 4, 5], DeliveryStatus::Completed);
        assert_eq!(order.await, [1, 2, 3, 4, 5]);
        let row = harness.row(1).await;
        assert_eq!((row.attempts, row.error), (1, None));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_disabled_webhook_holds_its_queue() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        let other = harness.webhook("b", json!({ "deliver_only": true })).await;
        harness.switch(&webhook, false).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a"), (2, "b")]).await;
        harness.arrive(&other, &[(3, "c")]).await;
        harness.until(3, DeliveryStatus::Completed).await;
        harness.worker_has_looked().await;
        let error = error_of(&harness, 1).await.unwrap();
        assert_eq!(error, "Waits until the webhook is enabled.");
        assert_eq!(harness.row(2).await.attempts, 0);
        harness.switch(&webhook, true).await;
        harness.until_all(&[1, 2], DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_paused_webhook_accepts_deliveries_and_works_on_them_after_it_is_resumed() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let pause = async |name: &str, paused: bool| {
            let members = json!({ "paused": paused });
            update(&harness, name, members).await.unwrap().webhook
        };
        let members = json!({ "deliver_only": true, "prompt_template": "{n}" });
        let webhook = open_webhook(&harness, members.clone()).await;
        let other = open_webhook(&harness, members).await;
        let id = webhook.id.as_str();
        assert!(!webhook.paused);
        assert!(pause(id, true).await.paused);
        harness.work();
        let mut waiting = Vec::new();
        for n in 1..=3 {
            let sent = post(&harness, &webhook, &[], &json!({ "n": n }).to_string()).await;
            waiting.push(accepted(sent));
        }
        accepted(post(&harness, &other, &[], r#"{"n":9}"#).await);
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        harness.worker_has_looked().await;
        for one in &waiting {
            let delivery = harness.webhooks.delivery(one.as_str()).await.unwrap();
            assert_eq!(
                (delivery.status, delivery.attempts),
                (DeliveryStatus::Queued, 0)
            );
            let error = delivery.error.unwrap();
            assert_eq!(error, "Waits until the webhook is resumed.");
        }
        // The owner paused these deliveries, so no worker is late.
        assert_eq!(harness.webhooks.oldest_due().await.unwrap(), None);
        // A change of another setting does not resume the webhook.
        let renamed = json!({ "name": "renamed" });
        assert!(update(&harness, id, renamed).await.unwrap().webhook.paused);
        assert!(!pause(id, false).await.paused);
        harness.until_all(&[0; 3], DeliveryStatus::Completed).await;
        let mut sent = harness.inbox().await;
        sent.sort();
        assert_eq!(sent, ["1", "2", "3", "9"]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_does_not_answer_is_tried_with_one_delivery_now_and_then() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                per_webhook_concurrency: 1,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        receiver.hang_up(true);
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        let all = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (6, "f")];
        harness.arrive(&webhook, &all).await;
        harness.work();
        let failed = harness.until_all(&[1, 2, 3], DeliveryStatus::Queued).await;
        assert_eq!(failed, [1, 2, 3]);
        harness.worker_has_looked().await;
        for n in 4..=6 {
            let error = error_of(&harness, n).await.unwrap();
            assert_eq!(
                error,
                "Waits because the channel Receiver does not respond. Until it responds, one delivery at a time is \
                 attempted."
            );
            assert_eq!(harness.row(n).await.attempts, 0, "{n}");
        }
        harness.advance(Duration::from_millis(4999));
        harness.worker_has_looked().await;
        assert_eq!(harness.row(4).await.attempts, 0);
        // The first probe gets no response, so the delay before the second one is twice as long.
        harness.advance(Duration::from_millis(1));
        let probed = harness.until(4, DeliveryStatus::Queued).await;
        assert_eq!(probed.attempts, 1);
        receiver.hang_up(false);
        harness.advance(Duration::from_millis(9999));
        harness.worker_has_looked().await;
        assert_eq!((harness.row(5).await.attempts, receiver.count()), (0, 0));
        harness.advance(Duration::from_millis(1));
        harness.until(5, DeliveryStatus::Completed).await;
        harness.advance(Duration::from_mins(1));
        harness.until_all(&[0; 5], DeliveryStatus::Completed).await;
        assert_eq!((harness.row(6).await.attempts, receiver.count()), (1, 6));
        harness.stop().await;
    })
    .await;
}

/// The event that ends the state of a channel that does not respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Test,
    Disable,
    Change,
    Delete,
}

#[tokio::test]
async fn a_channel_responds_again_when_it_is_tested_disabled_changed_or_deleted() {
    for end in [End::Test, End::Disable, End::Change, End::Delete] {
        everywhere(|database, model| async move {
            let harness = Harness::open(&database, &model).await;
            let receiver = Receiver::start().await;
            let target = receiver.account(&harness, json!({})).await;
            receiver.hang_up(true);
            let more = json!({ "deliver_only": true, "deliver_to": target });
            let webhook = harness.webhook("a", more).await;
            harness
                .arrive(&webhook, &[(1, "a"), (2, "b"), (3, "c")])
                .await;
            harness.work();
            harness.until_all(&[1, 2, 3], DeliveryStatus::Queued).await;
            harness.worker_has_looked().await;
            let unresponsive = async || harness.webhooks.unresponsive_channels().await.unwrap();
            assert_eq!(unresponsive().await, ["there"]);
            harness.channels.test("there", None).await.unwrap_err();
            assert_eq!(unresponsive().await, ["there"]);
            harness.advance(Duration::from_millis(10));
            let actor = Actor::cli();
            match end {
                End::Test => {
                    receiver.hang_up(false);
                    harness.channels.test("there", None).await.unwrap();
                }
                End::Disable => enable(&harness, false).await,
                End::Change => {
                    let change = AccountChange {
                        label: Some("Other".to_owned()),
                        ..AccountChange::default()
                    };
                    let changed = harness.channels.update(&actor, true, "there", change);
                    changed.await.unwrap();
                }
                End::Delete => {
                    let deleted = harness.channels.delete(&actor, "there");
                    deleted.await.unwrap();
                }
            }
            assert!(unresponsive().await.is_empty(), "{end:?}");
            harness.stop().await;
        })
        .await;
    }
}

/// The operation that shows whether deliveries wait for a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Error,
    OldestDue,
}

#[tokio::test]
async fn no_delivery_waits_for_a_channel_after_a_change_although_all_slots_are_taken() {
    for shown in [Shown::Error, Shown::OldestDue] {
        everywhere(|database, model| async move {
            let wanted = WebhooksSettings {
                drain_seconds: 0,
                section: gatehouse_config::Webhooks {
                    agent_workers: 1,
                    send_workers: 1,
                    ..settings().section
                },
                ..settings()
            };
            let harness = Harness::open_with(&database, &model, wanted).await;
            model.hold();
            let receiver = Receiver::start().await;
            let target = receiver.account(&harness, json!({})).await;
            receiver.hang_up(true);
            let more = json!({ "deliver_only": true, "deliver_to": target });
            let webhook = harness.webhook("a", more).await;
            let all = [(1, "a"), (2, "b"), (3, "c")];
            harness.arrive(&webhook, &all).await;
            harness.work();
            harness.until_all(&[1, 2, 3], DeliveryStatus::Queued).await;
            let (_listener, hanging) = hanging_account(&harness, "hanging").await;
            let busy = json!({ "deliver_only": true, "deliver_to": hanging });
            let busy = harness.webhook("b", busy).await;
            let slow = harness.webhook("c", json!({})).await;
            harness.arrive(&busy, &[(4, "d")]).await;
            harness.arrive(&slow, &[(5, "e")]).await;
            harness.until_all(&[4, 5], DeliveryStatus::Processing).await;
            // The second attempts of the first three are due.
            harness.advance(Duration::from_secs(13));
            harness.worker_has_looked().await;
            let is_waiting = async || match shown {
                Shown::Error => {
                    let error = error_of(&harness, 1).await.unwrap();
                    error.starts_with("Waits because the channel")
                }
                Shown::OldestDue => harness.webhooks.oldest_due().await.unwrap().is_none(),
            };
            assert!(is_waiting().await, "{shown:?}");
            let change = AccountChange {
                label: Some("Other".to_owned()),
                ..AccountChange::default()
            };
            let actor = Actor::cli();
            let changed = harness.channels.update(&actor, true, "there", change);
            changed.await.unwrap();
            harness.worker_has_looked().await;
            assert!(!is_waiting().await, "{shown:?}");
            assert_eq!(harness.row(1).await.attempts, 1, "no slot is free");
            model.release(100);
            harness.stop().await;
        })
        .await;
    }
}

#[tokio::test]
async fn a_test_on_another_node_ends_the_wait_for_a_channel() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        if !harness.store.engine().is_shared() {
            return harness.stop().await;
        }
        let other = Harness::open(&database.for_another_node(), &model).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        receiver.hang_up(true);
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        let all = [(1, "a"), (2, "b"), (3, "c")];
        harness.arrive(&webhook, &all).await;
        harness.work();
        harness.until_all(&[1, 2, 3], DeliveryStatus::Queued).await;
        harness.worker_has_looked().await;
        // Reads the accounts again, as after a change on another node.
        let unresponsive = async || {
            harness.channels.forget_accounts();
            harness.webhooks.unresponsive_channels().await.unwrap()
        };
        other.channels.test("there", None).await.unwrap_err();
        assert_eq!(unresponsive().await, ["there"]);
        receiver.hang_up(false);
        other.channels.test("there", None).await.unwrap();
        assert!(unresponsive().await.is_empty());
        harness.stop().await;
        other.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_in_use_is_deleted_only_by_force_and_then_its_deliveries_fail() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        // `http` refers to any account of that type, and this is the last one.
        let any = json!({ "deliver_only": true, "deliver_to": "http" });
        let any = harness.webhook("b", any).await;
        enable(&harness, false).await;
        harness.work();
        harness
            .arrive(&webhook, &[(1, "a"), (2, "a"), (3, "b")])
            .await;
        harness.arrive(&any, &[(4, "c")]).await;
        harness.worker_has_looked().await;
        let actor = Actor::cli();
        let refused = harness
            .webhooks
            .delete_channel(&actor, "there", false)
            .await;
        let problem = match refused {
            Err(error @ ChannelsError::InUse(_)) => Problem::from(error),
            other => panic!("{other:?}"),
        };
        assert_eq!(problem.code, ErrorCode::Conflict);
        assert_eq!(problem.details["deliveries"], json!(4));
        assert_eq!(problem.details["webhooks"], json!(2));
        let used_by = problem.details["used_by"].as_array().unwrap();
        let mut ids: Vec<&str> = used_by.iter().filter_map(|it| it["id"].as_str()).collect();
        ids.sort_unstable();
        let mut expected = [webhook.id.as_str(), any.id.as_str()];
        expected.sort_unstable();
        assert_eq!(ids, expected);
        assert!(
            used_by.iter().all(|it| it["name"].is_string()),
            "{used_by:?}"
        );
        assert!(!problem.message.contains('`'), "{}", problem.message);
        assert_eq!(harness.row(1).await.status, DeliveryStatus::Queued);
        let deleted = harness.webhooks.delete_channel(&actor, "there", true).await;
        deleted.unwrap();
        harness.until_all(&[0; 4], DeliveryStatus::Failed).await;
        let error = harness.row(1).await.error.unwrap();
        assert!(error.contains("no such http channel"), "{error}");
        assert_eq!(receiver.count(), 0);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_refused_deletion_names_at_most_twenty_webhooks() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        for n in 0..20 {
            harness.webhook(&format!("w{n}"), more.clone()).await;
        }
        let actor = Actor::cli();
        let counts = async || {
            let refused = harness.webhooks.delete_channel(&actor, "there", false);
            let problem = Problem::from(refused.await.unwrap_err());
            let named = problem.details["used_by"].as_array().unwrap().len();
            (problem.details["webhooks"].clone(), named)
        };
        assert_eq!(counts().await, (json!(20), 20), "at the limit");
        harness.webhook("w20", more).await;
        assert_eq!(counts().await, (json!(21), 20), "past the limit");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_nothing_names_is_deleted_without_force() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.account(&harness, json!({})).await;
        let inbox = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.arrive(&inbox, &[(1, "a")]).await;
        let actor = Actor::cli();
        let deleted = harness.webhooks.delete_channel(&actor, "there", false);
        deleted.await.unwrap();
        harness.stop().await;
    })
    .await;
}
