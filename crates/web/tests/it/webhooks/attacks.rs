//! Attacks on ingest without the secret: replays, guesses and floods of refusals. Also a sender's
//! redelivery of a failed delivery.

use super::ingest::signed;
use super::{deliveries, made, send, until};
use crate::steps::{behind_trusted_proxy, light_owner, start_of_tests, stopped_clock};
use gatehouse_sources::AuthMode;
use gatehouse_testkit::{Actor, Options, Reply};
use serde_json::{Value, json};
use std::time::Duration;

/// Sends a request with additional headers.
async fn replay(
    sender: &Actor,
    path: &str,
    proof: &[(String, String)],
    more: &[(&str, &str)],
    body: &str,
) -> Reply {
    let proof = proof
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let headers: Vec<_> = proof.chain(more.iter().copied()).collect();
    send(sender, path, &headers, body).await
}

#[tokio::test]
async fn a_captured_delivery_replayed_under_fresh_ids_runs_once_under_the_bytes_guard() {
    let (server, owner) = light_owner(Options::default()).await;
    let remote = server.remote();
    let now = start_of_tests().as_millis();
    let body = format!(r#"{{"action":"opened","type":"Issue","n":1,"webhookTimestamp":{now}}}"#);
    for (profile, mode, id_header) in [
        ("github", "github_hmac_sha256", "x-github-delivery"),
        ("sentry", "sentry_webhook_signature", "request-id"),
        ("shopify", "shopify_hmac_sha256", "x-shopify-event-id"),
        ("linear", "linear_webhook_signature", "linear-delivery"),
        ("generic", "github_hmac_sha256", "x-delivery-id"),
    ] {
        let mode: AuthMode = mode.parse().unwrap();
        let members =
            json!({ "source_profile": profile, "auth_mode": mode, "replay_guard": "bytes" });
        let hook = made(&owner, members).await;
        let captured = signed(mode, hook.secret(), &body, now);
        let first = replay(
            &remote,
            &hook.path(),
            &captured,
            &[(id_header, "id-1")],
            &body,
        )
        .await;
        let first = first.expect(202)["delivery_id"].clone();
        for fresh in ["id-2", "id-3"] {
            let headers = [
                (id_header, fresh),
                ("x-github-event", fresh),
                ("x-shopify-topic", fresh),
            ];
            let again = replay(&remote, &hook.path(), &captured, &headers, &body).await;
            let answer = again.expect(200);
            assert_eq!(answer["status"], "deduplicated", "{profile}");
            assert_eq!(answer["delivery_id"], first, "{profile}");
        }
        // Another body under a new ID is another delivery.
        let other = body.replace("\"n\":1", "\"n\":2");
        let genuine = signed(mode, hook.secret(), &other, now);
        let genuine = replay(
            &remote,
            &hook.path(),
            &genuine,
            &[(id_header, "id-4")],
            &other,
        )
        .await;
        genuine.expect(202);
    }
}

#[tokio::test]
async fn by_default_only_the_key_tells_a_duplicate() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "source_profile": "github" })).await;
    let body = r#"{"n":1}"#;
    let proof = signed(
        "github_hmac_sha256".parse().unwrap(),
        hook.secret(),
        body,
        0,
    );
    let remote = server.remote();
    let post = async |id: &str| {
        replay(
            &remote,
            &hook.path(),
            &proof,
            &[("x-github-delivery", id)],
            body,
        )
        .await
    };
    post("a").await.expect(202);
    post("b").await.expect(202);
    post("a").await.expect(200);
}

#[tokio::test]
async fn standard_webhooks_are_distinguished_by_their_signed_id_alone() {
    let (server, owner) = light_owner(Options::default()).await;
    let remote = server.remote();
    let now = start_of_tests().as_millis();
    for profile in ["generic", "codehost_b", "github"] {
        let members = json!({ "source_profile": profile, "auth_mode": "standard_webhooks" });
        let hook = made(&owner, members).await;
        let body = r#"{"type":"ping"}"#;
        let event = |id: &str| {
            super::ingest::signed_as(AuthMode::STANDARD_WEBHOOKS, hook.secret(), body, now, id)
        };
        let post = async |id: &str, more: &[(&str, &str)]| {
            replay(&remote, &hook.path(), &event(id), more, body).await
        };
        let first = post("msg_1", &[]).await.expect(202)["delivery_id"].clone();
        // A second event with the same body.
        post("msg_2", &[]).await.expect(202);
        // The same event with unsigned IDs.
        for header in [
            "x-request-id",
            "x-delivery-id",
            "idempotency-key",
            "x-github-delivery",
        ] {
            let again = post("msg_1", &[(header, "fresh")]).await;
            assert_eq!(
                again.expect(200)["delivery_id"],
                first,
                "{profile} {header}"
            );
        }
        let found = deliveries(&owner, &hook).await;
        let keyed = found.iter().find(|row| row["id"] == first).unwrap();
        assert_eq!(keyed["delivery_key"], "msg_1");
        assert_eq!(keyed["headers"]["webhook-id"], "msg_1", "{keyed}");
        assert_eq!(keyed["headers"]["webhook-signature"], Value::Null);
    }
}

