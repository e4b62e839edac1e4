//! `voice.personas.*`.

use super::{bad, blamed, with_vendor};
use crate::steps::light_owner;
use gatehouse_testkit::Options;
use serde_json::{Value, json};

#[tokio::test]
async fn a_persona_is_made_changed_made_active_and_deleted() {
    let (server, owner) = light_owner(Options::default()).await;
    let empty = json!({ "personas": [], "active": null });
    assert_eq!(
        owner.rpc("voice.personas.list", json!({})).await.unwrap(),
        empty
    );
    let new = json!({
        "label": "Night Watch", "provider": "elevenlabs", "prompt": { "style": "calm" },
        "provider_bindings": [{ "provider": "openai", "voiceId": "onyx", "speed": 0.25 }],
    });
    let made = owner.rpc("voice.personas.create", new).await.unwrap();
    assert_eq!(made["id"], "night-watch");
    assert_eq!(made["provider"], "tts_cloud_1");
    assert_eq!(made["providerBindings"][0]["provider"], "tts_cloud_2");
    assert_eq!(made["providerBindings"][0]["voice_id"], "onyx");
    assert_eq!(made["fallbackPolicy"], "preserve-persona");
    assert_eq!(made["active"], false);
    for name in [
        "profile",
        "style",
        "accent",
        "pacing",
        "scene",
        "constraints",
    ] {
        assert!(made["prompt"][name].is_string(), "{name}");
    }
    let id = json!({ "id": "night-watch" });
    assert_eq!(
        owner.rpc("voice.personas.get", id.clone()).await.unwrap(),
        made
    );
    let change = json!({ "id": "night-watch", "persona": { "description": "By night" } });
    let changed = owner.rpc("voice.personas.update", change).await.unwrap();
    assert_eq!(
        (&changed["description"], &changed["label"]),
        (&json!("By night"), &json!("Night Watch"))
    );
    let active = owner
        .rpc(
            "voice.personas.set_active",
            json!({ "persona": "night-watch" }),
        )
        .await;
    assert_eq!(active.unwrap(), json!({ "active": "night-watch" }));
    let server = server.restart().await;
    let owner = owner.at(server.address());
    let list = owner.rpc("voice.personas.list", json!({})).await.unwrap();
    assert_eq!(
        (&list["active"], &list["personas"][0]["active"]),
        (&json!("night-watch"), &json!(true))
    );
    let bootstrap = owner.get("/api/bootstrap").await.expect(200);
    assert_eq!(bootstrap["active_persona"], "night-watch");
    let deleted = owner.rpc("voice.personas.delete", id).await.unwrap();
    assert_eq!(deleted, json!({ "ok": true }));
    assert_eq!(
        owner.rpc("voice.personas.list", json!({})).await.unwrap(),
        empty
    );
    let bootstrap = owner.get("/api/bootstrap").await.expect(200);
    assert_eq!(bootstrap["active_persona"], Value::Null);
}

