//! `models.list`, `providers.list`, `providers.test`, and known context windows.

use crate::harness::{Harness, model_of, provider, tuning};
use crate::vendor::{Answer, Then, Vendor, nobody};
use gatehouse_models::ProviderKind::{Anthropic, Openai};
use gatehouse_models::{ModelError, ModelsSettings, ProviderInfo, Tuning};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

fn list(names: &[&str]) -> Value {
    let data: Vec<Value> = names
        .iter()
        .map(|name| json!({ "id": name, "object": "model" }))
        .collect();
    json!({ "object": "list", "data": data })
}

async fn ids(models: &gatehouse_models::Models) -> Vec<String> {
    models
        .list()
        .await
        .into_iter()
        .map(|model| model.id)
        .collect()
}

#[tokio::test]
async fn every_provider_tells_its_models_and_a_bad_one_hides_none() {
    let harness = Harness::new().await;
    // <https://platform.claude.com/docs/en/api/models-list>
    let claude = json!({
        "data": [{ "type": "model", "id": "claude-x", "display_name": "X", "created_at": "2025-02-19T00:00:00Z" }],
        "has_more": false, "first_id": "claude-x", "last_id": "claude-x",
    });
    let with_context =
        json!({ "data": [{ "id": "m/1", "max_model_len": 4096 }, { "id": 7 }, { "id": "" }] });
    let anthropic = Vendor::new([Answer::json(200, &claude)]).await;
    let openai = Vendor::new([Answer::json(200, &with_context)]).await;
    let failing = Vendor::new([Answer::json(500, &json!({}))]).await;
    let garbage = Vendor::new([Answer::stream(["<html>"])]).await;
    let bare = Vendor::new([Answer::json(200, &json!([{ "id": "bare" }]))]).await;
    let unasked = Vendor::new([]).await;
    let mut settings = ModelsSettings::default();
    let nobody = nobody().await;
    for (id, kind, url) in [
        ("a", Anthropic, &anthropic.url),
        ("o", Openai, &openai.url),
        ("failing", Openai, &failing.url),
        ("garbage", Openai, &garbage.url),
        ("bare", Openai, &bare.url),
        ("nobody", Openai, &nobody),
    ] {
        settings
            .providers
            .insert(id.to_owned(), provider(kind, url, Some("sk")));
    }
    let mut named = provider(Openai, &unasked.url, Some("sk"));
    named.models = vec!["b".to_owned(), "gpt-4o".to_owned()];
    settings.providers.insert("named".to_owned(), named);
    let models = harness.models(settings);
    assert_eq!(
        ids(&models).await,
        [
            "a/claude-x",
            "bare/bare",
            "named/b",
            "named/gpt-4o",
            "o/m/1"
        ]
    );
    let asked = anthropic.only();
    assert_eq!(asked.path, "/v1/models?limit=1000");
    assert_eq!(asked.header("x-api-key"), Some("sk"));
    assert_eq!(openai.only().header("authorization"), Some("Bearer sk"));
    assert!(unasked.asked().is_empty());
    // Successful lists are cached. Failed lists are requested again.
    let again = models.list().await;
    assert_eq!(again.len(), 5);
    openai.only();
    assert_eq!(failing.asked().len(), 2);
    assert_eq!(again[4].facts.context, Some(4096));
    assert_eq!(models.facts(&model_of("o", "m/1")).context, Some(4096));
    assert_eq!(models.facts(&model_of("o", "m/2")).context, None);
    assert_eq!(
        models.facts(&model_of("named", "gpt-4o")).context,
        Some(128_000)
    );
    harness.clock.advance(Duration::from_mins(5));
    openai.then_answers(Answer::json(200, &list(&["new"])));
    assert!(ids(&models).await.contains(&"o/new".to_owned()));
}

#[tokio::test]
async fn a_slow_or_endless_list_is_given_up() {
    let harness = Harness::new().await;
    let slow = Vendor::new([Answer::stream(["{\"data\":["]).then(Then::Hang)]).await;
    let endless = Vendor::new([Answer::stream(["["]).then(Then::Repeat("{\"id\":\"x\"},"))]).await;
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("slow".to_owned(), provider(Openai, &slow.url, None));
    let mut short = tuning();
    short.timeouts.list = Duration::from_millis(50);
    let models = harness.models_with(settings, short);
    assert!(ids(&models).await.is_empty());
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("endless".to_owned(), provider(Openai, &endless.url, None));
    assert!(ids(&harness.models(settings)).await.is_empty());
}

