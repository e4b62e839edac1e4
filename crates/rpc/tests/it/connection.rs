//! The life cycle of a connection, without a socket.

use crate::harness::Harness;
use crate::line::{Line, PASSWORD, connect_with, set_password};
use gatehouse_domain::Scope;
use gatehouse_rpc::Input;
use gatehouse_rpc::connection::MAX_WITHHELD;
use gatehouse_rpc::events::AuthChangedParams;
use gatehouse_store::testing::postgres;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_caller_of_an_authenticated_upgrade_may_call_at_once() {
    let harness = Harness::new().await;
    let mut line = Line::ready(&harness).await;
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
    assert_eq!(hello["voice_enabled"], cfg!(feature = "voice"));
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
    let harness = Harness::new().await;
    set_password(&harness).await;
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
        let mut line = Line::unauthenticated_client(&harness).await;
        line.feed(Input::Text(text.to_owned()));
        assert_eq!(line.code(0), code, "{text}");
        assert_eq!(line.said[0]["id"], id, "{text}");
        assert_eq!(line.close_code(), Some(close), "{text}");
        assert!(line.connection.is_closed());
        line.feed(Input::Text(status.clone()));
        assert_eq!(line.said.len(), 1, "it says nothing more");
    }
    assert_eq!(harness.rpc.census().total(), 0);
}

#[tokio::test]
async fn before_setup_an_unauthenticated_caller_is_asked_to_set_up() {
    let harness = Harness::new().await;
    let mut line = Line::unauthenticated_client(&harness).await;
    line.send(&json!({ "id": 1, "method": "connect" }));
    assert_eq!(
        (line.code(0), line.close_code()),
        ("AUTH_SETUP_REQUIRED", Some(4401))
    );
}

#[tokio::test]
async fn the_password_opens_it_and_what_waited_is_answered() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    let mut line = Line::unauthenticated_client(&harness).await;
    assert_eq!(harness.rpc.census().total(), 1);
    line.send(&connect_with(PASSWORD));
    line.send(&json!({ "id": 2, "method": "system.status" }));
    assert!(
        line.said.is_empty() && line.waiting.len() == 1,
        "it waits for the check"
    );
    line.finish().await;
    assert_eq!(line.said[0]["id"], Value::Null);
    assert_eq!(line.said[0]["result"]["identity"]["method"], "Password");
    assert_eq!(harness.rpc.census().total(), 0);
    line.finish().await;
    assert_eq!(line.said[1]["id"], 2);
    assert!(line.connection.is_authenticated() && line.closed.is_none());
}

#[tokio::test]
async fn a_wrong_password_ends_it() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    let mut line = Line::unauthenticated_client(&harness).await;
    line.send(&connect_with("wrong password!"));
    line.finish().await;
    assert_eq!(
        (line.code(0), line.close_code()),
        ("INVALID_CREDENTIALS", Some(4401))
    );
    assert_eq!(harness.rpc.census().total(), 0);
}

