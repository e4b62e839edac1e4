//! Messages of one socket are processed in the order in which they arrived.

use super::with_model;
use gatehouse_testkit::Socket;
use serde_json::{Value, json};

const MESSAGES: u64 = 30;

fn message(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Returns the responses to these calls in order of arrival, together with all other messages that arrive until then.
async fn responses(socket: &mut Socket, count: u64) -> Vec<Value> {
    let mut all = Vec::new();
    while all.len() < usize::try_from(count).unwrap() {
        let frame = socket.next().await.unwrap();
        if frame["id"].is_u64() {
            all.push(frame);
        }
    }
    all
}

async fn done(socket: &mut Socket, turns: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    while all.len() < turns.len() {
        let turn = socket.event("chat.done").await.unwrap()["turn_id"].clone();
        if turns.contains(&turn) {
            all.push(turn);
        }
    }
    all
}

fn texts(history: &Value, role: &str) -> Vec<String> {
    let messages = history["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] == role)
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn texts_that_are_written_without_waiting_are_stored_and_answered_in_their_order() {
    let (server, owner) = with_model().await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap()["id"].clone();
    let mut socket = server.socket(&owner, "/ws/chat").await;
    let mut events = server.socket(&owner, "/ws/chat").await;
    for id in 0..MESSAGES {
        let params = json!({ "session": session, "text": format!("text {id}") });
        socket.send(message(id, "chat.send", &params)).await;
    }
    let sent = responses(&mut socket, MESSAGES).await;
    let ids: Vec<_> = sent
        .iter()
        .map(|sent| sent["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (0..MESSAGES).collect::<Vec<_>>());
    let turns: Vec<Value> = sent
        .iter()
        .map(|sent| sent["result"]["turn_id"].clone())
        .collect();
    assert_eq!(done(&mut events, &turns).await, turns);
    let history = json!({ "session": session, "limit": 500 });
    let history = owner.rpc("chat.history", history).await.unwrap();
    let expected: Vec<_> = (0..MESSAGES).map(|id| format!("text {id}")).collect();
    assert_eq!(texts(&history, "user"), expected);
    assert_eq!(texts(&history, "assistant").len(), expected.len());
}

#[tokio::test]
async fn a_response_comes_before_the_next_text_is_taken() {
    let (server, owner) = with_model().await;
    let mut socket = server.socket(&owner, "/ws/chat").await;
    for id in 0..MESSAGES {
        let params = json!({ "text": format!("text {id}") });
        socket.send(message(id, "chat.send", &params)).await;
    }
    // The event of a text may precede the response to that text, but not the response to an earlier call.
    let (mut answered, mut seen) = (0, 0);
    while answered < MESSAGES {
        let frame = socket.next().await.unwrap();
        if frame["id"].is_u64() {
            assert_eq!(frame["id"], answered, "{frame}");
            answered += 1;
        } else if frame["method"] == "chat.message" && frame["params"]["role"] == "user" {
            assert_eq!(frame["params"]["content"], format!("text {seen}"));
            seen += 1;
            assert!(seen <= answered + 1, "{frame}");
        }
    }
}

#[tokio::test]
async fn each_text_without_a_session_begins_one() {
    let (server, owner) = with_model().await;
    let mut socket = server.socket(&owner, "/ws/chat").await;
    for id in 0..2 {
        let params = json!({ "text": format!("text {id}") });
        socket.send(message(id, "chat.send", &params)).await;
    }
    let sent = responses(&mut socket, 2).await;
    let session = |answer: &Value| answer["result"]["session"].clone();
    assert_ne!(session(&sent[0]), session(&sent[1]));
    // A session that was created first receives both.
    let made = owner.rpc("sessions.create", json!({})).await.unwrap()["id"].clone();
    for id in 2..4 {
        let params = json!({ "session": made, "text": format!("text {id}") });
        socket.send(message(id, "chat.send", &params)).await;
    }
    let sent = responses(&mut socket, 2).await;
    assert!(
        sent.iter().all(|answer| session(answer) == made),
        "{sent:?}"
    );
}

#[tokio::test]
async fn a_waiting_text_tells_its_position_and_other_calls_do_not_wait() {
    let (server, owner) = with_model().await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap()["id"].clone();
    let mut events = server.socket(&owner, "/ws/chat").await;
    let mut socket = server.socket(&owner, "/ws/chat").await;
    // The first turn waits for an approval. The caller waits for its end.
    let first = json!({ "session": session, "text": "calculate" });
    socket.send(message(100, "chat.send_sync", &first)).await;
    for id in 101..104 {
        let params = json!({ "session": session, "text": format!("text {id}") });
        socket.send(message(id, "chat.send", &params)).await;
    }
    for (id, position) in [(101, 1), (102, 2), (103, 3)] {
        let sent = responses(&mut socket, 1).await.remove(0);
        assert_eq!(
            (&sent["id"], &sent["result"]["position"]),
            (&json!(id), &json!(position))
        );
    }
    let status = socket.call("system.status", json!({})).await.unwrap();
    assert!(status["result"].is_object(), "{status}");
    let asked = events.event("approval.requested").await.unwrap();
    let yes = json!({ "id": asked["id"], "allow": true });
    owner.rpc("approval.resolve", yes).await.unwrap();
    let last = responses(&mut socket, 1).await.remove(0);
    assert_eq!(last["id"], 100, "{last}");
    let history = json!({ "session": session });
    let history = owner.rpc("chat.history", history).await.unwrap();
    assert_eq!(
        texts(&history, "user"),
        ["calculate", "text 101", "text 102", "text 103"]
    );
}

#[tokio::test]
async fn a_text_that_is_refused_does_not_stop_those_after_it() {
    let (server, owner) = with_model().await;
    let mut socket = server.socket(&owner, "/ws/chat").await;
    let unknown = json!({ "session": "ses_none", "text": "lost" });
    socket.send(message(1, "chat.send", &unknown)).await;
    socket
        .send(message(2, "chat.send", &json!({ "wrong": 1 })))
        .await;
    socket
        .send(message(3, "chat.send", &json!({ "text": "found" })))
        .await;
    let answers = responses(&mut socket, 3).await;
    let codes: Vec<_> = answers
        .iter()
        .map(|answer| answer["error"]["data"]["code"].clone())
        .collect();
    assert_eq!(
        codes,
        [json!("NOT_FOUND"), json!("INVALID_PARAMS"), Value::Null]
    );
}
