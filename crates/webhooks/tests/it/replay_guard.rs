//! Tests for the replay guard `bytes`, redelivery of failed deliveries, and deliveries that wait for their
//! webhook's rate.

use crate::requests::{
    accepted, as_json, code, create, of_profile, open_webhook, post, refused, rows, secret_of,
};
use crate::worker::harness::{Harness, everywhere};
use gatehouse_domain::{Actor, DeliveryId, DeliveryStatus, ErrorCode, Problem};
use gatehouse_sources::verify::{SignInput, sign};
use gatehouse_webhooks::{Ingested, Webhook, WebhookChanged, WebhooksSettings};
use serde_json::json;
use std::time::Duration;

#[track_caller]
fn duplicate(outcome: Result<Ingested, Problem>) -> DeliveryId {
    match outcome {
        Ok(Ingested::Deduplicated(id)) => id,
        other => panic!("{other:?}"),
    }
}

/// Posts `body` with the signature of `signed_body` and additional headers.
async fn post_signed(
    harness: &Harness,
    made: &WebhookChanged,
    signed_body: &str,
    body: &str,
    more: &[(&str, &str)],
) -> Result<Ingested, Problem> {
    let webhook = &made.webhook;
    let url = format!(
        "https://gate.example/api/webhooks/ingest/{}",
        webhook.public_id
    );
    let proof = sign(&SignInput {
        mode: webhook.auth_mode,
        header: None,
        secret: &secret_of(made),
        url: &url,
        body: signed_body.as_bytes(),
        now_ms: harness.clock_ms(),
        id: "msg_1",
    });
    let mut headers: Vec<_> = proof
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    headers.extend(more);
    post(harness, webhook, &headers, body).await
}

#[tokio::test]
async fn a_form_that_says_the_same_in_other_bytes_is_the_same_capture() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members = json!({ "name": "n", "source_profile": "twilio", "replay_guard": "bytes" });
        let made = create(&harness, members).await;
        let captured = "Body=hi+there&From=%2B15550100&MessageSid=SM1";
        let with = async |body: &str, id: &str| {
            let more = [
                ("i-twilio-idempotency-token", id),
                ("content-type", "application/x-www-form-urlencoded"),
            ];
            post_signed(&harness, &made, captured, body, &more).await
        };
        let first = accepted(with(captured, "1").await);
        // The captured signature is valid for all of these requests.
        for (number, body) in [
            "From=%2B15550100&Body=hi+there&MessageSid=SM1",
            "Body=hi%20there&From=%2B15550100&MessageSid=SM1",
            "Body=hi+there&Body=hi+there&From=%2B15550100&MessageSid=SM1",
            "Bod=yhi+there&From=%2B15550100&MessageSid=SM1",
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("fresh-{number}");
            assert_eq!(duplicate(with(body, &id).await), first, "{body}");
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn of_concurrent_copies_under_fresh_ids_exactly_one_is_accepted() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "replay_guard": "bytes" })).await;
        let ids: Vec<_> = (0..50).map(|number| format!("id-{number}")).collect();
        let all = ids.iter().map(|id| {
            let webhook = &webhook;
            let harness = &harness;
            async move { post(harness, webhook, &[("x-delivery-id", id)], "{\"n\":1}").await }
        });
        let outcomes = futures_util::future::join_all(all).await;
        let (new, known): (Vec<_>, Vec<_>) = outcomes
            .into_iter()
            .map(Result::unwrap)
            .partition(|outcome| matches!(outcome, Ingested::Accepted(_)));
        assert_eq!((new.len(), known.len()), (1, 49));
        // The guard applies per webhook: another webhook's deliveries are unknown to it.
        let other = open_webhook(&harness, json!({ "replay_guard": "bytes" })).await;
        accepted(post(&harness, &other, &[("x-delivery-id", "id-1")], "{\"n\":1}").await);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_time_that_is_signed_belongs_to_the_bytes() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members =
            json!({ "name": "n", "auth_mode": "slack_signature", "replay_guard": "bytes" });
        let made = create(&harness, members).await;
        let post = async |id: &str| {
            post_signed(&harness, &made, "{}", "{}", &[("x-delivery-id", id)]).await
        };
        let first = accepted(post("a").await);
        assert_eq!(duplicate(post("b").await), first);
        harness.advance(Duration::from_secs(1));
        accepted(post("c").await);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_accepted_before_the_guard_is_on_is_not_known_to_it_and_samples_pass() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        for profile in gatehouse_sources::profile::all() {
            // Only the vendor can sign with its private key.
            if !profile.default_auth_mode.can_sign() {
                continue;
            }
            let mut members = of_profile(profile.id);
            members["replay_guard"] = json!("bytes");
            let webhook = create(&harness, members).await.webhook;
            for _ in 0..2 {
                let id = webhook.id.as_str();
                let tested = harness
                    .webhooks
                    .test(&Actor::cli(), id, None)
                    .await
                    .unwrap();
                assert_eq!(tested.status, DeliveryStatus::Queued, "{profile}");
                let again = harness.webhooks.replay(tested.delivery_id.as_str()).await;
                assert_eq!(again.unwrap().status, DeliveryStatus::Queued, "{profile}");
            }
        }
        harness.stop().await;
    })
    .await;
}

