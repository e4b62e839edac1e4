//! Tests of transcription through the `Voice` handle that do not depend on the provider.

use crate::harness::{Harness, problem, settings, stt_at};
use bytes::Bytes;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{MAX_AUDIO_BYTES, SttId, TranscribeRequest, Voice};

/// Returns a hum, which gives encoders something to encode.
fn hum(seconds: usize) -> Sound {
    let samples = (0..seconds * 16_000).map(|index| i16::try_from(index % 80).unwrap() * 100);
    Sound {
        rate: 16_000,
        samples: samples.collect(),
    }
}

fn audio(format: Format) -> Bytes {
    encode(&hum(1), format).unwrap().into()
}

async fn refused(voice: &Voice, request: TranscribeRequest) -> (ErrorCode, String) {
    let problem = problem(voice.transcribe(request).await.unwrap_err());
    let detail = |name| problem.details.get(name).and_then(|value| value.as_str());
    let which = detail("field").or(detail("what")).unwrap_or_default();
    (problem.code, which.to_owned())
}

#[tokio::test]
async fn limits_and_wrong_input() {
    let harness = Harness::new().await;
    let url = "http://127.0.0.1:9/v1";
    let mut settings = stt_at(SttId::OpenAi, url, "any-key");
    let voice = harness.voice(settings.clone()).await;
    let with = |change: fn(&mut TranscribeRequest)| {
        let mut request = TranscribeRequest::new(audio(Format::Wav));
        change(&mut request);
        request
    };
    for (request, field) in [
        (with(|r| r.audio = Bytes::new()), "audio"),
        (
            with(|r| r.audio = Bytes::from_static(b"no audio at all")),
            "audio",
        ),
        (with(|r| r.format = Some("midi".into())), "format"),
        (with(|r| r.language = Some("klingon".into())), "language"),
        (with(|r| r.provider = Some("nobody".into())), "provider"),
        (with(|r| r.prompt = Some("x".repeat(4001))), "prompt"),
    ] {
        let received = refused(&voice, request).await;
        assert_eq!(received, (ErrorCode::InvalidParams, field.to_owned()));
    }
    let mut large = audio(Format::Wav).to_vec();
    large.resize(MAX_AUDIO_BYTES + 1, 0);
    let (code, _) = refused(&voice, TranscribeRequest::new(large.clone().into())).await;
    assert_eq!(code, ErrorCode::PayloadTooLarge);
    // A request at the limit is sent, here to an address without a server.
    large.truncate(MAX_AUDIO_BYTES);
    let (code, _) = refused(&voice, TranscribeRequest::new(large.into())).await;
    assert_eq!(code, ErrorCode::ProviderFailed);
    settings.stt.enabled = false;
    voice.update_settings(settings);
    let off = refused(&voice, TranscribeRequest::new(audio(Format::Wav))).await;
    assert_eq!(
        off,
        (ErrorCode::NotConfigured, "voice.stt.enabled".to_owned())
    );
}

#[tokio::test]
async fn nobody_is_configured() {
    let harness = Harness::new().await;
    let voice = harness.voice(settings()).await;
    let (code, what) = refused(&voice, TranscribeRequest::new(audio(Format::Wav))).await;
    assert_eq!(
        (code, what.as_str()),
        (ErrorCode::NotConfigured, "voice.stt.provider")
    );
    let status = voice.stt_status().await;
    assert_eq!((status.provider.as_str(), status.configured), ("", false));
}
