//! Tests of speech through the `Voice` handle.

mod cache;
mod fallback;
mod long;
mod retries;
mod stream;
mod usage;

use crate::harness::{Harness, problem, tts_at};
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::tone;
use gatehouse_domain::trace::{AttributeValue, Span, SpanKind, Tracer};
use gatehouse_domain::{ErrorCode, SystemClock, SystemRandom};
use gatehouse_voice::{SpeechRequest, TtsId, Voice, VoiceSettings};
use std::sync::{Arc, Mutex};

/// Returns a `Voice` with `OpenAI` as its only text-to-speech provider.
async fn openai() -> (Harness, OpenAiTts, VoiceSettings) {
    let vendor = OpenAiTts::start().await;
    let settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    (Harness::new().await, vendor, settings)
}

fn about(actual: u64, wanted: usize) -> bool {
    actual.abs_diff(wanted as u64) * 50 <= wanted as u64
}

async fn refused(voice: &Voice, request: SpeechRequest) -> (ErrorCode, String) {
    let problem = problem(voice.convert(request).await.unwrap_err());
    let detail = |name| problem.details.get(name).and_then(|value| value.as_str());
    let which = detail("field").or(detail("what")).or(detail("provider"));
    (problem.code, which.unwrap_or_default().to_owned())
}

#[tokio::test]
async fn every_format_is_what_it_says() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    let text = "A quiet morning.";
    for format in ["mp3", "opus", "ogg", "pcm", "wav", "flac"] {
        let request = SpeechRequest {
            format: Some(format.to_owned()),
            ..SpeechRequest::new(text)
        };
        let spoken = voice.convert(request).await.unwrap();
        assert_eq!(spoken.format.as_str(), format);
        assert!(
            about(spoken.duration_ms, tone::duration_ms(text)),
            "{format}: {spoken:?}"
        );
        assert_eq!((spoken.warning, spoken.cached), (None, false), "{format}");
    }
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn limits_and_wrong_input() {
    let (harness, vendor, mut settings) = openai().await;
    settings.speaking.max_text_length = 10;
    let voice = harness.voice(settings.clone()).await;
    let with = |text: &str| SpeechRequest::new(text);
    let fields = |change: fn(&mut SpeechRequest)| {
        let mut request = SpeechRequest::new("Hello.");
        change(&mut request);
        request
    };
    let invalid = |field: &str| (ErrorCode::InvalidParams, field.to_owned());
    for (request, field) in [
        (with(""), "text"),
        (with(" \n\t"), "text"),
        (with("elf Zeichen"), "text"),
        (with("---"), "text"),
        (fields(|r| r.provider = Some("nobody".into())), "provider"),
        (fields(|r| r.format = Some("ape".into())), "format"),
        (fields(|r| r.persona = Some("nobody".into())), "persona"),
        (fields(|r| r.speed = Some(0.249)), "speed"),
        (fields(|r| r.speed = Some(4.001)), "speed"),
        (fields(|r| r.speed = Some(f64::NAN)), "speed"),
        (fields(|r| r.stability = Some(-0.001)), "stability"),
        (
            fields(|r| r.similarity_boost = Some(1.001)),
            "similarityBoost",
        ),
        (fields(|r| r.voice = Some("a\nb".into())), "voiceId"),
        (fields(|r| r.model = Some(" ".into())), "model"),
    ] {
        assert_eq!(
            refused(&voice, request.clone()).await,
            invalid(field),
            "{request:?}"
        );
    }
    assert_eq!(vendor.requests().len(), 0);
    voice.convert(with("zehn Zeich")).await.unwrap();
    for speed in [0.25, 4.0] {
        let request = SpeechRequest {
            speed: Some(speed),
            ..with("Hello.")
        };
        voice.convert(request).await.unwrap();
    }
    settings.tts.enabled = false;
    voice.update_settings(settings);
    let off = refused(&voice, with("Hello.")).await;
    assert_eq!(
        off,
        (ErrorCode::NotConfigured, "voice.tts.enabled".to_owned())
    );
}

#[tokio::test]
async fn nobody_is_configured() {
    let harness = Harness::new().await;
    let voice = harness.voice(crate::harness::settings()).await;
    let (code, what) = refused(&voice, SpeechRequest::new("Hello.")).await;
    assert_eq!(
        (code, what.as_str()),
        (ErrorCode::NotConfigured, "voice.tts.provider")
    );
    let status = voice.tts_status().await;
    assert_eq!((status.provider.as_str(), status.configured), ("", false));
    for (provider, setting) in [
        ("elevenlabs", "voice.tts.tts_cloud_1.api_key"),
        ("tts_local_1", "voice.tts.tts_local_1.model_path"),
        ("coqui", "voice.tts.tts_local_2.endpoint"),
    ] {
        let request = SpeechRequest {
            provider: Some(provider.to_owned()),
            ..SpeechRequest::new("Hello.")
        };
        let (code, what) = refused(&voice, request).await;
        assert_eq!((code, what.as_str()), (ErrorCode::NotConfigured, setting));
    }
}

#[tokio::test]
async fn what_a_speaker_cannot_follow_is_said() {
    let (harness, _vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    let request = SpeechRequest {
        stability: Some(0.5),
        ..SpeechRequest::new("Hello.")
    };
    let spoken = voice.convert(request).await.unwrap();
    let warning = spoken.warning.unwrap();
    assert!(warning.contains("stability"), "{warning}");
}

#[tokio::test]
async fn marks_of_answers_are_not_read_out() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    let text = "[[tts:persona=x]] Hello, **you** there.";
    voice.convert(SpeechRequest::new(text)).await.unwrap();
    assert_eq!(vendor.requests()[0].json()["input"], "Hello, you there.");
}

#[tokio::test]
async fn instructions_that_a_model_ignores_are_reported() {
    let (harness, vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    let request = SpeechRequest {
        model: Some("tts-1".to_owned()),
        instructions: Some("Whisper.".to_owned()),
        ..SpeechRequest::new("Hello.")
    };
    let warning = voice.convert(request).await.unwrap().warning.unwrap();
    assert!(warning.contains("instructions"), "{warning}");
    assert!(vendor.requests()[0].json().get("instructions").is_none());
}

#[tokio::test]
async fn a_request_to_a_provider_is_a_span_of_the_callers_trace_without_its_text() {
    let (harness, _vendor, settings) = openai().await;
    let voice = harness.voice(settings).await;
    let spans: Arc<Mutex<Vec<Span>>> = Arc::default();
    let sink = Arc::clone(&spans);
    let sink = move |span| sink.lock().unwrap().push(span);
    let tracer = Tracer::new(Arc::new(SystemClock::new()), Arc::new(SystemRandom), sink);
    let turn = tracer.begin("agent.turn", SpanKind::Internal, None);
    let request = SpeechRequest::new("A quiet morning.");
    turn.run(voice.convert(request)).await.unwrap();
    drop(turn);
    let spans = spans.lock().unwrap();
    let [speech, turn] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert_eq!((speech.name, speech.error), ("speech.synthesize", None));
    assert_eq!(speech.parent, Some(turn.context.span_id));
    assert_eq!(speech.context.trace_id, turn.context.trace_id);
    let provider = AttributeValue::from(TtsId::OpenAi.as_str());
    assert_eq!(speech.attributes, [("gatehouse.speech.provider", provider)]);
}
