//! Tests of transcripts that arrive piece by piece.

use super::{ALL, Bench, speech};
use crate::harness::problem;
use crate::vendor::fake_server::Behavior;
use crate::vendor::openai_stt::events;
use futures_util::StreamExt;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_voice::{SttId, TokenUsage, TranscribeRequest, TranscriptPiece};
use serde_json::json;

const MODEL: &str = "gpt-4o-transcribe";

fn with(model: &str) -> TranscribeRequest {
    TranscribeRequest {
        model: Some(model.to_owned()),
        ..speech()
    }
}

/// The deltas, and the last piece or the error.
type Pieces = (Vec<String>, Result<(String, Option<TokenUsage>), Problem>);

async fn pieces(bench: &Bench, request: TranscribeRequest) -> Result<Pieces, Problem> {
    let stream = bench.voice.transcribe_stream(request).await;
    let mut stream = stream.map_err(problem)?;
    let mut deltas = Vec::new();
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(TranscriptPiece::Text(delta)) => deltas.push(delta),
            Ok(TranscriptPiece::Done { text, usage }) => {
                assert!(stream.next().await.is_none());
                return Ok((deltas, Ok((text, usage))));
            }
            Err(error) => {
                assert!(stream.next().await.is_none());
                return Ok((deltas, Err(problem(error))));
            }
        }
    }
    panic!("the stream has no end: {deltas:?}");
}

#[tokio::test]
async fn a_vendors_stream_is_passed_on() {
    for model in [MODEL, "gpt-4o-mini-transcribe-2025-12-15"] {
        let bench = Bench::new(SttId::OpenAi).await;
        let (deltas, done) = pieces(&bench, with(model)).await.unwrap();
        assert_eq!(deltas, ["Hello", " real", " world."], "{model}");
        let usage = TokenUsage {
            input_tokens: 14,
            output_tokens: 5,
            total_tokens: 19,
        };
        let text = "Hello real world.".to_owned();
        assert_eq!(done.unwrap(), (text, Some(usage)), "{model}");
        assert_eq!(bench.sent("stream").await, ["true"]);
        assert!(bench.sent("include[]").await.is_empty());
        assert!(bench.listener().server.complaints().is_empty());
        // Whole transcripts are requested as before.
        bench.heard(with(model)).await;
        assert!(bench.sent("stream").await.is_empty());
    }
}

#[tokio::test]
async fn what_is_not_streamed_is_one_piece() {
    for id in ALL {
        for model in [None, Some("gpt-4o-transcribe-diarize")] {
            if model.is_some() && id != SttId::OpenAi {
                continue;
            }
            let bench = Bench::new(id).await;
            let request = TranscribeRequest {
                model: model.map(str::to_owned),
                ..speech()
            };
            let (deltas, done) = pieces(&bench, request).await.unwrap();
            let (text, usage) = done.unwrap();
            assert!(!text.is_empty() && usage.is_none(), "{id}");
            assert_eq!(deltas, [text], "{id}");
            assert!(bench.listener().server.complaints().is_empty(), "{id}");
        }
    }
}

#[tokio::test]
async fn silence_and_a_server_that_ignores_the_field() {
    let bench = Bench::new(SttId::OpenAi).await;
    bench.listener().answer_with(json!({ "text": "" }));
    let (deltas, done) = pieces(&bench, with(MODEL)).await.unwrap();
    assert!(deltas.is_empty());
    assert_eq!(done.unwrap(), (String::new(), None));
    bench.listener().answer_with(json!({ "text": " Hi. " }));
    let (deltas, done) = pieces(&bench, with(MODEL)).await.unwrap();
    assert_eq!(deltas, ["Hi."]);
    assert_eq!(done.unwrap(), ("Hi.".to_owned(), None));
}

