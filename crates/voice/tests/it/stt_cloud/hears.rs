//! Tests of the results.

use super::{ALL, Bench, speech};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SttId, TranscribeRequest};
use serde_json::{Value, json};

fn close(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
        (found, expected) => found == expected,
    }
}

#[tokio::test]
async fn text_language_words_segments_and_confidence_of_each() {
    // The confidence: e to the mean of the logarithms, the vendor's value, or the mean over the letters.
    let likely = Some((-0.25_f64).exp());
    let google = Some((0.9 * 10.0 + 0.8 * 5.0) / 15.0);
    for (id, words, segments, confidence, language) in [
        (SttId::OpenAi, 3, 1, likely, "en"),
        (SttId::Groq, 3, 1, likely, "en"),
        (SttId::Deepgram, 3, 1, Some(0.97), "en"),
        (SttId::Google, 3, 2, google, "en"),
        (SttId::Mistral, 0, 1, None, "en"),
        (SttId::Voxtral, 0, 0, None, "und"),
    ] {
        let heard = Bench::new(id).await.heard(speech()).await;
        let text = if id == SttId::Google {
            "hello real world"
        } else {
            "Hello real world."
        };
        assert_eq!(heard.text, text, "{id}");
        assert_eq!(heard.language, language, "{id}");
        assert_eq!(heard.words.len(), words, "{id}");
        assert_eq!(heard.segments.len(), segments, "{id}");
        assert!(
            close(heard.confidence, confidence),
            "{id}: {:?}",
            heard.confidence
        );
        assert!(
            (1.4..=2.0).contains(&heard.duration_seconds),
            "{id}: {}",
            heard.duration_seconds
        );
        assert_eq!(heard.provider, id);
        for pair in heard.words.windows(2) {
            assert!(
                pair[0].start <= pair[0].end && pair[0].end <= pair[1].start,
                "{id}"
            );
        }
    }
}

#[tokio::test]
async fn the_language_that_was_heard_counts_more_than_the_one_asked_for() {
    let bench = Bench::new(SttId::OpenAi).await;
    bench
        .listener()
        .answer_with(json!({"text": "Hallo", "language": "german"}));
    let request = TranscribeRequest {
        language: Some("en".to_owned()),
        ..speech()
    };
    assert_eq!(bench.heard(request).await.language, "de");
}

#[tokio::test]
async fn gpt_4o_says_how_likely_its_words_were() {
    let bench = Bench::with(SttId::OpenAi, |settings| {
        settings.model = Some("gpt-4o-transcribe".into());
    })
    .await;
    let heard = bench.heard(speech()).await;
    assert!(close(heard.confidence, Some((-0.25_f64).exp())));
    assert!(heard.words.is_empty() && heard.segments.is_empty());
}

#[tokio::test]
async fn the_model_that_tells_speakers_apart_gives_segments() {
    let model = Some("gpt-4o-transcribe-diarize".to_owned());
    let bench = Bench::with(SttId::OpenAi, |settings| settings.model = model).await;
    let heard = bench.heard(speech()).await;
    assert_eq!(heard.segments.len(), 1);
    assert_eq!(heard.segments[0].text, "Hello real world.");
}

#[tokio::test]
async fn a_compatible_server_may_answer_plainly() {
    for id in [SttId::OpenAi, SttId::Groq, SttId::Mistral, SttId::Voxtral] {
        let bench = Bench::with(id, |settings| {
            if id == SttId::Voxtral {
                settings.model = Some("another".to_owned());
            }
        })
        .await;
        bench.listener().answer_with(json!({"text": "Plain."}));
        let heard = bench.heard(speech()).await;
        assert_eq!(heard.text, "Plain.");
        assert!(heard.words.is_empty() && heard.segments.is_empty());
        assert_eq!((heard.confidence, heard.language.as_str()), (None, "und"));
    }
}

