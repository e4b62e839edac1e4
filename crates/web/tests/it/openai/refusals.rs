//! What is refused, in which format, and what a failure leaves behind.

use super::{CHAT, Harness, events};
use gatehouse_doubles::openai::Reaction;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Options, Reply};
use serde_json::{Value, json};
use std::time::Duration;

/// Asserts the format of an error of a handler; returns the member `error`.
fn error(reply: &Reply, status: u16, code: &str) -> Value {
    let body = reply.refused(status, code);
    let error = body["error"].clone();
    let mut members: Vec<&String> = error.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["code", "message", "param", "type"], "{body}");
    assert_eq!(error["code"], code);
    assert!(error["message"].is_string() && error["type"].is_string());
    assert_eq!(reply.header("content-type"), Some("application/json"));
    error
}

fn body(changes: &Value) -> Value {
    let mut body =
        json!({ "model": "fake/m1", "messages": [{ "role": "user", "content": "Hi." }] });
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_not_found() {
    let harness = Harness::new().await;
    for model in ["agent/nobody", "nobody/m1", "gpt-4o", "agent/", "/m1", ""] {
        let received = error(&harness.ask(model, "Hi.").await, 404, "NOT_FOUND");
        assert_eq!(received["param"], "model", "{model}");
        assert_eq!(received["type"], "invalid_request_error");
    }
    let unknown = json!({ "error": { "message": "The model `m9` does not exist",
        "type": "invalid_request_error", "code": "model_not_found" } });
    harness.model.will([Reaction::Refuse(404, unknown)]);
    error(&harness.ask("fake/m9", "Hi.").await, 404, "NOT_FOUND");
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_with_the_name_of_the_field() {
    let harness = Harness::new().await;
    let image = json!([{ "type": "image_url", "image_url": { "url": "https://x" } }]);
    let tool = json!([{ "type": "function", "function": { "name": "f" } }]);
    for (changes, param) in [
        (json!({ "model": null }), "model"),
        (json!({ "messages": [] }), "messages"),
        (
            json!({ "messages": [{ "role": "user", "content": image }] }),
            "messages",
        ),
        (
            json!({ "messages": [{ "role": "critic", "content": "x" }] }),
            "messages",
        ),
        (
            json!({ "messages": [{ "role": "tool", "tool_call_id": "c", "content": "x" }] }),
            "messages",
        ),
        (json!({ "n": 2 }), "n"),
        (json!({ "modalities": ["text", "audio"] }), "modalities"),
        (json!({ "temperature": 2.1 }), "temperature"),
        (json!({ "top_p": -0.1 }), "top_p"),
        (json!({ "frequency_penalty": 2.1 }), "frequency_penalty"),
        (json!({ "presence_penalty": -2.1 }), "presence_penalty"),
        (json!({ "stop": ["a", "b", "c", "d", "e"] }), "stop"),
        (
            json!({ "response_format": { "type": "xml" } }),
            "response_format",
        ),
        (json!({ "reasoning_effort": "much" }), "reasoning_effort"),
        (json!({ "tools": [{ "type": "web_search" }] }), "tools"),
        (json!({ "tool_choice": "maybe" }), "tool_choice"),
        (
            json!({ "tool_choice": { "type": "function", "function": { "name": "g" } } }),
            "tool_choice",
        ),
        (json!({ "model": "agent/default", "tools": tool }), "tools"),
        (
            json!({ "model": "agent/default", "messages": [{ "role": "assistant", "content": "x" }] }),
            "messages",
        ),
        (
            json!({ "model": "agent/default", "messages": [{ "role": "user", "content": " " }] }),
            "messages",
        ),
    ] {
        let reply = harness.client.post(CHAT, body(&changes)).await;
        let received = error(&reply, 400, "INVALID_PARAMS");
        assert_eq!(received["param"], param, "{changes}: {}", reply.text);
    }
    let kind = Some("application/json");
    let broken = harness.client.send_bytes("POST", CHAT, kind, "{").await;
    error(&broken, 400, "PARSE_ERROR");
    let text = harness
        .client
        .send_bytes("POST", CHAT, Some("text/plain"), "{}")
        .await;
    error(&text, 415, "UNSUPPORTED_MEDIA_TYPE");
    assert!(harness.model.seen().is_empty());
    assert_eq!(harness.sessions().await, json!([]));
}

#[tokio::test]
async fn the_gate_keeps_its_own_format() {
    let harness = Harness::new().await;
    let good = body(&json!({}));
    let stranger = harness.server.local().remote();
    let received = stranger.post(CHAT, good.clone()).await;
    assert!(received.refused(401, "AUTH_NOT_AUTHENTICATED")["error"].is_string());
    let reader = harness
        .server
        .api_key(&harness.owner, &["operator.read"])
        .await;
    let received = reader.post(CHAT, good.clone()).await;
    assert!(received.refused(403, "FORBIDDEN")["error"].is_string());
    let limited =
        json!({ "label": "voice", "scopes": ["operator.write"], "only": ["/v1/audio/*"] });
    let made = harness
        .owner
        .post("/api/auth/api-keys", limited)
        .await
        .expect(200);
    let key = harness.server.local().bearer(made["key"].as_str().unwrap());
    let received = key.post(CHAT, good).await.refused(403, "FORBIDDEN");
    assert_eq!(received["required"], "only");
    assert!(harness.model.seen().is_empty());
}

#[tokio::test]
async fn a_budget_that_is_used_up_stops_agents_and_models() {
    let harness = Harness::new().await;
    harness.ask("fake/m1", "Hi.").await.expect(200);
    let limit = |scope: &str| json!({ "scope": scope, "period": "day", "tokens": 13 });
    for scope in ["all", "model:fake/m1"] {
        harness
            .owner
            .rpc("budgets.set", limit(scope))
            .await
            .unwrap();
        for model in ["agent/default", "fake/m1"] {
            for stream in [false, true] {
                let changes = json!({ "model": model, "stream": stream });
                let reply = harness.client.post(CHAT, body(&changes)).await;
                let received = error(&reply, 402, "BUDGET_EXHAUSTED");
                assert_eq!(received["type"], "insufficient_quota");
                assert!(reply.json()["resets_at"].is_string());
            }
        }
        let name = json!({ "scope": scope, "period": "day" });
        harness.owner.rpc("budgets.delete", name).await.unwrap();
    }
    assert_eq!(harness.model.seen().len(), 1);
    assert_eq!(harness.sessions().await, json!([]));
}

#[tokio::test]
async fn a_failure_of_the_provider_is_reported() {
    let harness = Harness::new().await;
    let refusal = json!({ "error": { "message": "no", "type": "invalid_request_error" } });
    for model in ["agent/default", "fake/m1"] {
        harness.model.will([Reaction::Refuse(400, refusal.clone())]);
        let received = error(&harness.ask(model, "Hi.").await, 502, "PROVIDER_FAILED");
        assert_eq!(received["type"], "server_error");
        // Once the response has begun, the failure is an event.
        harness.model.will([Reaction::Break("It is".to_owned())]);
        let changes = json!({ "model": model, "stream": true });
        let reply = harness.client.post(CHAT, body(&changes)).await;
        let last = events(&reply).pop().unwrap();
        assert_eq!(last["code"], "PROVIDER_FAILED", "{}", reply.text);
        assert_eq!(last["error"]["code"], "PROVIDER_FAILED");
    }
    assert_eq!(harness.sessions().await, json!([]));
}

#[tokio::test]
async fn a_caller_that_leaves_stops_the_work() {
    let harness = Harness::new().await;
    for model in ["agent/default", "fake/m1"] {
        harness.model.will([Reaction::Hang("It is".to_owned())]);
        let changes = json!({ "model": model, "stream": true });
        let request = harness.client.request("POST", CHAT).json(&body(&changes));
        let mut response = request.send().await.unwrap();
        assert!(response.chunk().await.unwrap().is_some());
        drop(response);
    }
    harness.model.will([Reaction::Hang("It is".to_owned())]);
    let body = json!({ "model": "fake/m1", "input": "Hi.", "stream": true });
    let request = harness.client.request("POST", "/v1/responses").json(&body);
    let mut response = request.send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    drop(response);
    // The use of all is stored once they have ended.
    let used = loop {
        let rows = harness.usage("day").await;
        let ended = rows.first().and_then(|row| row["turns"].as_i64());
        if ended == Some(3) && harness.sessions().await == json!([]) {
            break rows[0].clone();
        }
        tokio::task::yield_now().await;
    };
    // The provider has reported nothing.
    let all = used["input_tokens"].as_i64().unwrap() + used["output_tokens"].as_i64().unwrap();
    assert_eq!(used["estimated_tokens"], all, "{used}");
}

#[tokio::test]
async fn a_whole_answer_ends_with_the_key_of_its_request() {
    let harness = Harness::new().await;
    let keys = "/api/auth/api-keys";
    for (number, model) in ["agent/default", "fake/m1"].into_iter().enumerate() {
        let key = json!({ "label": "x", "scopes": ["operator.write"] });
        let made = harness.owner.post(keys, key).await.expect(200);
        let client = harness.server.local();
        let client = client.bearer(made["key"].as_str().unwrap());
        let hang = || Reaction::Hang("It is".to_owned());
        harness.model.will([hang(), hang()]);
        let ending = async {
            harness.model.until(2 * number + 2).await;
            let path = format!("{keys}/{}", made["id"].as_str().unwrap());
            harness.owner.delete(&path).await.expect(200);
        };
        let response = json!({ "model": model, "input": "Hi." });
        let answers = async {
            tokio::join!(
                client.post(CHAT, body(&json!({ "model": model }))),
                client.post("/v1/responses", response),
                ending,
            )
        };
        let answers = tokio::time::timeout(Duration::from_secs(20), answers);
        let (chat, response, ()) = answers.await.expect("both end");
        for reply in [chat, response] {
            let received = error(&reply, 401, "AUTH_NOT_AUTHENTICATED");
            assert_eq!(received["type"], "authentication_error");
        }
    }
}

#[tokio::test]
async fn a_whole_answer_is_refused_while_its_key_cannot_be_confirmed() {
    let Some(database) = postgres().await else {
        return;
    };
    let harness = Harness::with(Options::default().database(database)).await;
    harness.model.hold();
    let outage = async {
        harness.model.until(2).await;
        let services = harness.server.app().services();
        services.store.close().await;
        while services.auth.memory_is_fresh() {
            tokio::task::yield_now().await;
        }
        harness.model.release(2);
    };
    let response = json!({ "model": "fake/m1", "input": "Hi." });
    let answers = async {
        tokio::join!(
            harness.client.post(CHAT, body(&json!({}))),
            harness.client.post("/v1/responses", response),
            outage,
        )
    };
    let answers = tokio::time::timeout(Duration::from_secs(20), answers);
    let (chat, response, ()) = answers.await.expect("both end");
    for reply in [chat, response] {
        error(&reply, 503, "STORAGE_UNAVAILABLE");
    }
}

#[tokio::test]
async fn a_streamed_answer_ends_with_the_key_of_its_request() {
    let harness = Harness::new().await;
    let keys = "/api/auth/api-keys";
    for model in ["agent/default", "fake/m1"] {
        let key = json!({ "label": "x", "scopes": ["operator.write"] });
        let made = harness.owner.post(keys, key).await.expect(200);
        let client = harness.server.local();
        let client = client.bearer(made["key"].as_str().unwrap());
        let hang = || Reaction::Hang("It is".to_owned());
        harness.model.will([hang(), hang()]);
        let begun = async |path: &str, body: Value| {
            let sent = client.request("POST", path).json(&body).send().await;
            let mut response = sent.unwrap();
            assert!(response.chunk().await.unwrap().is_some());
            response
        };
        let chat = body(&json!({ "model": model, "stream": true }));
        let chat = begun(CHAT, chat).await;
        let response = json!({ "model": model, "input": "Hi.", "stream": true });
        let response = begun("/v1/responses", response).await;
        let path = format!("{keys}/{}", made["id"].as_str().unwrap());
        harness.owner.delete(&path).await.expect(200);
        let last = async |response: reqwest::Response| {
            let rest = tokio::time::timeout(Duration::from_secs(20), response.text());
            let rest = rest.await.expect("it ends").unwrap();
            let mut data = rest.lines().filter_map(|line| line.strip_prefix("data: "));
            serde_json::from_str::<Value>(data.next_back().unwrap()).unwrap()
        };
        let error = last(chat).await;
        assert_eq!(error["code"], "AUTH_NOT_AUTHENTICATED", "{error}");
        assert_eq!(error["error"]["type"], "authentication_error");
        let failed = last(response).await;
        assert_eq!(failed["type"], "response.failed", "{failed}");
    }
    // The work has ended, too.
    let ended = async {
        let turns = async || harness.usage("day").await.first()?["turns"].as_i64();
        while turns().await != Some(4) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended)
        .await
        .unwrap();
}
