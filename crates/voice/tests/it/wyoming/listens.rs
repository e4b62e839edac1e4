//! Transcription.

use super::{Bench, failed};
use crate::harness::problem;
use crate::vendor::tone;
use crate::vendor::wyoming::{Behavior, HEARD, MODEL, event};
use bytes::Bytes;
use futures_util::StreamExt;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest, TranscriptPiece, VoiceError};
use serde_json::json;
use std::time::Duration;

fn audio(format: Format, rate: u32) -> Bytes {
    let samples = tone::samples("A recording of some seconds.", rate);
    encode(&Sound { rate, samples }, format).unwrap().into()
}

fn speech() -> TranscribeRequest {
    TranscribeRequest::new(audio(Format::Wav, 16_000))
}

async fn refusal(bench: &Bench) -> VoiceError {
    let heard = bench.voice().await.transcribe(speech()).await;
    heard.unwrap_err()
}

#[tokio::test]
async fn recordings_of_all_formats_are_sent_as_samples() {
    for (format, rate) in [
        (Format::Wav, 16_000),
        (Format::Wav, 44_100),
        (Format::Mp3, 24_000),
        (Format::Opus, 48_000),
        (Format::Flac, 16_000),
    ] {
        let bench = Bench::new().await;
        let request = TranscribeRequest::new(audio(format, rate));
        let heard = bench.voice().await.transcribe(request).await.unwrap();
        bench.assert_no_complaints();
        assert_eq!(
            (heard.text.as_str(), heard.provider),
            (HEARD, SttId::Voxtral)
        );
        assert_eq!(heard.language, "und");
        let seen = bench.program.connections().remove(0);
        let kinds: Vec<&str> = seen.iter().map(|seen| seen.kind.as_str()).collect();
        assert_eq!(kinds[..2], ["transcribe", "audio-start"]);
        assert_eq!(kinds.last(), Some(&"audio-stop"));
        let sent: Vec<u8> = seen.into_iter().flat_map(|seen| seen.payload).collect();
        let expected = tone::pcm("A recording of some seconds.", 16_000);
        assert!(sent.len().abs_diff(expected.len()) < 6400, "{format:?}");
        if (format, rate) == (Format::Wav, 16_000) {
            assert_eq!(sent, expected);
        }
    }
}

#[tokio::test]
async fn the_model_and_the_language_are_named_if_there_are_any() {
    let mut bench = Bench::new().await;
    bench.voice().await.transcribe(speech()).await.unwrap();
    bench.stt().model = Some(MODEL.to_owned());
    bench.stt().language = Some("de-AT".to_owned());
    let voice = bench.voice().await;
    let heard = voice.transcribe(speech()).await.unwrap();
    assert_eq!(heard.language, "de");
    let request = TranscribeRequest {
        language: Some("en".to_owned()),
        ..speech()
    };
    voice.transcribe(request).await.unwrap();
    bench.assert_no_complaints();
    let expected = [
        json!({}),
        json!({ "name": MODEL, "language": "de" }),
        json!({ "name": MODEL, "language": "en" }),
    ];
    assert_eq!(bench.program.data_of("transcribe"), expected);
}

#[tokio::test]
async fn a_transcript_before_the_end_of_the_audio_is_taken() {
    let bench = Bench::new().await;
    bench.program.set_behavior(Behavior::Early);
    // More than the buffers of a connection hold.
    let sound = Sound {
        rate: 16_000,
        samples: vec![0; 16_000 * 600],
    };
    let long = encode(&sound, Format::Wav).unwrap();
    let request = TranscribeRequest::new(long.into());
    let heard = bench.voice().await.transcribe(request).await.unwrap();
    assert_eq!(heard.text, HEARD);
}

#[tokio::test]
async fn a_caller_who_leaves_closes_the_connection() {
    let bench = Bench::new().await;
    bench.program.set_behavior(Behavior::Raw(Vec::new()));
    let voice = bench.voice().await;
    tokio::select! {
        _ = voice.transcribe(speech()) => panic!("transcribed"),
        () = bench.program.asked(1) => {}
    }
    assert!(bench.program.was_left().await);
}