#[tokio::test]
async fn a_malformed_message_later_is_answered_and_no_more() {
    let harness = Harness::new().await;
    let mut line = Line::ready(&harness).await;
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
async fn a_slow_client_and_a_stopping_server_end_it() {
    let harness = Harness::new().await;
    let mut line = Line::ready(&harness).await;
    line.feed(Input::TooSlow);
    assert_eq!(line.closed, Some((4429, "too slow")));
    let mut line = Line::ready(&harness).await;
    line.feed(Input::Shutdown);
    assert_eq!(line.close_code(), Some(1012));
}

#[tokio::test]
async fn events_go_to_those_who_may_hear_them() {
    let harness = Harness::new().await;
    let mut listener = harness.rpc.events().subscribe();
    let params = AuthChangedParams { what: "password" };
    harness
        .rpc
        .events()
        .publish("auth.changed", &params, Scope::Read);
    harness
        .rpc
        .events()
        .publish("auth.changed", &params, Scope::Approvals);
    let (to_readers, to_approvers) = (listener.try_recv().unwrap(), listener.try_recv().unwrap());
    for (held, heard) in [
        (vec![Scope::Read], 1),
        (vec![Scope::Approvals], 1),
        (vec![Scope::Write, Scope::Pairing], 0),
        (vec![Scope::Admin], 2),
    ] {
        let mut line = Line::open(&harness, harness.holder_of(&held).await);
        line.feed(Input::Event(to_readers.clone()));
        line.feed(Input::Event(to_approvers.clone()));
        assert_eq!(line.said.len(), heard, "{held:?}");
    }
    let mut line = Line::unauthenticated_client(&harness).await;
    line.feed(Input::Event(to_readers));
    assert!(
        line.said.is_empty() && line.closed.is_none(),
        "a stranger hears nothing"
    );
}

#[tokio::test]
async fn the_end_of_the_credential_is_the_end_of_the_connection() {
    let harness = Harness::new().await;
    let inputs: [fn() -> Input; 4] = [
        || Input::CredentialChanged,
        || Input::Tick,
        || Input::Pong,
        || Input::Text(r#"{"id":1,"method":"system.status"}"#.to_owned()),
    ];
    let mut lines = Vec::new();
    for _ in &inputs {
        lines.push(Line::ready(&harness).await);
    }
    // A call is still running. Its response must no longer be sent.
    for line in &mut lines {
        line.send(&json!({ "id": 9, "method": "system.status" }));
        line.feed(Input::CredentialChanged);
        assert_eq!(line.closed, None);
    }
    set_password(&harness).await;
    for (line, input) in lines.iter_mut().zip(inputs) {
        line.feed(input());
        assert_eq!(line.closed, Some((4401, "credential ended")));
        line.finish().await;
        assert!(line.said.is_empty());
    }
}

#[tokio::test]
async fn a_node_that_is_cut_off_sends_no_events() {
    let Some(database) = postgres().await else {
        return;
    };
    let harness = Harness::on(database, &[]).await;
    let mut listener = harness.rpc.events().subscribe();
    let params = AuthChangedParams { what: "password" };
    let events = harness.rpc.events();
    events.publish("auth.changed", &params, Scope::Read);
    let published = listener.try_recv().unwrap();
    let event = || Input::Event(published.clone());
    let (mut line, mut other) = (Line::ready(&harness).await, Line::ready(&harness).await);
    line.feed(event());
    assert_eq!(line.said.len(), 1);
    harness.clock.advance(Duration::from_millis(2_001));
    line.feed(event());
    line.feed(Input::Tick);
    assert_eq!(line.said.len(), 1, "held while the database is away");
    for _ in 0..MAX_WITHHELD {
        other.feed(event());
    }
    assert_eq!(other.closed, None, "at the limit");
    other.feed(event());
    assert_eq!(other.close_code(), Some(1013), "past the limit");
    assert!(other.said.is_empty());
    harness.services().auth.look_at_feed().await.unwrap();
    line.feed(Input::Tick);
    assert_eq!(line.said.len(), 2, "sent once the credential is confirmed");
    // The credential ended on another node while this node was cut off.
    harness.clock.advance(Duration::from_millis(2_001));
    line.feed(event());
    set_password(&harness).await;
    harness.services().auth.look_at_feed().await.unwrap();
    line.feed(Input::Tick);
    assert_eq!(line.closed, Some((4401, "credential ended")));
    assert_eq!(line.said.len(), 2);
}

#[tokio::test]
async fn a_credential_ends_with_its_time() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    let mut line = Line::unauthenticated_client(&harness).await;
    line.send(&connect_with(PASSWORD));
    line.finish().await;
    harness.clock.advance(Duration::from_secs(30 * 86_400 - 1));
    line.feed(Input::Pong);
    assert_eq!(line.closed, None);
    harness.clock.advance(Duration::from_secs(1));
    line.feed(Input::Pong);
    assert_eq!(line.close_code(), Some(4401));
}
