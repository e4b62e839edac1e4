//! Tests of a provider check with the stored key and settings (one request), and of its report.

use crate::harness::{Harness, START, problem, stt_at, tts_at, tts_with};
use crate::vendor::fake_server::{Behavior, SECRET_BODY};
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::{listener, openai_stt};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{
    LastUse, ProviderSettings, SpeechRequest, SttId, Timeouts, TtsId, Voice, VoiceSettings,
};
use secrecy::SecretString;
use std::time::Duration;

async fn openai() -> (Harness, OpenAiTts, VoiceSettings) {
    let vendor = OpenAiTts::start().await;
    let settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    (Harness::new().await, vendor, settings)
}

/// Returns the outcome that `tts.providers` lists.
async fn listed(voice: &Voice, id: TtsId) -> Option<LastUse> {
    let all = voice.tts_providers(false).await;
    let found = all.into_iter().find(|one| one.id == id.as_str());
    found.unwrap().last_use
}

fn passed() -> LastUse {
    LastUse {
        at: START,
        ok: true,
        tested: true,
        code: None,
        status: None,
        message: None,
        provider_message: None,
    }
}

fn failed(status: u16, message: &str) -> LastUse {
    LastUse {
        ok: false,
        code: Some("PROVIDER_FAILED"),
        status: Some(status),
        message: Some(message.to_owned()),
        ..passed()
    }
}

#[tokio::test]
async fn a_provider_that_speaks_works_also_while_speech_is_off() {
    let (harness, vendor, mut settings) = openai().await;
    settings.tts.enabled = false;
    settings.cache_max_bytes = 1 << 20;
    let voice = harness.voice(settings).await;
    assert_eq!(listed(&voice, TtsId::OpenAi).await, None);
    // The check never uses the cache.
    for count in 1..=2 {
        let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
        assert_eq!(tested, passed());
        assert_eq!(vendor.requests().len(), count);
    }
    assert_eq!(listed(&voice, TtsId::OpenAi).await, Some(passed()));
    assert_eq!(vendor.requests()[0].json()["input"], "Test");
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_rejected_key_is_reported_without_the_vendors_words_and_asks_no_fallback() {
    let (harness, vendor, _) = openai().await;
    let mut settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), "sk-wrong");
    settings.tts.fallback = vec![TtsId::ElevenLabs];
    let voice = harness.voice(settings).await;
    let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    let wanted = failed(401, "tts_cloud_2 rejected the key (status 401).");
    assert_eq!(tested, wanted);
    assert_eq!(listed(&voice, TtsId::OpenAi).await, Some(wanted));
    assert_eq!(vendor.requests().len(), 1);
}

#[tokio::test]
async fn an_unsaved_key_is_tested_instead_of_the_own_one_and_its_failure_is_not_listed() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    let test = async |key: &str| {
        let key = Some(SecretString::from(key));
        voice.test_speech(TtsId::OpenAi, key).await.unwrap()
    };
    voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    let rejected = failed(401, "tts_cloud_2 rejected the key (status 401).");
    assert_eq!(test("sk-wrong").await, rejected);
    assert_eq!(listed(&voice, TtsId::OpenAi).await, Some(passed()));
    assert_eq!(vendor.requests().len(), 2);

    let url = vendor.base_url();
    voice.update_settings(tts_at(TtsId::OpenAi, url.as_str(), "sk-wrong"));
    assert_eq!(test(OpenAiTts::KEY).await, passed());
    assert_eq!(listed(&voice, TtsId::OpenAi).await, None);
}

#[tokio::test]
async fn another_refusal_has_the_vendors_sentence_only_in_a_test() {
    let (harness, vendor, mut settings) = openai().await;
    let openai = settings.tts.providers.get_mut(&TtsId::OpenAi).unwrap();
    openai.voice = Some("nobody".to_owned());
    let voice = harness.voice(settings).await;
    let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    let said = format!("{SECRET_BODY}: no such voice: nobody");
    let wanted = LastUse {
        provider_message: Some(said),
        ..failed(400, "tts_cloud_2 refused the request (status 400).")
    };
    assert_eq!(tested, wanted);
    let refused = voice.convert(SpeechRequest::new("Hello.")).await;
    let refused = problem(refused.unwrap_err());
    assert_eq!(refused.details.get("provider_message"), None);
    let wanted = LastUse {
        tested: false,
        provider_message: None,
        ..wanted
    };
    assert_eq!(listed(&voice, TtsId::OpenAi).await, Some(wanted));
    // A sentence with the key is dropped.
    vendor.set_behavior(Behavior::Status(400, None));
    let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    assert_eq!((tested.ok, tested.provider_message), (false, None));
}