#[tokio::test]
async fn a_list_holds_at_most_a_thousand() {
    let harness = Harness::new().await;
    for (count, listed) in [(1000, 1000), (1001, 1000)] {
        let names: Vec<String> = (0..count).map(|n| format!("m{n:04}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let vendor = Vendor::new([Answer::json(200, &list(&names))]).await;
        let mut settings = ModelsSettings::default();
        settings
            .providers
            .insert("p".to_owned(), provider(Openai, &vendor.url, None));
        assert_eq!(harness.models(settings).list().await.len(), listed);
    }
}

#[tokio::test]
async fn testing_a_provider() {
    let harness = Harness::new().await;
    let refused = json!({ "error": { "message": "Incorrect API key", "code": "invalid_api_key" } });
    let vendor = Vendor::new([
        Answer::json(200, &list(&["a", "b"])),
        Answer::json(401, &refused),
    ])
    .await;
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("p".to_owned(), provider(Openai, &vendor.url, Some("sk")));
    let models = harness.models(settings);
    let tested = models.test("p", None).await.unwrap();
    assert_eq!((tested.ok, tested.models), (true, Some(2)));
    let wire = serde_json::to_value(tested).unwrap();
    assert_eq!(wire, json!({ "ok": true, "latency_ms": 0, "models": 2 }));
    // The test bypasses the cache.
    let error = models.test("p", None).await.unwrap_err();
    let expected = matches!(
        error,
        ModelError::Failed {
            status: Some(401),
            retryable: false,
            ..
        }
    );
    assert!(expected, "{error:?}");
    let error = models.test("nobody", None).await.unwrap_err();
    assert!(
        matches!(error, ModelError::NotConfigured { .. }),
        "{error:?}"
    );
    let error = models.test("openai", None).await.unwrap_err();
    assert!(
        matches!(error, ModelError::NotConfigured { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_facts_listed_about_providers() {
    let harness = Harness::new().await;
    let far = Url::parse("https://models.example.com/v1").unwrap();
    let other = Url::parse("https://other.example.com/v1").unwrap();
    let near = Url::parse("http://127.0.0.1:9/v1/").unwrap();
    harness
        .store_key("far", "sk-0123456789abcd", far.as_str())
        .await;
    harness
        .store_key("moved", "sk-0123456789abcd", far.as_str())
        .await;
    let mut settings = ModelsSettings {
        openai_api_key: Some(SecretString::from("sk")),
        ..Default::default()
    };
    for (id, url, key) in [
        ("far", &far, None),
        ("moved", &other, None),
        ("given", &other, Some("k")),
        ("near", &near, None),
    ] {
        settings
            .providers
            .insert(id.to_owned(), provider(Openai, url, key));
    }
    let all = harness.models(settings).providers().await.unwrap();
    let shown = |id: &str| -> (bool, bool, Option<String>, String) {
        let found = all
            .iter()
            .find(|provider| provider.id == id)
            .unwrap()
            .clone();
        let ProviderInfo {
            configured,
            detected,
            key_hint,
            base_url,
            ..
        } = found;
        (configured, detected, key_hint, base_url)
    };
    let (far, other) = (
        "https://models.example.com/v1",
        "https://other.example.com/v1",
    );
    assert_eq!(
        shown("far"),
        (true, false, Some("…abcd".to_owned()), far.to_owned())
    );
    assert_eq!(shown("moved"), (false, false, None, other.to_owned()));
    let key_for = |id: &str| {
        let mut found = all.iter().filter(|provider| provider.id == id);
        found
            .next()
            .and_then(|provider| provider.key_for.as_deref())
    };
    assert_eq!(key_for("moved"), Some(far), "where its key belongs");
    assert_eq!(key_for("far"), None);
    assert_eq!(shown("given"), (true, false, None, other.to_owned()));
    assert_eq!(
        shown("near"),
        (true, false, None, "http://127.0.0.1:9/v1".to_owned())
    );
    assert_eq!(
        shown("openai"),
        (true, true, None, "https://api.openai.com/v1".to_owned())
    );
    assert_eq!(
        shown("anthropic"),
        (
            false,
            false,
            None,
            "https://api.anthropic.com/v1".to_owned()
        )
    );
    let ids: Vec<&str> = all.iter().map(|provider| provider.id.as_str()).collect();
    assert_eq!(
        ids,
        ["anthropic", "far", "given", "moved", "near", "openai"]
    );
}

#[tokio::test]
async fn a_local_server_is_listed_when_it_is_there() {
    let harness = Harness::new().await;
    let vendor = Vendor::new([Answer::json(200, &list(&["llama3.2"]))]).await;
    let near = |url: &Url| Tuning {
        local: Some(url.clone()),
        ..tuning()
    };
    let models = harness.models_with(ModelsSettings::default(), near(&vendor.url));
    assert_eq!(ids(&models).await, ["ollama/llama3.2"]);
    let all = models.providers().await.unwrap();
    let local = all.iter().find(|provider| provider.id == "ollama").unwrap();
    assert!(local.configured && local.detected);
    let models = harness.models_with(ModelsSettings::default(), near(&nobody().await));
    assert!(ids(&models).await.is_empty());
    assert_eq!(models.providers().await.unwrap().len(), 2);
}