#[tokio::test]
async fn personas_come_in_pages_by_label() {
    let (_server, owner) = light_owner(Options::default()).await;
    for (id, label) in [("z", "A"), ("b", "B"), ("y", "A"), ("c", "C")] {
        let new = json!({ "id": id, "label": label });
        owner.rpc("voice.personas.create", new).await.unwrap();
    }
    let active = json!({ "id": "c" });
    owner
        .rpc("voice.personas.set_active", active)
        .await
        .unwrap();
    let ids = |list: &Value| -> Vec<String> {
        let all = list["personas"].as_array().unwrap().iter();
        all.map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let list = async |params: Value| owner.rpc("voice.personas.list", params).await;
    let all = list(json!({})).await.unwrap();
    assert_eq!(ids(&all), ["y", "z", "b", "c"]);
    assert!(all.get("next_cursor").is_none());
    let first = list(json!({ "limit": 3 })).await.unwrap();
    assert_eq!((ids(&first).len(), &first["active"]), (3, &json!("c")));
    let next = json!({ "limit": 3, "cursor": first["next_cursor"] });
    let rest = list(next).await.unwrap();
    assert_eq!(ids(&rest), ["c"]);
    assert!(rest.get("next_cursor").is_none());
    for limit in [0, 501] {
        let refused = blamed(&owner, "voice.personas.list", json!({ "limit": limit })).await;
        assert_eq!(refused, bad("INVALID_PARAMS", "limit"));
    }
    assert_eq!(ids(&list(json!({ "limit": 500 })).await.unwrap()).len(), 4);
}

#[tokio::test]
async fn none_is_nobody() {
    let (_server, owner) = light_owner(Options::default()).await;
    for id in ["a", "b"] {
        owner
            .rpc("voice.personas.create", json!({ "id": id, "label": "A" }))
            .await
            .unwrap();
    }
    for (given, active) in [
        (json!("a"), json!("a")),
        (json!("b"), json!("b")),
        (json!("none"), Value::Null),
        (json!("a"), json!("a")),
        (Value::Null, Value::Null),
    ] {
        let set = owner
            .rpc("voice.personas.set_active", json!({ "id": given }))
            .await
            .unwrap();
        assert_eq!(set, json!({ "active": active }));
        let list = owner.rpc("voice.personas.list", json!({})).await.unwrap();
        assert_eq!(list["active"], active);
    }
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let (_server, owner) = light_owner(Options::default()).await;
    owner
        .rpc("voice.personas.create", json!({ "id": "a", "label": "A" }))
        .await
        .unwrap();
    for (method, params, expected) in [
        ("create", json!({}), bad("INVALID_PARAMS", "label")),
        (
            "create",
            json!({ "label": "B", "id": "none" }),
            bad("INVALID_PARAMS", "id"),
        ),
        (
            "create",
            json!({ "label": "B", "id": "a b" }),
            bad("INVALID_PARAMS", "id"),
        ),
        (
            "create",
            json!({ "label": "B", "colour": 1 }),
            bad("INVALID_PARAMS", "colour"),
        ),
        (
            "create",
            json!({ "label": "B", "provider": "whisper" }),
            bad("INVALID_PARAMS", "provider"),
        ),
        (
            "create",
            json!({ "label": "B", "id": "a" }),
            bad("CONFLICT", ""),
        ),
        (
            "update",
            json!({ "id": "nobody", "label": "B" }),
            bad("NOT_FOUND", ""),
        ),
        (
            "update",
            json!({ "label": "B" }),
            bad("INVALID_PARAMS", "id"),
        ),
        ("get", json!({}), bad("INVALID_PARAMS", "id")),
        ("get", json!({ "id": "nobody" }), bad("NOT_FOUND", "")),
        ("delete", json!({ "id": "nobody" }), bad("NOT_FOUND", "")),
        (
            "set_active",
            json!({ "id": "nobody" }),
            bad("NOT_FOUND", ""),
        ),
        ("set_active", json!({}), bad("INVALID_PARAMS", "id")),
        (
            "list",
            json!({ "limit": 0 }),
            bad("INVALID_PARAMS", "limit"),
        ),
    ] {
        let method = format!("voice.personas.{method}");
        let refused = blamed(&owner, &method, params.clone()).await;
        assert_eq!(refused, expected, "{method} {params}");
    }
}

#[tokio::test]
async fn changes_are_published() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut socket = server.socket(&owner, "/ws").await;
    let made = owner
        .rpc("voice.personas.create", json!({ "label": "A" }))
        .await
        .unwrap();
    assert_eq!(socket.event("voice.persona").await.unwrap(), made);
    owner
        .rpc("voice.personas.set_active", json!({ "id": "a" }))
        .await
        .unwrap();
    let received = socket.event("voice.persona").await.unwrap();
    assert_eq!(
        (&received["id"], &received["active"]),
        (&json!("a"), &json!(true))
    );
    owner
        .rpc("voice.personas.delete", json!({ "id": "a" }))
        .await
        .unwrap();
    let received = socket.event("voice.persona").await.unwrap();
    assert_eq!(
        (&received["id"], &received["deleted"]),
        (&json!("a"), &json!(true))
    );
}

#[tokio::test]
async fn a_persona_speaks() {
    let (_server, owner, vendor) = with_vendor(Options::default()).await;
    let persona = |id: &str, policy: &str, bindings: Value| {
        json!({
            "id": id, "label": id, "prompt": { "style": "whispering" }, "fallbackPolicy": policy,
            "providerBindings": bindings,
        })
    };
    let bound = json!([{ "provider": "tts_cloud_2", "voice": "onyx", "speed": 0.5 }]);
    for new in [
        persona("bound", "fail", bound),
        persona("plain", "preserve-persona", json!([])),
        persona("shy", "provider-defaults", json!([])),
        persona("strict", "fail", json!([])),
    ] {
        owner.rpc("voice.personas.create", new).await.unwrap();
    }
    let say = |extra: Value| {
        let mut params = json!({ "text": "Hello", "format": "pcm", "model": "gpt-4o-mini-tts" });
        for (name, value) in extra.as_object().unwrap() {
            params[name.as_str()] = value.clone();
        }
        params
    };
    owner
        .rpc("voice.personas.set_active", json!({ "id": "bound" }))
        .await
        .unwrap();
    for (extra, who, voice, speed, instructed) in [
        (json!({}), json!("bound"), json!("onyx"), json!(0.5), true),
        (
            json!({ "voiceId": "nova", "speed": 2 }),
            json!("bound"),
            json!("nova"),
            json!(2.0),
            true,
        ),
        (
            json!({ "personaId": "plain" }),
            json!("plain"),
            json!("alloy"),
            Value::Null,
            true,
        ),
        (
            json!({ "persona": "shy" }),
            json!("shy"),
            json!("alloy"),
            Value::Null,
            false,
        ),
        (
            json!({ "persona": "none" }),
            Value::Null,
            json!("alloy"),
            Value::Null,
            false,
        ),
    ] {
        let made = owner.rpc("tts.convert", say(extra.clone())).await.unwrap();
        assert_eq!(made["persona"], who, "{extra}");
        if made["cached"] == false {
            let heard = vendor.heard();
            let heard = heard.last().unwrap();
            assert_eq!(
                (&heard["voice"], &heard["speed"]),
                (&voice, &speed),
                "{extra}"
            );
            let instructions = heard["instructions"].as_str().unwrap_or_default();
            assert_eq!(instructions.contains("whispering"), instructed, "{extra}");
        }
    }
    let calls = vendor.heard().len();
    let refused = blamed(&owner, "tts.convert", say(json!({ "persona": "strict" }))).await;
    assert_eq!(refused, bad("NOT_CONFIGURED", "persona_binding"));
    assert_eq!(vendor.heard().len(), calls);
}
