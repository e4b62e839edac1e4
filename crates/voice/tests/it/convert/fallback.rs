//! Tests that fallbacks are used only if configured, and that the result names them.

use crate::harness::{Harness, problem, tts_at};
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::fake_server::Behavior;
use crate::vendor::openai_tts::OpenAiTts;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SpeechRequest, TtsId, Voice, VoiceSettings};
use serde_json::json;

async fn two() -> (Harness, ElevenLabs, OpenAiTts, VoiceSettings) {
    let (first, second) = (ElevenLabs::start().await, OpenAiTts::start().await);
    let mut settings = tts_at(
        TtsId::ElevenLabs,
        first.base_url().as_str(),
        ElevenLabs::KEY,
    );
    let other = tts_at(TtsId::OpenAi, second.base_url().as_str(), OpenAiTts::KEY);
    settings.tts.providers.extend(other.tts.providers);
    (Harness::new().await, first, second, settings)
}

fn hello() -> SpeechRequest {
    SpeechRequest {
        voice: Some(ElevenLabs::VOICE.to_owned()),
        ..SpeechRequest::new("Hello.")
    }
}

async fn failed(voice: &Voice) -> gatehouse_domain::Problem {
    problem(voice.convert(hello()).await.unwrap_err())
}

#[tokio::test]
async fn without_a_list_nobody_else_is_asked() {
    let (harness, first, second, settings) = two().await;
    let voice = harness.voice(settings).await;
    first.set_behavior(Behavior::Status(503, None));
    let problem = failed(&voice).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["provider"], "tts_cloud_1");
    assert_eq!(problem.details["retryable"], true);
    assert_eq!((first.requests().len(), second.requests().len()), (1, 0));
}

#[tokio::test]
async fn the_one_that_failed_is_named_and_its_voice_stays_with_it() {
    let (harness, first, second, mut settings) = two().await;
    settings.tts.fallback = vec![TtsId::ElevenLabs, TtsId::OpenAi];
    settings.cache_max_bytes = 1 << 20;
    let voice = harness.voice(settings).await;
    first.set_behavior(Behavior::Status(503, None));
    for _ in 0..2 {
        let spoken = voice.convert(hello()).await.unwrap();
        assert_eq!(spoken.provider, TtsId::OpenAi);
        // The output of a fallback is not cached.
        assert!(!spoken.cached);
        let attempts = serde_json::to_value(&spoken.attempts).unwrap();
        assert_eq!(attempts[0]["provider"], "tts_cloud_1");
        assert_eq!(attempts[0]["code"], "PROVIDER_FAILED");
        assert_eq!(attempts[1], json!({"provider": "tts_cloud_2", "ok": true}));
    }
    assert_eq!(second.complaints(), Vec::<String>::new());
    let asked = second.requests();
    assert_eq!(asked.len(), 2);
    assert_ne!(asked[0].json()["voice"], ElevenLabs::VOICE);
    first.set_behavior(Behavior::Fine);
    let spoken = voice.convert(hello()).await.unwrap();
    assert_eq!(
        (spoken.provider, spoken.attempts.len()),
        (TtsId::ElevenLabs, 1)
    );
}

#[tokio::test]
async fn when_all_fail_the_first_reason_is_reported() {
    let (harness, first, second, mut settings) = two().await;
    settings.tts.fallback = vec![TtsId::OpenAi];
    let voice = harness.voice(settings).await;
    first.set_behavior(Behavior::Status(429, Some("7")));
    second.set_behavior(Behavior::Status(500, None));
    let problem = failed(&voice).await;
    assert_eq!(problem.details["provider"], "tts_cloud_1");
    assert_eq!(problem.details["retry_after_seconds"], 7);
    assert_eq!(problem.details["attempts"].as_array().unwrap().len(), 2);
    let all = format!("{problem:?}");
    assert!(
        !all.contains("SECRET") && !all.contains(ElevenLabs::KEY),
        "{all}"
    );
}