#[tokio::test]
async fn a_provider_that_fails_for_the_moment_is_asked_once() {
    let (harness, vendor, mut settings) = openai().await;
    settings.timeouts = Timeouts::default();
    let voice = harness.voice(settings.clone()).await;
    vendor.set_behavior(Behavior::Status(503, Some("60")));
    let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    assert_eq!((tested.ok, tested.status), (false, Some(503)));
    assert_eq!(vendor.requests().len(), 1);
    for behavior in [Behavior::NotAudio, Behavior::Empty, Behavior::OtherJson] {
        vendor.set_behavior(behavior.clone());
        let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
        assert!(!tested.ok, "{behavior:?}: {tested:?}");
    }
    settings.timeouts.answer = Duration::from_millis(50);
    voice.update_settings(settings);
    vendor.set_behavior(Behavior::Slow);
    let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    assert_eq!((tested.ok, tested.code), (false, Some("TIMEOUT")));
}

#[tokio::test]
async fn an_unreachable_address_is_reported_at_once() {
    let harness = Harness::new().await;
    let mut settings = tts_at(TtsId::OpenAi, "http://127.0.0.1:9/v1", OpenAiTts::KEY);
    settings.timeouts.retries_total = Duration::from_hours(1);
    settings.timeouts.retry_base = Duration::from_mins(10);
    let voice = harness.voice(settings).await;
    let tested = voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    let wanted = LastUse {
        status: None,
        ..failed(0, "tts_cloud_2 could not be reached.")
    };
    assert_eq!(tested, wanted);
}

#[tokio::test]
async fn without_a_key_the_missing_setting_is_named_and_nothing_is_recorded() {
    let harness = Harness::new().await;
    let settings = tts_with(TtsId::ElevenLabs, ProviderSettings::default());
    let voice = harness.voice(settings).await;
    let tested = voice.test_speech(TtsId::ElevenLabs, None).await.unwrap();
    assert_eq!((tested.ok, tested.code), (false, Some("NOT_CONFIGURED")));
    let message = tested.message.unwrap();
    let setting = "voice.tts.tts_cloud_1.api_key";
    assert!(message.contains(setting), "{message}");
    assert_eq!(listed(&voice, TtsId::ElevenLabs).await, None);
}

#[tokio::test]
async fn an_outcome_does_not_outlive_the_key_the_address_or_the_settings() {
    let (harness, vendor, settings) = openai().await;
    let url = vendor.base_url();
    let voice = harness.voice(settings.clone()).await;
    voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    let with = |change: &dyn Fn(&mut ProviderSettings)| {
        let mut settings = settings.clone();
        change(settings.tts.providers.get_mut(&TtsId::OpenAi).unwrap());
        settings
    };
    for changed in [
        with(&|openai| openai.api_key = Some("sk-other".into())),
        with(&|openai| openai.base_url = Some(vendor.url("/v2"))),
        with(&|openai| openai.voice = Some("nova".to_owned())),
        with(&|openai| openai.speed = Some(2.0)),
    ] {
        voice.update_settings(changed);
        assert_eq!(listed(&voice, TtsId::OpenAi).await, None);
    }
    // The result with other settings does not count for the provider.
    let mut other = settings.clone();
    other.tts.enabled = false;
    voice.update_settings(other);
    assert_eq!(listed(&voice, TtsId::OpenAi).await, Some(passed()));
    // The same applies to stored keys.
    voice.update_settings(with(&|openai| openai.api_key = None));
    harness
        .store_key("tts_cloud_2", OpenAiTts::KEY, url.as_str())
        .await;
    voice.test_speech(TtsId::OpenAi, None).await.unwrap();
    assert_eq!(listed(&voice, TtsId::OpenAi).await, Some(passed()));
    harness
        .store_key("tts_cloud_2", "sk-wrong", url.as_str())
        .await;
    assert_eq!(listed(&voice, TtsId::OpenAi).await, None);
    // An invalid request does not count for the provider.
    let request = SpeechRequest {
        format: Some("ape".to_owned()),
        ..SpeechRequest::new("Hello.")
    };
    let refused = problem(voice.convert(request).await.unwrap_err());
    assert_eq!(refused.code, ErrorCode::InvalidParams);
    assert_eq!(listed(&voice, TtsId::OpenAi).await, None);
}

#[tokio::test]
async fn a_transcription_provider_is_tested_with_silence() {
    let vendor = openai_stt::openai().await;
    let harness = Harness::new().await;
    let url = vendor.server.url("/v1");
    let mut settings = stt_at(SttId::OpenAi, url.as_str(), listener::KEY);
    settings.stt.enabled = false;
    let voice = harness.voice(settings).await;
    let tested = voice.test_transcription(SttId::OpenAi, None).await.unwrap();
    assert_eq!(tested, passed(), "{:?}", vendor.server.complaints());
    assert_eq!(vendor.server.requests().len(), 1);
    voice.update_settings(stt_at(SttId::OpenAi, url.as_str(), "sk-wrong"));
    let tested = voice.test_transcription(SttId::OpenAi, None).await.unwrap();
    let wanted = failed(401, "stt_cloud_1 rejected the key (status 401).");
    assert_eq!(tested, wanted);
    let all = voice.stt_providers(false).await;
    let found = all.into_iter().find(|one| one.id == "stt_cloud_1");
    assert_eq!(found.unwrap().last_use, Some(wanted));
}
