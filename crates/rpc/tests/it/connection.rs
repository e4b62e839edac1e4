//! The life of a connection, without a socket.

use crate::harness::House;
use gatehouse_auth::{Decision, Visit};
use gatehouse_domain::Scope;
use gatehouse_rpc::events::AuthChangedParams;
use gatehouse_rpc::{Connection, Input, Output, PathKind};
use serde_json::{Value, json};
use std::time::Duration;

const PASSWORD: &str = "correct horse battery";

/// A connection, and what it said so far.
struct Line {
    connection: Connection,
    said: Vec<Value>,
    pings: usize,
    closed: Option<(u16, &'static str)>,
    waiting: Vec<std::pin::Pin<Box<dyn Future<Output = gatehouse_rpc::Finished> + Send>>>,
}

impl Line {
    fn open(house: &House, visit: Visit) -> Self {
        let connection = Connection::open(house.rpc.clone(), visit, PathKind::Public).unwrap();
        Self {
            connection,
            said: Vec::new(),
            pings: 0,
            closed: None,
            waiting: Vec::new(),
        }
    }

    /// One that belongs to the owner before setup.
    async fn ready(house: &House) -> Self {
        Self::open(house, house.visit(&[]).await)
    }

    /// One that nobody has spoken on.
    async fn stranger(house: &House) -> Self {
        let mut visit = house.visit_from("192.0.2.1", &[]).await;
        if matches!(visit.decision, Decision::Allowed(_)) {
            visit.decision = Decision::Unauthorized;
        }
        Self::open(house, visit)
    }

    fn feed(&mut self, input: Input) {
        for output in self.connection.handle(input) {
            assert_eq!(self.closed, None, "nothing after the close");
            match output {
                Output::Send(text) => self.said.push(serde_json::from_str(&text).unwrap()),
                Output::Ping => self.pings += 1,
                Output::Call(work) => self.waiting.push(work),
                Output::Close { code, reason } => self.closed = Some((code, reason)),
            }
        }
    }

    fn send(&mut self, message: &Value) {
        self.feed(Input::Text(message.to_string()));
    }

    async fn finish(&mut self) {
        for work in std::mem::take(&mut self.waiting) {
            let finished = work.await;
            self.feed(Input::CallFinished(finished));
        }
    }

    fn code(&self, place: usize) -> &str {
        self.said[place]["error"]["data"]["code"]
            .as_str()
            .unwrap_or("no error")
    }

