//! `only`: keys and devices limited to one purpose.

use crate::steps::light_owner;
use gatehouse_doubles::openai::{FakeModel, say};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};

const KEYS: &str = "/api/auth/api-keys";

async fn key(server: &TestServer, owner: &Actor, only: Value) -> Actor {
    let body = json!({ "label": "one purpose", "scopes": ["operator.admin"], "only": only });
    let made = owner.post(KEYS, body).await.expect(200);
    server.local().bearer(made["key"].as_str().unwrap())
}

async fn refused_call(actor: &Actor, method: &str) {
    let reply = actor.rpc_reply(method, json!({})).await.json();
    let data = &reply["error"]["data"];
    assert_eq!(data["code"], "FORBIDDEN", "{method}: {reply}");
    assert_eq!(data["required"], "only", "{method}: {reply}");
}

async fn refused_path(actor: &Actor, method: &str, path: &str) {
    let reply = actor.send(method, path, None).await;
    let refused = reply.refused(403, "FORBIDDEN");
    assert_eq!(refused["required"], "only", "{path}: {refused}");
}

#[tokio::test]
async fn a_key_for_one_purpose_calls_what_it_names_and_no_more() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = key(
        &server,
        &owner,
        json!(["env.*", "webhooks.deliveries", "/metrics"]),
    )
    .await;
    key.rpc("env.list", json!({})).await.unwrap();
    key.rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    key.rpc("webhooks.deliveries", json!({})).await.unwrap();
    key.get("/metrics").await.expect(200);
    for method in [
        "webhooks.delivery.get",
        "webhooks.list",
        "chat.send",
        "config.set",
        "pairing.create",
    ] {
        refused_call(&key, method).await;
    }
    for path in [
        "/api/gon",
        "/api/bootstrap",
        "/api/sessions",
        KEYS,
        "/api/openapi.json",
    ] {
        refused_path(&key, "GET", path).await;
    }
    for path in ["/api/auth/reset", KEYS, "/api/auth/vault/seal"] {
        refused_path(&key, "POST", path).await;
    }
    // Paths that contain calls, and the methods that clients start with, are open to every key.
    for method in ["connect", "rpc.discover", "system.status"] {
        key.rpc(method, json!({})).await.unwrap();
    }
    key.get("/api/auth/status").await.expect(200);
}

#[tokio::test]
async fn a_batch_is_judged_call_by_call() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = key(&server, &owner, json!(["env.list"])).await;
    let batch = json!([
        { "id": 1, "method": "env.list" },
        { "id": 2, "method": "agents.list" },
        { "id": 3, "method": "no.such" },
    ]);
    let answers = key.post("/api/rpc", batch).await.expect(200);
    assert!(answers[0]["result"].is_object(), "{answers}");
    assert_eq!(answers[1]["error"]["data"]["code"], "FORBIDDEN");
    assert_eq!(answers[2]["error"]["data"]["code"], "METHOD_NOT_FOUND");
}

#[tokio::test]
async fn a_pattern_that_matches_nothing_is_refused() {
    let (server, owner) = light_owner(Options::default()).await;
    let bad = [
        "",
        " ",
        "*",
        "env",
        "env.",
        "env.lists",
        "envx.*",
        "e*",
        "env.*.x",
        "/nowhere",
        "/v1/nothing/*",
        "/metricsx",
        "metrics",
        "env.list ",
        "/api/*/x",
        "ENV.LIST",
        "*.list",
    ];
    for pattern in bad {
        let body = json!({ "label": "x", "scopes": ["operator.read"], "only": [pattern] });
        let refused = owner.post(KEYS, body).await.refused(400, "INVALID_PARAMS");
        assert_eq!(refused["field"], "only", "{pattern}: {refused}");
        let params = json!({ "label": "x", "only": [pattern] });
        let refused = owner.rpc_reply("pairing.create", params).await.json();
        let data = &refused["error"]["data"];
        assert_eq!(data["code"], "INVALID_PARAMS", "{pattern}: {refused}");
        assert_eq!(data["field"], "only", "{pattern}: {refused}");
    }
    for only in [json!([]), json!(vec!["env.list"; 65])] {
        let body = json!({ "label": "x", "scopes": ["operator.read"], "only": only });
        owner.post(KEYS, body).await.refused(400, "INVALID_PARAMS");
    }
    // Devices cannot call paths.
    let params = json!({ "label": "x", "only": ["/metrics"] });
    let refused = owner.rpc_reply("pairing.create", params).await.json();
    assert_eq!(refused["error"]["data"]["field"], "only");
    key(&server, &owner, json!(vec!["env.list"; 64])).await;
}

