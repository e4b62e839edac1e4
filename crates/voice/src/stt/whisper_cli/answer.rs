//! Parses the `verbose_json` of whisper-server: segments and their words, which are tokens.

use crate::stt::language;
use crate::stt::words::{Piece, words};
use crate::stt::{Segment, SttResult};
use serde::Deserialize;

/// The fields of the answer that are used.
#[derive(Deserialize)]
struct Answer {
    /// An English name.
    language: Option<String>,
    segments: Vec<AnswerSegment>,
}

/// Times are in seconds.
#[derive(Deserialize)]
struct AnswerSegment {
    text: String,
    #[serde(default)]
    start: f64,
    #[serde(default)]
    end: f64,
    #[serde(default)]
    words: Vec<AnswerWord>,
}

#[derive(Deserialize)]
struct AnswerWord {
    /// A part of a word, with the space before it.
    word: String,
    start: Option<f64>,
    end: Option<f64>,
}

/// Returns the transcription, or `None` if the text is not a valid answer.
pub(super) fn recognized(text: &[u8]) -> Option<SttResult> {
    let answer: Answer = serde_json::from_slice(text).ok()?;
    let mut recognized = SttResult {
        language: answer.language.as_deref().and_then(language::code),
        ..SttResult::default()
    };
    let mut whole = String::new();
    for segment in answer.segments {
        whole.push_str(&segment.text);
        let text = segment.text.trim().to_owned();
        let pieces: Vec<Piece> = segment.words.into_iter().filter_map(piece).collect();
        recognized.words.extend(words(&text, &pieces));
        let (start, end) = span(segment.start, segment.end);
        if !text.is_empty() {
            recognized.segments.push(Segment { text, start, end });
        }
    }
    whole.trim().clone_into(&mut recognized.text);
    Some(recognized)
}

fn piece(word: AnswerWord) -> Option<Piece> {
    let (start, end) = span(word.start?, word.end?);
    let bytes = word.word.into_bytes();
    Some(Piece { bytes, start, end })
}

/// Times can be negative or out of order.
fn span(start: f64, end: f64) -> (f64, f64) {
    let start = start.max(0.0);
    (start, end.max(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(answer: &Value) -> Option<SttResult> {
        recognized(answer.to_string().as_bytes())
    }

    #[test]
    fn tokens_become_words_and_segments_a_text() {
        let word = |text: &str, start: f64, end: f64| json!({ "word": text, "start": start, "end": end, "probability": 0.9 });
        let answer = json!({
            "task": "transcribe", "language": "english", "duration": 3.0, "text": " Hello, real\n world.\n",
            "segments": [
                { "id": 0, "text": " Hello, real", "start": 0.0, "end": 1.4, "tokens": [1, 2],
                  "words": [word(" Hel", 0.0, 0.2), word("lo", 0.2, 0.4), word(",", 0.4, 0.4), word(" real", 0.5, 0.9)] },
                { "id": 1, "text": " world.", "start": 1.4, "end": 1.2,
                  "words": [word(" world", -0.1, 1.9), word(".", 1.9, 1.9)] },
            ],
        });
        let heard = read(&answer).unwrap();
        assert_eq!(heard.text, "Hello, real world.");
        assert_eq!(heard.language.as_deref(), Some("en"));
        let words: Vec<_> = heard
            .words
            .iter()
            .map(|word| (word.word.as_str(), word.start, word.end))
            .collect();
        let expected = [
            ("Hello,", 0.0, 0.4),
            ("real", 0.5, 0.9),
            ("world.", 0.0, 1.9),
        ];
        assert_eq!(words, expected);
        let last = heard.segments.last().unwrap();
        assert_eq!((last.start, last.end), (1.4, 1.4));
    }

    #[test]
    fn silence_is_an_empty_text_and_anything_else_is_no_answer() {
        let silence = read(&json!({ "text": "", "segments": [] })).unwrap();
        assert_eq!(silence, SttResult::default());
        for bad in [
            json!({ "error": "failed to process audio" }),
            json!({ "text": "Hello." }),
            json!([]),
        ] {
            assert_eq!(read(&bad), None, "{bad}");
        }
        assert_eq!(recognized(b"File Not Found"), None);
    }
}