#[tokio::test]
async fn other_events_are_skipped() {
    let bench = Bench::new(SttId::OpenAi).await;
    let others = ": keep-alive\n\ndata: {\"type\":\"transcript.text.segment\",\"id\":\"1\"}\n\n\
        data: {\"type\":\"transcript.text.delta\",\"delta\":\"\"}\n\n";
    let sent = format!("{others}{}data: [DONE]\n\n", events(&["Hi", "."], "Hi."));
    bench.listener().answer_with(json!(sent));
    let (deltas, done) = pieces(&bench, with(MODEL)).await.unwrap();
    assert_eq!(deltas, ["Hi", "."]);
    assert_eq!(done.unwrap().0, "Hi.");
}

#[tokio::test]
async fn a_stream_that_is_no_transcript_is_refused() {
    let long = "x".repeat(1 << 20);
    for sent in [
        String::new(),
        "data: {\"type\":\"transcript.text.delta\"}\n\n".to_owned(),
        "data: <html>\n\n".to_owned(),
        "data: {\"type\":\"error\",\"error\":{\"message\":\"SECRET\"}}\n\n".to_owned(),
        "data: [DONE]\n\n".to_owned(),
        events(&[&long], "x"),
    ] {
        let bench = Bench::new(SttId::OpenAi).await;
        bench.listener().answer_with(json!(sent));
        let problem = pieces(&bench, with(MODEL)).await.unwrap_err();
        assert_eq!(problem.code, ErrorCode::ProviderFailed, "{problem:?}");
        assert!(!problem.message.contains("SECRET"), "{problem:?}");
    }
    // An event of exactly the maximum size is accepted.
    let bench = Bench::new(SttId::OpenAi).await;
    let frame = events(&[""], "").lines().next().unwrap().len();
    let most = "x".repeat((1 << 20) - frame);
    let sent = events(&[&most], "x");
    bench.listener().answer_with(json!(sent));
    let (deltas, done) = pieces(&bench, with(MODEL)).await.unwrap();
    assert!(deltas == [most] && done.is_ok());
}

#[tokio::test]
async fn a_whole_stream_has_a_limit() {
    const MOST: usize = 16 << 20;
    let (delta, done) = (events(&["Hi"], "Hi."), events(&[], "Hi."));
    let delta = delta.strip_suffix(&done).unwrap();
    for (over, is_taken) in [(0, true), (1, false)] {
        let mut sent = delta.to_owned();
        let mut padding = MOST + over - delta.len() - done.len();
        while padding > 0 {
            let line = padding.min(1 << 19);
            sent.push_str(&":".repeat(line - 1));
            sent.push('\n');
            padding -= line;
        }
        sent.push_str(&done);
        assert_eq!(sent.len(), MOST + over);
        let bench = Bench::new(SttId::OpenAi).await;
        bench.listener().answer_with(json!(sent));
        let (deltas, done) = pieces(&bench, with(MODEL)).await.unwrap();
        assert_eq!(deltas, ["Hi"]);
        assert_eq!(done.is_ok(), is_taken, "{over}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error_after_its_pieces() {
    let bench = Bench::hasty(SttId::OpenAi).await;
    let first = events(&["Hello"], "").lines().next().unwrap().len() + 2;
    for (behavior, code) in [
        (Behavior::BreakOff(first), ErrorCode::ProviderFailed),
        (Behavior::Stall(first), ErrorCode::Timeout),
    ] {
        bench.set_behavior(behavior.clone());
        let (deltas, done) = pieces(&bench, with(MODEL)).await.unwrap();
        assert_eq!(deltas, ["Hello"], "{behavior:?}");
        assert_eq!(done.unwrap_err().code, code, "{behavior:?}");
    }
    bench.set_behavior(Behavior::Status(400, None));
    let problem = pieces(&bench, with(MODEL)).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
}

#[tokio::test]
async fn a_stream_that_nobody_reads_is_closed() {
    let bench = Bench::new(SttId::OpenAi).await;
    let first = events(&["Hello"], "").lines().next().unwrap().len() + 2;
    bench.set_behavior(Behavior::Stall(first));
    let stream = bench.voice.transcribe_stream(with(MODEL)).await;
    let mut stream = stream.map_err(problem).unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    assert!(bench.was_left().await);
}
