//! Which key is sent, and to which provider.

use crate::harness::{Harness, hello, listen, model_of, provider, tuning};
use crate::vendor::{Answer, Vendor, events};
use gatehouse_domain::Actor;
use gatehouse_models::ProviderKind::Openai;
use gatehouse_models::{ModelError, ModelsSettings};
use secrecy::SecretString;
use serde_json::json;
use url::Url;

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;

fn good() -> Answer {
    Answer::stream([events(&[TEXT, "[DONE]"])])
}

fn settings(id: &str, url: &Url, key: Option<&str>) -> ModelsSettings {
    ModelsSettings {
        providers: [(id.to_owned(), provider(Openai, url, key))].into(),
        openai_api_key: Some(SecretString::from("sk-environment")),
        ..Default::default()
    }
}

#[tokio::test]
async fn stored_then_settings_then_environment() {
    let harness = Harness::new().await;
    let vendor = Vendor::new(vec![good(); 4]).await;
    let sent = async |key: Option<&str>, id: &str| {
        let models = harness.models(settings(id, &vendor.url, key));
        let (_, error) = listen(&models, &model_of(id, "m"), hello()).await;
        assert!(error.is_none(), "{error:?}");
        let last = vendor.asked().pop().unwrap();
        last.header("authorization").map(str::to_owned)
    };
    assert_eq!(sent(None, "p").await, None);
    assert_eq!(sent(None, "openai").await.unwrap(), "Bearer sk-environment");
    assert_eq!(
        sent(Some("sk-settings"), "openai").await.unwrap(),
        "Bearer sk-settings"
    );
    harness
        .store_key("openai", "sk-stored", vendor.url.as_str())
        .await;
    assert_eq!(
        sent(Some("sk-settings"), "openai").await.unwrap(),
        "Bearer sk-stored"
    );
}

#[tokio::test]
async fn a_stored_key_goes_only_where_it_was_entered_for() {
    let harness = Harness::new().await;
    let vendor = Vendor::new([good()]).await;
    harness
        .store_key("p", "sk-stored", "https://models.example.com/v1")
        .await;
    let models = harness.models(settings("p", &vendor.url, None));
    let (_, error) = listen(&models, &model_of("p", "m"), hello()).await;
    assert!(
        matches!(error, Some(ModelError::NotConfigured { .. })),
        "{error:?}"
    );
    assert!(vendor.asked().is_empty());
}

#[tokio::test]
async fn a_key_that_fits_no_header_is_not_sent() {
    let harness = Harness::new().await;
    let vendor = Vendor::new([good()]).await;
    let models = harness.models(settings("p", &vendor.url, Some("a\nb")));
    let (_, error) = listen(&models, &model_of("p", "m"), hello()).await;
    assert!(
        matches!(error, Some(ModelError::NotConfigured { .. })),
        "{error:?}"
    );
    assert!(vendor.asked().is_empty());
}

#[tokio::test]
async fn while_the_vault_is_sealed() {
    let mut harness = Harness::with_vault(true).await;
    let password = SecretString::from("the first password");
    harness
        .secrets
        .initialize(&Actor::cli(), password)
        .await
        .unwrap();
    let far = "https://models.example.com/v1";
    harness.store_key("far", "sk-stored", far).await;
    harness.restart().await;
    let refused = Answer::json(401, &json!({ "error": { "message": "no" } }));
    let vendor = Vendor::new([good(), refused]).await;
    let mut all = settings("near", &vendor.url, None);
    let far = Url::parse(far).unwrap();
    all.providers
        .insert("far".to_owned(), provider(Openai, &far, None));
    let models = harness.models(all);
    // A provider that needs the sealed key fails. A local server, or a provider with a key from elsewhere, still works.
    let error = models.choose(Some("far"), Some("m")).await.unwrap_err();
    assert!(matches!(error, ModelError::Sealed), "{error:?}");
    let (_, error) = listen(&models, &model_of("far", "m"), hello()).await;
    assert!(matches!(error, Some(ModelError::Sealed)), "{error:?}");
    assert!(models.choose(Some("openai"), Some("m")).await.is_ok());
    let (_, error) = listen(&models, &model_of("near", "m"), hello()).await;
    assert!(error.is_none(), "{error:?}");
    // If the local server requires a key, the vault may contain that key.
    let (_, error) = listen(&models, &model_of("near", "m"), hello()).await;
    assert!(matches!(error, Some(ModelError::Sealed)), "{error:?}");
    // Without another provider, the choice needs the vault.
    let only = ModelsSettings {
        providers: [("far".to_owned(), provider(Openai, &far, None))].into(),
        ..Default::default()
    };
    let error = harness
        .models_with(only, tuning())
        .choose(None, None)
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::Sealed), "{error:?}");
}