    fn close_code(&self) -> Option<u16> {
        self.closed.map(|(code, _)| code)
    }
}

async fn set_password(house: &House) {
    let actor = gatehouse_domain::Actor::cli();
    drop(actor);
    let visit = house.visit(&[]).await;
    let request = serde_json::from_value(json!({ "password": PASSWORD })).unwrap();
    let caller = gatehouse_auth::Caller {
        visit: &visit,
        user_agent: None,
    };
    house.rooms().auth.setup(&caller, request).await.unwrap();
}

fn connect_with(password: &str) -> Value {
    json!({ "method": "connect", "params": { "auth": { "password": password } } })
}

#[tokio::test]
async fn whoever_the_upgrade_recognised_may_speak_at_once() {
    let house = House::new().await;
    let mut line = Line::ready(&house).await;
    assert!(line.connection.is_authenticated());
    line.send(&json!({ "id": 1, "method": "system.status" }));
    line.send(&json!({ "method": "connect", "params": { "client": { "id": "t", "colour": 1 } } }));
    line.send(&json!({ "method": "system.status" }));
    line.finish().await;
    assert_eq!(line.said.len(), 2);
    assert_eq!(line.said[0]["result"]["database"]["ok"], true);
    let hello = &line.said[1]["result"];
    assert_eq!(line.said[1]["id"], Value::Null);
    assert_eq!(hello["protocol"], 1);
    assert_eq!(
        hello["server"],
        json!({ "name": "Gatehouse", "version": "9.9.9" })
    );
    assert_eq!(hello["identity"]["method"], "Loopback");
    assert_eq!(
        hello["limits"],
        json!({ "max_message_bytes": 37_748_736, "heartbeat_seconds": 30 })
    );
    assert_eq!(hello["vault_status"], "uninitialized");
    assert_eq!(hello["voice_enabled"], false);
    assert!(
        hello["methods"]
            .as_array()
            .unwrap()
            .contains(&json!("env.set"))
    );
    assert!(
        hello["events"]
            .as_array()
            .unwrap()
            .contains(&json!("vault.status"))
    );
    assert_eq!(line.closed, None);
}

#[tokio::test]
async fn a_wrong_first_message_ends_it() {
    let house = House::new().await;
    set_password(&house).await;
    let status = json!({ "id": 7, "method": "system.status" }).to_string();
    for (text, code, close, id) in [
        (status.as_str(), "AUTH_NOT_AUTHENTICATED", 4401, json!(7)),
        (
            r#"{"method":"connect"}"#,
            "AUTH_NOT_AUTHENTICATED",
            4401,
            json!(null),
        ),
        (
            r#"{"id":1,"method":"connect","params":{"auth":{}}}"#,
            "AUTH_NOT_AUTHENTICATED",
            4401,
            json!(1),
        ),
        (
            r#"{"id":1,"method":"connect","params":{"x":1}}"#,
            "INVALID_PARAMS",
            4400,
            json!(1),
        ),
        (
            r#"{"id":1,"method":"connect","params":[]}"#,
            "INVALID_PARAMS",
            4400,
            json!(1),
        ),
        (
            r#"[{"id":1,"method":"connect"}]"#,
            "INVALID_REQUEST",
            4400,
            json!(null),
        ),
        (r#"{"id":1}"#, "INVALID_REQUEST", 4400, json!(1)),
        ("hello", "PARSE_ERROR", 4400, json!(null)),
    ] {
        let mut line = Line::stranger(&house).await;
        line.feed(Input::Text(text.to_owned()));
        assert_eq!(line.code(0), code, "{text}");
        assert_eq!(line.said[0]["id"], id, "{text}");
        assert_eq!(line.close_code(), Some(close), "{text}");
        assert!(line.connection.is_closed());
        line.feed(Input::Text(status.clone()));
        assert_eq!(line.said.len(), 1, "it says nothing more");
    }
    assert_eq!(house.rpc.census().total(), 0);
}

#[tokio::test]
async fn before_setup_a_stranger_is_told_to_set_up() {
    let house = House::new().await;
    let mut line = Line::stranger(&house).await;
    line.send(&json!({ "id": 1, "method": "connect" }));
    assert_eq!(
        (line.code(0), line.close_code()),
        ("AUTH_SETUP_REQUIRED", Some(4401))
    );
}

#[tokio::test]
async fn the_password_opens_it_and_what_waited_is_answered() {
    let house = House::new().await;
    set_password(&house).await;
    let mut line = Line::stranger(&house).await;
    assert_eq!(house.rpc.census().total(), 1);
    line.send(&connect_with(PASSWORD));
    line.send(&json!({ "id": 2, "method": "system.status" }));
    assert!(
        line.said.is_empty() && line.waiting.len() == 1,
        "it waits for the check"
    );
    line.finish().await;
    assert_eq!(line.said[0]["id"], Value::Null);
    assert_eq!(line.said[0]["result"]["identity"]["method"], "Password");
    assert_eq!(house.rpc.census().total(), 0);
    line.finish().await;
    assert_eq!(line.said[1]["id"], 2);
    assert!(line.connection.is_authenticated() && line.closed.is_none());
}

#[tokio::test]
async fn a_wrong_password_ends_it() {
    let house = House::new().await;
    set_password(&house).await;
    let mut line = Line::stranger(&house).await;
    line.send(&connect_with("wrong password!"));
    line.finish().await;
    assert_eq!(
        (line.code(0), line.close_code()),
        ("INVALID_CREDENTIALS", Some(4401))
    );
    assert_eq!(house.rpc.census().total(), 0);
}

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
async fn a_malformed_message_later_is_answered_and_no_more() {
    let house = House::new().await;
    let mut line = Line::ready(&house).await;
    line.feed(Input::Text("{".to_owned()));
    line.feed(Input::Text("[]".to_owned()));
    assert_eq!(
        (line.code(0), line.code(1)),
        ("PARSE_ERROR", "INVALID_REQUEST")
    );
    assert_eq!(line.closed, None);
    line.feed(Input::Binary);
    assert_eq!(line.close_code(), Some(4400));
}

#[tokio::test]
async fn two_missed_pings_end_it() {
    let house = House::new().await;
    let mut line = Line::ready(&house).await;
    let mut half_minute = |line: &mut Line| {
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
async fn a_slow_client_and_a_stopping_server_end_it() {
    let house = House::new().await;
    let mut line = Line::ready(&house).await;
    line.feed(Input::TooSlow);
    assert_eq!(line.closed, Some((4429, "too slow")));
    let mut line = Line::ready(&house).await;
    line.feed(Input::Shutdown);
    assert_eq!(line.close_code(), Some(1012));
}

#[tokio::test]
async fn events_go_to_those_who_may_hear_them() {
    let house = House::new().await;
    let mut listener = house.rooms().events.subscribe();
    let params = AuthChangedParams { what: "password" };
    house
        .rooms()
        .events
        .publish("auth.changed", &params, Scope::Read);
    house
        .rooms()
        .events
        .publish("auth.changed", &params, Scope::Approvals);
    let (to_readers, to_approvers) = (listener.try_recv().unwrap(), listener.try_recv().unwrap());
    for (held, heard) in [
        (vec![Scope::Read], 1),
        (vec![Scope::Approvals], 1),
        (vec![Scope::Write, Scope::Pairing], 0),
        (vec![Scope::Admin], 2),
    ] {
        let mut line = Line::open(&house, house.holder_of(&held).await);
        line.feed(Input::Event(to_readers.clone()));
        line.feed(Input::Event(to_approvers.clone()));
        assert_eq!(line.said.len(), heard, "{held:?}");
    }
    let mut line = Line::stranger(&house).await;
    line.feed(Input::Event(to_readers));
    assert!(
        line.said.is_empty() && line.closed.is_none(),
        "a stranger hears nothing"
    );
}

#[tokio::test]
async fn the_end_of_the_credential_is_the_end_of_the_connection() {
    let house = House::new().await;
    let inputs: [fn() -> Input; 4] = [
        || Input::CredentialChanged,
        || Input::Tick,
        || Input::Pong,
        || Input::Text(r#"{"id":1,"method":"system.status"}"#.to_owned()),
    ];
    let mut lines = Vec::new();
    for _ in &inputs {
        lines.push(Line::ready(&house).await);
    }
    // With a call in work, whose answer must not come out any more.
    for line in &mut lines {
        line.send(&json!({ "id": 9, "method": "system.status" }));
        line.feed(Input::CredentialChanged);
        assert_eq!(line.closed, None);
    }
    set_password(&house).await;
    for (line, input) in lines.iter_mut().zip(inputs) {
        line.feed(input());
        assert_eq!(line.closed, Some((4401, "credential ended")));
        line.finish().await;
        assert!(line.said.is_empty());
    }
}

#[tokio::test]
async fn a_credential_ends_with_its_time() {
    let house = House::new().await;
    set_password(&house).await;
    let mut line = Line::stranger(&house).await;
    line.send(&connect_with(PASSWORD));
    line.finish().await;
    house.clock.advance(Duration::from_secs(30 * 86_400 - 1));
    line.feed(Input::Pong);
    assert_eq!(line.closed, None);
    house.clock.advance(Duration::from_secs(1));
    line.feed(Input::Pong);
    assert_eq!(line.close_code(), Some(4401));
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