#[tokio::test]
async fn what_a_key_for_one_purpose_makes_has_no_other() {
    let (server, owner) = light_owner(Options::default()).await;
    let maker = key(
        &server,
        &owner,
        json!(["/api/auth/*", "env.*", "pairing.create"]),
    )
    .await;
    let body = json!({ "label": "heir", "scopes": ["operator.admin"] });
    let made = maker.post(KEYS, body).await.expect(200);
    let heir = server.local().bearer(made["key"].as_str().unwrap());
    refused_call(&heir, "agents.list").await;
    heir.rpc("env.list", json!({})).await.unwrap();
    let list = owner.get(KEYS).await.expect(200);
    assert_eq!(
        list["api_keys"][0]["only"],
        json!(["/api/auth/*", "env.*", "pairing.create"])
    );
    for (only, status) in [
        (json!(["env.list", "/api/auth/api-keys"]), 200),
        (json!(["env.*"]), 200),
        (json!(["agents.list"]), 403),
        (json!(["pairing.*"]), 403),
        (json!(["env.list", "/api/gon"]), 403),
    ] {
        let body = json!({ "label": "x", "scopes": ["operator.read"], "only": only });
        let reply = maker.post(KEYS, body).await;
        assert_eq!(reply.status.as_u16(), status, "{only}: {}", reply.text);
        if status == 403 {
            assert_eq!(reply.json()["field"], "only");
        }
    }
    let device = json!({ "label": "x", "scopes": ["operator.read"] });
    let device = maker.rpc("pairing.create", device).await.unwrap();
    let mut socket = server.socket(&server.remote(), "/ws").await;
    let hello = socket
        .connect(json!({ "device_token": device["token"] }))
        .await;
    assert!(hello.unwrap()["result"].is_object());
    let answer = socket.call("agents.list", json!({})).await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "FORBIDDEN");
    let answer = socket.call("env.list", json!({})).await.unwrap();
    assert!(answer["result"].is_object(), "{answer}");
}

#[tokio::test]
async fn the_presets_that_the_list_offers_make_keys() {
    let (server, owner) = light_owner(Options::default()).await;
    let list = owner.get(KEYS).await.expect(200);
    let presets = list["presets"].as_array().unwrap();
    for wanted in ["voice", "chat", "ingest", "metrics"] {
        let preset = presets.iter().find(|preset| preset["id"] == wanted);
        let preset = preset.unwrap_or_else(|| panic!("{wanted}"));
        let body = json!({
            "label": wanted, "scopes": preset["scopes"], "only": preset["only"],
        });
        let made = owner.post(KEYS, body).await.expect(200);
        let key = server.local().bearer(made["key"].as_str().unwrap());
        refused_call(&key, "env.list").await;
        let metrics = key.get("/metrics").await.status == 200;
        assert_eq!(metrics, wanted == "metrics");
        let chats = key.rpc("chat.history", json!({ "session": "x" })).await;
        let code = if wanted == "chat" {
            "NOT_FOUND"
        } else {
            "FORBIDDEN"
        };
        assert_eq!(chats, Err(code.to_owned()), "{wanted}");
        #[cfg(feature = "voice")]
        {
            // The request is not a WebSocket handshake, so the only possible refusal is for that
            // reason.
            let talks = key.get("/ws/talk").await.status != 403;
            assert_eq!(talks, wanted == "chat", "{wanted}");
        }
    }
}

