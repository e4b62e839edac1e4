//! Actions that need a confirmation in the last fifteen minutes, and `POST /api/auth/confirm`.

use crate::steps::{WRONG_PASSWORD, by_clock, light_owner, stopped_clock};
use gatehouse_store::testing::{databases, run_sql};
use gatehouse_testkit::{Options, PASSWORD};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const DANGEROUS: [(&str, &str); 4] = [
    ("POST", "/api/auth/reset"),
    ("DELETE", "/api/auth/passkeys/pk_none"),
    ("POST", "/api/auth/passkey/register/begin"),
    ("POST", "/api/auth/vault/disable"),
];

#[tokio::test]
async fn a_confirmation_counts_for_fifteen_minutes() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let admin_key = json!({ "label": "x", "scopes": ["operator.admin"] });
    clock.advance(Duration::from_mins(15));
    let made = owner
        .post("/api/auth/api-keys", admin_key.clone())
        .await
        .expect(200);
    clock.advance(Duration::from_millis(1));
    let refused = owner
        .post("/api/auth/api-keys", admin_key)
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    assert_eq!(refused["max_age_seconds"], 900);
    for (method, path) in DANGEROUS {
        let body = (method == "POST").then(|| json!({}));
        owner
            .send(method, path, body)
            .await
            .refused(403, "CONFIRMATION_REQUIRED");
    }
    let set = owner
        .rpc(
            "config.set",
            json!({ "key": "auth.disabled_scope", "value": "local" }),
        )
        .await;
    assert_eq!(set, Err("CONFIRMATION_REQUIRED".to_owned()));
    // Creating a key with fewer scopes, and other harmless actions, need no confirmation.
    owner
        .post(
            "/api/auth/api-keys",
            json!({ "label": "x", "scopes": ["operator.write"] }),
        )
        .await
        .expect(200);
    owner
        .rpc("config.set", json!({ "key": "log.level", "value": "info" }))
        .await
        .unwrap();
    // Keys with operator.admin are exempt.
    let key = server.local().bearer(made["key"].as_str().unwrap());
    key.delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_right_password_confirms() {
    let clock = stopped_clock();
    let server = by_clock(&clock).await;
    let owner = server.set_up().await;
    clock.advance(Duration::from_hours(1));
    owner
        .post("/api/auth/reset", json!({}))
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    owner
        .post("/api/auth/confirm", json!({ "password": WRONG_PASSWORD }))
        .await
        .refused(401, "INVALID_CREDENTIALS");
    owner
        .post("/api/auth/confirm", json!({}))
        .await
        .refused(400, "INVALID_PARAMS");
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    let confirmed = owner
        .post("/api/auth/confirm", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    assert_eq!(
        confirmed["valid_until"],
        crate::steps::start_of_tests()
            .after(Duration::from_mins(75))
            .to_string()
    );
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
    server
        .local()
        .post("/api/auth/confirm", json!({ "password": PASSWORD }))
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    // A password in the request itself also confirms.
    clock.advance(Duration::from_hours(1));
    owner
        .post("/api/auth/vault/rotate", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
    clock.advance(Duration::from_hours(1));
    let new = crate::steps::NEW_PASSWORD;
    let body = json!({ "current_password": PASSWORD, "new_password": new });
    owner
        .post("/api/auth/password/change", body)
        .await
        .expect(200);
    owner.post("/api/auth/reset", json!({})).await.expect(200);
}

#[tokio::test]
async fn it_can_be_switched_off_by_who_is_confirmed() {
    let clock = stopped_clock();
    let (_server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let off = json!({ "key": "auth.step_up", "value": false });
    owner.rpc("config.set", off).await.unwrap();
    clock.advance(Duration::from_hours(1));
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(404, "NOT_FOUND");
    let on = json!({ "key": "auth.step_up", "value": true });
    owner.rpc("config.set", on.clone()).await.unwrap();
    owner
        .delete("/api/auth/passkeys/pk_none")
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    assert_eq!(
        owner.rpc("config.set", on).await,
        Err("CONFIRMATION_REQUIRED".to_owned())
    );
}

/// Settings that a stolen session must not change without the password: they start programs, select files,
/// open network access, or redirect stored keys.
const STEERING: [&str; 22] = [
    "mcp.servers.files.command",
    "mcp.servers.files.args",
    "mcp.servers.files.env",
    "mcp.servers.far.url",
    "server.external_url",
    "server.allowed_origins",
    "proxy.header",
    "network.allow_private",
    "models.providers.openai.kind",
    "models.providers.openai.base_url",
    "tools.web_search.base_url",
    "voice.tts.piper.binary_path",
    "voice.tts.piper.model_path",
    "voice.stt.whisper.base_url",
    "voice.stt.voxtral-local.endpoint",
    "backup.to",
    "backup.recipient",
    "metrics.bind",
    "voice.wyoming.bind",
    "voice.wyoming.allowed_cidrs",
    "metrics.token",
    "approvals.links",
];

fn value_of(key: &str) -> serde_json::Value {
    match key.rsplit('.').next().unwrap() {
        "args" => json!(["a"]),
        "env" => json!({ "A": "b" }),
        "allowed_origins" => json!(["https://a.example"]),
        "header" => json!("x-real-ip"),
        "allow_private" => json!(true),
        "kind" => json!("anthropic"),
        "bind" => json!("127.0.0.1:1"),
        "allowed_cidrs" => json!(["10.0.0.0/8"]),
        "links" => json!("bearer"),
        "recipient" => json!("age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d"),
        "url" | "base_url" | "endpoint" | "external_url" => json!("https://a.example"),
        _ => json!("program"),
    }
}

#[tokio::test]
async fn what_starts_a_program_or_moves_a_key_needs_a_confirmation() {
    let clock = stopped_clock();
    let (_server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let channel = json!({ "type": "http", "label": "Mine", "id": "mine",
        "fields": { "url": "https://a.example" } });
    owner.rpc("channels.create", channel.clone()).await.unwrap();
    let moved = json!({ "id": "mine", "fields": { "url": "https://b.example" } });
    let calls = || {
        let settings = STEERING.iter().map(|key| {
            let params = json!({ "key": key, "value": value_of(key) });
            ("config.set", params)
        });
        let channels = [
            ("channels.create", channel.clone()),
            ("channels.update", moved.clone()),
        ];
        let others = [
            ("backup.create", json!({})),
            ("backup.list", json!({})),
            (
                "mcp.create",
                json!({ "name": "new", "url": "https://a.example/mcp" }),
            ),
            ("mcp.authorize", json!({ "name": "far" })),
        ];
        settings.chain(channels).chain(others)
    };
    clock.advance(Duration::from_mins(16));
    for (method, params) in calls() {
        let answer = owner.rpc(method, params.clone()).await;
        assert_eq!(answer, Err("CONFIRMATION_REQUIRED".to_owned()), "{params}");
    }
    // Changes without an address need no confirmation.
    let relabelled = json!({ "id": "mine", "label": "Ours" });
    owner.rpc("channels.update", relabelled).await.unwrap();
}

#[tokio::test]
async fn keys_may_be_kept_from_what_needs_a_confirmation() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let admin = server.api_key(&owner, &["operator.admin"]).await;
    let key = "auth.step_up_for_keys";
    let set = async |actor: &gatehouse_testkit::Actor, key: &str, value: serde_json::Value| {
        let params = json!({ "key": key, "value": value });
        actor.rpc("config.set", params).await
    };
    clock.advance(Duration::from_mins(16));
    let refused = Err("CONFIRMATION_REQUIRED".to_owned());
    assert_eq!(set(&owner, key, json!(true)).await, refused);
    set(&admin, "network.allow_private", json!(true))
        .await
        .unwrap();
    set(&admin, key, json!(true)).await.unwrap();
    for (key, value) in [
        (key, json!(false)),
        ("auth.step_up", json!(false)),
        ("network.allow_private", json!(false)),
        ("mcp.servers.files.command", json!("program")),
    ] {
        assert_eq!(set(&admin, key, value).await, refused, "{key}");
    }
    for method in ["backup.create", "backup.list"] {
        assert_eq!(admin.rpc(method, json!({})).await, refused, "{method}");
    }
    admin
        .post("/api/auth/reset", json!({}))
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    set(&admin, "log.level", json!("info")).await.unwrap();
    let again = json!({ "label": "x", "scopes": ["operator.admin"] });
    admin
        .post("/api/auth/api-keys", again)
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
}

#[tokio::test]
async fn another_program_may_change_when_a_session_was_confirmed() {
    for database in databases().await {
        let location = database.location.clone();
        let (server, owner) = light_owner(Options::default().database(database)).await;
        let mut socket = server.socket(&owner, "/ws/chat").await;
        let key = json!({ "label": "x", "scopes": ["operator.admin"] });
        let set = json!({ "key": "auth.disabled_scope", "value": "local" });
        let moved = async |by: &str| {
            let sql = format!("UPDATE auth_sessions SET confirmed_at = confirmed_at {by}");
            run_sql(&location, &sql).await;
        };
        let mint = async || owner.post("/api/auth/api-keys", key.clone()).await;
        mint().await.expect(200);
        moved("- 900001").await;
        mint().await.refused(403, "CONFIRMATION_REQUIRED");
        for (method, path) in DANGEROUS {
            let body = (method == "POST").then(|| json!({}));
            owner
                .send(method, path, body)
                .await
                .refused(403, "CONFIRMATION_REQUIRED");
        }
        let refused = Err("CONFIRMATION_REQUIRED".to_owned());
        assert_eq!(owner.rpc("config.set", set.clone()).await, refused);
        let answer = socket.call("config.set", set.clone()).await.unwrap();
        let code = &answer["error"]["data"]["code"];
        assert_eq!(code, "CONFIRMATION_REQUIRED", "{answer}");
        moved("+ 900001").await;
        mint().await.expect(200);
        owner.rpc("config.set", set.clone()).await.unwrap();
        let answer = socket.call("config.set", set).await.unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        // Without the database, nobody is confirmed.
        server.app().services().store.close().await;
        owner
            .delete("/api/auth/passkeys/pk_none")
            .await
            .refused(503, "STORAGE_UNAVAILABLE");
    }
}
