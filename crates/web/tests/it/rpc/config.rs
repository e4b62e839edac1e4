//! `config.*`.

use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options};
use serde_json::{Value, json};

async fn value(owner: &Actor, key: &str) -> (Value, String) {
    let got = owner
        .rpc("config.get", json!({ "keys": [key] }))
        .await
        .unwrap();
    let values = got["values"].as_array().unwrap();
    assert_eq!(values.len(), 1, "{got}");
    (
        values[0]["value"].clone(),
        values[0]["origin"].as_str().unwrap().to_owned(),
    )
}

async fn set(owner: &Actor, key: &str, value: Value) -> Result<Value, String> {
    owner
        .rpc("config.set", json!({ "key": key, "value": value }))
        .await
}

#[tokio::test]
async fn a_change_holds_over_a_restart_and_null_takes_it_back() {
    let (server, owner) = light_owner(Options::default()).await;
    assert_eq!(
        value(&owner, "metrics.enabled").await,
        (json!(true), "default".into())
    );
    let changed = set(&owner, "metrics.enabled", json!(false)).await.unwrap();
    assert_eq!(
        (&changed["value"], &changed["origin"]),
        (&json!(false), &json!("settings"))
    );
    let server = server.restart().await;
    let owner = owner.at(server.address());
    assert_eq!(
        value(&owner, "metrics.enabled").await,
        (json!(false), "settings".into())
    );
    set(&owner, "metrics.enabled", Value::Null).await.unwrap();
    assert_eq!(
        value(&owner, "metrics.enabled").await,
        (json!(true), "default".into())
    );
}

#[tokio::test]
async fn a_change_is_pending_until_the_restart_that_applies_it() {
    let (server, owner) = light_owner(Options::default()).await;
    let pending = async |owner: &Actor| {
        let described = owner
            .rpc("config.describe", json!({ "keys": [] }))
            .await
            .unwrap();
        assert_eq!(described["settings"], json!([]));
        described.get("restart_pending").cloned()
    };
    assert_eq!(pending(&owner).await, None);
    set(&owner, "server.max_message_bytes", json!(1_000_000))
        .await
        .unwrap();
    set(&owner, "webhooks.retention_days", json!(31))
        .await
        .unwrap();
    assert_eq!(
        pending(&owner).await,
        Some(json!(["server.max_message_bytes"]))
    );
    let server = server.restart().await;
    let owner = owner.at(server.address());
    assert_eq!(pending(&owner).await, None);
    set(&owner, "server.max_message_bytes", Value::Null)
        .await
        .unwrap();
    assert_eq!(
        pending(&owner).await,
        Some(json!(["server.max_message_bytes"]))
    );
}

#[tokio::test]
async fn what_the_environment_fixes_is_a_conflict() {
    let options = Options::default().env("SERVICE_AUTH__STEP_UP", "true");
    let (_server, owner) = light_owner(options).await;
    assert_eq!(
        value(&owner, "auth.step_up").await,
        (json!(true), "environment".into())
    );
    assert_eq!(
        set(&owner, "auth.step_up", json!(false)).await,
        Err("CONFLICT".to_owned())
    );
}

#[tokio::test]
async fn unknown_keys_and_wrong_values_are_refused() {
    let (_server, owner) = light_owner(Options::default()).await;
    for (key, value) in [
        ("auth.stepup", json!(true)),
        ("nothing", json!(1)),
        ("auth", json!({})),
        ("auth.step_up", json!("maybe")),
        ("auth.kdf_concurrency", json!(-1)),
        ("server.external_url", json!("not a url")),
        ("", json!(1)),
    ] {
        assert_eq!(
            set(&owner, key, value.clone()).await,
            Err("INVALID_PARAMS".to_owned()),
            "{key} {value}"
        );
    }
    assert_eq!(
        owner
            .rpc("config.get", json!({ "keys": ["nothing.at.all"] }))
            .await,
        Err("INVALID_PARAMS".to_owned())
    );
}