#[cfg(feature = "voice")]
#[tokio::test]
async fn a_socket_hears_what_its_key_may_ask_for() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = key(&server, &owner, json!(["tts.*"])).await;
    let mut socket = server.socket(&key, "/ws").await;
    let hello = socket.call("connect", json!({})).await.unwrap();
    assert_eq!(hello["result"]["identity"]["only"], json!(["tts.*"]));
    let session = owner.rpc("sessions.create", json!({})).await.unwrap();
    let text = json!({ "session": session["id"], "text": "hello" });
    owner.rpc("chat.send", text).await.unwrap();
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    let persona = json!({ "label": "P", "provider": "openai" });
    owner.rpc("voice.personas.create", persona).await.unwrap();
    // Events arrive in the order of publication.
    let event = socket.next().await.unwrap();
    assert_eq!(event["method"], "voice.persona", "{event}");
}

#[tokio::test]
async fn a_search_shows_messages_only_to_a_key_that_may_read_them() {
    let model = FakeModel::answering(|_| say("Noted.")).await;
    let (server, owner) = light_owner(Options::default().model(&model.url, "m1")).await;
    let made = owner.rpc("sessions.create", json!({})).await.unwrap();
    let said = json!({ "session": made["id"], "text": "The code word is Ärger." });
    owner.rpc("chat.send_sync", said).await.unwrap();
    owner
        .rpc(
            "sessions.rename",
            json!({ "id": made["id"], "label": "Plans" }),
        )
        .await
        .unwrap();
    let found = async |actor: &Actor, q: &str, encoded: &str| {
        let by_method = actor.rpc("sessions.list", json!({ "q": q })).await.unwrap();
        let path = format!("/api/sessions?q={encoded}");
        let by_path = actor.get(&path).await.expect(200);
        assert_eq!(by_method, by_path);
        by_method["sessions"].as_array().unwrap().clone()
    };
    let lists = json!(["sessions.list", "/api/sessions"]);
    let lists = key(&server, &owner, lists).await;
    let reads = json!(["sessions.list", "/api/sessions", "chat.history"]);
    let reads = key(&server, &owner, reads).await;
    for reader in [&owner, &reads] {
        let sessions = found(reader, "ärger", "%C3%A4rger").await;
        let excerpt = sessions[0]["excerpt"].as_str().unwrap();
        assert!(excerpt.contains("Ärger"), "{excerpt}");
    }
    assert!(found(&lists, "ärger", "%C3%A4rger").await.is_empty());
    assert_eq!(found(&lists, "plans", "plans").await.len(), 1);
}

#[tokio::test]
async fn the_link_of_a_session_is_shown_only_to_a_key_that_may_read_or_share() {
    let (server, owner) = light_owner(Options::default()).await;
    let made = owner.rpc("sessions.create", json!({})).await.unwrap();
    let named = json!({ "id": made["id"] });
    let shared = owner.rpc("sessions.share", named.clone()).await.unwrap();
    let path = format!("/api/sessions/{}", made["id"].as_str().unwrap());
    let links = async |actor: &Actor| {
        let wanted = json!({ "shared": true });
        let list = actor.rpc("sessions.list", wanted).await.unwrap();
        let changed = json!({ "id": made["id"], "pinned": true });
        [
            list["sessions"][0].clone(),
            actor.get("/api/sessions").await.expect(200)["sessions"][0].clone(),
            actor.get("/api/bootstrap").await.expect(200)["sessions"][0].clone(),
            actor.rpc("sessions.get", named.clone()).await.unwrap(),
            actor.get(&path).await.expect(200),
            actor.rpc("sessions.update", changed).await.unwrap(),
        ]
        .map(|session| {
            assert_eq!(session["id"], made["id"]);
            session["share_id"].clone()
        })
    };
    let lists = [
        "sessions.list",
        "sessions.get",
        "sessions.update",
        "/api/bootstrap",
        "/api/sessions",
        "/api/sessions/{id}",
    ];
    let limited = key(&server, &owner, json!(lists)).await;
    assert!(links(&limited).await.iter().all(Value::is_null));
    for more in ["chat.history", "sessions.share"] {
        let only: Vec<&str> = lists.into_iter().chain([more]).collect();
        let reader = key(&server, &owner, json!(only)).await;
        let seen = links(&reader).await;
        assert!(
            seen.iter().all(|link| *link == shared["share_id"]),
            "{more}"
        );
    }
}
