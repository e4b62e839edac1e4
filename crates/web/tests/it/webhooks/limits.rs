//! Rate limits, many refusals, address limits, and slow senders.

use super::{made, send, until};
use crate::steps::{behind_trusted_proxy, light_owner, stopped_clock};
use gatehouse_testkit::{Options, raw};
use serde_json::json;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn a_minute_admits_its_limit_and_not_one_more() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(clock.clone())).await;
    let hook = made(
        &owner,
        json!({ "auth_mode": "none", "rate_limit_per_minute": 3 }),
    )
    .await;
    let remote = server.remote();
    let post = async |number: u32| send(&remote, &hook.path(), &[], number.to_string()).await;
    for number in 0..3 {
        post(number).await.expect(202);
        clock.advance(Duration::from_secs(10));
    }
    let refused = post(3).await;
    let body = refused.refused(429, "RATE_LIMITED");
    assert_eq!(
        (&body["retry_after_seconds"], refused.header("retry-after")),
        (&json!(30), Some("30"))
    );
    post(0).await.expect(200);
    clock.advance(Duration::from_millis(29_999));
    let refused = post(3).await;
    assert_eq!(
        refused.refused(429, "RATE_LIMITED")["retry_after_seconds"],
        1
    );
    clock.advance(Duration::from_millis(1));
    post(3).await.expect(202);
    // A changed limit takes effect immediately.
    let wider = json!({ "id": hook.id(), "rate_limit_per_minute": 5 });
    owner.rpc("webhooks.update", wider).await.unwrap();
    post(4).await.expect(202);
    post(5).await.expect(202);
    post(6).await.refused(429, "RATE_LIMITED");
}

#[tokio::test]
async fn all_webhooks_together_have_300() {
    let (server, owner) = light_owner(Options::default()).await;
    let remote = server.remote();
    let mut hooks = Vec::new();
    for _ in 0..2 {
        let members = json!({ "auth_mode": "none", "rate_limit_per_minute": 200 });
        hooks.push(made(&owner, members).await);
    }
    let post = async |which: usize, number: u32| {
        send(&remote, &hooks[which].path(), &[], number.to_string()).await
    };
    for number in 0..150 {
        post(0, number).await.expect(202);
        post(1, number).await.expect(202);
    }
    post(0, 150).await.refused(429, "RATE_LIMITED");
    post(1, 0).await.expect(200);
}

#[tokio::test]
async fn wrong_signatures_are_refused_forever_and_written_60_times() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({})).await;
    let remote = server.remote();
    for _ in 0..65 {
        let reply = send(&remote, &hook.path(), &[("x-webhook-secret", "no")], "{}").await;
        reply.refused(401, "INVALID_CREDENTIALS");
    }
    send(
        &remote,
        &hook.path(),
        &[("x-webhook-secret", hook.secret())],
        "{}",
    )
    .await
    .expect(202);
    let listed = owner.rpc(
        "webhooks.deliveries",
        json!({ "id": hook.id(), "limit": 500 }),
    );
    drop(until(&owner, &hook, 50).await);
    let listed = listed.await.unwrap();
    let rejected = |row: &&serde_json::Value| row["status"] == "rejected";
    let count = listed["deliveries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(rejected)
        .count();
    assert!(count <= 60, "{count}");
}

#[tokio::test]
async fn only_allowed_addresses_come_in() {
    let (server, owner) = light_owner(behind_trusted_proxy()).await;
    let members = json!({ "auth_mode": "none", "allowed_cidrs": ["203.0.113.0/24"] });
    let hook = made(&owner, members).await;
    let remote = server.remote();
    let from = async |ip: &str| send(&remote.clone().proxied(ip), &hook.path(), &[], ip).await;
    from("198.51.100.1").await.refused(403, "FORBIDDEN");
    let allowed = remote.clone().proxied("203.0.113.9");
    send(&allowed, &hook.path(), &[], "{}").await.expect(202);
    let rows = until(&owner, &hook, 2).await;
    let statuses: Vec<_> = rows
        .iter()
        .map(|row| row["status"].as_str().unwrap())
        .collect();
    assert!(statuses.contains(&"rejected"), "{statuses:?}");
}

#[tokio::test]
async fn a_thousand_senders_that_dawdle_do_not_stop_one_that_does_not() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "auth_mode": "none" })).await;
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: gate.example\r\nContent-Length: 1000000\r\n\r\n{{\"a",
        hook.path()
    );
    let mut slow = Vec::new();
    for _ in 0..1000 {
        let mut stream = tokio::net::TcpStream::connect(server.address())
            .await
            .unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let remote = server.remote();
    for number in 0..20 {
        send(&remote, &hook.path(), &[], number.to_string())
            .await
            .expect(202);
    }
    drop(slow);
}

#[tokio::test]
async fn a_body_without_end_is_not_waited_for() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "auth_mode": "none" })).await;
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: gate.example\r\nConnection: close\r\n",
        hook.path()
    );
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\n{{\"a\":\r\n");
    let counted = format!("{head}Content-Length: 100\r\n\r\n{{\"a\":");
    // The timeouts are real.
    let (chunked, counted) = tokio::join!(
        raw(server.address(), chunked.as_bytes()),
        raw(server.address(), counted.as_bytes())
    );
    for answer in [chunked, counted] {
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    assert!(super::deliveries(&owner, &hook).await.is_empty());
}
