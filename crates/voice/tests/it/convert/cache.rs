//! Tests that cached speech is not requested again.

#![expect(
    clippy::disallowed_methods,
    reason = "a test looks at small files of its own"
)]

use super::openai;
use crate::harness::{Harness, tts_at};
use crate::vendor::openai_tts::OpenAiTts;
use gatehouse_domain::Actor;
use gatehouse_voice::{SpeechRequest, TtsId, VoiceSettings};
use secrecy::SecretString;
use std::fs;
use std::path::{Path, PathBuf};

fn kept(directory: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(directory.join("voice-cache"));
    let files = found.into_iter().flatten().map(|file| file.unwrap().path());
    files.collect()
}

async fn with_vault() -> (Harness, OpenAiTts, VoiceSettings) {
    let (_, vendor, mut settings) = openai().await;
    settings.cache_max_bytes = 1 << 20;
    let harness = Harness::with_vault(true).await;
    let password = SecretString::from("a password of some length");
    harness
        .secrets
        .initialize(&Actor::cli(), password)
        .await
        .unwrap();
    (harness, vendor, settings)
}

#[tokio::test]
async fn the_same_again_costs_nothing() {
    let (harness, vendor, mut settings) = openai().await;
    settings.cache_max_bytes = 1 << 20;
    let voice = harness.voice(settings.clone()).await;
    let hello = || SpeechRequest::new("Hello there.");
    let first = voice.convert(hello()).await.unwrap();
    let again = voice.convert(hello()).await.unwrap();
    assert_eq!((first.cached, again.cached), (false, true));
    assert_eq!(
        (&first.audio, first.duration_ms),
        (&again.audio, again.duration_ms)
    );
    let after_restart = harness.voice(settings).await;
    assert!(after_restart.convert(hello()).await.unwrap().cached);
    assert_eq!(vendor.requests().len(), 1);
    for change in [
        |r: &mut SpeechRequest| r.voice = Some("nova".into()),
        |r: &mut SpeechRequest| r.speed = Some(1.5),
        |r: &mut SpeechRequest| r.format = Some("wav".into()),
        |r: &mut SpeechRequest| r.instructions = Some("Whisper.".into()),
        |r: &mut SpeechRequest| r.text = "Hello there!".into(),
    ] {
        let mut other = hello();
        change(&mut other);
        assert!(!voice.convert(other).await.unwrap().cached);
    }
    assert_eq!(vendor.requests().len(), 6);
}

#[tokio::test]
async fn an_open_vault_encrypts_and_a_sealed_one_keeps_nothing() {
    let (harness, vendor, settings) = with_vault().await;
    let voice = harness.voice(settings).await;
    let wav = || SpeechRequest {
        format: Some("wav".to_owned()),
        ..SpeechRequest::new("Hello there.")
    };
    let spoken = voice.convert(wav()).await.unwrap();
    let files = kept(harness.database.directory());
    assert_eq!(files.len(), 1);
    let bytes = fs::read(&files[0]).unwrap();
    let needle = &spoken.audio[44..76];
    assert!(!bytes.windows(needle.len()).any(|window| window == needle));
    assert!(!bytes.starts_with(b"{"));
    assert!(voice.convert(wav()).await.unwrap().cached);
    harness.secrets.seal(&Actor::cli()).await.unwrap();
    assert!(!voice.convert(wav()).await.unwrap().cached);
    let other = SpeechRequest::new("Something else.");
    voice.convert(other).await.unwrap();
    assert_eq!(kept(harness.database.directory()), files);
    let password = SecretString::from("a password of some length");
    harness
        .secrets
        .unseal_with_password(&Actor::cli(), &password)
        .await
        .unwrap();
    assert!(voice.convert(wav()).await.unwrap().cached);
    assert_eq!(vendor.requests().len(), 3);
}

#[tokio::test]
async fn what_lies_there_in_clear_goes_when_there_is_a_vault() {
    let (harness, _vendor, mut settings) = openai().await;
    settings.cache_max_bytes = 1 << 20;
    let voice = harness.voice(settings.clone()).await;
    voice.convert(SpeechRequest::new("Hello.")).await.unwrap();
    let directory = harness.database.directory().to_owned();
    assert_eq!(kept(&directory).len(), 1);
    let (sealed, vendor, _) = with_vault().await;
    let there = sealed.database.directory().join("voice-cache");
    fs::create_dir_all(&there).unwrap();
    let clear = &kept(&directory)[0];
    fs::copy(clear, there.join(clear.file_name().unwrap())).unwrap();
    let own = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    settings.tts = own.tts;
    let voice = sealed.voice(settings).await;
    voice.convert(SpeechRequest::new("Hello.")).await.unwrap();
    let left = kept(sealed.database.directory());
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].extension().unwrap(), "enc");
}

#[tokio::test]
async fn a_damaged_file_is_spoken_again() {
    let (harness, vendor, mut settings) = openai().await;
    settings.cache_max_bytes = 1 << 20;
    let voice = harness.voice(settings).await;
    voice.convert(SpeechRequest::new("Hello.")).await.unwrap();
    fs::write(&kept(harness.database.directory())[0], b"{").unwrap();
    for cached in [false, true] {
        let spoken = voice.convert(SpeechRequest::new("Hello.")).await.unwrap();
        assert_eq!(spoken.cached, cached);
    }
    assert_eq!(vendor.requests().len(), 2);
}

#[tokio::test]
async fn it_never_grows_beyond_its_size() {
    let (harness, vendor, mut settings) = openai().await;
    settings.cache_max_bytes = 400_000;
    let voice = harness.voice(settings).await;
    let wav = |number: usize| SpeechRequest {
        format: Some("wav".to_owned()),
        ..SpeechRequest::new(format!("This is number {number}, spoken."))
    };
    for number in 0..10 {
        voice.convert(wav(number)).await.unwrap();
        let sizes = kept(harness.database.directory());
        let total: u64 = sizes
            .iter()
            .map(|file| file.metadata().unwrap().len())
            .sum();
        assert!(total <= 400_000, "{total}");
    }
    assert!(voice.convert(wav(9)).await.unwrap().cached);
    assert!(!voice.convert(wav(0)).await.unwrap().cached);
    assert_eq!(vendor.requests().len(), 11);
}
