//! Where requests go: Azure's form, additional headers and a proxy.

use crate::harness::{Harness, hello, listen, model, model_of, one, provider};
use crate::vendor::{Answer, ReceivedRequest, Rule, Vendor, events};
use gatehouse_models::ModelsSettings;
use gatehouse_models::ProviderKind::Openai;
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

const TEXT: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#;

fn good() -> Answer {
    Answer::stream([events(&[TEXT, "[DONE]"])])
}

/// Azure `OpenAI`'s data plane: without `api-key`, the resource is not found or access is denied.
fn azure(asked: &ReceivedRequest) -> Result<(), (u16, Value)> {
    let expected = "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21";
    if asked.path != expected {
        return Err((
            404,
            json!({ "error": { "code": "404", "message": "Resource not found" } }),
        ));
    }
    if asked.header("api-key") != Some("sk-test") || asked.header("authorization").is_some() {
        return Err((
            401,
            json!({ "error": { "code": "401", "message": "Access denied" } }),
        ));
    }
    Ok(())
}

#[tokio::test]
async fn azure_has_the_deployment_in_the_path_and_the_key_in_its_own_header() {
    let vendor = Vendor::strict([azure as Rule], [good()]).await;
    let harness = Harness::new().await;
    let base = vendor.url.join("/openai").unwrap();
    let mut settings = one(Openai, &base);
    let azure = settings.providers.get_mut("p").unwrap();
    azure.azure_api_version = Some("2024-10-21".to_owned());
    let models = harness.models(settings);
    let (collected, failed) = listen(&models, &model_of("p", "my gpt"), hello()).await;
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(collected.text, "Hello");
}

#[tokio::test]
async fn the_headers_of_the_settings_are_sent_with_every_request() {
    let list = Answer::json(200, &json!({ "data": [{ "id": "m" }] }));
    let vendor = Vendor::new([good(), list]).await;
    let harness = Harness::new().await;
    let mut settings = one(Openai, &vendor.url);
    let own = &mut settings.providers.get_mut("p").unwrap().headers;
    own.insert("x-team".to_owned(), SecretString::from("operations"));
    let models = harness.models(settings);
    listen(&models, &model(), hello()).await;
    assert_eq!(models.list().await.len(), 1);
    for asked in vendor.asked() {
        assert_eq!(asked.header("x-team"), Some("operations"));
        assert_eq!(asked.header("authorization"), Some("Bearer sk-test"));
    }
}

#[tokio::test]
async fn a_provider_elsewhere_is_called_through_the_proxy_and_a_local_one_is_not() {
    let proxy = Vendor::new([good()]).await;
    let local = Vendor::new([good()]).await;
    let harness = Harness::new().await;
    let mut settings = ModelsSettings {
        proxy: Some(proxy.url.join("/").unwrap()),
        ..one(Openai, &local.url)
    };
    let far = Url::parse("http://models.invalid/v1").unwrap();
    settings
        .providers
        .insert("far".to_owned(), provider(Openai, &far, Some("sk-far")));
    let models = harness.models(settings);
    let (collected, failed) = listen(&models, &model_of("far", "m"), hello()).await;
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(collected.text, "Hello");
    let asked = proxy.only();
    // A proxy receives the absolute form (RFC 9112, section 3.2.2).
    assert_eq!(asked.path, "http://models.invalid/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some("Bearer sk-far"));
    let (collected, _) = listen(&models, &model(), hello()).await;
    assert_eq!(collected.text, "Hello");
    assert_eq!(local.only().path, "/v1/chat/completions");
    proxy.only();
}
