//! Cases about accepted audio. The vendors compare the bytes with the declared name and type.

use crate::conformance_stt::bench::Bench;
use crate::stt_cloud::speech;
use bytes::Bytes;
use gatehouse_audio::Kind;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest};

/// A test file of the audio crate, written by a real program.
macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../../../../audio/tests/fixtures/", $name)).as_slice()
    };
}

async fn is_heard(id: SttId, audio: &'static [u8]) {
    let heard = Bench::new(id).await;
    let heard = heard
        .heard(TranscribeRequest::new(Bytes::from_static(audio)))
        .await;
    assert!(heard.text.to_lowercase().contains("world"), "{heard:?}");
}

pub async fn wav_is_heard(id: SttId) {
    is_heard(id, fixture!("int16_8000.wav")).await;
}

pub async fn mp3_is_heard(id: SttId) {
    is_heard(id, fixture!("cbr_44100.mp3")).await;
}

pub async fn opus_is_heard(id: SttId) {
    is_heard(id, fixture!("mono.opus")).await;
}

pub async fn vorbis_is_heard(id: SttId) {
    is_heard(id, fixture!("mono_44100.ogg")).await;
}

pub async fn flac_is_heard(id: SttId) {
    is_heard(id, fixture!("mono_44100.flac")).await;
}

pub async fn m4a_is_heard(id: SttId) {
    is_heard(id, fixture!("end_44100.m4a")).await;
}

pub async fn aac_is_heard(id: SttId) {
    is_heard(id, fixture!("mono_44100.aac")).await;
}

pub async fn what_a_browser_records_is_heard(id: SttId) {
    is_heard(id, fixture!("live.webm")).await;
}

pub async fn two_channels_are_heard(id: SttId) {
    is_heard(id, fixture!("stereo_22050.ogg")).await;
}

pub async fn bare_samples_are_heard(id: SttId) {
    let bench = Bench::new(id).await;
    let samples: Vec<u8> = (0..24_000_i16)
        .flat_map(|n| (n % 60 * 20).to_le_bytes())
        .collect();
    let request = TranscribeRequest {
        format: Some("pcm".to_owned()),
        ..TranscribeRequest::new(samples.into())
    };
    let heard = bench.heard(request).await;
    assert!((heard.duration_seconds - 1.0).abs() < 0.01, "{heard:?}");
}

pub async fn what_the_bytes_are_counts_more_than_what_is_declared(id: SttId) {
    let bench = Bench::new(id).await;
    let request = TranscribeRequest {
        format: Some("mp3".to_owned()),
        ..speech()
    };
    bench.heard(request).await;
}

pub async fn unrecognised_bytes_go_out_as_they_are_declared(id: SttId) {
    let bench = Bench::new(id).await;
    let request = TranscribeRequest {
        format: Some("webm".to_owned()),
        ..TranscribeRequest::new(vec![0xA5; 600].into())
    };
    let problem = bench.refused(request).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    assert_eq!(problem.details["status"], 400);
    assert_eq!(bench.calls(), 1);
}

pub async fn unrecognised_bytes_that_nobody_declares_call_nobody(id: SttId) {
    let bench = Bench::new(id).await;
    let request = TranscribeRequest::new(vec![0xA5; 600].into());
    let problem = bench.refused(request).await;
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], "audio");
    assert!(bench.calls() == 0);
}

pub async fn no_audio_calls_nobody(id: SttId) {
    let bench = Bench::new(id).await;
    let problem = bench.refused(TranscribeRequest::new(Bytes::new())).await;
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert!(bench.calls() == 0);
}

pub async fn one_byte_too_many_calls_nobody(id: SttId) {
    let bench = Bench::new(id).await;
    let request = TranscribeRequest::new(vec![0; (25 << 20) + 1].into());
    let problem = bench.refused(request).await;
    assert_eq!(problem.code, ErrorCode::PayloadTooLarge);
    assert_eq!(problem.details["max_bytes"], 25 << 20);
    assert!(bench.calls() == 0);
}

pub async fn how_long_it_lasts_is_measured(id: SttId) {
    let heard = Bench::new(id).await.heard(speech()).await;
    assert!((heard.duration_seconds - 1.5).abs() < 1e-6, "{heard:?}");
}

/// Accepted audio is sent unchanged. Other audio is converted to WAV.
pub async fn what_is_taken_goes_out_as_it_is(id: SttId) {
    let bench = Bench::new(id).await;
    for (kind, audio) in [
        (Kind::Wav, fixture!("int16_8000.wav")),
        (Kind::Mp3, fixture!("cbr_44100.mp3")),
        (Kind::OggOpus, fixture!("mono.opus")),
        (Kind::Ogg, fixture!("mono_44100.ogg")),
        (Kind::Flac, fixture!("mono_44100.flac")),
        (Kind::M4a, fixture!("end_44100.m4a")),
        (Kind::Aac, fixture!("mono_44100.aac")),
        (Kind::Webm, fixture!("live.webm")),
    ] {
        bench
            .heard(TranscribeRequest::new(Bytes::from_static(audio)))
            .await;
        let sent = bench.last_body();
        let is_in_it = sent.windows(audio.len()).any(|part| part == audio);
        assert_eq!(is_in_it, (id.provider().accepts)(kind), "{kind:?}");
    }
}
