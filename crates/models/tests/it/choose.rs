//! Choosing a model.

use crate::harness::{Harness, hello, listen, model_of, provider, tuning};
use crate::vendor::{Answer, Vendor, events, nobody};
use gatehouse_domain::Problem;
use gatehouse_models::ProviderKind::{Anthropic, Openai};
use gatehouse_models::{ModelError, ModelFacts, ModelRef, Models, ModelsSettings, Tuning};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

fn key(text: &str) -> SecretString {
    SecretString::from(text)
}

async fn chosen(models: &Models, provider: Option<&str>, model: Option<&str>) -> String {
    let chosen = models.choose(provider, model).await;
    chosen
        .as_ref()
        .map_or_else(|error| format!("{error:?}"), ModelRef::to_string)
}

fn what(error: ModelError) -> String {
    let problem = Problem::from(error);
    assert_eq!(problem.code.name(), "NOT_CONFIGURED");
    assert!(problem.message.ends_with('.') && problem.message.len() > 20);
    problem.details["what"].as_str().unwrap().to_owned()
}

fn list(names: &[&str]) -> Value {
    let data: Vec<Value> = names
        .iter()
        .map(|name| json!({ "id": name, "object": "model" }))
        .collect();
    json!({ "object": "list", "data": data })
}

#[tokio::test]
async fn the_agents_choice_then_the_default_then_the_only_one() {
    let harness = Harness::new().await;
    let vendor = Vendor::new([]).await;
    let mut settings = ModelsSettings {
        default: Some("b/second".to_owned()),
        ..Default::default()
    };
    for (id, models) in [("a", vec!["first", "other"]), ("b", vec!["x"])] {
        let mut given = provider(Openai, &vendor.url, Some("k"));
        given.models = models.into_iter().map(str::to_owned).collect();
        settings.providers.insert(id.to_owned(), given);
    }
    let models = harness.models(settings);
    assert_eq!(chosen(&models, Some("a"), Some("mine")).await, "a/mine");
    let error = models.choose(Some("a"), None).await.unwrap_err();
    assert_eq!(what(error), "models.default", "a person chooses");
    assert_eq!(chosen(&models, Some("b"), None).await, "b/second");
    assert_eq!(chosen(&models, None, Some("a/mine")).await, "a/mine");
    assert_eq!(chosen(&models, None, Some("mine")).await, "b/mine");
    assert_eq!(chosen(&models, None, None).await, "b/second");
    assert_eq!(chosen(&models, Some(" "), Some("")).await, "b/second");
    models.update_settings(ModelsSettings {
        providers: [("z".to_owned(), provider(Openai, &vendor.url, Some("k")))].into(),
        openai_api_key: Some(key("sk")),
        ..Default::default()
    });
    // Providers of the settings take precedence over detected ones.
    vendor.then_answers(Answer::json(200, &list(&["text-embedding-3", "chatty"])));
    assert_eq!(chosen(&models, None, None).await, "z/chatty");
    harness.clock.advance(Duration::from_mins(5));
    vendor.then_answers(Answer::json(200, &list(&["chatty", "chattier"])));
    let error = models.choose(None, None).await.unwrap_err();
    assert_eq!(what(error), "models.default", "never the first of a list");
}

