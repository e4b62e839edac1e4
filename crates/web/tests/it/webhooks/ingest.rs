//! The contract's ingest table, row by row, from the sender's view.

use super::{made, send, until};
use crate::steps::light_owner;
use gatehouse_sources::AuthMode;
use gatehouse_sources::verify::{SignInput, sign};
use gatehouse_testkit::{Options, raw};
use serde_json::json;

pub fn signed(mode: AuthMode, secret: &str, body: &str, now_ms: i64) -> Vec<(String, String)> {
    signed_as(mode, secret, body, now_ms, "msg_1")
}

/// Returns the headers of a sender that gives its delivery this ID.
pub fn signed_as(
    mode: AuthMode,
    secret: &str,
    body: &str,
    now_ms: i64,
    id: &str,
) -> Vec<(String, String)> {
    let input = SignInput {
        mode,
        header: None,
        secret,
        url: "",
        body: body.as_bytes(),
        now_ms,
        id,
    };
    let text = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
    let headers = sign(&input);
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value)))
        .collect()
}

#[tokio::test]
async fn from_202_to_completed() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(
        &owner,
        json!({ "auth_mode": "none", "prompt_template": "{action}!" }),
    )
    .await;
    // From anywhere, without a credential, and with any browser headers.
    let sender = server.remote().with("origin", "https://evil.example");
    let reply = send(&sender, &hook.path(), &[], r#"{"action":"opened"}"#).await;
    let answer = reply.expect(202);
    assert_eq!(answer["status"], "accepted");
    let id = answer["delivery_id"].as_str().unwrap();
    assert_eq!(answer, json!({ "status": "accepted", "delivery_id": id }));
    assert!(reply.header("x-request-id").is_some());
    let ended = tokio::time::timeout(std::time::Duration::from_secs(20), async {
        loop {
            let delivery = owner
                .rpc("webhooks.delivery.get", json!({ "id": id }))
                .await
                .unwrap();
            if delivery["status"] == "completed" {
                return delivery;
            }
        }
    });
    let delivery = ended.await.unwrap();
    assert_eq!(
        (&delivery["attempts"], &delivery["body_size"]),
        (&json!(1), &json!(19))
    );
    let inbox = owner.rpc("inbox.list", json!({})).await.unwrap();
    let message = &inbox["messages"][0];
    assert_eq!(
        (
            &message["text"],
            &message["delivery_id"],
            &message["webhook_id"]
        ),
        (&json!("opened!"), &json!(id), &delivery["webhook_id"])
    );
    let again = send(&sender, &hook.path(), &[], r#"{"action":"opened"}"#)
        .await
        .expect(200);
    assert_eq!(
        again,
        json!({ "status": "deduplicated", "delivery_id": id })
    );
    let payload = owner
        .rpc("webhooks.delivery.payload", json!({ "id": id }))
        .await
        .unwrap();
    assert_eq!(payload, json!({ "payload": { "action": "opened" } }));
    let listed = until(&owner, &hook, 2).await;
    assert_eq!(listed[0]["duplicate_of"], id);
}

#[tokio::test]
async fn a_senders_test_of_the_connection_is_recorded_and_starts_no_agent() {
    // No model is configured, so a delivery for an agent fails.
    let (_server, owner) = light_owner(Options::default()).await;
    for (profile, event, status) in [
        ("github", "ping", "completed"),
        ("pagerduty", "pagey.ping", "completed"),
        ("stripe", "v2.core.event_destination.ping", "completed"),
        ("github", "push", "failed"),
    ] {
        let members = json!({ "source_profile": profile, "deliver_only": false });
        let hook = made(&owner, members).await;
        let test = json!({ "id": hook.id(), "event": event });
        let sent = owner.rpc("webhooks.test", test).await.unwrap();
        assert_eq!(sent["status"], "queued", "{sent}");
        let ended = tokio::time::timeout(std::time::Duration::from_secs(20), async {
            loop {
                let id = json!({ "id": sent["delivery_id"] });
                let delivery = owner.rpc("webhooks.delivery.get", id).await.unwrap();
                if delivery["finished_at"].is_string() {
                    return delivery;
                }
            }
        });
        let delivery = ended.await.unwrap();
        assert_eq!(
            (&delivery["status"], &delivery["event_type"]),
            (&json!(status), &json!(event))
        );
        assert_eq!(delivery["session_id"].is_null(), status == "completed");
    }
}

#[tokio::test]
async fn unknown_and_disabled_get_the_same_404() {
    let (server, owner) = light_owner(Options::default()).await;
    let off = made(&owner, json!({ "enabled": false })).await;
    let remote = server.remote();
    let disabled = send(&remote, &off.path(), &[], "{}").await;
    let unknown = send(&remote, "/api/webhooks/ingest/wh_none", &[], "{}").await;
    disabled.refused(404, "NOT_FOUND");
    assert_eq!(disabled.text, unknown.text);
    // An unknown webhook does not reveal a body limit.
    let large = vec![b'x'; 3 * 1024 * 1024];
    send(&remote, "/api/webhooks/ingest/wh_none", &[], large)
        .await
        .refused(404, "NOT_FOUND");
    // Only POST is public, and a GET with the verify token of a hub.
    let hub = format!("{}?hub.mode=subscribe&hub.verify_token=x", off.path());
    for (method, path, status) in [
        ("GET", off.path(), 401),
        ("GET", hub, 405),
        ("PUT", off.path(), 401),
        ("DELETE", off.path(), 401),
    ] {
        let reply = remote.send(method, &path, None).await;
        assert_eq!(reply.status.as_u16(), status, "{method} {path}");
    }
    let reply = owner.get(&off.path()).await;
    reply.refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(reply.header("allow"), Some("POST"));
    assert!(super::deliveries(&owner, &off).await.is_empty());
}

#[tokio::test]
async fn each_signature_mode_takes_its_own_and_nothing_else() {
    // A server stores a limited number of refusals of one client.
    for modes in AuthMode::all().chunks(16) {
        each_takes_its_own(modes).await;
    }
}

async fn each_takes_its_own(modes: &[AuthMode]) {
    let (server, owner) = light_owner(Options::default()).await;
    let now = crate::steps::start_of_tests().as_millis();
    let remote = server.remote();
    for mode in modes {
        if ["none", "twilio_signature", "square_signature"].contains(&mode.as_str())
            || !mode.can_sign()
        {
            continue;
        }
        let hook = made(&owner, json!({ "auth_mode": mode })).await;
        let body = r#"{"n":1}"#;
        let headers = signed(*mode, hook.secret(), body, now);
        let as_refs: Vec<_> = headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        send(&remote, &hook.path(), &as_refs, body)
            .await
            .expect(202);
        send(&remote, &hook.path(), &[], body)
            .await
            .refused(401, "INVALID_CREDENTIALS");
        let other = signed(*mode, "whsec_b3RoZXI=", body, now);
        let other: Vec<_> = other
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        send(&remote, &hook.path(), &other, body)
            .await
            .refused(401, "INVALID_CREDENTIALS");
        // The signature covers the bytes: an additional space makes another body.
        let tokens = ["static_header", "bearer"].contains(&mode.as_str())
            || mode.as_str().ends_with("_token");
        let moved = send(&remote, &hook.path(), &as_refs, r#"{"n": 1}"#).await;
        assert_eq!(
            moved.status.as_u16(),
            if tokens { 202 } else { 401 },
            "{mode}"
        );
        for delivery in until(&owner, &hook, 4).await {
            let text = delivery.to_string();
            assert!(!text.contains(hook.secret()), "{mode}");
        }
    }
}

#[tokio::test]
async fn signatures_in_their_odd_spellings() {
    let (server, owner) = light_owner(Options::default()).await;
    let remote = server.remote();
    let hook = made(&owner, json!({ "source_profile": "codehost_a" })).await;
    let hex = |body: &str| {
        let headers = signed(
            "github_hmac_sha256".parse().unwrap(),
            hook.secret(),
            body,
            0,
        );
        headers[0].1.trim_start_matches("sha256=").to_owned()
    };
    let name = "x-hub-signature-256";
    let post = async |value: &str, body: &str| {
        send(&remote, &hook.path(), &[(name, value)], body)
            .await
            .status
            .as_u16()
    };
    let body = |number: u32| format!("{{\"n\":{number}}}");
    assert_eq!(
        post(
            &format!("sha256={}", hex(&body(1)).to_uppercase()),
            &body(1)
        )
        .await,
        202
    );
    assert_eq!(post(&hex(&body(2)), &body(2)).await, 202);
    assert_eq!(post("sha256=", &body(3)).await, 401);
    assert_eq!(
        post(&format!("sha1={}", hex(&body(3))), &body(3)).await,
        401
    );
    assert_eq!(post(&hex(&body(3))[..63], &body(3)).await, 401);
    assert_eq!(post(&"a".repeat(4097), &body(3)).await, 401);
    let pay = made(&owner, json!({ "source_profile": "payments" })).await;
    let now = crate::steps::start_of_tests().as_millis();
    let stamp = async |at: i64, number: u32| {
        let body = format!("{{\"id\":\"evt_{number}\",\"type\":\"invoice.paid\"}}");
        let headers = signed(
            "stripe_webhook_signature".parse().unwrap(),
            pay.secret(),
            &body,
            at,
        );
        let headers: Vec<_> = headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        send(&remote, &pay.path(), &headers, body)
            .await
            .status
            .as_u16()
    };
    assert_eq!(stamp(now - 300_000, 1).await, 202);
    assert_eq!(stamp(now - 301_000, 2).await, 401);
    assert_eq!(stamp(now + 300_000, 3).await, 202);
    assert_eq!(stamp(now + 301_000, 4).await, 401);
}

#[tokio::test]
async fn bodies_at_the_limit_and_past_it_however_they_come() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "auth_mode": "none" })).await;
    let remote = server.remote();
    let json = |size: usize, first: char| {
        let text = "x".repeat(size - 3);
        format!("\"{first}{text}\"")
    };
    let limit = 1_048_576;
    send(&remote, &hook.path(), &[], json(limit, 'a'))
        .await
        .expect(202);
    let refused = send(&remote, &hook.path(), &[], json(limit + 1, 'b')).await;
    assert_eq!(
        refused.refused(413, "PAYLOAD_TOO_LARGE")["max_bytes"],
        limit
    );
    let small = made(&owner, json!({ "auth_mode": "none", "max_body_bytes": 10 })).await;
    let chunked = async |body: &[&str]| {
        let host = "Host: gate.example\r\nTransfer-Encoding: chunked\r\nConnection: close";
        let chunk = |chunk: &&str| format!("{:x}\r\n{chunk}\r\n", chunk.len());
        let chunks: String = body.iter().map(chunk).collect();
        let request = format!("POST {} HTTP/1.1\r\n{host}\r\n\r\n{chunks}", small.path());
        let answer = raw(server.address(), request.as_bytes()).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        answer
            .split(' ')
            .nth(1)
            .map(str::to_owned)
            .unwrap_or_default()
    };
    assert_eq!(chunked(&["\"4567", "8901\"", ""]).await, "202");
    assert_eq!(chunked(&["\"4567", "89012\"", ""]).await, "413");
    // An endless body is refused as soon as it exceeds the limit.
    assert_eq!(chunked(&["\"4567", "8901234567890"]).await, "413");
    let rows = until(&owner, &small, 3).await;
    for row in rows.iter().filter(|row| row["status"] == "rejected") {
        assert_eq!(row["error"], "body_too_large");
        assert!(row["body_preview"].as_str().unwrap().len() <= 10, "{row}");
    }
}

