//! Tests of Google Cloud.

use crate::harness::{Harness, tts_at};
use crate::vendor::google_tts::GoogleTts;
use gatehouse_voice::{ProviderSettings, SpeechRequest, TtsId, Voice};
use serde_json::json;

async fn voice_with(
    harness: &Harness,
    vendor: &GoogleTts,
    change: impl FnOnce(&mut ProviderSettings),
) -> Voice {
    let mut settings = tts_at(TtsId::Google, vendor.base_url().as_str(), GoogleTts::KEY);
    change(settings.tts.providers.get_mut(&TtsId::Google).unwrap());
    harness.voice(settings).await
}

#[tokio::test]
async fn the_three_keys_of_the_settings_arrive() {
    let (harness, vendor) = (Harness::new().await, GoogleTts::start().await);
    let voice = voice_with(&harness, &vendor, |settings| {
        settings.voice = Some(GoogleTts::GERMAN_VOICE.to_owned());
        settings.language = Some("de-DE".to_owned());
        settings.speed = Some(0.5);
    });
    voice
        .await
        .convert(SpeechRequest::new("Hallo."))
        .await
        .unwrap();
    let expected = json!({
        "input": { "text": "Hallo." },
        "voice": { "languageCode": "de-DE", "name": GoogleTts::GERMAN_VOICE },
        "audioConfig": { "audioEncoding": "MP3", "speakingRate": 0.5 },
    });
    assert_eq!(vendor.requests().pop().unwrap().json(), expected);
}

#[tokio::test]
async fn a_voice_brings_its_language() {
    let (harness, vendor) = (Harness::new().await, GoogleTts::start().await);
    let voice = voice_with(&harness, &vendor, |settings| {
        settings.voice = Some(GoogleTts::GERMAN_VOICE.to_owned());
    });
    voice
        .await
        .convert(SpeechRequest::new("Hallo."))
        .await
        .unwrap();
    let body = vendor.requests().pop().unwrap().json();
    assert_eq!(body["voice"]["languageCode"], "de-DE");
}

/// Chirp voices reject even neutral values.
#[tokio::test]
async fn neutral_numbers_are_not_sent() {
    let (harness, vendor) = (Harness::new().await, GoogleTts::start().await);
    let voice = voice_with(&harness, &vendor, |settings| {
        settings.voice = Some(GoogleTts::CHIRP_VOICE.to_owned());
        settings.speed = Some(1.0);
    });
    let voice = voice.await;
    let persona = json!({
        "id": "level", "label": "Level",
        "providerBindings": [{ "provider": "google", "pitch": 0.0 }],
    });
    let personas = voice.personas();
    personas
        .create(serde_json::from_value(persona).unwrap())
        .await
        .unwrap();
    let request = SpeechRequest {
        persona: Some("level".to_owned()),
        ..SpeechRequest::new("Hello.")
    };
    voice.convert(request).await.unwrap();
    let body = vendor.requests().pop().unwrap().json();
    assert_eq!(body["audioConfig"], json!({ "audioEncoding": "MP3" }));
}

#[tokio::test]
async fn samples_have_one_rate() {
    let (harness, vendor) = (Harness::new().await, GoogleTts::start().await);
    let voice = voice_with(&harness, &vendor, |_| {}).await;
    let request = SpeechRequest {
        format: Some("pcm".to_owned()),
        ..SpeechRequest::new("Hello.")
    };
    voice.convert(request).await.unwrap();
    let body = vendor.requests().pop().unwrap().json();
    let expected = json!({ "audioEncoding": "LINEAR16", "sampleRateHertz": 24_000 });
    assert_eq!(body["audioConfig"], expected);
}

/// The limit is in bytes, so only half as many two-byte letters fit.
#[tokio::test]
async fn the_limit_is_in_bytes() {
    let (harness, vendor) = (Harness::new().await, GoogleTts::start().await);
    let mut settings = tts_at(TtsId::Google, vendor.base_url().as_str(), GoogleTts::KEY);
    settings.speaking.max_text_length = 20_000;
    let voice = harness.voice(settings).await;
    let text = "ж".repeat(2501);
    let request = SpeechRequest {
        format: Some("wav".to_owned()),
        ..SpeechRequest::new(text.as_str())
    };
    voice.convert(request).await.unwrap();
    assert_eq!(vendor.complaints(), Vec::<String>::new());
    let bodies = vendor.requests().into_iter().map(|seen| seen.json());
    let sent: Vec<String> = bodies
        .map(|body| body["input"]["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent.concat(), text);
}
