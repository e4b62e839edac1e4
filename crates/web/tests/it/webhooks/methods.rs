//! `webhooks.*` over RPC.

use super::{made, send, until};
use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::{Value, json};

#[tokio::test]
async fn the_life_of_a_webhook() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "name": "Builds" })).await;
    assert_eq!(hook.record["name"], "Builds");
    let shown = owner
        .rpc("webhooks.get", json!({ "id": hook.id() }))
        .await
        .unwrap();
    assert_eq!(shown.get("secret"), None);
    assert!(
        shown["url"].as_str().unwrap().ends_with(&hook.path()),
        "{shown}"
    );
    let listed = owner
        .rpc("webhooks.list", json!({ "limit": 1 }))
        .await
        .unwrap();
    assert_eq!(listed, json!({ "webhooks": [shown] }));
    let changed = json!({ "id": hook.id(), "name": "Other", "events": ["push"], "agent": null });
    let changed = owner.rpc("webhooks.update", changed).await.unwrap();
    assert_eq!(
        (&changed["name"], &changed["events"]["allow"]),
        (&json!("Other"), &json!(["push"]))
    );
    let rotated = json!({ "id": hook.id(), "overlap_seconds": 60 });
    let rotated = owner.rpc("webhooks.rotate_secret", rotated).await.unwrap();
    let members: Vec<_> = rotated.as_object().unwrap().keys().collect();
    assert_eq!(members, ["secret"]);
    let remote = server.remote();
    for secret in [hook.secret(), rotated["secret"].as_str().unwrap()] {
        let headers = [("x-webhook-secret", secret), ("x-event-type", "push")];
        send(
            &remote,
            &hook.path(),
            &headers,
            secret[..4].to_owned() + "0",
        )
        .await;
    }
    let tested = json!({ "id": hook.id(), "event": "push" });
    let tested = owner.rpc("webhooks.test", tested).await.unwrap();
    assert_eq!(tested["status"], "queued");
    let id = json!({ "id": tested["delivery_id"] });
    let replayed = owner
        .rpc("webhooks.delivery.replay", id.clone())
        .await
        .unwrap();
    assert_eq!(replayed["replay_of"], tested["delivery_id"]);
    let stats = json!({ "id": hook.id(), "hours": 2 });
    let stats = owner.rpc("webhooks.stats", stats).await.unwrap();
    assert_eq!(stats["buckets"].as_array().unwrap().len(), 2);
    assert_eq!(
        owner
            .rpc("webhooks.delete", json!({ "id": hook.id() }))
            .await
            .unwrap(),
        json!({ "ok": true })
    );
    let gone = json!({ "id": hook.id() });
    for method in [
        "webhooks.get",
        "webhooks.delete",
        "webhooks.test",
        "webhooks.deliveries",
    ] {
        let refused = owner.rpc(method, gone.clone()).await;
        assert_eq!(refused, Err("NOT_FOUND".to_owned()), "{method}");
    }
    for method in [
        "webhooks.delivery.get",
        "webhooks.delivery.payload",
        "webhooks.delivery.replay",
    ] {
        assert_eq!(
            owner.rpc(method, id.clone()).await,
            Err("NOT_FOUND".to_owned()),
            "{method}"
        );
    }
}

