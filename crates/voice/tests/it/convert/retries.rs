//! Tests retries, simultaneous identical requests, and speech that begins early.

use super::openai;
use crate::harness::{Harness, problem, tts_at, tts_with};
use crate::vendor::coqui::Coqui;
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::fake_server::Behavior;
use crate::vendor::google_tts::GoogleTts;
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::tone;
use futures_util::StreamExt;
use gatehouse_audio::{Format, duration_ms};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{
    Converted, ProviderSettings, SpeechRequest, Streamed, TtsId, Voice, VoiceError, VoiceSettings,
};
use std::pin::Pin;
use std::time::{Duration, Instant};

const FIRST: &str = "This is the first sentence of it.";
const SECOND: &str = "And here is the second one.";

fn hello() -> SpeechRequest {
    SpeechRequest::new("Hello there.")
}

const fn patient(settings: &mut VoiceSettings, total: Duration) {
    settings.timeouts.retries_total = total;
    settings.timeouts.retry_base = Duration::from_millis(5);
}

#[tokio::test]
async fn a_hosted_voice_is_called_four_times_before_another_one() {
    let (first, second) = (ElevenLabs::start().await, OpenAiTts::start().await);
    let url = first.base_url();
    let mut settings = tts_at(TtsId::ElevenLabs, url.as_str(), ElevenLabs::KEY);
    let other = tts_at(TtsId::OpenAi, second.base_url().as_str(), OpenAiTts::KEY);
    settings.tts.providers.extend(other.tts.providers);
    settings.tts.fallback = vec![TtsId::OpenAi];
    patient(&mut settings, Duration::from_secs(20));
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let asked = || SpeechRequest {
        voice: Some(ElevenLabs::VOICE.to_owned()),
        ..hello()
    };
    first.set_behavior(Behavior::Status(503, None));
    let spoken = voice.convert(asked()).await.unwrap();
    assert_eq!((spoken.provider, spoken.attempts.len()), (TtsId::OpenAi, 2));
    assert_eq!((first.requests().len(), second.requests().len()), (4, 1));
    let streamed = voice.stream(asked()).await.unwrap();
    assert_eq!(streamed.provider, TtsId::OpenAi);
    assert_eq!(first.requests().len(), 8);
    // A call that would fail again is not repeated.
    for status in [400, 401, 404] {
        let before = first.requests().len();
        first.set_behavior(Behavior::Status(status, None));
        voice.convert(asked()).await.unwrap();
        assert_eq!(first.requests().len(), before + 1, "{status}");
    }
}

#[tokio::test]
async fn a_vendor_that_recovers_is_enough() {
    let (harness, vendor, mut settings) = openai().await;
    patient(&mut settings, Duration::from_secs(20));
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::Status(429, None));
    let recovers = async {
        vendor.asked(2).await;
        vendor.set_behavior(Behavior::Fine);
    };
    let (spoken, ()) = tokio::join!(voice.convert(hello()), recovers);
    assert_eq!(spoken.unwrap().attempts.len(), 1);
}

#[tokio::test]
async fn the_vendors_wait_counts_and_is_bounded() {
    let (harness, vendor, mut settings) = openai().await;
    patient(&mut settings, Duration::from_millis(1500));
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::Status(429, Some("1")));
    let began = Instant::now();
    let failed = problem(voice.convert(hello()).await.unwrap_err());
    assert_eq!(failed.details["retry_after_seconds"], 1);
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(vendor.requests().len(), 2);
    vendor.set_behavior(Behavior::Status(429, Some("2")));
    let began = Instant::now();
    voice.convert(hello()).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(vendor.requests().len(), 3);
}

#[tokio::test]
async fn a_server_of_your_own_is_called_once() {
    let vendor = Coqui::start().await;
    let provider = ProviderSettings {
        base_url: Some(vendor.base_url()),
        ..ProviderSettings::default()
    };
    let mut settings = tts_with(TtsId::Coqui, provider);
    patient(&mut settings, Duration::from_secs(20));
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::Status(503, None));
    voice.convert(hello()).await.unwrap_err();
    assert_eq!(vendor.requests().len(), 1);
}

type Converting<'a> = Pin<Box<dyn Future<Output = Result<Converted, VoiceError>> + 'a>>;

