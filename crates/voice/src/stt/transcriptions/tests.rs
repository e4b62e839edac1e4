//! Tests of the parent module.

use super::*;
use serde_json::json;

fn recognized(answer: &Value) -> SttResult {
    reading::json::<Answer>("x", answer.to_string().as_bytes())
        .unwrap()
        .recognized()
}

#[test]
fn a_verbose_answer_is_taken_apart() {
    let recognized = recognized(&json!({
        "task": "transcribe", "language": "english", "duration": "8.47",
        "text": " Hello there. ",
        "words": [
            {"word": "Hello", "start": 0.0, "end": 0.5},
            {"word": " there", "start": 0.9, "end": 0.6},
            {"word": "", "start": 1.0, "end": 1.0},
        ],
        "segments": [
            {"id": 0, "text": " Hello", "start": -0.1, "end": 0.5, "avg_logprob": -0.1, "tokens": [1, 2, 3]},
            {"id": 1, "text": " there.", "start": 0.5, "end": 1.0, "avg_logprob": -0.5, "tokens": [4]},
        ],
    }));
    assert_eq!(recognized.text, "Hello there.");
    assert_eq!(recognized.language.as_deref(), Some("en"));
    assert_eq!(recognized.duration_seconds, Some(8.47));
    assert_eq!(recognized.words.len(), 2);
    assert_eq!(
        (recognized.words[1].start, recognized.words[1].end),
        (0.9, 0.9)
    );
    assert_eq!(Some(recognized.segments[0].start), Some(0.0));
    assert_eq!(recognized.segments[1].text, "there.");
    let expected = (-0.2_f64).exp();
    assert!((recognized.confidence.unwrap() - expected).abs() < 1e-12);
}

#[test]
fn a_plain_answer_will_do() {
    let plain = recognized(&json!({"text": "Hi", "usage": {"type": "duration", "seconds": 3}}));
    assert_eq!(plain.text, "Hi");
    assert_eq!(plain.duration_seconds, Some(3.0));
    assert_eq!((plain.language, plain.confidence), (None, None));
    let silence = recognized(&json!({"text": "", "segments": null, "words": [], "language": null}));
    assert_eq!(silence, SttResult::default());
}

#[test]
fn likelihoods_of_tokens_become_confidence() {
    let recognized = recognized(&json!({"text": "Hi", "logprobs": [
        {"token": "H", "logprob": 0.0, "bytes": [72]}, {"token": "i", "logprob": -1.0},
    ]}));
    assert!((recognized.confidence.unwrap() - (-0.5_f64).exp()).abs() < 1e-12);
}

#[test]
fn what_has_no_text_is_no_answer() {
    for bad in ["", "{}", "[]", "\"text\"", "{\"text\": null}", "<html>"] {
        let error = reading::json::<Answer>("stt_cloud_1", bad.as_bytes()).err();
        let VoiceError::Provider { reason, .. } = error.unwrap() else {
            panic!("{bad}");
        };
        assert_eq!(reason, "returned an invalid response");
    }
}
