//! Tests of `ElevenLabs`.

use crate::harness::{Harness, tts_at};
use crate::vendor::elevenlabs::ElevenLabs;
use gatehouse_voice::{SpeechRequest, TtsId};

#[tokio::test]
async fn each_format_is_asked_for_by_the_vendors_name() {
    let (harness, vendor) = (Harness::new().await, ElevenLabs::start().await);
    let settings = tts_at(
        TtsId::ElevenLabs,
        vendor.base_url().as_str(),
        ElevenLabs::KEY,
    );
    let voice = harness.voice(settings).await;
    for format in ["mp3", "opus", "ogg", "pcm", "wav", "flac"] {
        let request = SpeechRequest {
            format: Some(format.to_owned()),
            ..SpeechRequest::new("Hello.")
        };
        voice.convert(request).await.unwrap();
    }
    let asked: Vec<_> = vendor
        .requests()
        .into_iter()
        .map(|seen| seen.query)
        .collect();
    let formats = [
        "mp3_44100_128",
        "opus_48000_64",
        "opus_48000_64",
        "pcm_24000",
        "pcm_24000",
        "pcm_24000",
    ];
    let expected = formats.map(|name| vec![("output_format".to_owned(), name.to_owned())]);
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn the_third_model_gets_a_stability_that_it_has() {
    let (harness, vendor) = (Harness::new().await, ElevenLabs::start().await);
    let settings = tts_at(
        TtsId::ElevenLabs,
        vendor.base_url().as_str(),
        ElevenLabs::KEY,
    );
    let voice = harness.voice(settings).await;
    for (given, sent) in [(0.2, 0.0), (0.4, 0.5), (0.9, 1.0)] {
        let request = SpeechRequest {
            model: Some("eleven_v3".to_owned()),
            stability: Some(given),
            ..SpeechRequest::new("Hello.")
        };
        voice.convert(request).await.unwrap();
        let seen = vendor.requests().pop().unwrap();
        assert_eq!(seen.json()["voice_settings"]["stability"], sent);
    }
}

/// Absent settings keep the values stored with the voice.
#[tokio::test]
async fn nothing_is_said_of_settings_that_are_not_set() {
    let (harness, vendor) = (Harness::new().await, ElevenLabs::start().await);
    let settings = tts_at(
        TtsId::ElevenLabs,
        vendor.base_url().as_str(),
        ElevenLabs::KEY,
    );
    let voice = harness.voice(settings).await;
    voice.convert(SpeechRequest::new("Hello.")).await.unwrap();
    let body = vendor.requests().pop().unwrap().json();
    let expected = serde_json::json!({ "text": "Hello.", "model_id": "eleven_multilingual_v2" });
    assert_eq!(body, expected);
}