/// Ends a delivery as failed, like a worker.
async fn fail(harness: &Harness, id: &DeliveryId) {
    harness.end_as(id, DeliveryStatus::Failed).await;
}

#[tokio::test]
async fn concurrent_redeliveries_of_what_failed_make_one_and_five_are_the_most() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "redeliver_failed": true })).await;
        let send = async || post(&harness, &webhook, &[("x-delivery-id", "same")], "{}").await;
        let first = accepted(send().await);
        assert_eq!(duplicate(send().await), first, "it has not failed yet");
        fail(&harness, &first).await;
        for number in 0..5 {
            let outcomes = futures_util::future::join_all((0..10).map(|_| send())).await;
            let (new, known): (Vec<_>, Vec<_>) = outcomes
                .into_iter()
                .map(Result::unwrap)
                .partition(|outcome| matches!(outcome, Ingested::Accepted(_)));
            assert_eq!((new.len(), known.len()), (1, 9), "{number}");
            assert!(
                known
                    .iter()
                    .all(|one| *one == Ingested::Deduplicated(first.clone()))
            );
            let Ingested::Accepted(again) = &new[0] else {
                panic!("{new:?}")
            };
            let shown = harness.webhooks.delivery(again.as_str()).await.unwrap();
            assert_eq!(shown.replay_of.as_ref(), Some(&first));
            fail(&harness, again).await;
        }
        assert_eq!(duplicate(send().await), first, "a sixth time");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_redelivery_that_went_well_ends_it() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, json!({ "redeliver_failed": true })).await;
        let send = async || post(&harness, &webhook, &[("x-delivery-id", "same")], "{}").await;
        let first = accepted(send().await);
        fail(&harness, &first).await;
        let again = accepted(send().await);
        harness.end_as(&again, DeliveryStatus::Completed).await;
        assert_eq!(duplicate(send().await), first);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn bytes_of_another_delivery_do_not_pass_as_a_redelivery() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members = json!({ "redeliver_failed": true, "replay_guard": "bytes" });
        let webhook = open_webhook(&harness, members).await;
        let send = async |id: &str, body: &str| {
            post(&harness, &webhook, &[("x-delivery-id", id)], body).await
        };
        let failed = accepted(send("one", "1").await);
        let ran = accepted(send("two", "2").await);
        fail(&harness, &failed).await;
        harness.end_as(&ran, DeliveryStatus::Completed).await;
        assert_eq!(duplicate(send("one", "2").await), ran);
        // The bytes of a redelivery are also stored.
        let again = accepted(send("one", "3").await);
        harness.end_as(&again, DeliveryStatus::Completed).await;
        assert_eq!(duplicate(send("fresh", "3").await), failed);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_redelivery_needs_a_place_under_the_limit() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members = json!({ "redeliver_failed": true, "rate_limit_per_minute": 1 });
        let webhook = open_webhook(&harness, members).await;
        let send = async || post(&harness, &webhook, &[("x-delivery-id", "same")], "{}").await;
        let first = accepted(send().await);
        assert_eq!(duplicate(send().await), first);
        fail(&harness, &first).await;
        assert_eq!(code(send().await), ErrorCode::RateLimited);
        harness.advance(Duration::from_mins(1));
        accepted(send().await);
        harness.stop().await;
    })
    .await;
}

