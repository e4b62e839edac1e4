//! `env.*`.

use crate::steps::light_owner;
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;

#[tokio::test]
async fn set_list_overwrite_delete() {
    let (_server, owner) = TestServer::with_owner().await;
    let set = owner
        .rpc("env.set", json!({ "key": "TOKEN", "value": "one" }))
        .await
        .unwrap();
    assert_eq!(
        (&set["key"], &set["encrypted"]),
        (&json!("TOKEN"), &json!(1))
    );
    assert!(set["created_at"].is_string() && set["updated_at"].is_string());
    assert!(set.get("value").is_none() && set.get("warning").is_none());
    owner
        .rpc("env.set", json!({ "key": "TOKEN", "value": "two" }))
        .await
        .unwrap();
    owner
        .rpc("env.set", json!({ "key": "ANOTHER", "value": "" }))
        .await
        .unwrap();
    let listed = owner.rpc("env.list", json!({})).await.unwrap();
    let keys: Vec<_> = listed["env_variables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["key"])
        .collect();
    assert_eq!(keys, ["ANOTHER", "TOKEN"]);
    let first = owner.rpc("env.list", json!({ "limit": 1 })).await.unwrap();
    assert_eq!(first["env_variables"].as_array().unwrap().len(), 1);
    let next = owner
        .rpc(
            "env.list",
            json!({ "limit": 1, "cursor": first["next_cursor"] }),
        )
        .await
        .unwrap();
    assert_eq!(next["env_variables"][0]["key"], "TOKEN");
    assert!(next.get("next_cursor").is_none());
    assert_eq!(
        owner
            .rpc("env.delete", json!({ "key": "TOKEN" }))
            .await
            .unwrap(),
        json!({ "ok": true })
    );
    assert_eq!(
        owner.rpc("env.delete", json!({ "key": "TOKEN" })).await,
        Err("NOT_FOUND".to_owned())
    );
}

#[tokio::test]
async fn names_and_sizes_are_limited() {
    let (_server, owner) = light_owner(Options::default()).await;
    for key in [
        "",
        "1A",
        "A-B",
        "A B",
        "A=B",
        "Ä",
        "PATH",
        "LD_PRELOAD",
        "DYLD_X",
        "SERVICE_API_KEY",
        &"A".repeat(129),
    ] {
        let reply = owner
            .rpc_reply("env.set", json!({ "key": key, "value": "v" }))
            .await
            .expect(200);
        assert_eq!(reply["error"]["data"]["code"], "INVALID_PARAMS", "{key}");
        assert_eq!(reply["error"]["data"]["field"], "key", "{key}");
    }
    for key in ["_", "a", "A1_b", "PATHS", "LDX", &"A".repeat(128)] {
        owner
            .rpc("env.set", json!({ "key": key, "value": "v" }))
            .await
            .unwrap();
    }
    let limit = 64 * 1024;
    owner
        .rpc(
            "env.set",
            json!({ "key": "BIG", "value": "x".repeat(limit) }),
        )
        .await
        .unwrap();
    let over = owner
        .rpc_reply(
            "env.set",
            json!({ "key": "BIG", "value": "x".repeat(limit + 1) }),
        )
        .await
        .expect(200);
    assert_eq!(over["error"]["data"]["field"], "value");
    for limit in [json!(0), json!(501), json!("x"), json!(-1)] {
        let reply = owner
            .rpc_reply("env.list", json!({ "limit": limit }))
            .await
            .expect(200);
        assert_eq!(reply["error"]["data"]["field"], "limit", "{reply}");
    }
    owner
        .rpc("env.list", json!({ "limit": 500 }))
        .await
        .unwrap();
}