/// Makes the same request twice. The vendor holds the first call, and the second request waits.
async fn twice<'a>(voice: &'a Voice, vendor: &OpenAiTts) -> (Converting<'a>, Converting<'a>) {
    let asked = vendor.requests().len() + 1;
    let mut first: Converting<'a> = Box::pin(voice.convert(hello()));
    let mut second: Converting<'a> = Box::pin(voice.convert(hello()));
    tokio::select! {
        biased;
        () = vendor.asked(asked) => {}
        _ = &mut first => panic!("the vendor holds it"),
    }
    let waited = tokio::time::timeout(Duration::from_millis(500), &mut second).await;
    assert!(waited.is_err(), "it waits for the first one");
    (first, second)
}

#[tokio::test]
async fn the_same_at_the_same_time_is_paid_once() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.hold();
    let (first, second) = twice(&voice, &vendor).await;
    vendor.release();
    let other = SpeechRequest::new("Something else.");
    let (first, second, other) = tokio::join!(first, second, voice.convert(other));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.audio, second.audio);
    assert_eq!((first.cached, second.cached), (false, true));
    assert!(!other.unwrap().cached);
    assert_eq!(vendor.requests().len(), 2);
    // The cache is off here, so completed speech is requested again.
    assert!(!voice.convert(hello()).await.unwrap().cached);
    assert_eq!(vendor.requests().len(), 3);

    vendor.set_behavior(Behavior::Status(500, None));
    vendor.hold();
    let (first, second) = twice(&voice, &vendor).await;
    vendor.release();
    let both = tokio::join!(first, second);
    for failed in [both.0, both.1] {
        assert_eq!(problem(failed.unwrap_err()).details["status"], 500);
    }
    assert_eq!(vendor.requests().len(), 4);
}

#[tokio::test]
async fn who_leaves_does_not_end_it_for_the_others() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.hold();
    let (first, second) = twice(&voice, &vendor).await;
    drop(first);
    vendor.release();
    second.await.unwrap();
    assert_eq!(vendor.requests().len(), 1);

    // When all callers have left, the call ends.
    vendor.set_behavior(Behavior::Stall(10));
    let mut third = Box::pin(voice.convert(hello()));
    tokio::select! {
        biased;
        () = vendor.asked(2) => {}
        _ = &mut third => panic!("the vendor stalls"),
    }
    drop(third);
    assert!(vendor.was_left().await);
}

type Streaming<'a> = Pin<Box<dyn Future<Output = Result<Streamed, VoiceError>> + 'a>>;

/// Makes the same streamed request twice. The vendor holds the first call, and the second request waits.
async fn streamed_twice<'a>(
    voice: &'a Voice,
    vendor: &OpenAiTts,
) -> (Streaming<'a>, Streaming<'a>) {
    let asked = vendor.requests().len() + 1;
    let mut first: Streaming<'a> = Box::pin(voice.stream(hello()));
    let mut second: Streaming<'a> = Box::pin(voice.stream(hello()));
    tokio::select! {
        biased;
        () = vendor.asked(asked) => {}
        _ = &mut first => panic!("the vendor holds it"),
    }
    let waited = tokio::time::timeout(Duration::from_millis(500), &mut second).await;
    assert!(waited.is_err(), "it waits for the first one");
    (first, second)
}

async fn whole(streamed: Streamed) -> Result<Vec<u8>, VoiceError> {
    let mut audio = Vec::new();
    let mut body = streamed.body;
    while let Some(piece) = body.next().await {
        audio.extend_from_slice(&piece?);
    }
    Ok(audio)
}

#[tokio::test]
async fn the_same_streams_at_the_same_time_are_paid_once() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.hold();
    let (first, second) = streamed_twice(&voice, &vendor).await;
    vendor.release();
    let (first, second) = tokio::join!(first, second);
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!((first.cached, second.cached), (false, true));
    // A request that arrives while the audio is being streamed also gets all of it.
    let third = voice.stream(hello()).await.unwrap();
    assert!(third.cached);
    let first = whole(first).await.unwrap();
    assert!(!first.is_empty());
    assert_eq!(whole(second).await.unwrap(), first);
    assert_eq!(whole(third).await.unwrap(), first);
    assert_eq!(vendor.requests().len(), 1);
    // The cache is off here, so completed speech is requested again.
    assert!(!voice.stream(hello()).await.unwrap().cached);
    assert_eq!(vendor.requests().len(), 2);
}

/// Returns the request of [`hello`] with a different format.
fn hello_as(format: &str) -> SpeechRequest {
    SpeechRequest {
        format: Some(format.to_owned()),
        ..hello()
    }
}