/// Returns how many deliveries of the webhook have started.
async fn started(harness: &Harness, webhook: &Webhook) -> usize {
    harness.worker_has_looked().await;
    let rows = rows(harness).await;
    let done =
        |row: &&gatehouse_store::DeliveryRow| row.webhook_id == webhook.id && row.attempts > 0;
    rows.iter().filter(done).count()
}

#[tokio::test]
async fn what_is_over_the_rate_is_stored_and_runs_at_the_rate() {
    everywhere(async |database, model| {
        let settings = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                send_workers: 64,
                ..gatehouse_config::Webhooks::default()
            },
            ..WebhooksSettings::default()
        };
        let harness = Harness::open_with(&database, &model, settings).await;
        let members =
            json!({ "rate_limit_per_minute": 3, "on_limit": "queue", "deliver_only": true });
        let webhook = open_webhook(&harness, members).await;
        assert_eq!(as_json(&webhook)["on_limit"], "queue");
        for number in 0..8 {
            accepted(post(&harness, &webhook, &[], &number.to_string()).await);
        }
        harness.work();
        assert_eq!(started(&harness, &webhook).await, 3);
        harness.advance(Duration::from_millis(59_999));
        assert_eq!(started(&harness, &webhook).await, 3);
        let waiting = rows(&harness)
            .await
            .into_iter()
            .find(|row| row.attempts == 0);
        assert!(waiting.unwrap().error.unwrap().contains("rate"));
        harness.advance(Duration::from_millis(1));
        assert_eq!(started(&harness, &webhook).await, 6);
        harness.advance(Duration::from_mins(1));
        assert_eq!(started(&harness, &webhook).await, 8);
        // Another webhook does not wait for this one.
        let other = open_webhook(&harness, json!({ "deliver_only": true })).await;
        accepted(post(&harness, &other, &[], "1").await);
        assert_eq!(started(&harness, &other).await, 1);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_queue_has_an_end() {
    let database = gatehouse_store::testing::sqlite();
    let model = crate::worker::model::start().await;
    let harness = Harness::open(&database, &model).await;
    let members = json!({ "rate_limit_per_minute": 1, "on_limit": "queue" });
    let webhook = open_webhook(&harness, members).await;
    let bodies: Vec<_> = (0..10_001).map(|number| number.to_string()).collect();
    for some in bodies.chunks(500) {
        let all = some.iter().map(|body| post(&harness, &webhook, &[], body));
        for outcome in futures_util::future::join_all(all).await {
            accepted(outcome);
        }
    }
    // One delivery within the limit and 10,000 waiting.
    let problem = post(&harness, &webhook, &[], "10001").await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::RateLimited);
    assert_eq!(problem.details["retry_after_seconds"], 60);
    // A duplicate does not use a permit.
    duplicate(post(&harness, &webhook, &[], "7").await);
    harness.advance(Duration::from_mins(1));
    accepted(post(&harness, &webhook, &[], "10001").await);
    harness.stop().await;
}

#[tokio::test]
async fn fields_of_intake_are_checked_shown_and_cleared() {
    let database = gatehouse_store::testing::sqlite();
    let model = crate::worker::model::start().await;
    let harness = Harness::open(&database, &model).await;
    let plain = open_webhook(&harness, json!({})).await;
    let shown = as_json(&plain);
    assert_eq!(
        (
            &shown["replay_guard"],
            &shown["redeliver_failed"],
            &shown["on_limit"]
        ),
        (&json!("key"), &json!(false), &json!("refuse"))
    );
    let set = json!({ "replayGuard": "bytes", "redeliverFailed": true, "onLimit": "queue" });
    let changed = crate::requests::update(&harness, plain.id.as_str(), set)
        .await
        .unwrap();
    let shown = as_json(&changed.webhook);
    assert_eq!(
        (
            &shown["replay_guard"],
            &shown["redeliver_failed"],
            &shown["on_limit"]
        ),
        (&json!("bytes"), &json!(true), &json!("queue"))
    );
    let clear = json!({ "replay_guard": null, "redeliver_failed": null, "on_limit": null });
    let changed = crate::requests::update(&harness, plain.id.as_str(), clear)
        .await
        .unwrap();
    assert_eq!(as_json(&changed.webhook)["replay_guard"], "key");
    for (field, value) in [
        ("replay_guard", json!("body")),
        ("redeliver_failed", json!("yes")),
        ("on_limit", json!("drop")),
    ] {
        let members = json!({ "name": "n", field: value });
        assert_eq!(
            refused(&harness, members).await.0,
            ErrorCode::InvalidParams,
            "{field}"
        );
    }
    harness.stop().await;
}

