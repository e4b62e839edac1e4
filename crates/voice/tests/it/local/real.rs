//! Tests of each real program.

use super::{ProgramDir, RealPrograms, silence, wav};
use crate::harness::{Harness, problem};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SpeechRequest, SttId, TranscribeRequest, TtsId, VoiceSettings};
use std::process::Command;

/// The constant output of the Whisper model.
const SENTENCE: &str = "this sentence is said by a small model that was made without any training.";

async fn lasts(settings: VoiceSettings, speed: Option<f64>) -> u64 {
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let mut request = SpeechRequest::new("abc");
    (request.format, request.speed) = (Some("wav".to_owned()), speed);
    voice.convert(request).await.unwrap().duration_ms
}

#[tokio::test]
async fn piper_speaks_as_fast_as_it_should() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    // Nine tones of 80 ms.
    assert_eq!(lasts(kit.settings(), None).await, 720);
    assert_eq!(lasts(kit.settings(), Some(2.0)).await, 360);
    assert_eq!(lasts(kit.settings(), Some(0.5)).await, 1440);
    let mut slow = kit.settings();
    let piper = slow.tts.providers.get_mut(&TtsId::Piper).unwrap();
    piper.length_scale = Some(3.0);
    assert_eq!(lasts(slow.clone(), None).await, 2160);
    assert_eq!(lasts(slow, Some(2.0)).await, 1080);
}

#[tokio::test]
async fn whisper_tells_text_words_and_segments() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(kit.settings()).await;
    let mut request = TranscribeRequest::new(silence().into());
    request.provider = Some("whisper-cli".to_owned());
    let heard = voice.transcribe(request.clone()).await.unwrap();
    assert_eq!(
        (heard.text.as_str(), heard.language.as_str()),
        (SENTENCE, "en")
    );
    let segments: Vec<&str> = heard
        .segments
        .iter()
        .map(|part| part.text.as_str())
        .collect();
    assert_eq!(segments, [SENTENCE]);
    assert_eq!(heard.words.len(), SENTENCE.split(' ').count());
    assert!((0.99..1.01).contains(&heard.duration_seconds));
    // This model treats the prompt as the beginning of the sentence.
    request.prompt = Some("--help, $(x)".to_owned());
    let heard = voice.transcribe(request).await.unwrap().text;
    assert!(
        heard.len() < SENTENCE.len() && SENTENCE.ends_with(&heard),
        "{heard}"
    );
}

#[tokio::test]
async fn programs_get_the_samples_that_they_can_read() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(kit.settings()).await;
    // The program accepts only 16 kHz mono.
    let stereo = wav(44_100, 2, &vec![100; 88_200]);
    let mut request = TranscribeRequest::new(stereo.into());
    request.provider = Some("stt_local_2".to_owned());
    assert_eq!(voice.transcribe(request).await.unwrap().text, SENTENCE);
    // The output of another real program, at its own rate.
    let espeak = Command::new("espeak-ng")
        .args(["--stdout", "Good morning"])
        .output();
    let mut request = TranscribeRequest::new(espeak.unwrap().stdout.into());
    request.provider = Some("stt_local_2".to_owned());
    let heard = voice.transcribe(request).await.unwrap();
    assert_eq!(heard.text, SENTENCE);
    assert!(heard.duration_seconds > 0.3);
}

#[tokio::test]
async fn silence_is_no_text() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(kit.settings()).await;
    let mut request = TranscribeRequest::new(silence().into());
    request.provider = Some("stt_local_3".to_owned());
    let heard = voice.transcribe(request).await.unwrap();
    assert_eq!((heard.text.as_str(), heard.words), ("", vec![]));
    assert_eq!(heard.language, "und");
}

#[tokio::test]
async fn a_language_that_whisper_does_not_know_is_its_failure() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let harness = Harness::new().await;
    let voice = harness.voice(kit.settings()).await;
    let mut request = TranscribeRequest::new(silence().into());
    request.provider = Some("stt_local_2".to_owned());
    request.language = Some("de-AT".to_owned());
    assert_eq!(
        voice.transcribe(request.clone()).await.unwrap().text,
        SENTENCE
    );
    request.language = Some("cu".to_owned());
    let refused = problem(voice.transcribe(request).await.unwrap_err());
    assert_eq!(refused.code, ErrorCode::ProviderFailed);
}

#[tokio::test]
async fn models_that_are_none_are_failures() {
    let Some(kit) = RealPrograms::find() else {
        return;
    };
    let place = ProgramDir::new();
    let rubbish = place.file("model.onnx", b"rubbish");
    place.file("model.onnx.json", br#"{"audio":{"sample_rate":16000}}"#);
    place.file("tokens.txt", b"<blk> 0\n");
    for name in [
        "tiny-encoder.onnx",
        "tiny-decoder.int8.onnx",
        "tiny-tokens.txt",
    ] {
        std::fs::remove_file(place.path(name)).unwrap();
    }
    let mut settings = kit.settings();
    let piper = settings.tts.providers.get_mut(&TtsId::Piper).unwrap();
    piper.model_path = Some(rubbish.clone());
    let whisper = settings.stt.providers.get_mut(&SttId::WhisperCli).unwrap();
    whisper.model_path = Some(rubbish);
    let sherpa = settings.stt.providers.get_mut(&SttId::SherpaOnnx).unwrap();
    sherpa.model_path = Some(place.path(""));
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let spoken = problem(
        voice
            .convert(SpeechRequest::new("hello"))
            .await
            .unwrap_err(),
    );
    assert_eq!(spoken.code, ErrorCode::ProviderFailed);
    for id in ["stt_local_2", "stt_local_3"] {
        let mut request = TranscribeRequest::new(silence().into());
        request.provider = Some(id.to_owned());
        let heard = problem(voice.transcribe(request).await.unwrap_err());
        assert_eq!(heard.code, ErrorCode::ProviderFailed, "{id}");
        assert!(!heard.message.contains("rubbish"));
    }
}