/// Returns the vendor's response to silence.
fn silence(id: SttId) -> Value {
    match id {
        SttId::OpenAi | SttId::Groq => json!({"task": "transcribe", "language": "english",
            "duration": 1.5, "text": "", "words": [], "segments": []}),
        SttId::Deepgram => json!({"metadata": {"duration": 1.5}, "results": {"channels": [
            {"alternatives": [{"transcript": "", "confidence": 0.0, "words": []}]}], "utterances": []}}),
        SttId::Google => json!({"totalBilledTime": "0s", "requestId": "7"}),
        SttId::Mistral => json!({"model": "voxtral-mini-2602", "text": "", "language": null,
            "segments": [], "usage": {"prompt_audio_seconds": 2}}),
        _ => json!({"text": "", "usage": {"type": "duration", "seconds": 2}}),
    }
}

#[tokio::test]
async fn silence_is_an_empty_text_and_no_error() {
    for id in ALL {
        let bench = Bench::with(id, |settings| {
            if id == SttId::Voxtral {
                settings.model = Some("another".to_owned());
            }
        })
        .await;
        bench.listener().answer_with(silence(id));
        let heard = bench.heard(speech()).await;
        assert_eq!(heard.text, "", "{id}");
        assert_eq!(heard.confidence, None, "{id}");
        assert!(heard.words.is_empty() && heard.segments.is_empty(), "{id}");
    }
}

#[tokio::test]
async fn times_that_make_no_sense_are_made_sane() {
    let bench = Bench::new(SttId::OpenAi).await;
    bench
        .listener()
        .answer_with(json!({"text": "a b c", "duration": -3.0, "words": [
        {"word": "a", "start": -0.25, "end": -0.5},
        {"word": "b", "start": "NaN", "end": null},
        {"word": "c", "start": 2.0, "end": 1.0},
    ], "segments": [{"text": "a b c", "start": -1.0, "avg_logprob": 7.0}]}));
    let heard = bench.heard(speech()).await;
    let times: Vec<_> = heard
        .words
        .iter()
        .map(|word| (word.start, word.end))
        .collect();
    assert_eq!(times, [(0.0, 0.0), (0.0, 0.0), (2.0, 2.0)]);
    assert_eq!((heard.segments[0].start, heard.segments[0].end), (0.0, 0.0));
    assert_eq!(heard.confidence, Some(1.0));
    assert!(heard.duration_seconds >= 0.0);
    let google = Bench::new(SttId::Google).await;
    google.listener().answer_with(
        json!({"results": [{"alternatives": [{"transcript": "a", "words": [
        {"word": "a", "startTime": "-1s", "endTime": "NaNs"}]}], "resultEndTime": "infs"}]}),
    );
    let heard = google.heard(speech()).await;
    assert_eq!((heard.words[0].start, heard.words[0].end), (0.0, 0.0));
    assert_eq!(Some(heard.segments[0].end), Some(0.0));
}

#[tokio::test]
async fn an_answer_that_lacks_what_the_documents_promise_is_a_failure() {
    for (id, answer) in [
        (SttId::OpenAi, json!({"language": "english"})),
        (SttId::OpenAi, json!({"text": null})),
        (SttId::Groq, json!([])),
        (SttId::Groq, json!({"text": "x", "words": "none"})),
        (SttId::Mistral, json!({"error": {"message": "SECRET"}})),
        (SttId::Voxtral, json!("SECRET")),
        (SttId::Deepgram, json!({"request_id": "SECRET"})),
        (SttId::Deepgram, json!({"results": {}})),
        (SttId::Google, json!({"name": "operations/SECRET"})),
        (SttId::Google, json!({"results": {"alternatives": []}})),
    ] {
        let bench = Bench::new(id).await;
        bench.listener().answer_with(answer.clone());
        let problem = bench.refused(speech()).await;
        assert_eq!(problem.code, ErrorCode::ProviderFailed, "{id} {answer}");
        assert!(
            problem.message.contains("returned an invalid response"),
            "{problem:?}"
        );
        assert_eq!(problem.details["retryable"], false);
        assert!(!format!("{problem:?}").contains("SECRET"));
    }
}