#[tokio::test]
async fn whole_audio_comes_from_the_same_stream_unless_its_header_has_the_length() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    let mut calls = 0;
    for (format, is_shared) in [
        ("mp3", true),
        ("opus", true),
        ("pcm", true),
        ("wav", false),
        ("flac", false),
    ] {
        // The stream does not end before it is read.
        let streamed = voice.stream(hello_as(format)).await.unwrap();
        let converted = voice.convert(hello_as(format)).await.unwrap();
        let cached = (streamed.cached, converted.cached);
        assert_eq!(cached, (false, is_shared), "{format}");
        assert!(converted.duration_ms > 0, "{format}");
        let streamed = whole(streamed).await.unwrap();
        if is_shared {
            assert_eq!(streamed, converted.audio, "{format}");
        }
        calls += if is_shared { 1 } else { 2 };
        assert_eq!(vendor.requests().len(), calls, "{format}");
    }
}

#[tokio::test]
async fn whole_audio_of_a_stream_that_breaks_off_is_an_error() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::BreakOff(3000));
    let streamed = voice.stream(hello()).await.unwrap();
    let failed = problem(voice.convert(hello()).await.unwrap_err());
    assert_eq!(failed.code, ErrorCode::ProviderFailed);
    whole(streamed).await.unwrap_err();
    assert_eq!(vendor.requests().len(), 1);
}

#[tokio::test]
async fn a_failure_reaches_all_who_listen_to_a_stream() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.set_behavior(Behavior::Status(500, None));
    vendor.hold();
    let (first, second) = streamed_twice(&voice, &vendor).await;
    vendor.release();
    let both = tokio::join!(first, second);
    for failed in [both.0, both.1] {
        assert_eq!(problem(failed.unwrap_err()).details["status"], 500);
    }
    assert_eq!(vendor.requests().len(), 1);

    vendor.set_behavior(Behavior::BreakOff(1000));
    vendor.hold();
    let (first, second) = streamed_twice(&voice, &vendor).await;
    vendor.release();
    let (first, second) = tokio::join!(first, second);
    for streamed in [first.unwrap(), second.unwrap()] {
        let failed = problem(whole(streamed).await.unwrap_err());
        assert_eq!(failed.code, ErrorCode::ProviderFailed);
    }
    assert_eq!(vendor.requests().len(), 2);
}

#[tokio::test]
async fn who_leaves_a_stream_does_not_end_it_for_the_others() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    vendor.hold();
    let (first, second) = streamed_twice(&voice, &vendor).await;
    drop(first);
    vendor.release();
    let second = second.await.unwrap();
    let mut third = voice.stream(hello()).await.unwrap();
    third.body.next().await.unwrap().unwrap();
    drop(third);
    assert!(!whole(second).await.unwrap().is_empty());
    assert_eq!(vendor.requests().len(), 1);

    vendor.set_behavior(Behavior::Stall(2048));
    let both = tokio::join!(voice.stream(hello()), voice.stream(hello()));
    drop(both.0.unwrap());
    assert!(!vendor.was_left().await);
    drop(both.1.unwrap());
    assert!(vendor.was_left().await);
}

#[tokio::test]
async fn a_vendor_that_does_not_stream_speaks_the_first_sentence_first() {
    let vendor = GoogleTts::start().await;
    let settings = tts_at(TtsId::Google, vendor.base_url().as_str(), GoogleTts::KEY);
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let text = format!("{FIRST} {SECOND}");
    let texts = || -> Vec<String> {
        let requests = vendor.requests();
        let text = requests
            .iter()
            .map(|seen| seen.json()["input"]["text"].clone());
        text.map(|text| text.as_str().unwrap().trim().to_owned())
            .collect()
    };
    let mut streamed = voice
        .stream(SpeechRequest::new(text.as_str()))
        .await
        .unwrap();
    assert_eq!(texts(), [FIRST], "its first bytes are there");
    let mut audio = Vec::new();
    while let Some(piece) = streamed.body.next().await {
        audio.extend_from_slice(&piece.unwrap());
    }
    assert_eq!(texts(), [FIRST, SECOND]);
    let lasts = duration_ms(&audio, Format::Mp3.kind()).unwrap();
    let wanted = (tone::duration_ms(FIRST) + tone::duration_ms(SECOND)) as u64;
    assert!(lasts.abs_diff(wanted) * 10 <= wanted, "{lasts} {wanted}");
    assert_eq!(vendor.complaints(), Vec::<String>::new());
    // A short first sentence is joined with the next one. Complete audio is one request.
    let short = SpeechRequest::new("Well. And here is the second one.");
    voice.stream(short).await.unwrap();
    assert_eq!(texts().len(), 3);
    voice.convert(SpeechRequest::new(text)).await.unwrap();
    assert_eq!(texts().len(), 4);
}
