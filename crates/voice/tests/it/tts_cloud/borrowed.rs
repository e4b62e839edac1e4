//! Tests that `tts_cloud_2` uses the key of the model provider `openai` if it has none, and sends it only to
//! its own address.

use crate::harness::{Harness, problem, settings, tts_with};
use crate::vendor::openai_tts::OpenAiTts;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{Borrowed, ProviderSettings, SpeechRequest, TtsId, VoiceSettings};
use secrecy::SecretString;

fn key(key: &str) -> SecretString {
    SecretString::from(key)
}

fn at(vendor: &OpenAiTts) -> ProviderSettings {
    ProviderSettings {
        base_url: Some(vendor.base_url()),
        ..ProviderSettings::default()
    }
}

/// Speaks, and returns the Authorization header that arrived.
async fn speaks(harness: &Harness, vendor: &OpenAiTts, settings: VoiceSettings) -> String {
    let voice = harness.voice(settings).await;
    voice.convert(SpeechRequest::new("Hello.")).await.unwrap();
    let seen = vendor.requests().pop().unwrap();
    seen.header("authorization").unwrap().to_owned()
}

#[tokio::test]
async fn the_model_providers_key_and_address_are_borrowed() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    let settings = VoiceSettings {
        openai: Borrowed {
            base_url: Some(vendor.base_url()),
            api_key: Some(key(OpenAiTts::KEY)),
            environment: Some(key("sk-of-the-environment")),
        },
        ..settings()
    };
    let authorization = speaks(&harness, &vendor, settings).await;
    assert_eq!(authorization, format!("Bearer {}", OpenAiTts::KEY));
}

#[tokio::test]
async fn the_environments_key_is_borrowed_last() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    let mut settings = tts_with(TtsId::OpenAi, at(&vendor));
    settings.openai.environment = Some(key(OpenAiTts::KEY));
    speaks(&harness, &vendor, settings).await;
}

#[tokio::test]
async fn the_vaults_key_of_the_model_provider_is_borrowed() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    harness
        .store_key("openai", OpenAiTts::KEY, vendor.base_url().as_str())
        .await;
    let mut settings = tts_with(TtsId::OpenAi, at(&vendor));
    settings.openai.base_url = Some(vendor.base_url());
    speaks(&harness, &vendor, settings).await;
}

#[tokio::test]
async fn a_stored_key_of_the_model_provider_comes_before_the_given_ones() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    let url = vendor.base_url();
    harness
        .store_key("openai", OpenAiTts::KEY, url.as_str())
        .await;
    let mut settings = tts_with(TtsId::OpenAi, at(&vendor));
    settings.openai.base_url = Some(url);
    settings.openai.api_key = Some(key("sk-of-the-models"));
    settings.openai.environment = Some(key("sk-of-the-environment"));
    speaks(&harness, &vendor, settings).await;
}

#[tokio::test]
async fn its_own_key_comes_first() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    let mut provider = at(&vendor);
    provider.api_key = Some(key(OpenAiTts::KEY));
    let mut settings = tts_with(TtsId::OpenAi, provider);
    settings.openai.api_key = Some(key("sk-of-the-models"));
    settings.openai.environment = Some(key("sk-of-the-environment"));
    speaks(&harness, &vendor, settings).await;
}

#[tokio::test]
async fn no_key_follows_an_address_that_was_moved_at_run_time() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    let mut provider = at(&vendor);
    provider.api_key = Some(key(OpenAiTts::KEY));
    let mut settings = tts_with(TtsId::OpenAi, provider);
    settings.tts.moved.insert(TtsId::OpenAi);
    settings.tts.provider = Some(TtsId::OpenAi);
    settings.openai.api_key = Some(key(OpenAiTts::KEY));
    settings.openai.environment = Some(key(OpenAiTts::KEY));
    let voice = harness.voice(settings).await;
    let error = voice
        .convert(SpeechRequest::new("Hello."))
        .await
        .unwrap_err();
    assert_eq!(problem(error).code, ErrorCode::NotConfigured);
    assert_eq!(vendor.requests().len(), 0);
}

#[tokio::test]
async fn nobody_else_borrows() {
    let harness = Harness::new().await;
    for id in [TtsId::ElevenLabs, TtsId::Google] {
        let mut settings = settings();
        settings.tts.provider = Some(id);
        settings.openai.api_key = Some(key(OpenAiTts::KEY));
        settings.openai.environment = Some(key(OpenAiTts::KEY));
        let voice = harness.voice(settings).await;
        let error = voice
            .convert(SpeechRequest::new("Hello."))
            .await
            .unwrap_err();
        let problem = problem(error);
        assert_eq!(problem.code, ErrorCode::NotConfigured);
        assert_eq!(problem.details["what"], format!("voice.tts.{id}.api_key"));
    }
}