#[tokio::test]
async fn the_models_that_the_settings_name_are_configured() {
    let harness = Harness::new().await;
    let url = Url::parse("https://models.example.com/v1").unwrap();
    let mut given = provider(Openai, &url, Some("k"));
    given.models = vec!["listed".to_owned()];
    let facts = ModelFacts::default();
    given.facts.insert("priced".to_owned(), facts);
    let models = harness.models(ModelsSettings {
        default: Some("p/lab/default".to_owned()),
        providers: [("p".to_owned(), given)].into(),
        ..Default::default()
    });
    for (provider, model, expected) in [
        ("p", "lab/default", true),
        ("p", "listed", true),
        ("p", "priced", true),
        ("p", "other", false),
        ("anthropic", "claude-sonnet-4-5", true),
        ("anthropic", "other", false),
        ("anthropic", "listed", false),
        ("nobody", "listed", false),
    ] {
        let is_configured = models.is_configured(&model_of(provider, model));
        assert_eq!(is_configured, expected, "{provider}/{model}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_or_has_no_key() {
    let harness = Harness::new().await;
    let far = Url::parse("https://models.example.com/v1").unwrap();
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("far".to_owned(), provider(Openai, &far, None));
    let models = harness.models(settings);
    for (provider, missing) in [
        ("nobody", "models.providers.nobody"),
        ("far", "models.providers.far.api_key"),
        ("anthropic", "models.providers.anthropic.api_key"),
    ] {
        let error = models.choose(Some(provider), Some("m")).await.unwrap_err();
        assert_eq!(what(error), missing);
        let (_, error) = listen(&models, &model_of(provider, "m"), hello()).await;
        assert_eq!(what(error.unwrap()), missing);
    }
    let error = models.choose(None, None).await.unwrap_err();
    assert_eq!(what(error), "models");
}

#[tokio::test]
async fn keys_of_the_environment_make_the_vendors_usable() {
    let harness = Harness::new().await;
    let settings = |openai: Option<&str>, anthropic: Option<&str>, autodetect| ModelsSettings {
        openai_api_key: openai.map(SecretString::from),
        anthropic_api_key: anthropic.map(SecretString::from),
        autodetect,
        ..Default::default()
    };
    let models = harness.models(settings(Some("a"), Some("b"), true));
    assert_eq!(chosen(&models, None, Some("m")).await, "openai/m");
    models.update_settings(settings(None, Some("b"), true));
    assert_eq!(chosen(&models, None, Some("m")).await, "anthropic/m");
    models.update_settings(settings(Some("a"), Some("b"), false));
    assert_eq!(
        what(models.choose(None, Some("m")).await.unwrap_err()),
        "models"
    );
}

#[tokio::test]
async fn a_provider_that_lists_nothing() {
    let harness = Harness::new().await;
    let vendor = Vendor::new([
        Answer::json(404, &json!({})),
        Answer::json(200, &list(&[])),
        Answer::json(404, &json!({})),
        Answer::json(404, &json!({})),
    ])
    .await;
    let mut settings = ModelsSettings::default();
    settings
        .providers
        .insert("p".to_owned(), provider(Openai, &vendor.url, None));
    let models = harness.models(settings);
    for _ in 0..2 {
        assert_eq!(
            what(models.choose(None, None).await.unwrap_err()),
            "models.default"
        );
    }
    // A provider with a vendor's name defaults to the vendor's usual model.
    for (kind, id, model) in [
        (Openai, "openai", "openai/gpt-4.1-mini"),
        (Anthropic, "anthropic", "anthropic/claude-sonnet-4-5"),
    ] {
        let mut settings = ModelsSettings::default();
        settings
            .providers
            .insert(id.to_owned(), provider(kind, &vendor.url, None));
        assert_eq!(chosen(&harness.models(settings), None, None).await, model);
    }
}

fn near(local: &Url) -> Tuning {
    let mut tuning = Tuning {
        local: Some(local.clone()),
        ..tuning()
    };
    tuning.timeouts.probe = Duration::from_secs(20);
    tuning
}

#[tokio::test]
async fn a_local_server_that_nobody_configured() {
    let harness = Harness::new().await;
    let vendor = Vendor::new([Answer::json(
        200,
        &list(&["nomic-embed-text", "llama3.2:1b"]),
    )])
    .await;
    let models = harness.models_with(ModelsSettings::default(), near(&vendor.url));
    assert_eq!(chosen(&models, None, None).await, "ollama/llama3.2:1b");
    let asked = vendor.only();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("GET", "/v1/models")
    );
    assert_eq!(asked.header("authorization"), None);
    // The result is cached for some seconds, then probed again.
    harness.clock.advance(Duration::from_millis(4_999));
    assert_eq!(chosen(&models, None, Some("other")).await, "ollama/other");
    vendor.only();
    harness.clock.advance(Duration::from_millis(1));
    assert_eq!(what(models.choose(None, None).await.unwrap_err()), "models");
    assert_eq!(vendor.asked().len(), 2);
    // A detected provider answers like any other provider.
    let text = r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    vendor.then_answers(Answer::stream([events(&[text, "[DONE]"])]));
    let (collected, error) = listen(&models, &model_of("ollama", "llama3.2:1b"), hello()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(collected.text, "Hi");
}

#[tokio::test]
async fn a_local_server_that_is_not_there_hangs_or_has_no_model() {
    let harness = Harness::new().await;
    let hanging = Answer::stream(["["]).then(crate::vendor::Then::Hang);
    let vendor = Vendor::new([hanging, Answer::json(200, &list(&[]))]).await;
    let mut hasty = near(&vendor.url);
    hasty.timeouts.probe = Duration::from_millis(50);
    let models = harness.models_with(ModelsSettings::default(), hasty);
    assert_eq!(what(models.choose(None, None).await.unwrap_err()), "models");
    let models = harness.models_with(ModelsSettings::default(), near(&vendor.url));
    assert_eq!(what(models.choose(None, None).await.unwrap_err()), "models");
    let models = harness.models_with(ModelsSettings::default(), near(&nobody().await));
    assert_eq!(what(models.choose(None, None).await.unwrap_err()), "models");
}

#[tokio::test]
async fn what_is_configured_goes_before_a_local_server() {
    let harness = Harness::new().await;
    let vendor = Vendor::new([]).await;
    let settings = ModelsSettings {
        anthropic_api_key: Some(key("sk")),
        ..Default::default()
    };
    let models = harness.models_with(settings, near(&vendor.url));
    assert_eq!(chosen(&models, None, Some("m")).await, "anthropic/m");
    assert!(vendor.asked().is_empty());
}