#[tokio::test]
async fn dangerous_sections_need_the_administrator() {
    let (server, owner) = light_owner(Options::default()).await;
    let write = server.api_key(&owner, &["operator.write"]).await;
    for (key, value) in [
        ("auth.step_up", json!(false)),
        ("vault.plaintext_while_sealed", json!(false)),
        ("server.external_url", json!("https://gate.example")),
        ("proxy.header", json!("x-real-ip")),
        ("network.allow_private", json!(true)),
    ] {
        assert_eq!(
            set(&write, key, value).await,
            Err("FORBIDDEN".to_owned()),
            "{key}"
        );
    }
    set(&write, "log.level", json!("info")).await.unwrap();
    let admin = server.api_key(&owner, &["operator.admin"]).await;
    set(&admin, "auth.step_up", json!(false)).await.unwrap();
}

#[tokio::test]
async fn a_change_is_in_force_at_once() {
    let (server, owner) = light_owner(Options::default()).await;
    let page = || {
        server
            .local()
            .with("cookie", &owner.headers()[0].1)
            .with("origin", "https://other.example")
    };
    page()
        .post("/api/auth/confirm", json!({}))
        .await
        .refused(403, "FORBIDDEN");
    set(
        &owner,
        "server.allowed_origins",
        json!(["https://other.example"]),
    )
    .await
    .unwrap();
    page()
        .post("/api/auth/confirm", json!({}))
        .await
        .refused(400, "INVALID_PARAMS");
}

#[tokio::test]
async fn secrets_are_masked() {
    let options = Options::default().env("SERVICE_DATABASE__URL", "");
    let (_server, owner) = light_owner(options).await;
    let got = owner.rpc("config.get", json!({})).await.unwrap();
    for setting in got["values"].as_array().unwrap() {
        if setting["secret"] == true {
            assert!(
                setting["value"].is_null()
                    || setting["value"]
                        .as_str()
                        .is_some_and(|text| text.chars().all(|c| c == '*' || c == '•')),
                "{setting}"
            );
        }
    }
}

#[tokio::test]
async fn settings_say_what_they_are() {
    let (_server, owner) = light_owner(Options::default()).await;
    let all = owner.rpc("config.describe", json!({})).await.unwrap();
    let shown = owner.rpc("config.get", json!({})).await.unwrap();
    let keys = |list: &Value| {
        let list = list.as_array().unwrap().iter();
        list.map(|setting| setting["key"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&all["settings"]), keys(&shown["values"]));
    let one = async |key: &str| {
        let answer = owner.rpc("config.describe", json!({ "keys": [key] }));
        answer.await.unwrap()["settings"][0].clone()
    };
    let flag = one("models.autodetect").await;
    assert!(flag["doc"].as_str().unwrap().len() > 10, "{flag}");
    assert_eq!(
        (
            &flag["kind"],
            &flag["default"],
            &flag["change"],
            &flag["admin"]
        ),
        (&json!("flag"), &json!(true), &json!("live"), &json!(false))
    );
    let number = one("server.max_message_bytes").await;
    assert_eq!(
        (&number["kind"], &number["max"], &number["admin"]),
        (&json!("whole"), &json!(268_435_456), &json!(true))
    );
    let words = one("log.format").await;
    assert!(words["one_of"].as_array().unwrap().len() > 1, "{words}");
    let unset = one("voice.tts.tts_cloud_1.stability").await;
    assert_eq!(
        (&unset["default"], &unset["example"]),
        (&json!(null), &json!(0.5))
    );
    assert_eq!(number.get("example"), None);
    let never = one("database.url").await;
    assert_eq!(never["change"], "never", "{never}");
    assert!(never["reason"].is_string(), "{never}");
    // `config.set` accepts the settings described as changeable and refuses the others.
    for setting in all["settings"].as_array().unwrap() {
        let is_refused = setting["change"] == "never";
        assert_eq!(
            is_refused,
            setting["reason"].is_string() && setting["change"] != "elsewhere"
        );
    }
    let refused = set(&owner, "database.url", json!("sqlite://x")).await;
    assert!(refused.is_err(), "{refused:?}");
    owner
        .rpc("config.describe", json!({ "keys": ["nothing.at.all"] }))
        .await
        .unwrap_err();
}