#[tokio::test]
async fn a_secret_under_sixteen_bytes_comes_with_a_warning() {
    let database = gatehouse_store::testing::sqlite();
    let model = crate::worker::model::start().await;
    let harness = Harness::open(&database, &model).await;
    let warned = |answer: serde_json::Value| answer["warning"].is_string();
    let made = |secret: &str| json!({ "name": "n", "auth_mode": "bearer", "secret": secret });
    assert!(warned(as_json(
        &create(&harness, made("fifteen-bytes-x")).await
    )));
    let long = create(&harness, made("sixteen-bytes-xx")).await;
    assert!(!warned(as_json(&long)));
    assert!(!warned(as_json(
        &create(&harness, json!({ "name": "n" })).await
    )));
    // For a `whsec_` secret, the length of the decoded key is checked.
    let standard =
        json!({ "name": "n", "auth_mode": "standard_webhooks", "secret": "whsec_c2hvcnQta2V5" });
    assert!(warned(as_json(&create(&harness, standard).await)));
    let id = long.webhook.id.as_str();
    let changed = crate::requests::update(&harness, id, json!({ "secret": "short" }))
        .await
        .unwrap();
    assert!(warned(as_json(&changed)));
    for (secret, is_short) in [("fifteen-bytes-y", true), ("sixteen-bytes-yy", false)] {
        let secret = Some(secrecy::SecretString::from(secret));
        let rotated = harness
            .webhooks
            .rotate_secret(&Actor::cli(), id, secret, None)
            .await;
        assert_eq!(warned(as_json(&rotated.unwrap())), is_short);
    }
    harness.stop().await;
}

#[tokio::test]
async fn each_earlier_secret_is_good_to_its_own_end() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let secret = |number: u32| format!("secret-number-{number:04}");
        let members = json!({ "name": "n", "secret": secret(0) });
        let made = create(&harness, members).await.webhook;
        let rotate = async |number: u32, overlap| {
            let secret = Some(secrecy::SecretString::from(secret(number)));
            let id = made.id.as_str();
            let rotated = harness
                .webhooks
                .rotate_secret(&Actor::cli(), id, secret, Some(overlap))
                .await;
            rotated.map(drop).map_err(Problem::from)
        };
        let bodies = std::sync::atomic::AtomicU32::new(0);
        let is_good = async |number: u32| {
            let body = bodies
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
                .to_string();
            let secret = secret(number);
            let outcome = post(&harness, &made, &[("x-webhook-secret", &secret)], &body).await;
            matches!(outcome, Ok(Ingested::Accepted(_)))
        };
        rotate(1, 100).await.unwrap();
        rotate(2, 10).await.unwrap();
        assert!(is_good(0).await && is_good(1).await && is_good(2).await);
        let shown = harness.webhooks.get(made.id.as_str()).await.unwrap();
        let until = shown.auth.previous_secret_expires_at.unwrap();
        assert_eq!(
            until.as_millis(),
            harness.clock_ms() + 100_000,
            "until the last one ends"
        );
        harness.advance(Duration::from_secs(10));
        assert!(is_good(0).await && !is_good(1).await && is_good(2).await);
        harness.advance(Duration::from_millis(89_999));
        assert!(is_good(0).await);
        harness.advance(Duration::from_millis(1));
        assert!(!is_good(0).await && is_good(2).await);
        // At most eight previous secrets are valid at a time. Without overlap, all of them expire.
        for number in 3..11 {
            rotate(number, 1000).await.unwrap();
        }
        harness.advance(Duration::from_mins(1));
        let refused = rotate(11, 1000).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Conflict);
        for number in 2..11 {
            assert!(is_good(number).await, "{number}");
        }
        rotate(12, 0).await.unwrap();
        for number in 2..11 {
            assert!(!is_good(number).await, "{number}");
        }
        assert!(is_good(12).await);
        // A rotation to a supplied secret also expires the previous ones.
        rotate(13, 1000).await.unwrap();
        let replaced = json!({ "secret": secret(14) });
        drop(
            crate::requests::update(&harness, made.id.as_str(), replaced)
                .await
                .unwrap(),
        );
        assert!(!is_good(12).await && !is_good(13).await && is_good(14).await);
        harness.stop().await;
    })
    .await;
}
