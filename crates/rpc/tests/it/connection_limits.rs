//! Tests the limits of a connection, at each limit and one past it.

use crate::harness::Harness;
use crate::line::{Line, PASSWORD, connect_with, set_password};
use gatehouse_auth::RequestContext;
use gatehouse_rpc::{Connection, Input, PathKind};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn messages_before_the_answer_to_connect_are_limited() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    let mut line = Line::unauthenticated_client(&harness).await;
    line.send(&connect_with(PASSWORD));
    for _ in 0..64 {
        line.send(&json!({ "id": 2, "method": "system.status" }));
    }
    assert_eq!(line.closed, None);
    line.send(&json!({ "id": 2, "method": "system.status" }));
    assert_eq!(
        (line.code(0), line.close_code()),
        ("RATE_LIMITED", Some(4429))
    );
}

#[tokio::test]
async fn connect_must_come_within_ten_seconds() {
    let harness = Harness::new().await;
    let mut line = Line::unauthenticated_client(&harness).await;
    harness.clock.advance(Duration::from_millis(9_999));
    line.feed(Input::Tick);
    assert_eq!(line.closed, None);
    harness.clock.advance(Duration::from_millis(1));
    line.feed(Input::Tick);
    assert_eq!((line.code(0), line.close_code()), ("TIMEOUT", Some(4408)));
    assert_eq!(harness.rpc.census().total(), 0);
}

#[tokio::test]
async fn before_authentication_messages_are_small() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    let of_size = |size: usize| {
        let empty = connect_with("").to_string().len();
        connect_with(&"x".repeat(size - empty)).to_string()
    };
    let mut line = Line::unauthenticated_client(&harness).await;
    line.feed(Input::Text(of_size(65_536)));
    assert_eq!(
        (line.said.len(), line.waiting.len()),
        (0, 1),
        "it is processed"
    );
    let mut line = Line::unauthenticated_client(&harness).await;
    line.feed(Input::Text(of_size(65_537)));
    assert_eq!(
        (line.code(0), line.close_code()),
        ("PAYLOAD_TOO_LARGE", Some(1009))
    );
    assert_eq!(line.said[0]["error"]["data"]["max_bytes"], 65_536);
}

#[tokio::test]
async fn afterwards_messages_may_be_as_long_as_the_setting_says() {
    let harness =
        Harness::with_environment(&[("SERVICE_SERVER__MAX_MESSAGE_BYTES", "65536")]).await;
    let of_size = |size: usize| {
        let call =
            |pad: &str| json!({ "id": 1, "method": "system.status", "pad": pad }).to_string();
        call(&"x".repeat(size - call("").len()))
    };
    let mut line = Line::ready(&harness).await;
    line.feed(Input::Text(of_size(65_536)));
    line.finish().await;
    assert!(line.said[0]["result"].is_object());
    line.feed(Input::Text(of_size(65_537)));
    assert_eq!(
        (line.code(1), line.close_code()),
        ("PAYLOAD_TOO_LARGE", Some(1009))
    );
    let mut line = Line::ready(&harness).await;
    line.feed(Input::Oversized);
    assert_eq!(
        (line.code(0), line.close_code()),
        ("PAYLOAD_TOO_LARGE", Some(1009))
    );
}

#[tokio::test]
async fn bytes_in_work_are_limited_to_two_messages() {
    let harness =
        Harness::with_environment(&[("SERVICE_SERVER__MAX_MESSAGE_BYTES", "65536")]).await;
    let call = |pad: &str| json!({ "id": 1, "method": "system.status", "pad": pad }).to_string();
    let full = call(&"x".repeat(65_536 - call("").len()));
    let mut line = Line::ready(&harness).await;
    line.feed(Input::Text(full.clone()));
    line.feed(Input::Text(full));
    line.feed(Input::Text(call("")));
    assert_eq!((line.waiting.len(), line.code(0)), (2, "RATE_LIMITED"));
    assert!(line.closed.is_none());
    line.finish().await;
    line.feed(Input::Text(call("")));
    line.finish().await;
    assert!(
        line.said.last().unwrap()["result"].is_object(),
        "what is done no longer counts"
    );
}

#[tokio::test]
async fn sixty_four_calls_may_be_in_work() {
    let harness = Harness::new().await;
    let mut line = Line::ready(&harness).await;
    for id in 0..64 {
        line.send(&json!({ "id": id, "method": "system.status" }));
    }
    assert!(line.said.is_empty());
    line.send(&json!({ "id": 64, "method": "system.status" }));
    assert_eq!(
        (line.code(0), &line.said[0]["id"]),
        ("RATE_LIMITED", &json!(64))
    );
    assert!(
        line.said[0]["error"]["data"]["retry_after_seconds"]
            .as_u64()
            .unwrap()
            >= 1
    );
    line.send(&json!({ "method": "system.status" }));
    assert_eq!(
        line.said.len(),
        1,
        "a notification is not answered even then"
    );
    line.finish().await;
    assert_eq!(line.said.len(), 65);
    line.send(&json!({ "id": 65, "method": "system.status" }));
    line.finish().await;
    assert!(line.said[65]["result"].is_object());
}

#[tokio::test]
async fn of_a_batch_as_many_calls_run_as_are_free() {
    let harness = Harness::new().await;
    let mut line = Line::ready(&harness).await;
    line.send(&json!({ "id": 0, "method": "system.status" }));
    let batch: Vec<Value> = (1..=64)
        .map(|id| json!({ "id": id, "method": "system.status" }))
        .collect();
    line.send(&Value::from(batch));
    line.finish().await;
    let answers = line.said[1].as_array().unwrap();
    assert_eq!(answers.len(), 64);
    assert!(
        answers[..63]
            .iter()
            .all(|answer| answer["result"].is_object())
    );
    assert_eq!(answers[63]["error"]["data"]["code"], "RATE_LIMITED");
}

#[tokio::test]
async fn two_missed_pings_end_it() {
    let harness = Harness::new().await;
    let mut line = Line::ready(&harness).await;
    let half_minute = |line: &mut Line| {
        harness.clock.advance(Duration::from_secs(30));
        line.feed(Input::Tick);
    };
    half_minute(&mut line);
    half_minute(&mut line);
    assert_eq!((line.pings, line.close_code()), (2, None));
    line.feed(Input::Pong);
    half_minute(&mut line);
    half_minute(&mut line);
    assert_eq!((line.pings, line.close_code()), (4, None));
    half_minute(&mut line);
    assert_eq!((line.pings, line.close_code()), (4, Some(4408)));
}

#[tokio::test]
async fn forbidden_paths_and_full_servers_are_refused_at_the_handshake() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    let context = harness.visit_from("192.0.2.1", &[]).await;
    let open = |context: &RequestContext, path| {
        Connection::open(harness.rpc.clone(), context.clone(), path)
    };
    let refused = open(&context, PathKind::Gated).unwrap_err();
    assert_eq!(refused.code.http_status(), 401);
    let held: Vec<_> = (0..20)
        .map(|_| open(&context, PathKind::Public).unwrap())
        .collect();
    let refused = open(&context, PathKind::Public).unwrap_err();
    assert_eq!(refused.code.http_status(), 429);
    let other = harness.visit_from("192.0.2.2", &[]).await;
    assert!(open(&other, PathKind::Public).is_ok());
    drop(held);
    assert!(open(&context, PathKind::Public).is_ok());
}
