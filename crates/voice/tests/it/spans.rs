//! Spans of speech and transcripts.

use crate::harness::{Harness, stt_at, tts_at};
use crate::vendor::fake_server::Behavior;
use crate::vendor::openai_tts::OpenAiTts;
use bytes::Bytes;
use futures_util::StreamExt;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_domain::trace::{Span, SpanKind, Tracer};
use gatehouse_domain::{SystemClock, SystemRandom};
use gatehouse_voice::{SpeechRequest, SttId, TranscribeRequest, TtsId};
use std::sync::{Arc, Mutex};

const TEXT: &str = "A quiet morning by the river.";

type Spans = Arc<Mutex<Vec<Span>>>;

fn tracer() -> (Tracer, Spans) {
    let spans = Spans::default();
    let sink = Arc::clone(&spans);
    let sink = move |span| sink.lock().unwrap().push(span);
    let tracer = Tracer::new(Arc::new(SystemClock::new()), Arc::new(SystemRandom), sink);
    (tracer, spans)
}

/// Returns the names and errors of the spans that have ended since, in order.
fn ended(spans: &Spans) -> Vec<(&'static str, Option<&'static str>)> {
    let mut spans = spans.lock().unwrap();
    let root = spans.last().map(|root| (root.context, root.parent));
    if let Some((root, parent)) = root {
        assert_eq!(parent, None);
        let mut children = spans.iter().take(spans.len() - 1);
        let is_below = |span: &Span| {
            span.parent == Some(root.span_id) && span.context.trace_id == root.trace_id
        };
        assert!(children.all(is_below), "{spans:?}");
    }
    let ended = spans.drain(..);
    ended.map(|span| (span.name, span.error)).collect()
}

#[tokio::test]
async fn a_stream_is_a_span_to_its_last_byte() {
    let vendor = OpenAiTts::start().await;
    let mut settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    settings.cache_max_bytes = 4 << 20;
    let (tracer, spans) = tracer();
    let harness = Harness::new().await;
    let voice = harness.traced_voice(settings, tracer.clone()).await;
    let stream = || voice.stream(SpeechRequest::new(TEXT));

    vendor.set_behavior(Behavior::BreakOff(3000));
    let broken = stream().await.unwrap();
    assert!(ended(&spans).is_empty());
    let pieces: Vec<_> = broken.body.collect().await;
    assert!(pieces.last().unwrap().is_err());
    let failed = Some("PROVIDER_FAILED");
    let both = [("speech.synthesize", failed), ("api.speech", failed)];
    assert_eq!(ended(&spans), both);

    // A request within another span gets no span of its own.
    vendor.set_behavior(Behavior::Fine);
    let turn = tracer.begin("agent.turn", SpanKind::Internal, None);
    let speech = turn.run(stream()).await.unwrap();
    let count = speech.body.count().await;
    assert!(count > 0);
    drop(turn);
    let both = [("speech.synthesize", None), ("agent.turn", None)];
    assert_eq!(ended(&spans), both);

    let cached = stream().await.unwrap();
    assert!(cached.cached);
    drop(cached);
    assert_eq!(ended(&spans), [("api.speech", None)]);
}

#[tokio::test]
async fn what_fails_before_the_first_byte_and_who_leaves_end_the_spans() {
    let vendor = OpenAiTts::start().await;
    let settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    let (tracer, spans) = tracer();
    let harness = Harness::new().await;
    let voice = harness.traced_voice(settings, tracer).await;
    vendor.set_behavior(Behavior::Status(401, None));
    voice.stream(SpeechRequest::new(TEXT)).await.unwrap_err();
    let failed = Some("PROVIDER_FAILED");
    let both = [("speech.synthesize", failed), ("api.speech", failed)];
    assert_eq!(ended(&spans), both);
    voice.convert(SpeechRequest::new(" ")).await.unwrap_err();
    assert_eq!(ended(&spans), [("api.speech", Some("INVALID_PARAMS"))]);
    vendor.set_behavior(Behavior::Stall(2048));
    let mut left = voice.stream(SpeechRequest::new(TEXT)).await.unwrap();
    left.body.next().await.unwrap().unwrap();
    drop(left);
    let both = [("speech.synthesize", None), ("api.speech", None)];
    assert_eq!(ended(&spans), both);
}

#[tokio::test]
async fn a_transcript_is_a_trace() {
    let settings = stt_at(SttId::OpenAi, "http://127.0.0.1:9/v1", "any-key");
    let (tracer, spans) = tracer();
    let harness = Harness::new().await;
    let voice = harness.traced_voice(settings, tracer).await;
    let sound = Sound {
        rate: 16_000,
        samples: vec![100; 16_000],
    };
    let audio = Bytes::from(encode(&sound, Format::Wav).unwrap());
    let request = TranscribeRequest::new(audio);
    voice.transcribe(request.clone()).await.unwrap_err();
    let failed = Some("PROVIDER_FAILED");
    let both = [("speech.transcribe", failed), ("api.transcription", failed)];
    assert_eq!(ended(&spans), both);
    assert!(voice.transcribe_stream(request).await.is_err());
    assert_eq!(ended(&spans), both);
}