#[tokio::test]
async fn bodies_that_are_no_json() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "auth_mode": "none" })).await;
    let remote = server.remote();
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels)).into_bytes();
    for bad in [
        b"".to_vec(),
        b"{".to_vec(),
        b"{} x".to_vec(),
        b"a=b".to_vec(),
        b"{\"a\":\"\xff\"}".to_vec(),
        b"\0".to_vec(),
        deep(129),
        deep(100_000),
    ] {
        let reply = send(&remote, &hook.path(), &[], bad.clone()).await;
        reply.refused(400, "PARSE_ERROR");
    }
    send(&remote, &hook.path(), &[], deep(128))
        .await
        .expect(202);
    // For a duplicate key the last value counts. The content type does not matter.
    let form = made(
        &owner,
        json!({ "auth_mode": "none", "source_profile": "codehost_a" }),
    )
    .await;
    let headers = [("x-github-event", "ping"), ("content-type", "text/plain")];
    let twice = send(&remote, &form.path(), &headers, r#"{"zen":1,"zen":2}"#).await;
    let id = twice.expect(202)["delivery_id"].clone();
    let payload = owner
        .rpc("webhooks.delivery.payload", json!({ "id": id }))
        .await
        .unwrap();
    assert_eq!(payload["payload"]["zen"], 2);
    let body = "payload=%7B%22zen%22%3A%22caf%C3%A9%22%7D";
    let id = send(&remote, &form.path(), &headers, body)
        .await
        .expect(202)["delivery_id"]
        .clone();
    let payload = owner
        .rpc("webhooks.delivery.payload", json!({ "id": id }))
        .await
        .unwrap();
    assert_eq!(payload, json!({ "payload": { "zen": "café" } }));
    send(&remote, &form.path(), &headers, "other=1")
        .await
        .refused(400, "PARSE_ERROR");
}

