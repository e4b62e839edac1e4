//! Parses Google's responses, and merges those for the pieces of one recording.

use super::super::{Segment, SttResult, Word, language, reading};
use crate::VoiceError;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Fields that a response may have in addition to `results`. A response without results counts as silence only if it
/// has no fields except these.
const BESIDE: [&str; 4] = [
    "totalBilledTime",
    "speechAdaptationInfo",
    "requestId",
    "usingLegacyModels",
];

/// `RecognizeResponse`.
#[derive(Deserialize)]
pub(super) struct Answer {
    #[serde(default)]
    results: Vec<SpeechResult>,
    #[serde(flatten)]
    beside: Map<String, Value>,
}

/// `SpeechRecognitionResult`: a portion of speech.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpeechResult {
    #[serde(default)]
    alternatives: Vec<Alternative>,
    #[serde(default)]
    result_end_time: Value,
    language_code: Option<String>,
}

#[derive(Deserialize)]
struct Alternative {
    #[serde(default)]
    transcript: String,
    confidence: Option<f64>,
    words: Option<Vec<AnswerWord>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerWord {
    word: String,
    #[serde(default)]
    start_time: Value,
    #[serde(default)]
    end_time: Value,
}

/// The result of one piece.
#[derive(Default)]
pub(super) struct Part {
    words: Vec<Word>,
    segments: Vec<Segment>,
    /// Confidences, weighted by their number of letters.
    confidences: Vec<(f64, f64)>,
    language: Option<String>,
}

impl Answer {
    pub(super) fn read(provider: &'static str, answer: &[u8]) -> Result<Self, VoiceError> {
        let answer: Self = reading::json(provider, answer)?;
        let is_known = |name: &String| BESIDE.contains(&name.as_str());
        if answer.results.is_empty() && !answer.beside.keys().all(is_known) {
            let reason = "returned an invalid response";
            return Err(VoiceError::failed(provider, reason, false));
        }
        Ok(answer)
    }

    /// Returns the result, with `shift` seconds added to all times.
    pub(super) fn part(self, shift: f64) -> Part {
        let mut part = Part::default();
        let mut before = Value::Null;
        for said in self.results {
            let language = said.language_code.as_deref().and_then(language::code);
            part.language = part.language.or(language);
            let Some(best) = said.alternatives.into_iter().next() else {
                continue;
            };
            let letters = best.transcript.trim().chars().count();
            let weight = u32::try_from(letters).map_or(f64::MAX, f64::from);
            let confidence = best.confidence.filter(|sure| *sure > 0.0);
            part.confidences
                .extend(confidence.map(|sure| (sure, weight)));
            let words = best.words.unwrap_or_default();
            let start = words.first().map_or(&before, |first| &first.start_time);
            let end = match reading::seconds(&said.result_end_time) {
                Some(_) => &said.result_end_time,
                None => words.last().map_or(&Value::Null, |last| &last.end_time),
            };
            let segment = reading::segment(&best.transcript, start, end, shift);
            part.segments.extend(segment);
            part.words.extend(words.iter().filter_map(|said| {
                reading::word(&said.word, &said.start_time, &said.end_time, shift)
            }));
            before = end.clone();
        }
        part
    }
}

/// Merges the pieces of one recording, in order.
pub(super) fn together(parts: impl IntoIterator<Item = Part>) -> SttResult {
    let mut recognized = SttResult::default();
    let mut confidences = Vec::new();
    for part in parts {
        recognized.words.extend(part.words);
        recognized.segments.extend(part.segments);
        recognized.language = recognized.language.or(part.language);
        confidences.extend(part.confidences);
    }
    let said: Vec<&str> = recognized
        .segments
        .iter()
        .map(|said| said.text.as_str())
        .collect();
    recognized.text = said.join(between(recognized.language.as_deref()));
    recognized.confidence = reading::mean(confidences).and_then(reading::likelihood);
    recognized
}

/// Returns the separator between sentences in a language.
fn between(language: Option<&str>) -> &'static str {
    match language {
        Some("ja" | "km" | "lo" | "my" | "th" | "zh") => "",
        _ => " ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn part(answer: &Value, shift: f64) -> Part {
        Answer::read("x", answer.to_string().as_bytes())
            .unwrap()
            .part(shift)
    }

    #[test]
    fn results_and_pieces_are_put_together() {
        let first = json!({"results": [
            {"alternatives": [{"transcript": "hello there", "confidence": 0.9, "words": [
                {"startTime": "1.300s", "endTime": "1.700s", "word": "hello"},
                {"startTime": "1.700s", "endTime": "2s", "word": "there"}]}],
             "resultEndTime": "2.100s", "languageCode": "en-us"},
            {"alternatives": [{"transcript": " general", "confidence": 0.6}], "resultEndTime": "3.500s"},
        ], "totalBilledTime": "15s", "requestId": "1"});
        let second = json!({"results": [{"alternatives": [{"transcript": "bye", "words": [
            {"startTime": "NaNs", "endTime": "0.5s", "word": "bye"}]}]}]});
        let recognized = together([part(&first, 0.0), part(&second, 50.0)]);
        assert_eq!(recognized.text, "hello there general bye");
        assert_eq!(recognized.language.as_deref(), Some("en"));
        assert_eq!(
            (recognized.words[0].start, recognized.words[0].end),
            (1.3, 1.7)
        );
        assert_eq!(
            (recognized.words[2].start, recognized.words[2].end),
            (50.0, 50.5)
        );
        let times: Vec<_> = recognized
            .segments
            .iter()
            .map(|said| (said.start, said.end))
            .collect();
        assert_eq!(times, [(1.3, 2.1), (2.1, 3.5), (50.0, 50.5)]);
        let expected = (0.9 * 11.0 + 0.6 * 7.0) / 18.0;
        assert!((recognized.confidence.unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn silence_has_no_results_and_rubbish_has_others() {
        for silence in [
            json!({}),
            json!({"totalBilledTime": "0s", "requestId": "7"}),
        ] {
            assert_eq!(together([part(&silence, 0.0)]), SttResult::default());
        }
        for bad in ["", "[]", "{\"detail\": \"no\"}", "{\"results\": 1}", "<p>"] {
            assert!(Answer::read("x", bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn some_languages_have_no_spaces() {
        let said = json!({"results": [
            {"alternatives": [{"transcript": "你好"}], "languageCode": "cmn-hans-cn"},
            {"alternatives": [{"transcript": "世界"}]},
        ]});
        assert_eq!(together([part(&said, 0.0)]).text, "你好世界");
    }
}