#[tokio::test]
async fn wrong_input_is_nobodys_failure() {
    let (harness, first, second, mut settings) = two().await;
    settings.tts.fallback = vec![TtsId::OpenAi];
    let voice = harness.voice(settings).await;
    let request = SpeechRequest {
        speed: Some(9.0),
        ..hello()
    };
    let problem = problem(voice.convert(request).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!((first.requests().len(), second.requests().len()), (0, 0));
}

/// An invalid voice ID in the settings or a persona is not the caller's mistake.
#[tokio::test]
async fn a_wrong_voice_id_is_wrong_input_only_in_a_request() {
    let (harness, first, second, mut settings) = two().await;
    settings.tts.fallback = vec![TtsId::OpenAi];
    let provider = settings.tts.providers.get_mut(&TtsId::ElevenLabs);
    provider.unwrap().voice = Some("a/b".to_owned());
    let voice = harness.voice(settings.clone()).await;
    let persona = json!({
        "label": "P", "id": "p", "providerBindings": [{"provider": "elevenlabs", "voice": "a b"}],
    });
    let persona = serde_json::from_value(persona).unwrap();
    voice.personas().create(persona).await.unwrap();
    for persona in [None, Some("p".to_owned())] {
        let request = SpeechRequest {
            persona,
            ..SpeechRequest::new("Hello.")
        };
        let spoken = voice.convert(request).await.unwrap();
        assert_eq!(spoken.provider, TtsId::OpenAi);
        assert_eq!(spoken.attempts[0].code, Some("NOT_CONFIGURED"));
    }
    let request = SpeechRequest {
        voice: Some("a/b".to_owned()),
        ..SpeechRequest::new("Hello.")
    };
    let refused = problem(voice.convert(request).await.unwrap_err());
    assert_eq!(refused.code, ErrorCode::InvalidParams);
    assert_eq!((first.requests().len(), second.requests().len()), (0, 2));

    settings.tts.fallback = Vec::new();
    let voice = harness.voice(settings).await;
    let alone = problem(
        voice
            .convert(SpeechRequest::new("Hello."))
            .await
            .unwrap_err(),
    );
    assert_eq!(alone.code, ErrorCode::NotConfigured);
    assert_eq!(alone.details["what"], "voice.tts.tts_cloud_1.voice_id");
}

#[tokio::test]
async fn a_persona_that_speaks_only_by_its_bindings_goes_to_nobody_else() {
    let (harness, first, second, mut settings) = two().await;
    settings.tts.fallback = vec![TtsId::OpenAi];
    let voice = harness.voice(settings).await;
    let strict = json!({
        "label": "Strict", "id": "strict", "fallbackPolicy": "fail",
        "providerBindings": [{"provider": "openai", "voice": "nova"}],
    });
    let strict = serde_json::from_value(strict).unwrap();
    voice.personas().create(strict).await.unwrap();
    let request = || SpeechRequest {
        persona: Some("strict".to_owned()),
        ..SpeechRequest::new("Hello.")
    };
    let problem = problem(voice.convert(request()).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert_eq!(problem.details["what"], "persona_binding");
    assert_eq!((first.requests().len(), second.requests().len()), (0, 0));
    let bound = SpeechRequest {
        provider: Some("openai".to_owned()),
        ..request()
    };
    voice.convert(bound).await.unwrap();
    assert_eq!(second.requests()[0].json()["voice"], "nova");
}

#[tokio::test]
async fn a_voice_that_the_fallback_lacks_is_reported() {
    let (harness, first, _second, mut settings) = two().await;
    settings.tts.fallback = vec![TtsId::OpenAi];
    let voice = harness.voice(settings).await;
    first.set_behavior(Behavior::Status(500, None));
    let warning = voice.convert(hello()).await.unwrap().warning.unwrap();
    assert!(warning.contains("voiceId"), "{warning}");
}
