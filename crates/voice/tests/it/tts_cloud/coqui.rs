//! Tests of Coqui's server.

use crate::harness::{Harness, tts_with};
use crate::vendor::coqui::Coqui;
use gatehouse_voice::{ProviderSettings, SpeechRequest, TtsId};
use url::Url;

async fn ask(endpoint: Url, model: Option<&str>) {
    let provider = ProviderSettings {
        base_url: Some(endpoint),
        model: model.map(str::to_owned),
        ..ProviderSettings::default()
    };
    let harness = Harness::new().await;
    let voice = harness.voice(tts_with(TtsId::Coqui, provider)).await;
    voice.convert(SpeechRequest::new("Hello.")).await.unwrap();
}

#[tokio::test]
async fn the_endpoint_is_the_servers_or_the_calls_address() {
    let vendor = Coqui::start().await;
    for path in ["", "/", "/api/tts", "/api/tts/"] {
        ask(vendor.url(path), None).await;
    }
    let paths: Vec<_> = vendor
        .requests()
        .into_iter()
        .map(|seen| seen.path)
        .collect();
    assert_eq!(paths, ["/api/tts"; 4]);
}

#[tokio::test]
async fn both_keys_of_the_settings_arrive() {
    let vendor = Coqui::start().await;
    ask(vendor.base_url(), Some("tts_models/en/vctk/vits")).await;
    let seen = vendor.requests().pop().unwrap();
    let expected = [
        ("text", "Hello."),
        ("model_name", "tts_models/en/vctk/vits"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(seen.query, expected);
}
