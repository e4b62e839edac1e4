//! `mcp.*`: servers, and the approval of their tools.

use crate::steps::{light_owner, stopped_clock};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use gatehouse_testkit::{Actor, Options};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An MCP server (MCP 2025-06-18, streamable HTTP) with one tool, whose description the test sets.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<String>>);

async fn answer(State(server): State<Server>, body: String) -> Response {
    let Ok(message) = serde_json::from_str::<Value>(&body) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    let Some(id) = message.get("id") else {
        return StatusCode::ACCEPTED.into_response();
    };
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "far", "version": "1" },
        }),
        _ => json!({ "tools": [{
            "name": "add",
            "description": *server.0.lock().unwrap(),
            "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": true },
        }] }),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let kind = (header::CONTENT_TYPE, "application/json");
    ([kind], answer.to_string()).into_response()
}

#[expect(clippy::disallowed_methods, reason = "it ends with its test's runtime")]
async fn far(description: &str) -> (Server, String) {
    let server = Server(Arc::new(Mutex::new(description.to_owned())));
    let router = Router::new().route("/mcp", any(answer));
    let router = router.with_state(server.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (server, url)
}

async fn kinds(owner: &Actor, kind: &str) -> Vec<Value> {
    let params = json!({ "kind": kind });
    let listed = owner.rpc("audit.list", params).await.unwrap();
    let rows = listed["events"].as_array().unwrap().iter();
    rows.map(|row| row["detail"].clone()).collect()
}

async fn is_offered(owner: &Actor) -> bool {
    let listed = owner.rpc("tools.list", json!({})).await.unwrap();
    let mut tools = listed["tools"].as_array().unwrap().iter();
    tools.any(|tool| tool["name"] == "mcp__far__add")
}

#[tokio::test]
async fn a_server_is_created_approved_changed_and_deleted() {
    let (far, url) = far("Adds.").await;
    let (_server, owner) = light_owner(Options::default()).await;
    let name = json!({ "name": "far" });
    let call = async |method: &str, params: Value| owner.rpc(method, params).await;
    let made = call("mcp.create", json!({ "name": "far", "url": url })).await;
    let made = made.unwrap();
    let form = json!({ "description": "Adds.", "read_only": true, "hidden": 0,
        "parameters": "{\n  \"properties\": {},\n  \"type\": \"object\"\n}" });
    let tool = json!({ "name": "mcp__far__add", "tool": "add", "review": "approved",
        "approved": form });
    let expected = json!({ "name": "far", "transport": "http", "url": url,
        "vault": ["MCP_FAR_TOKEN"], "fixed": false,
        "state": "connected", "tools": [tool], "needs_approval": false,
        "digest": made["digest"] });
    assert_eq!(made, expected);
    assert_eq!(
        call("mcp.list", json!({})).await.unwrap(),
        json!({ "servers": [made] })
    );
    assert!(is_offered(&owner).await);
    let again = call("mcp.create", json!({ "name": "far", "url": url })).await;
    assert_eq!(again, Err("CONFLICT".to_owned()));

    // A tool whose form changes is withdrawn, and the change is shown.
    *far.0.lock().unwrap() = "Deletes.".to_owned();
    let tested = call("mcp.test", name.clone()).await.unwrap();
    assert_eq!(tested["needs_approval"], true);
    let tool = &tested["tools"][0];
    assert_eq!(tool["review"], "changed");
    assert_eq!(tool["approved"]["description"], "Adds.");
    assert_eq!(tool["offered"]["description"], "Deletes.");
    assert!(!is_offered(&owner).await);
    let doctor = call("system.doctor", json!({})).await.unwrap().to_string();
    assert!(doctor.contains("differ from what was approved"), "{doctor}");
    let seen = json!({ "name": "far", "digest": made["digest"] });
    assert_eq!(call("mcp.approve", seen).await, Err("CONFLICT".to_owned()));
    let seen = json!({ "name": "far", "tools": ["add"], "digest": tested["digest"] });
    let approved = call("mcp.approve", seen).await.unwrap();
    assert_eq!(approved["needs_approval"], false);
    assert!(is_offered(&owner).await);

    let restarted = call("mcp.restart", name.clone()).await.unwrap();
    assert_eq!(restarted["state"], "connected");
    // Another address of the same server keeps the approvals.
    let other = url.replace("127.0.0.1", "localhost");
    let updated = call("mcp.update", json!({ "name": "far", "url": other })).await;
    let updated = updated.unwrap();
    assert_eq!(
        (&updated["url"], &updated["needs_approval"]),
        (&json!(other), &json!(false))
    );
    let program = json!({ "name": "far", "command": "no-such-program-here", "args": ["secret"] });
    let updated = call("mcp.update", program).await.unwrap();
    assert_eq!(updated["transport"], "stdio");
    assert_eq!(updated["state"], "failed");
    assert!(!updated.to_string().contains("secret"), "{updated}");
    call("mcp.delete", name.clone()).await.unwrap();
    for method in [
        "mcp.delete",
        "mcp.test",
        "mcp.restart",
        "mcp.approve",
        "mcp.update",
    ] {
        let gone = call(method, name.clone()).await;
        assert_eq!(gone, Err("NOT_FOUND".to_owned()), "{method}");
    }
    assert_eq!(
        kinds(&owner, "mcp.approved").await,
        [
            json!({ "server": "far", "tools": ["add"] }),
            json!({ "server": "far", "tools": ["add"], "first": true })
        ]
    );
    for kind in ["mcp.created", "mcp.updated", "mcp.restarted", "mcp.deleted"] {
        let rows = kinds(&owner, kind).await;
        assert!(
            rows.iter().all(|row| row["name"] == "far"),
            "{kind} {rows:?}"
        );
        assert!(!rows.is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn the_list_names_the_variables_of_the_vault_that_a_server_uses_and_counts_its_arguments() {
    let (_far, url) = far("Adds.").await;
    let (_server, owner) = light_owner(Options::default()).await;
    let call = async |method: &str, params: Value| owner.rpc(method, params).await.unwrap();
    let env = json!({ "TOKEN": { "vault": "GITHUB_TOKEN" }, "MODE": "fast" });
    let made = json!({ "name": "local", "command": "no-such-program-here",
        "args": ["--key", "s3cret"], "env": env });
    let made = call("mcp.create", made).await;
    assert_eq!(made["vault"], json!(["GITHUB_TOKEN"]));
    assert_eq!(made["env"], json!(["MODE", "TOKEN"]));
    assert_eq!(made["args_count"], 2);
    assert!(!made.to_string().contains("s3cret"), "{made}");

    // A field that is absent stays as it is. null and an empty object clear it.
    let name = json!({ "name": "local", "command": "another-program" });
    assert_eq!(call("mcp.update", name).await["args_count"], 2);
    let emptied = json!({ "name": "local", "args": null, "env": {} });
    let emptied = call("mcp.update", emptied).await;
    for gone in ["args_count", "env", "vault"] {
        assert_eq!(emptied[gone], Value::Null, "{gone}");
    }

    let headers = json!({ "x-key": "Bearer {{secret:FAR_KEY}}" });
    let made = json!({ "name": "far", "url": url, "headers": headers });
    let made = call("mcp.create", made).await;
    assert_eq!(made["vault"], json!(["FAR_KEY", "MCP_FAR_TOKEN"]));
}

#[tokio::test]
async fn another_url_is_compared_with_what_was_approved_before() {
    let (_one, url) = far("Adds.").await;
    let (_two, other) = far("Deletes.").await;
    let (_server, owner) = light_owner(Options::default()).await;
    let call = async |method: &str, params: Value| owner.rpc(method, params).await.unwrap();
    call("mcp.create", json!({ "name": "far", "url": url })).await;
    let updated = call("mcp.update", json!({ "name": "far", "url": other })).await;
    assert_eq!(updated["needs_approval"], true, "{updated}");
    let tool = &updated["tools"][0];
    assert_eq!(tool["review"], "changed");
    assert_eq!(tool["approved"]["description"], "Adds.");
    assert_eq!(tool["offered"]["description"], "Deletes.");
    assert!(!is_offered(&owner).await);
}

#[tokio::test]
async fn a_server_that_never_connected_is_approved_when_it_does() {
    let (_far, url) = far("Adds.").await;
    let (_server, owner) = light_owner(Options::default()).await;
    let call = async |method: &str, params: Value| owner.rpc(method, params).await.unwrap();
    let made = json!({ "name": "far", "command": "no-such-program-here", "args": ["x"] });
    assert_eq!(call("mcp.create", made).await["state"], "failed");
    let updated = call("mcp.update", json!({ "name": "far", "url": url })).await;
    assert_eq!(updated["state"], "connected", "{updated}");
    assert_eq!(updated["needs_approval"], false);
    assert_eq!(updated["args_count"], Value::Null);
    assert!(is_offered(&owner).await);
}

#[tokio::test]
async fn headers_do_not_follow_a_url_to_another_origin() {
    let (_far, url) = far("Adds.").await;
    let (_server, owner) = light_owner(Options::default()).await;
    let call = async |method: &str, params: Value| owner.rpc(method, params).await.unwrap();
    let headers = async || {
        let listed = owner.rpc("mcp.list", json!({})).await.unwrap();
        listed["servers"][0]["headers"].clone()
    };
    let other = url.replace("127.0.0.1", "localhost");
    let made = json!({ "name": "far", "url": url, "headers": { "x-key": "a" } });
    call("mcp.create", made).await;
    for change in ["mcp.update", "config.set"] {
        let moved = |url: &str| match change {
            "mcp.update" => json!({ "name": "far", "url": url }),
            _ => json!({ "key": "mcp.servers.far.url", "value": url }),
        };
        call(change, moved(&url.replace("/mcp", "/other"))).await;
        assert_eq!(headers().await, json!(["x-key"]), "{change}");
        call(change, moved(&other)).await;
        assert_eq!(headers().await, Value::Null, "{change}");
        let back = json!({ "name": "far", "url": url, "headers": { "x-key": "a" } });
        call("mcp.update", back).await;
        assert_eq!(headers().await, json!(["x-key"]), "{change}");
    }
}

#[tokio::test]
async fn only_a_confirmed_administrator_changes_them() {
    let clock = stopped_clock();
    let options = Options::default().clock(Arc::clone(&clock));
    let (server, owner) = light_owner(options).await;
    let key = server.api_key(&owner, &["operator.write"]).await;
    let params = json!({ "name": "x", "command": "x" });
    for method in ["mcp.create", "mcp.update"] {
        let refused = key.rpc(method, params.clone()).await;
        assert_eq!(refused, Err("FORBIDDEN".to_owned()), "{method}");
    }
    for method in ["mcp.delete", "mcp.approve"] {
        let refused = key.rpc(method, json!({ "name": "x" })).await;
        assert_eq!(refused, Err("FORBIDDEN".to_owned()), "{method}");
    }
    clock.advance(Duration::from_hours(1));
    let refused = owner.rpc("mcp.create", params).await;
    assert_eq!(refused, Err("CONFIRMATION_REQUIRED".to_owned()));
    let off = json!({ "key": "tools.taint", "value": "off" });
    let refused = owner.rpc("config.set", off).await;
    assert_eq!(refused, Err("CONFIRMATION_REQUIRED".to_owned()));
}

#[tokio::test]
async fn a_server_of_the_environment_is_not_deleted_here() {
    let (_far, url) = far("Adds.").await;
    let options = Options::default().env("SERVICE_MCP__SERVERS__FAR__URL", &url);
    let (_server, owner) = light_owner(options).await;
    let name = json!({ "name": "far" });
    let tested = owner.rpc("mcp.test", name.clone()).await.unwrap();
    assert_eq!(
        (&tested["fixed"], &tested["state"]),
        (&json!(true), &json!("connected"))
    );
    // Tools that exist before the upgrade are approved unchanged.
    assert_eq!(tested["tools"][0]["review"], "approved");
    let refused = owner.rpc("mcp.delete", name).await;
    assert_eq!(refused, Err("CONFLICT".to_owned()));
}

#[tokio::test]
async fn the_status_says_that_strangers_are_not_guarded_against() {
    let (_server, owner) = light_owner(Options::default()).await;
    let taint_off = async || {
        let status = owner.rpc("system.status", json!({})).await.unwrap();
        status["taint_off"].clone()
    };
    assert_eq!(taint_off().await, false);
    let off = json!({ "key": "tools.taint", "value": "off" });
    owner.rpc("config.set", off).await.unwrap();
    assert_eq!(taint_off().await, true);
}

#[tokio::test]
async fn every_hidden_character_of_a_description_is_shown_and_counted() {
    let (_far, url) = far("Echo\u{202E} te\u{200B}xt\u{E0041}\u{E0042} \u{1B}[31m").await;
    let (_server, owner) = light_owner(Options::default()).await;
    let made = json!({ "name": "far", "url": url });
    let made = owner.rpc("mcp.create", made).await.unwrap();
    let form = &made["tools"][0]["approved"];
    let shown = "Echo\\u{202E} te\\u{200B}xt\\u{E0041}\\u{E0042} \\u{1B}[31m";
    assert_eq!(form["description"], shown, "{made}");
    assert_eq!(form["hidden"], 5, "{made}");
}

#[tokio::test]
async fn a_value_that_a_server_cannot_have_is_named_as_the_caller_named_it() {
    let (_server, owner) = light_owner(Options::default()).await;
    let field = async |method: &str, params: Value| {
        let reply = owner.rpc_reply(method, params).await.expect(200);
        let data = &reply["error"]["data"];
        assert_eq!(data["code"], "INVALID_PARAMS", "{reply}");
        data["field"].clone()
    };
    for env in [json!({ "LD_PRELOAD": { "vault": "A" } }), json!({ "X": 5 })] {
        let new = json!({ "name": "x", "command": "cat", "env": env });
        assert_eq!(field("mcp.create", new).await, "env");
    }
    let (_far, url) = far("Adds.").await;
    let far = json!({ "name": "far", "url": url });
    owner.rpc("mcp.create", far).await.unwrap();
    let changed = json!({ "name": "far", "headers": { "x y": "z" } });
    assert_eq!(field("mcp.update", changed).await, "headers");
    let set = json!({ "key": "log.level", "value": "loud" });
    assert_eq!(field("config.set", set).await, "value");
}
