//! Tests that speech is forwarded as it arrives.

use super::openai;
use crate::harness::problem;
use crate::vendor::fake_server::Behavior;
use crate::vendor::tone;
use bytes::Bytes;
use futures_util::StreamExt;
use gatehouse_audio::{Format, duration_ms};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SpeechRequest, Streamed, VoiceError};

const TEXT: &str = "A quiet morning by the river, and nobody about.";

fn asked(format: &str) -> SpeechRequest {
    SpeechRequest {
        format: Some(format.to_owned()),
        ..SpeechRequest::new(TEXT)
    }
}

async fn all(mut streamed: Streamed) -> Result<Bytes, VoiceError> {
    let mut whole = Vec::new();
    while let Some(piece) = streamed.body.next().await {
        whole.extend_from_slice(&piece?);
    }
    Ok(whole.into())
}

#[tokio::test]
async fn every_format_comes_whole() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    for format in [
        Format::Mp3,
        Format::Opus,
        Format::Pcm,
        Format::Wav,
        Format::Flac,
    ] {
        let streamed = voice.stream(asked(format.as_str())).await.unwrap();
        let audio = all(streamed).await.unwrap();
        let lasts = duration_ms(&audio, format.kind()).unwrap();
        let wanted = tone::duration_ms(TEXT) as u64;
        assert!(lasts.abs_diff(wanted) * 50 <= wanted, "{format:?}: {lasts}");
    }
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn the_first_bytes_do_not_wait_for_the_last() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::Stall(4096));
    let mut streamed = voice.stream(asked("mp3")).await.unwrap();
    let first = streamed.body.next().await.unwrap().unwrap();
    assert!(!first.is_empty());
    let mut last = Ok(first);
    while let Some(piece) = streamed.body.next().await {
        last = piece;
    }
    let problem = problem(last.unwrap_err());
    assert_eq!(problem.code, ErrorCode::Timeout);
}

#[tokio::test]
async fn a_break_in_the_middle_is_no_end() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::BreakOff(3000));
    for format in ["mp3", "pcm"] {
        let streamed = voice.stream(asked(format)).await.unwrap();
        let problem = problem(all(streamed).await.unwrap_err());
        assert_eq!(problem.code, ErrorCode::ProviderFailed, "{format}");
    }
}

#[tokio::test]
async fn an_error_before_the_first_byte_is_an_error() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    for (behavior, code) in [
        (Behavior::Status(401, None), ErrorCode::ProviderFailed),
        (Behavior::Empty, ErrorCode::ProviderFailed),
        (Behavior::Slow, ErrorCode::Timeout),
    ] {
        vendor.set_behavior(behavior.clone());
        let problem = problem(voice.stream(asked("mp3")).await.unwrap_err());
        assert_eq!(problem.code, code, "{behavior:?}");
    }
}

#[tokio::test]
async fn who_goes_away_ends_the_vendors_call() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::Stall(2048));
    let mut streamed = voice.stream(asked("mp3")).await.unwrap();
    streamed.body.next().await.unwrap().unwrap();
    drop(streamed);
    assert!(vendor.was_left().await);
}

#[tokio::test]
async fn what_is_kept_is_streamed_too() {
    let (harness, vendor, mut settings) = openai().await;
    settings.cache_max_bytes = 1 << 20;
    let voice = harness.voice(settings).await;
    let whole = voice.convert(asked("mp3")).await.unwrap();
    let streamed = voice.stream(asked("mp3")).await.unwrap();
    assert!(streamed.cached);
    assert_eq!(all(streamed).await.unwrap(), whole.audio);
    assert_eq!(vendor.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_is_kept_for_the_next_time_if_it_came_whole() {
    let (harness, vendor, mut settings) = openai().await;
    settings.cache_max_bytes = 4 << 20;
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::BreakOff(3000));
    all(voice.stream(asked("mp3")).await.unwrap())
        .await
        .unwrap_err();
    vendor.set_behavior(Behavior::Fine);
    let first = all(voice.stream(asked("mp3")).await.unwrap())
        .await
        .unwrap();
    let again = voice.stream(asked("mp3")).await.unwrap();
    assert!(again.cached);
    assert_eq!(all(again).await.unwrap(), first);
    let whole = voice.convert(asked("mp3")).await.unwrap();
    assert!(whole.cached && whole.duration_ms > 0);
    assert_eq!(vendor.requests().len(), 2);
}
