//! `chat.*`, `sessions.*` and `GET /api/sessions`.

use super::{blamed, with_model};
use gatehouse_testkit::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn a_text_is_answered_and_kept() {
    let (_server, owner) = with_model().await;
    let answer = owner
        .rpc("chat.send_sync", json!({ "text": "ping" }))
        .await
        .unwrap();
    assert_eq!(answer["text"], "pong");
    assert_eq!(
        answer["usage"],
        json!({ "input_tokens": 10, "output_tokens": 3 })
    );
    assert!(answer["duration_ms"].is_u64());
    let id = answer["session"].as_str().unwrap();
    assert!(id.starts_with("ses_"));

    let record = owner.get(&format!("/api/sessions/{id}")).await.expect(200);
    let by_rpc = owner
        .rpc("sessions.get", json!({ "id": id }))
        .await
        .unwrap();
    let by_key = owner
        .rpc("sessions.get", json!({ "key": answer["session_key"] }))
        .await
        .unwrap();
    assert_eq!((&by_rpc, &by_key), (&record, &record));
    assert_eq!(record["message_count"], 2);
    assert_eq!(
        (&record["source"], &record["agent_id"]),
        (&json!("user"), &json!("default"))
    );

    let path = format!("/api/sessions/{id}/messages");
    let page = owner.get(&format!("{path}?limit=1")).await.expect(200);
    assert_eq!(page["messages"][0]["content"], "pong");
    assert_eq!(page["messages"][0]["model"], "fake/m1");
    let before = page["next_cursor"].as_str().unwrap();
    let older = owner
        .get(&format!("{path}?limit=1&before={before}"))
        .await
        .expect(200);
    assert_eq!(older["messages"][0]["content"], "ping");
    assert!(older.get("next_cursor").is_none());
    let history = owner
        .rpc("chat.history", json!({ "session": id }))
        .await
        .unwrap();
    assert_eq!(history["messages"].as_array().unwrap().len(), 2);

    let listed = owner.get("/api/sessions").await.expect(200);
    assert_eq!(listed, json!({ "sessions": [record] }));
    let first = owner.get("/api/bootstrap").await.expect(200);
    assert_eq!(first["sessions"], listed["sessions"]);
    let found = owner.get("/api/sessions?q=PING").await.expect(200);
    assert_eq!(found["sessions"].as_array().unwrap().len(), 1);

    let at = record["updated_at"].as_str().unwrap();
    for (query, count) in [
        (format!("from={at}"), 1),
        (format!("until={at}"), 0),
        ("until=2000-01-01T00:00:00Z".to_owned(), 0),
        (format!("from=2000-01-01T00:00:00Z&until={at}"), 0),
    ] {
        let found = owner.get(&format!("/api/sessions?{query}")).await;
        let found = found.expect(200);
        assert_eq!(
            found["sessions"].as_array().unwrap().len(),
            count,
            "{query}"
        );
    }
    let later = owner.rpc("sessions.list", json!({ "until": at })).await;
    assert_eq!(later, Ok(json!({ "sessions": [] })));

    let renamed = owner
        .rpc("sessions.rename", json!({ "id": id, "label": "Ping" }))
        .await
        .unwrap();
    assert_eq!(renamed["label"], "Ping");
    let aborted = owner.rpc("chat.abort", json!({ "session": id })).await;
    assert_eq!(aborted, Ok(json!({ "ok": true })));
    let deleted = owner.rpc("sessions.delete", json!({ "id": id })).await;
    assert_eq!(deleted, Ok(json!({ "ok": true })));
    owner.get(&path).await.refused(404, "NOT_FOUND");
    let again = owner.rpc("sessions.delete", json!({ "id": id })).await;
    assert_eq!(again, Err("NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_session_is_found_by_the_text_of_its_messages() {
    let (_server, owner) = with_model().await;
    let sent = json!({ "text": "ping" });
    owner.rpc("chat.send_sync", sent).await.unwrap();
    let search = async |q: &str| {
        let found = owner.get(&format!("/api/sessions?q={q}")).await;
        found.expect(200)["sessions"].clone()
    };
    // The session is named after its first message.
    let by_name = search("PING").await;
    assert!(by_name[0]["id"].is_string() && by_name[0].get("excerpt").is_none());
    assert_eq!(search("PONG").await[0]["excerpt"], "pong");
    assert_eq!(search("p%25ng").await, json!([]));
}

#[tokio::test]
async fn a_query_that_is_wrong_is_refused() {
    let (_server, owner) = with_model().await;
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=x", "limit"),
        ("cursor=x", "cursor"),
        ("limit=1&limit=2", "limit"),
        ("before=x", "before"),
        ("from=yesterday", "from"),
        ("until=1", "until"),
        (
            "from=2000-01-01T00:00:00Z&from=2000-01-01T00:00:00Z",
            "from",
        ),
        ("colour=1", "colour"),
    ] {
        let refused = owner.get(&format!("/api/sessions?{query}")).await;
        let body = refused.refused(400, "INVALID_PARAMS");
        assert_eq!(body["field"], field, "{query}");
    }
    owner
        .get("/api/sessions?limit=500&q=%27%00")
        .await
        .expect(200);
    owner
        .get("/api/sessions/ses_none")
        .await
        .refused(404, "NOT_FOUND");
    let missing = owner.get("/api/sessions/ses_none/messages").await;
    missing.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn the_text_is_kept_when_the_model_cannot_be_used() {
    let (_server, owner) = TestServer::with_owner().await;
    let params = json!({ "text": "ping", "model": "nobody/m1" });
    let created = owner
        .rpc(
            "agents.update",
            json!({ "id": "default", "provider": "nobody" }),
        )
        .await;
    assert!(created.is_ok());
    let answer = owner.rpc_reply("chat.send_sync", params).await.expect(200);
    let data = &answer["error"]["data"];
    assert_eq!(data["code"], "NOT_CONFIGURED", "{answer}");
    assert!(data["what"].is_string());
    let session = data["session"].as_str().unwrap();
    let history = owner
        .rpc("chat.history", json!({ "session": session }))
        .await
        .unwrap();
    assert_eq!(history["messages"][0]["content"], "ping");
}

#[tokio::test]
async fn a_session_can_be_made_before_anything_is_said() {
    let (server, owner) = with_model().await;
    let made = owner.rpc("sessions.create", json!({})).await.unwrap();
    assert_eq!(
        (
            &made["label"],
            &made["agent_id"],
            &made["message_count"],
            &made["running"]
        ),
        (
            &json!("New session"),
            &json!("default"),
            &json!(0),
            &json!(false)
        )
    );
    let id = made["id"].as_str().unwrap();
    let sent = json!({ "session": id, "text": "ping" });
    let answer = owner.rpc("chat.send_sync", sent).await.unwrap();
    assert_eq!(
        (&answer["session"], &answer["text"]),
        (&json!(id), &json!("pong"))
    );

    let new = json!({ "id": "a", "name": "A" });
    owner.rpc("agents.create", new).await.unwrap();
    let params = json!({ "label": " Spoken ", "agent": "a" });
    let made = owner.rpc("sessions.create", params).await.unwrap();
    assert_eq!(
        (&made["label"], &made["agent_id"]),
        (&json!("Spoken"), &json!("a"))
    );
    for refused in [
        json!({ "label": "" }),
        json!({ "label": "a\nb" }),
        json!({ "agent": "none" }),
        json!({ "lable": "x" }),
    ] {
        owner.rpc("sessions.create", refused).await.unwrap_err();
    }
    let reader = server.api_key(&owner, &["operator.read"]).await;
    reader.rpc("sessions.create", json!({})).await.unwrap_err();
}

#[tokio::test]
async fn a_branch_continues_from_a_turn_and_leaves_the_original() {
    let (_server, owner) = with_model().await;
    let send = async |params: Value| owner.rpc("chat.send_sync", params).await.unwrap();
    let first = send(json!({ "text": "ping" })).await;
    let id = first["session"].clone();
    send(json!({ "session": id, "text": "ping" })).await;
    let messages = async |id: &Value| {
        let history = owner.rpc("chat.history", json!({ "session": id })).await;
        history.unwrap()["messages"].as_array().unwrap().clone()
    };
    let before = messages(&id).await;
    assert_eq!(before.len(), 4);
    let branch = json!({ "id": id, "turn_id": before[0]["turn_id"], "label": "Another way" });
    let branch = owner.rpc("sessions.branch", branch).await.unwrap();
    assert_eq!(
        (&branch["label"], &branch["message_count"]),
        (&json!("Another way"), &json!(2))
    );
    let copies = messages(&branch["id"]).await;
    let shown = |messages: &[Value]| -> Vec<Value> {
        let each = messages.iter();
        each.map(|it| {
            json!([
                it["role"],
                it["content"],
                it["origin"],
                it["created_at"],
                it["turn_id"]
            ])
        })
        .collect()
    };
    assert_eq!(shown(&copies), shown(&before[..2]));
    assert_ne!(copies[0]["id"], before[0]["id"]);
    // Both sessions continue independently.
    send(json!({ "session": branch["id"], "text": "ping" })).await;
    assert_eq!(messages(&branch["id"]).await.len(), 4);
    assert_eq!(messages(&id).await, before);
    // A branch of a branch, and unknown IDs.
    let again = json!({ "id": branch["id"], "turn_id": copies[1]["turn_id"] });
    let again = owner.rpc("sessions.branch", again).await.unwrap();
    assert_eq!(
        (&again["label"], &again["message_count"]),
        (&json!("Another way"), &json!(2))
    );
    for (id, turn) in [
        (&id, json!("turn_none")),
        (&json!("ses_none"), before[0]["turn_id"].clone()),
    ] {
        let missing = json!({ "id": id, "turn_id": turn });
        let missing = owner.rpc("sessions.branch", missing).await;
        assert_eq!(missing, Err("NOT_FOUND".to_owned()));
    }
    // The original can be deleted.
    owner
        .rpc("sessions.delete", json!({ "id": id }))
        .await
        .unwrap();
    assert_eq!(messages(&again["id"]).await.len(), 2);
}

#[tokio::test]
async fn a_search_has_at_most_200_characters() {
    let (_server, owner) = with_model().await;
    let search = |length: usize| json!({ "q": "ä".repeat(length) });
    owner.rpc("sessions.list", search(200)).await.unwrap();
    let refused = blamed(&owner, "sessions.list", search(201)).await;
    assert_eq!(refused, (json!("INVALID_PARAMS"), json!("q")));
}