#[tokio::test]
async fn failures_are_reported() {
    let mut bench = Bench::new().await;
    let error = event(
        "error",
        &json!({ "text": "model\nis loading", "code": "Busy" }),
        b"",
    );
    for (behavior, message) in [
        (Behavior::Raw(error), "reported: model is loading (Busy)"),
        (Behavior::Leave, "closed the connection early."),
        (
            Behavior::Raw(event("transcript", &json!({}), b"")),
            "returned an invalid response.",
        ),
        (
            Behavior::Raw(b"HTTP/1.1 400\r\n".to_vec()),
            "returned an invalid response.",
        ),
    ] {
        bench.program.set_behavior(behavior);
        let received = failed(refusal(&bench).await);
        assert_eq!(received, format!("stt_local_1 {message}"));
    }
    bench.stt().model = Some("large".to_owned());
    bench.program.set_behavior(Behavior::Fine);
    let received = failed(refusal(&bench).await);
    assert_eq!(
        received,
        "stt_local_1 reported: Unable to find model (ValueError)"
    );
    bench.stt().model = None;
    bench.settings.timeouts.program = Duration::from_millis(300);
    for behavior in [Behavior::Raw(Vec::new()), Behavior::Chatty] {
        bench.program.set_behavior(behavior);
        let problem = problem(refusal(&bench).await);
        assert_eq!(problem.code, ErrorCode::Timeout);
    }
}

/// Returns the pieces of text, and the last piece or the error.
async fn streamed(bench: &Bench) -> (Vec<String>, Result<String, VoiceError>) {
    let stream = bench.voice().await.transcribe_stream(speech()).await;
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut texts = Vec::new();
    loop {
        match stream.next().await.unwrap() {
            Ok(TranscriptPiece::Text(text)) => texts.push(text),
            Ok(TranscriptPiece::Done { text, .. }) => {
                assert!(stream.next().await.is_none());
                return (texts, Ok(text));
            }
            Err(error) => return (texts, Err(error)),
        }
    }
}

#[tokio::test]
async fn a_transcript_in_pieces_is_passed_on_as_it_arrives() {
    let bench = Bench::new().await;
    let pieces = ["Turn on", "", " the living room", " lamp."].map(str::to_owned);
    bench.program.set_behavior(Behavior::Pieces(pieces.into()));
    let (texts, whole) = streamed(&bench).await;
    assert_eq!(texts, ["Turn on", " the living room", " lamp."]);
    assert_eq!(whole.unwrap(), HEARD);
    // A program without pieces.
    bench.program.set_behavior(Behavior::Fine);
    let (texts, whole) = streamed(&bench).await;
    assert_eq!(
        (texts, whole.unwrap()),
        (vec![HEARD.to_owned()], HEARD.to_owned())
    );
    bench.assert_no_complaints();
}

#[tokio::test]
async fn a_transcript_that_begins_before_the_end_of_the_audio_is_passed_on() {
    let bench = Bench::new().await;
    bench.program.set_behavior(Behavior::Early);
    let sound = Sound {
        rate: 16_000,
        samples: vec![0; 16_000 * 600],
    };
    let request = TranscribeRequest::new(encode(&sound, Format::Flac).unwrap().into());
    let stream = bench
        .voice()
        .await
        .transcribe_stream(request)
        .await
        .unwrap();
    let texts: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert_eq!(texts.len(), 2, "{texts:?}");
}

#[tokio::test]
async fn a_broken_transcript_in_pieces_is_an_error() {
    let bench = Bench::new().await;
    let chunk = event("transcript-chunk", &json!({ "text": "Turn" }), b"");
    for bad in [
        event("transcript-chunk", &json!({ "text": 7 }), b""),
        event("transcript", &json!({}), b""),
        b"no event\n".to_vec(),
    ] {
        for before in [Vec::new(), chunk.clone()] {
            let sent = Behavior::Raw([before.clone(), bad.clone()].concat());
            bench.program.set_behavior(sent);
            let (texts, error) = streamed(&bench).await;
            let expected = usize::from(!before.is_empty());
            assert_eq!(texts.len(), expected);
            let message = failed(error.unwrap_err());
            assert!(message.contains("invalid response"), "{message}");
        }
    }
}