#[tokio::test]
async fn concurrent_duplicates_get_one_202() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "auth_mode": "none" })).await;
    let remote = server.remote();
    let all = (0..32).map(|_| {
        let (remote, path) = (remote.clone(), hook.path());
        async move { send(&remote, &path, &[("x-request-id", "one")], "{}").await }
    });
    let replies = futures_util::future::join_all(all).await;
    let accepted: Vec<_> = replies.iter().filter(|reply| reply.status == 202).collect();
    assert_eq!(accepted.len(), 1);
    let first = accepted[0].json()["delivery_id"].clone();
    for reply in replies.iter().filter(|reply| reply.status != 202) {
        assert_eq!(
            reply.expect(200),
            json!({ "status": "deduplicated", "delivery_id": first })
        );
    }
}

#[tokio::test]
async fn a_filter_leaves_out_what_it_does_not_know() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "auth_mode": "none", "events": ["push"] })).await;
    let remote = server.remote();
    for headers in [&[][..], &[("x-event-type", "unheard.of")]] {
        let answer = send(&remote, &hook.path(), headers, "{}").await.expect(200);
        assert_eq!(answer["status"], "filtered");
        let id = &answer["delivery_id"];
        let delivery = owner
            .rpc("webhooks.delivery.get", json!({ "id": id }))
            .await
            .unwrap();
        assert_eq!(delivery["status"], "filtered");
        let payload = owner
            .rpc("webhooks.delivery.payload", json!({ "id": id }))
            .await;
        assert_eq!(payload, Err("NOT_FOUND".to_owned()));
    }
    send(&remote, &hook.path(), &[("x-webhook-event", "push")], "{}")
        .await
        .expect(202);
}

#[tokio::test]
async fn slack_asks_whether_the_address_is_ours() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "source_profile": "slack" })).await;
    let body = r#"{"type":"url_verification","challenge":"3eZb","token":"x"}"#;
    let now = crate::steps::start_of_tests().as_millis();
    let headers = signed("slack_signature".parse().unwrap(), hook.secret(), body, now);
    let headers: Vec<_> = headers
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    let answer = send(&server.remote(), &hook.path(), &headers, body)
        .await
        .expect(200);
    assert_eq!(answer, json!({ "challenge": "3eZb" }));
}