async fn until_ended(owner: &Actor, id: &Value) -> Value {
    let wait = async {
        loop {
            let found = owner
                .rpc("webhooks.delivery.get", json!({ "id": id }))
                .await;
            let found = found.unwrap();
            if ["failed", "completed"].contains(&found["status"].as_str().unwrap()) {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_senders_redelivery_of_what_failed_runs_again_where_the_owner_wants_it() {
    let (server, owner) = light_owner(Options::default()).await;
    let remote = server.remote();
    let post = async |hook: &super::CreatedWebhook| {
        send(&remote, &hook.path(), &[("x-delivery-id", "same")], "{}").await
    };
    // There is no model, so the agent's turn fails.
    let members = json!({ "auth_mode": "none", "deliver_only": false });
    let plain = made(&owner, members.clone()).await;
    let first = post(&plain).await.expect(202)["delivery_id"].clone();
    assert_eq!(until_ended(&owner, &first).await["status"], "failed");
    assert_eq!(
        post(&plain).await.expect(200)["delivery_id"],
        first,
        "as specified"
    );

    let mut members = members;
    members["redeliver_failed"] = json!(true);
    let hook = made(&owner, members).await;
    assert_eq!(hook.record["redeliver_failed"], true);
    let first = post(&hook).await.expect(202)["delivery_id"].clone();
    until_ended(&owner, &first).await;
    for number in 1..=5 {
        let again = post(&hook).await;
        let id = again.expect(202)["delivery_id"].clone();
        let again = until_ended(&owner, &id).await;
        assert_eq!(
            (&again["replay_of"], &again["status"]),
            (&first, &json!("failed")),
            "{number}"
        );
    }
    let sixth = post(&hook).await;
    assert_eq!(sixth.expect(200)["delivery_id"], first);
}

#[tokio::test]
async fn short_secrets_are_guessed_twenty_times_a_minute_by_each_client() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(behind_trusted_proxy().clock(clock.clone())).await;
    for (mode, header, prefix) in [
        ("static_header", "x-webhook-secret", ""),
        ("bearer", "authorization", "Bearer "),
        ("codehost_b_token", "x-gitlab-token", ""),
    ] {
        let hook = made(
            &owner,
            json!({ "auth_mode": mode, "secret": "fifteen-bytes-x" }),
        )
        .await;
        let number = std::sync::atomic::AtomicU32::new(0);
        let guess = async |ip: &str, secret: &str| {
            let value = format!("{prefix}{secret}");
            let body = number
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
                .to_string();
            let from = server.remote().proxied(ip);
            send(&from, &hook.path(), &[(header, &value)], body).await
        };
        for _ in 0..20 {
            guess("203.0.113.1", "wrong")
                .await
                .refused(401, "INVALID_CREDENTIALS");
        }
        let refused = guess("203.0.113.1", "wrong").await;
        assert_eq!(
            refused.refused(429, "RATE_LIMITED")["retry_after_seconds"],
            60
        );
        // Even the right token is not compared.
        guess("203.0.113.1", "fifteen-bytes-x")
            .await
            .refused(429, "RATE_LIMITED");
        guess("203.0.113.2", "fifteen-bytes-x").await.expect(202);
        clock.advance(Duration::from_mins(1));
        guess("203.0.113.1", "fifteen-bytes-x").await.expect(202);
    }
}

#[tokio::test]
async fn guesses_at_the_same_moment_are_counted_too() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "secret": "short" })).await;
    let remote = server.remote();
    let path = hook.path();
    let guesses = (0..100).map(|number| {
        let secret = format!("wrong-{number}");
        let (remote, path) = (&remote, &path);
        async move {
            send(remote, path, &[("x-webhook-secret", &secret)], "{}")
                .await
                .status
                .as_u16()
        }
    });
    let statuses = futures_util::future::join_all(guesses).await;
    let compared = statuses.iter().filter(|status| **status == 401).count();
    assert_eq!(compared, 20);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 80);
}

#[tokio::test]
async fn refusals_before_verification_write_sixty_rows_a_minute_for_each_client() {
    let (server, owner) = light_owner(behind_trusted_proxy()).await;
    let elsewhere = json!({ "auth_mode": "none", "allowed_cidrs": ["192.0.2.0/24"] });
    let elsewhere = made(&owner, elsewhere).await;
    let small = made(&owner, json!({ "auth_mode": "none", "max_body_bytes": 2 })).await;
    let flooder = server.remote().proxied("203.0.113.1");
    for _ in 0..70 {
        send(&flooder, &elsewhere.path(), &[], "{}")
            .await
            .refused(403, "FORBIDDEN");
        send(&flooder, &small.path(), &[], "{   }")
            .await
            .refused(413, "PAYLOAD_TOO_LARGE");
    }
    // A refusal of another client is written after all of these, and a wrong signature is counted
    // separately.
    let other = server.remote().proxied("203.0.113.2");
    send(&other, &small.path(), &[], "{   }")
        .await
        .refused(413, "PAYLOAD_TOO_LARGE");
    let wait = async {
        loop {
            let found = until(&owner, &small, 1).await;
            if found.len() >= 31 {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait)
        .await
        .unwrap();
    let count = async |hook: &str| {
        let listed = json!({ "id": hook, "limit": 500 });
        let listed = owner.rpc("webhooks.deliveries", listed).await.unwrap();
        listed["deliveries"].as_array().unwrap().len()
    };
    let rows = count(elsewhere.id()).await + count(small.id()).await;
    assert_eq!(rows, 61);
}
