//! `gatehouse export`, with a real server.

use crate::process::{Installation, PASSWORD, Server, make_key, mode};
use serde_json::{Value, json};
use std::path::Path;

/// More deliveries than a page has.
const DELIVERIES: usize = 501;

fn records(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn export(installation: &Installation, server: &Server, key: &str, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["--url", &server.url, "--api-key", key, "export"];
    all.extend(args);
    records(&installation.run(&all).ok())
}

#[tokio::test]
async fn deliveries_conversations_and_the_audit_log_are_written_as_lines() {
    let mut installation = Installation::new();
    installation.env("SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE", "1000");
    let server = installation.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&installation).await;
    let server = installation.start();
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    let webhook = json!({ "name": "House", "source_profile": "generic", "auth_mode": "none", "deliver_only": true, "rate_limit_per_minute": 1000 });
    let webhook = server.rpc(&key, "webhooks.create", webhook).await["result"].clone();
    let path = webhook["url"].as_str().unwrap();
    let path = &path[path.find("/api/").unwrap()..];
    for number in 0..DELIVERIES {
        let reply = server.post(path, json!({ "number": number })).await;
        assert_eq!(reply.status, 202, "{}", reply.body);
    }

    let deliveries = export(&installation, &server, &key, &["deliveries", "--payloads"]);
    assert_eq!(deliveries.len(), DELIVERIES);
    assert_eq!(deliveries[0]["payload"]["number"], DELIVERIES - 1);
    let since = deliveries[2]["received_at"].as_str().unwrap();
    let some = export(
        &installation,
        &server,
        &key,
        &["deliveries", "--until", since],
    );
    assert!(!some.is_empty() && some.len() < DELIVERIES - 2);
    assert!(some[0].get("payload").is_none());
    let connection = ["--url", &server.url, "--api-key", &key];
    let none = [
        &connection[..],
        &["export", "deliveries", "--webhook", "hook_none"],
    ]
    .concat();
    assert!(installation.run(&none).failed(1).contains("does not exist"));

    let session = server.rpc(&key, "sessions.create", json!({ "label": "Bread" }));
    assert!(session.await["error"].is_null());
    let conversations = export(&installation, &server, &key, &["conversations"]);
    let bread = conversations.iter().find(|one| one["label"] == "Bread");
    assert_eq!(bread.unwrap()["messages"], json!([]));
    let at = bread.unwrap()["updated_at"].as_str().unwrap();
    let within = |flags: &[&str]| {
        let args = [&["conversations"], flags].concat();
        let found = export(&installation, &server, &key, &args);
        found.iter().any(|one| one["label"] == "Bread")
    };
    // The period begins at `--since` and ends before `--until`.
    assert!(within(&["--since", at]) && !within(&["--until", at]));
    assert!(!within(&["--since", "2100-01-01T00:00:00Z"]));
    assert!(within(&["--until", "2100-01-01T00:00:00Z"]));

    let file = installation.data_dir().join("audit.jsonl");
    let to = file.to_str().unwrap();
    let args = [&connection[..], &["export", "audit", "--to", to]].concat();
    installation.run(&args).ok();
    assert_eq!(mode(Path::new(to)), 0o600);
    let events = records(&tokio::fs::read_to_string(&file).await.unwrap());
    assert!(
        events
            .iter()
            .any(|event| event["kind"] == "setup.completed"),
        "{events:?}"
    );
    // An existing file is not replaced.
    installation.run(&args).failed(1);
    let wrong = [
        "--url",
        &server.url,
        "--api-key",
        "mk_none",
        "export",
        "audit",
    ];
    installation.run(&wrong).failed(1);
}
