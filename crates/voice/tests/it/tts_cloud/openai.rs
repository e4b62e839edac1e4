//! Tests of `OpenAI` and compatible servers.

use crate::harness::{Harness, tts_at};
use crate::vendor::openai_tts::OpenAiTts;
use gatehouse_voice::{SpeechRequest, TtsId, Voice};
use serde_json::json;

async fn voice_with(harness: &Harness, vendor: &OpenAiTts) -> Voice {
    harness
        .voice(tts_at(
            TtsId::OpenAi,
            vendor.base_url().as_str(),
            OpenAiTts::KEY,
        ))
        .await
}

#[tokio::test]
async fn every_voice_of_the_specification_speaks_with_every_model() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    let voice = voice_with(&harness, &vendor).await;
    for model in ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"] {
        for name in ["alloy", "echo", "fable", "onyx", "nova", "shimmer"] {
            let request = SpeechRequest {
                voice: Some(name.to_owned()),
                model: Some(model.to_owned()),
                format: Some("pcm".to_owned()),
                ..SpeechRequest::new("Hi.")
            };
            voice.convert(request).await.unwrap();
            let body = vendor.requests().pop().unwrap().json();
            let expected = json!({
                "model": model, "voice": name, "input": "Hi.", "response_format": "pcm",
            });
            assert_eq!(body, expected);
        }
    }
}

/// The vendor rejects instructions for these models.
#[tokio::test]
async fn the_first_models_get_no_instructions() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    let voice = voice_with(&harness, &vendor).await;
    for (model, follows) in [
        ("tts-1", false),
        ("tts-1-hd", false),
        ("gpt-4o-mini-tts", true),
        ("gpt-4o-mini-tts-2025-12-15", true),
    ] {
        let request = SpeechRequest {
            model: Some(model.to_owned()),
            instructions: Some("Whisper.".to_owned()),
            ..SpeechRequest::new("Hi.")
        };
        voice.convert(request).await.unwrap();
        let body = vendor.requests().pop().unwrap().json();
        assert_eq!(body.get("instructions").is_some(), follows, "{model}");
    }
}

#[tokio::test]
async fn a_base_url_keeps_its_path() {
    let (harness, vendor) = (Harness::new().await, OpenAiTts::start().await);
    for base in ["/v1", "/v1/", "/proxy/openai/v1"] {
        let settings = tts_at(TtsId::OpenAi, vendor.url(base).as_str(), OpenAiTts::KEY);
        let voice = harness.voice(settings).await;
        // The fake vendor serves only its own path; this test checks only which path was requested.
        let _ = voice.convert(SpeechRequest::new("Hi.")).await;
    }
    let paths: Vec<_> = vendor
        .requests()
        .into_iter()
        .map(|seen| seen.path)
        .collect();
    assert_eq!(
        paths,
        [
            "/v1/audio/speech",
            "/v1/audio/speech",
            "/proxy/openai/v1/audio/speech"
        ]
    );
}
