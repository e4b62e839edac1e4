//! Tests that audio longer than Google's limit of a minute is split, transcribed in pieces and merged.

use super::{Bench, wav};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest};

/// Returns a recording of parts, each with its duration in seconds and its loudness. Each part ends in a short silence.
fn recording(parts: &[(usize, i16)]) -> TranscribeRequest {
    let mut samples = Vec::new();
    for (seconds, loudness) in parts {
        samples.extend(std::iter::repeat_n(*loudness, seconds * 16_000 - 800));
        samples.extend(std::iter::repeat_n(0, 800));
    }
    TranscribeRequest {
        format: Some("wav".to_owned()),
        ..TranscribeRequest::new(wav(&samples))
    }
}

#[tokio::test]
async fn a_long_recording_is_heard_in_pieces_and_in_order() {
    let bench = Bench::new(SttId::Google).await;
    let heard = bench
        .heard(recording(&[(50, 1000), (52, 2000), (20, 3000)]))
        .await;
    assert_eq!(bench.listener().server.requests().len(), 3);
    assert_eq!(
        heard.text,
        "hello one world hello two world hello three world"
    );
    let starts: Vec<String> = heard
        .words
        .iter()
        .step_by(3)
        .map(|word| format!("{:.0}", word.start))
        .collect();
    assert_eq!(starts, ["0", "50", "102"]);
    assert!((heard.duration_seconds - 122.0).abs() < 0.01);
    assert_eq!(heard.segments.len(), 6);
    assert!(heard.segments[5].end < 122.0 && heard.segments[5].start > 102.0);
}

#[tokio::test]
async fn fifty_five_seconds_are_one_request() {
    let bench = Bench::new(SttId::Google).await;
    bench.heard(recording(&[(55, 1000)])).await;
    assert_eq!(bench.listener().server.requests().len(), 1);
}

#[tokio::test]
async fn a_silent_recording_is_an_empty_text() {
    let bench = Bench::new(SttId::Google).await;
    let heard = bench.heard(recording(&[(1, 0)])).await;
    assert_eq!((heard.text.as_str(), heard.confidence), ("", None));
}

#[tokio::test]
async fn one_piece_that_fails_fails_the_whole() {
    let bench = Bench::with(SttId::Google, |settings| {
        settings.model = Some("none".into());
    })
    .await;
    let problem = bench.refused(recording(&[(50, 1000), (20, 2000)])).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
}

#[tokio::test]
async fn what_cannot_be_read_here_and_has_no_encoding_there_is_the_callers_fault() {
    let bench = Bench::new(SttId::Google).await;
    let request = TranscribeRequest {
        format: Some("m4a".to_owned()),
        ..TranscribeRequest::new(vec![0xA5; 600].into())
    };
    let problem = bench.refused(request).await;
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], "audio");
    assert!(bench.listener().server.requests().is_empty());
}

#[tokio::test]
async fn what_cannot_be_cut_has_googles_size() {
    let bench = Bench::new(SttId::Google).await;
    let request = |size| TranscribeRequest {
        format: Some("flac".to_owned()),
        ..TranscribeRequest::new(vec![0xA5; size].into())
    };
    let problem = bench.refused(request(7_400_001)).await;
    assert_eq!(problem.code, ErrorCode::PayloadTooLarge);
    assert!(bench.listener().server.requests().is_empty());
    let problem = bench.refused(request(7_400_000)).await;
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    let complaints = bench.listener().server.complaints();
    assert!(
        complaints[0].contains("bad encoding"),
        "not its size: {complaints:?}"
    );
}
