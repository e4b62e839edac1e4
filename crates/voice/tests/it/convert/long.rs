//! Texts that are longer than a provider takes: said in pieces, heard as one.

use super::about;
use crate::harness::{Home, tts_at};
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::google_tts::GoogleTts;
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::tone;
use gatehouse_voice::{SpeechRequest, TtsId};

/// Sentences of some length, each different.
fn prose(characters: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.chars().count() < characters {
        number += 1;
        text.push_str(&format!(
            "Sentence {number} tells of a river, and öf snow. "
        ));
    }
    text.chars().take(characters - 1).chain(['.']).collect()
}

#[tokio::test]
async fn a_hundred_thousand_characters_without_loss() {
    let vendor = OpenAiTts::start().await;
    let mut settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    settings.tts.max_text_length = 100_000;
    let home = Home::new().await;
    let voice = home.voice(settings).await;
    let text = prose(100_000);
    let request = SpeechRequest {
        format: Some("opus".to_owned()),
        ..SpeechRequest::new(text.as_str())
    };
    let spoken = voice.convert(request).await.unwrap();
    let said: Vec<String> = vendor
        .requests()
        .iter()
        .map(|request| request.json()["input"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said.concat(), text);
    assert!(said.len() > 20 && said.iter().all(|piece| piece.chars().count() <= 4096));
    assert!(
        about(spoken.duration_ms, tone::duration_ms(&text)),
        "{}",
        spoken.duration_ms
    );
    let measured = gatehouse_audio::duration_ms(&spoken.audio, spoken.format.kind()).unwrap();
    assert!(about(measured, tone::duration_ms(&text)), "{measured}");
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn pieces_are_joined_to_the_sample() {
    let (eleven, google) = (ElevenLabs::start().await, GoogleTts::start().await);
    let mut settings = tts_at(
        TtsId::ElevenLabs,
        eleven.base_url().as_str(),
        ElevenLabs::KEY,
    );
    let other = tts_at(TtsId::Google, google.base_url().as_str(), GoogleTts::KEY);
    settings.tts.providers.extend(other.tts.providers);
    settings.tts.max_text_length = 20_000;
    let home = Home::new().await;
    let voice = home.voice(settings).await;
    let text = prose(12_000);
    for (provider, asked) in [("elevenlabs", 3), ("google", 3)] {
        let request = SpeechRequest {
            provider: Some(provider.to_owned()),
            format: Some("wav".to_owned()),
            ..SpeechRequest::new(text.as_str())
        };
        let spoken = voice.convert(request).await.unwrap();
        let wanted = tone::duration_ms(&text) as u64;
        assert_eq!(spoken.duration_ms, wanted, "{provider}");
        let requests = eleven.requests().len().max(google.requests().len());
        assert!(requests >= asked, "{provider}: {requests}");
    }
    assert_eq!(eleven.complaints(), Vec::<String>::new());
    assert_eq!(google.complaints(), Vec::<String>::new());
}