#[tokio::test]
async fn params_that_are_wrong_are_named() {
    let (_server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({})).await;
    let id = hook.id();
    for (method, params, field) in [
        ("webhooks.create", json!({}), "name"),
        (
            "webhooks.create",
            json!({ "name": "n", "colour": 1 }),
            "colour",
        ),
        (
            "webhooks.create",
            json!({ "name": "n", "auth_mode": "x" }),
            "auth_mode",
        ),
        (
            "webhooks.create",
            json!({ "name": "n", "deliver_to": "pigeon" }),
            "deliver_to",
        ),
        ("webhooks.update", json!({ "name": "n" }), "id"),
        ("webhooks.update", json!({ "id": 1 }), "id"),
        (
            "webhooks.update",
            json!({ "id": id, "colour": 1 }),
            "colour",
        ),
        (
            "webhooks.update",
            json!({ "id": id, "maxBodyBytes": 0 }),
            "max_body_bytes",
        ),
        ("webhooks.get", json!({}), "id"),
        (
            "webhooks.rotate_secret",
            json!({ "id": id, "overlap_seconds": -1 }),
            "overlap_seconds",
        ),
        (
            "webhooks.rotate_secret",
            json!({ "id": id, "overlap_seconds": 2_592_001 }),
            "overlap_seconds",
        ),
        (
            "webhooks.rotate_secret",
            json!({ "id": id, "secret": "" }),
            "secret",
        ),
        ("webhooks.deliveries", json!({ "status": "done" }), "status"),
        ("webhooks.deliveries", json!({ "limit": 501 }), "limit"),
        ("webhooks.deliveries", json!({ "cursor": "x" }), "cursor"),
        ("webhooks.deliveries", json!({ "q": "x".repeat(201) }), "q"),
        ("webhooks.stats", json!({ "hours": 721 }), "hours"),
        ("webhooks.stats", json!({ "hours": 0 }), "hours"),
        ("webhooks.test", json!({ "id": id, "event": "" }), "event"),
        ("webhooks.profiles", json!({ "x": 1 }), "x"),
        (
            "webhooks.schedule.preview",
            json!({ "schedule": { "cron": "x" } }),
            "schedule",
        ),
        (
            "webhooks.schedule.preview",
            json!({ "schedule": { "at": "2020-01-01T00:00:00Z" } }),
            "schedule",
        ),
    ] {
        let reply = owner.rpc_reply(method, params.clone()).await.expect(200);
        let data = &reply["error"]["data"];
        assert_eq!(
            (&data["code"], &data["field"]),
            (&json!("INVALID_PARAMS"), &json!(field)),
            "{method} {params}: {reply}"
        );
    }
}

#[tokio::test]
async fn the_profiles_say_how_to_set_each_sender_up() {
    let (_server, owner) = light_owner(Options::default()).await;
    let answer = owner.rpc("webhooks.profiles", json!({})).await.unwrap();
    let profiles = answer["profiles"].as_array().unwrap();
    let named = |id: &str| profiles.iter().find(|profile| profile["id"] == id).unwrap();
    assert_eq!(profiles[0]["id"], "generic");
    assert_eq!(named("generic")["alias"], Value::Null);
    let repo = named("codehost_a");
    assert_eq!(repo["alias"], "github");
    assert_eq!(repo["default_auth_mode"], "codehost_a_hmac_sha256");
    assert_eq!(repo["events"][0]["type"], "pull_request.opened");
    for profile in profiles {
        let has_url = profile["guide"].as_str().unwrap().contains("{url}");
        assert_eq!(has_url, profile["id"] != "schedule", "{profile}");
        assert!(profile["events"].is_array() && profile["headers"].is_array());
        assert!(!profile["sample"]["payload"].as_object().unwrap().is_empty());
        let mode = &profile["default_auth_mode"];
        let modes = answer["auth_modes"].as_array().unwrap();
        assert!(modes.iter().any(|known| known["id"] == *mode), "{mode}");
    }
    assert_eq!(repo["sample"]["payload"]["action"], "opened");
    assert_eq!(repo["more_events"][0]["type"], "pull_request.reopened");
}

#[tokio::test]
async fn deliveries_are_listed_by_what_they_are() {
    let (server, owner) = light_owner(Options::default()).await;
    let hook = made(&owner, json!({ "auth_mode": "none", "events": ["push"] })).await;
    let remote = server.remote();
    for (event, body) in [("push", "\"alpha\""), ("fork", "\"beta\"")] {
        send(&remote, &hook.path(), &[("x-event-type", event)], body).await;
    }
    drop(until(&owner, &hook, 2).await);
    for (params, count) in [
        (json!({}), 2),
        (json!({ "id": hook.id() }), 2),
        (json!({ "status": "filtered" }), 1),
        (json!({ "event": "push" }), 1),
        (json!({ "q": "BETA" }), 1),
        (json!({ "q": "gamma" }), 0),
        (json!({ "limit": 1 }), 1),
    ] {
        let listed = owner
            .rpc("webhooks.deliveries", params.clone())
            .await
            .unwrap();
        let found = listed["deliveries"].as_array().unwrap().len();
        assert_eq!(found, count, "{params}");
    }
}