#[tokio::test]
async fn a_rejected_key_is_reported_until_a_request_succeeds_or_the_key_changes() {
    let harness = Harness::new().await;
    let rejected = Answer::json(401, &json!({ "error": { "message": "no" } }));
    let invalid = Answer::json(400, &json!({ "error": { "message": "no" } }));
    let answers = [
        rejected.clone(),
        invalid,
        good(),
        rejected.clone(),
        rejected,
    ];
    let vendor = Vendor::new(answers).await;
    let models = harness.models(settings("p", &vendor.url, Some("sk")));
    let is_rejected = async || {
        let all = models.providers().await.unwrap();
        all.iter().any(|one| one.id == "p" && one.key_rejected)
    };
    let ask = async || listen(&models, &model_of("p", "m"), hello()).await;
    assert!(!is_rejected().await);
    ask().await;
    assert!(is_rejected().await);
    // A refusal for another reason does not mean that the key is invalid.
    ask().await;
    assert!(is_rejected().await);
    ask().await;
    assert!(!is_rejected().await);
    assert!(models.test("p", None).await.is_err());
    assert!(is_rejected().await);
    // Neither another key nor the same key at another address was rejected.
    models.update_settings(settings("p", &vendor.url, Some("sk-other")));
    assert!(!is_rejected().await);
    let far = Url::parse("https://models.example.com/v1").unwrap();
    models.update_settings(settings("p", &far, Some("sk")));
    assert!(!is_rejected().await);
    models.update_settings(settings("p", &vendor.url, Some("sk")));
    assert!(is_rejected().await);
    // A stored key is used in place of the one in the settings.
    let address = vendor.url.as_str();
    harness.store_key("p", "sk-stored", address).await;
    assert!(!is_rejected().await);
    ask().await;
    assert!(is_rejected().await);
    harness.store_key("p", "sk-stored-later", address).await;
    assert!(!is_rejected().await);
}

#[tokio::test]
async fn a_tested_key_is_sent_and_changes_nothing() {
    let harness = Harness::new().await;
    let list = |name: &str| Answer::json(200, &json!({ "data": [{ "id": name }] }));
    let rejected = Answer::json(401, &json!({ "error": { "message": "no" } }));
    let answers = [list("own"), list("tested"), rejected.clone(), rejected];
    let vendor = Vendor::new(answers).await;
    let mut given = settings("p", &vendor.url, Some("sk-own"));
    given.openai_api_key = None;
    let models = harness.models(given);
    let is_rejected = async || {
        let all = models.providers().await.unwrap();
        all.iter().any(|one| one.id == "p" && one.key_rejected)
    };
    let key = SecretString::from("sk-tested");
    assert_eq!(models.list().await[0].id, "p/own");
    let tested = models.test("p", Some(&key)).await.unwrap();
    assert_eq!(tested.models, Some(1));
    assert_eq!(models.list().await[0].id, "p/own", "the cache is unchanged");
    // The provider's own key and the tested key are both rejected. Only the provider's own key is reported, even after
    // the tested one.
    assert!(models.test("p", None).await.is_err());
    let error = models.test("p", Some(&key)).await.unwrap_err();
    let is_refusal = matches!(
        error,
        ModelError::Failed {
            status: Some(401),
            ..
        }
    );
    assert!(is_refusal, "{error:?}");
    assert!(is_rejected().await);
    let sent: Vec<String> = vendor
        .asked()
        .iter()
        .map(|asked| asked.header("authorization").unwrap().to_owned())
        .collect();
    let (own, tested) = ("Bearer sk-own", "Bearer sk-tested");
    assert_eq!(sent, [own, tested, own, tested]);
}
