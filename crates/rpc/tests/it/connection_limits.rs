//! The limits of a connection: each limit, and one past it.

use crate::harness::House;
use crate::line::{Line, PASSWORD, connect_with, set_password};
use gatehouse_auth::Visit;
use gatehouse_rpc::{Connection, Input, PathKind};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn messages_before_the_answer_to_connect_are_limited() {
    let house = House::new().await;
    set_password(&house).await;
    let mut line = Line::stranger(&house).await;
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
    let house = House::new().await;
    let mut line = Line::stranger(&house).await;
    house.clock.advance(Duration::from_millis(9_999));
    line.feed(Input::Tick);
    assert_eq!(line.closed, None);
    house.clock.advance(Duration::from_millis(1));
    line.feed(Input::Tick);
    assert_eq!((line.code(0), line.close_code()), ("TIMEOUT", Some(4408)));
    assert_eq!(house.rpc.census().total(), 0);
}

#[tokio::test]
async fn before_authentication_messages_are_small() {
    let house = House::new().await;
    set_password(&house).await;
    let of_size = |size: usize| {
        let empty = connect_with("").to_string().len();
        connect_with(&"x".repeat(size - empty)).to_string()
    };
    let mut line = Line::stranger(&house).await;
    line.feed(Input::Text(of_size(65_536)));
    assert_eq!(
        (line.said.len(), line.waiting.len()),
        (0, 1),
        "it is looked at"
    );
    let mut line = Line::stranger(&house).await;
    line.feed(Input::Text(of_size(65_537)));
    assert_eq!(
        (line.code(0), line.close_code()),
        ("PAYLOAD_TOO_LARGE", Some(1009))
    );
    assert_eq!(line.said[0]["error"]["data"]["max_bytes"], 65_536);
}

#[tokio::test]
async fn afterwards_messages_may_be_as_long_as_the_setting_says() {
    let house = House::with_environment(&[("SERVICE_SERVER__MAX_MESSAGE_BYTES", "65536")]).await;
    let of_size = |size: usize| {
        let call =
            |pad: &str| json!({ "id": 1, "method": "system.status", "pad": pad }).to_string();
        call(&"x".repeat(size - call("").len()))
    };
    let mut line = Line::ready(&house).await;
    line.feed(Input::Text(of_size(65_536)));
    line.finish().await;
    assert!(line.said[0]["result"].is_object());
    line.feed(Input::Text(of_size(65_537)));
    assert_eq!(
        (line.code(1), line.close_code()),
        ("PAYLOAD_TOO_LARGE", Some(1009))
    );
    let mut line = Line::ready(&house).await;
    line.feed(Input::Oversized);
    assert_eq!(
        (line.code(0), line.close_code()),
        ("PAYLOAD_TOO_LARGE", Some(1009))
    );
}

#[tokio::test]
async fn bytes_in_work_are_limited_to_two_messages() {
    let house = House::with_environment(&[("SERVICE_SERVER__MAX_MESSAGE_BYTES", "65536")]).await;
    let call = |pad: &str| json!({ "id": 1, "method": "system.status", "pad": pad }).to_string();
    let full = call(&"x".repeat(65_536 - call("").len()));
    let mut line = Line::ready(&house).await;
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
    let house = House::new().await;
    let mut line = Line::ready(&house).await;
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
    let house = House::new().await;
    let mut line = Line::ready(&house).await;
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
    let house = House::new().await;
    let mut line = Line::ready(&house).await;
    let half_minute = |line: &mut Line| {
        house.clock.advance(Duration::from_secs(30));
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
async fn gated_paths_and_full_houses_are_refused_at_the_door() {
    let house = House::new().await;
    set_password(&house).await;
    let visit = house.visit_from("192.0.2.1", &[]).await;
    let open = |visit: &Visit, path| Connection::open(house.rpc.clone(), visit.clone(), path);
    let refused = open(&visit, PathKind::Gated).unwrap_err();
    assert_eq!(refused.code.http_status(), 401);
    let held: Vec<_> = (0..20)
        .map(|_| open(&visit, PathKind::Public).unwrap())
        .collect();
    let refused = open(&visit, PathKind::Public).unwrap_err();
    assert_eq!(refused.code.http_status(), 429);
    let other = house.visit_from("192.0.2.2", &[]).await;
    assert!(open(&other, PathKind::Public).is_ok());
    drop(held);
    assert!(open(&visit, PathKind::Public).is_ok());
}
