//! Tests that one real program transcribes what another one speaks.

use super::RealPrograms;
use crate::harness::Harness;
use futures_util::StreamExt;
use gatehouse_voice::{SpeechRequest, TranscribeRequest, Voice};

const TEXT: &str = "hello real world";

async fn hear(voice: &Voice, audio: impl Into<bytes::Bytes>, format: &str) -> String {
    let mut request = TranscribeRequest::new(audio.into());
    request.provider = Some("sherpa-onnx".to_owned());
    request.format = Some(format.to_owned());
    let heard = voice.transcribe(request).await.unwrap();
    let words: Vec<&str> = heard.words.iter().map(|word| word.word.as_str()).collect();
    assert_eq!(words, heard.text.split(' ').collect::<Vec<_>>(), "{format}");
    let mut last = 0.0;
    for word in &heard.words {
        assert!(
            last <= word.start && word.start < word.end,
            "{:?}",
            heard.words
        );
        last = word.end;
    }
    // Raw samples have a duration too, since their rate is fixed.
    let lasts = heard.duration_seconds;
    assert!(
        (2.7..3.1).contains(&lasts) && last <= lasts,
        "{format}: {lasts}"
    );
    heard.text
}

#[tokio::test]
async fn the_same_text_comes_back_in_every_format() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(kit.settings()).await;
    for format in ["wav", "flac", "mp3", "opus", "ogg", "pcm", "aac"] {
        let mut request = SpeechRequest::new(TEXT);
        request.format = Some(format.to_owned());
        let spoken = voice.convert(request).await.unwrap();
        assert_eq!((spoken.format.as_str(), &spoken.warning), (format, &None));
        // 35 tones of 80 ms: the letters, the separators, start and end.
        assert!(
            (2700..3100).contains(&spoken.duration_ms),
            "{format}: {}",
            spoken.duration_ms
        );
        assert_eq!(hear(&voice, spoken.audio, format).await, TEXT, "{format}");
    }
}

#[tokio::test]
async fn a_stream_is_the_same_speech() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(kit.settings()).await;
    let mut request = SpeechRequest::new(TEXT);
    request.format = Some("opus".to_owned());
    let mut stream = voice.stream(request).await.unwrap();
    let mut audio = Vec::new();
    while let Some(piece) = stream.body.next().await {
        audio.extend(piece.unwrap());
    }
    assert_eq!(hear(&voice, audio, "opus").await, TEXT);
}

#[tokio::test]
async fn lines_and_paragraphs_are_one_speech() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(kit.settings()).await;
    let mut request = SpeechRequest::new("hello\nreal\n\n\nworld");
    request.format = Some("wav".to_owned());
    let spoken = voice.convert(request).await.unwrap();
    let mut request = TranscribeRequest::new(spoken.audio);
    request.provider = Some("stt_local_3".to_owned());
    let heard = voice.transcribe(request).await.unwrap();
    assert_eq!(
        heard.text.replace(' ', ""),
        "helloreal".to_owned() + "world"
    );
}
