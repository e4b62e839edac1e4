//! Tests of the lists of voices.

use crate::harness::{Harness, problem, settings, tts_at, tts_with};
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::fake_server::{Behavior, Server, Verdict, judge};
use crate::vendor::google_tts::GoogleTts;
use crate::vendor::openai_tts::OpenAiTts;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{OPENAI_VOICES, OfferedVoice, ProviderSettings, TtsId, Voice};
use serde_json::{Value, json};

async fn listed(voice: &Voice) -> Vec<(String, String)> {
    let voices = voice.voices(None).await.unwrap().into_iter();
    voices.map(|OfferedVoice { id, name }| (id, name)).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    let list = list.iter();
    list.map(|(id, name)| ((*id).to_owned(), (*name).to_owned()))
        .collect()
}

#[tokio::test]
async fn the_vendors_lists_are_read() {
    let harness = Harness::new().await;
    let vendor = ElevenLabs::start().await;
    let at = tts_at(
        TtsId::ElevenLabs,
        vendor.base_url().as_str(),
        ElevenLabs::KEY,
    );
    let voice = harness.voice(at).await;
    let expected = [
        (ElevenLabs::VOICE, "Sarah"),
        (ElevenLabs::OTHER_VOICE, "Rachel"),
    ];
    assert_eq!(listed(&voice).await, pairs(&expected));
    let vendor = GoogleTts::start().await;
    let at = tts_at(TtsId::Google, vendor.base_url().as_str(), GoogleTts::KEY);
    let voice = harness.voice(at).await;
    let names = [
        GoogleTts::VOICE,
        GoogleTts::GERMAN_VOICE,
        GoogleTts::CHIRP_VOICE,
    ];
    assert_eq!(listed(&voice).await, pairs(&names.map(|name| (name, name))));
}

/// Returns a server compatible with `OpenAI`'s that lists its voices.
async fn compatible(list: Value) -> Server {
    let list = list.to_string();
    Server::start(judge(move |seen| {
        let is_list = (seen.method.as_str(), seen.path.as_str()) == ("GET", "/v1/audio/voices");
        if is_list && seen.header("authorization") == Some("Bearer sk-any") {
            Verdict::Fine("application/json", list.clone().into())
        } else {
            Verdict::refused(404, "no such address")
        }
    }))
    .await
}

#[tokio::test]
async fn a_compatible_server_lists_its_voices_in_one_of_several_formats() {
    let harness = Harness::new().await;
    let long = "x".repeat(200);
    for (list, expected) in [
        (
            json!({ "voices": [{ "id": "af_heart", "name": "Heart" }, { "id": "af_sky" }] }),
            pairs(&[("af_heart", "Heart"), ("af_sky", "af_sky")]),
        ),
        (
            json!({ "voices": ["af_heart", "af_sky"] }),
            pairs(&[("af_heart", "af_heart"), ("af_sky", "af_sky")]),
        ),
        (json!({ "voices": [] }), pairs(&[])),
        // Voices that a request could not name are left out.
        (
            json!({ "voices": [long, "x".repeat(201), "", "a\nb", {}, { "name": "n" }] }),
            pairs(&[(&long, &long), ("n", "n")]),
        ),
    ] {
        let server = compatible(list.clone()).await;
        let at = tts_at(TtsId::OpenAi, server.url("/v1").as_str(), "sk-any");
        assert_eq!(listed(&harness.voice(at).await).await, expected, "{list}");
    }
}

#[tokio::test]
async fn a_server_without_a_list_has_the_vendors_voices() {
    let harness = Harness::new().await;
    let expected = pairs(&OPENAI_VOICES.map(|name| (name, name)));
    let vendor = OpenAiTts::start().await;
    let at = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    assert_eq!(listed(&harness.voice(at).await).await, expected);
    assert_eq!(vendor.requests().len(), 1);
    let server = compatible(json!({ "models": [] })).await;
    let at = tts_at(TtsId::OpenAi, server.url("/v1").as_str(), "sk-any");
    assert_eq!(listed(&harness.voice(at).await).await, expected);
    // The vendor itself is not called.
    let at = tts_at(TtsId::OpenAi, "https://api.openai.com/v1", "sk-any");
    assert_eq!(listed(&harness.voice(at).await).await, expected);
}

#[tokio::test]
async fn a_failing_vendor_is_not_a_vendor_without_voices() {
    let harness = Harness::new().await;
    for status in [401, 429, 500] {
        let vendor = OpenAiTts::start().await;
        vendor.set_behavior(Behavior::Status(status, None));
        let at = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
        let error = harness.voice(at).await.voices(None).await.unwrap_err();
        assert_eq!(problem(error).code, ErrorCode::ProviderFailed, "{status}");
    }
}

#[tokio::test]
async fn a_provider_without_voices_has_an_empty_list() {
    let harness = Harness::new().await;
    let provider = ProviderSettings {
        model_path: Some("/voice.onnx".into()),
        ..ProviderSettings::default()
    };
    let mut at = tts_with(TtsId::Piper, provider);
    let voice = harness.voice(at.clone()).await;
    assert_eq!(listed(&voice).await, pairs(&[]));
    let other = voice.voices(Some(TtsId::ElevenLabs)).await.unwrap_err();
    let other = problem(other);
    assert_eq!(other.code, ErrorCode::NotConfigured);
    assert_eq!(other.details["what"], "voice.tts.tts_cloud_1.api_key");
    at.tts.enabled = false;
    let off = harness.voice(at).await.voices(None).await.unwrap_err();
    assert_eq!(problem(off).details["what"], "voice.tts.enabled");
    let nobody = harness.voice(settings()).await;
    let nobody = problem(nobody.voices(None).await.unwrap_err());
    assert_eq!(nobody.details["what"], "voice.tts.provider");
}
