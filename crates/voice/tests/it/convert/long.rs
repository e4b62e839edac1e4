//! Tests that texts longer than the provider's limit are synthesized in pieces and joined.

use super::about;
use crate::harness::{Harness, tts_at};
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::fake_server::ReceivedRequest;
use crate::vendor::google_tts::GoogleTts;
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::tone;
use gatehouse_voice::{SpeechRequest, TtsId};
use std::fmt::Write;

/// Distinct sentences of this total length.
fn prose(characters: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.chars().count() < characters {
        number += 1;
        write!(text, "Sentence {number} tells of a river, and öf snow. ").unwrap();
    }
    text.chars().take(characters - 1).chain(['.']).collect()
}

#[tokio::test]
async fn a_hundred_thousand_characters_without_loss() {
    let vendor = OpenAiTts::start().await;
    let mut settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    settings.speaking.max_text_length = 100_000;
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let text = prose(100_000);
    let request = SpeechRequest {
        format: Some("opus".to_owned()),
        ..SpeechRequest::new(text.as_str())
    };
    let spoken = voice.convert(request).await.unwrap();
    let sent: Vec<String> = vendor
        .requests()
        .iter()
        .map(|request| request.json()["input"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent.concat(), text);
    assert!(sent.len() > 20 && sent.iter().all(|piece| piece.chars().count() <= 4096));
    let wanted: usize = sent.iter().map(|piece| tone::duration_ms(piece)).sum();
    assert!(about(spoken.duration_ms, wanted), "{}", spoken.duration_ms);
    let measured = gatehouse_audio::duration_ms(&spoken.audio, spoken.format.kind()).unwrap();
    assert!(about(measured, wanted), "{measured}");
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn pieces_are_joined_to_the_sample() {
    let vendor = ElevenLabs::start().await;
    let url = vendor.base_url();
    let mut settings = tts_at(TtsId::ElevenLabs, url.as_str(), ElevenLabs::KEY);
    settings.speaking.max_text_length = 20_000;
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let request = SpeechRequest {
        format: Some("wav".to_owned()),
        ..SpeechRequest::new(prose(12_000))
    };
    let spoken = voice.convert(request).await.unwrap();
    let sent = vendor.requests();
    let text = |seen: &ReceivedRequest| seen.json()["text"].as_str().unwrap().to_owned();
    let lasts = sent
        .iter()
        .map(|seen| tone::duration_ms(&text(seen)) as u64);
    assert_eq!(spoken.duration_ms, lasts.sum::<u64>());
    assert!(sent.len() >= 3);
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_limit_in_bytes_is_one_too() {
    let vendor = GoogleTts::start().await;
    let url = vendor.base_url();
    let mut settings = tts_at(TtsId::Google, url.as_str(), GoogleTts::KEY);
    settings.speaking.max_text_length = 20_000;
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let text = "Schöne Grüße über Äcker. ".repeat(500);
    voice
        .convert(SpeechRequest::new(text.trim()))
        .await
        .unwrap();
    assert!(vendor.requests().len() >= 3);
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}
