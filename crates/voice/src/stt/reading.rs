//! Parses vendor responses. Tolerates missing fields, rejects anything that is not a response, and normalizes
//! timestamps and likelihoods.

use super::{Segment, Word};
use crate::VoiceError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses the vendor's JSON. The error contains no part of it.
pub(super) fn json<T: DeserializeOwned>(
    provider: &'static str,
    answer: &[u8],
) -> Result<T, VoiceError> {
    serde_json::from_slice(answer)
        .map_err(|_| VoiceError::failed(provider, "returned an invalid response", false))
}

/// Parses seconds from a number, a numeric string, or protobuf's `"1.300s"`
/// (<https://protobuf.dev/reference/protobuf/google.protobuf/#duration>). Rejects non-finite values and
/// clamps negative ones to 0.
pub(super) fn seconds(value: &Value) -> Option<f64> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().trim_end_matches('s').parse().ok()?,
        _ => return None,
    };
    seconds.is_finite().then_some(seconds.max(0.0))
}

/// Returns a time span, shifted by `shift` seconds. A missing start is 0, and the end is never before the start.
fn span(start: &Value, end: &Value, shift: f64) -> (f64, f64) {
    let start = seconds(start).unwrap_or_default();
    let end = seconds(end).unwrap_or(start).max(start);
    (start + shift, end + shift)
}

/// Creates a word. Returns `None` if the text is empty.
pub(super) fn word(text: &str, start: &Value, end: &Value, shift: f64) -> Option<Word> {
    let text = text.trim();
    let (start, end) = span(start, end, shift);
    (!text.is_empty()).then(|| Word {
        word: text.to_owned(),
        start,
        end,
    })
}

/// Creates a segment. Returns `None` if the text is empty.
pub(super) fn segment(text: &str, start: &Value, end: &Value, shift: f64) -> Option<Segment> {
    let text = text.trim();
    let (start, end) = span(start, end, shift);
    (!text.is_empty()).then(|| Segment {
        text: text.to_owned(),
        start,
        end,
    })
}

/// Returns the weighted mean of the finite values.
pub(super) fn mean(weighted: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let mut sum = 0.0;
    let mut weights = 0.0;
    for (value, weight) in weighted {
        if value.is_finite() && weight.is_finite() && weight > 0.0 {
            sum += value * weight;
            weights += weight;
        }
    }
    (weights > 0.0).then(|| sum / weights)
}

/// Returns a likelihood, clamped to 0 to 1.
pub(super) fn likelihood(value: f64) -> Option<f64> {
    (!value.is_nan()).then(|| value.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn seconds_come_in_three_forms() {
        assert_eq!(seconds(&json!(1.5)), Some(1.5));
        assert_eq!(seconds(&json!("1.300s")), Some(1.3));
        assert_eq!(seconds(&json!("8.47")), Some(8.47));
        assert_eq!(seconds(&json!("-0.5s")), Some(0.0));
        for bad in [
            json!(null),
            json!("NaN"),
            json!("infs"),
            json!("soon"),
            json!([1]),
        ] {
            assert_eq!(seconds(&bad), None, "{bad}");
        }
    }

    #[test]
    fn words_end_after_they_begin_and_have_letters() {
        let word_of = |text, start, end| word(text, &start, &end, 10.0);
        let plain = word_of(" Hello ", json!(1.0), json!(1.5)).unwrap();
        assert_eq!(
            (plain.word.as_str(), plain.start, plain.end),
            ("Hello", 11.0, 11.5)
        );
        let backwards = word_of("x", json!(2.0), json!(1.0)).unwrap();
        assert_eq!((backwards.start, backwards.end), (12.0, 12.0));
        let timeless = word_of("x", json!(null), json!("NaN")).unwrap();
        assert_eq!((timeless.start, timeless.end), (10.0, 10.0));
        assert_eq!(word_of("  ", json!(1.0), json!(2.0)), None);
    }

    #[test]
    fn a_mean_is_of_what_counts() {
        assert_eq!(mean([]), None);
        assert_eq!(mean([(f64::NAN, 1.0)]), None);
        assert_eq!(mean([(1.0, 1.0), (4.0, 2.0), (9.0, 0.0)]), Some(3.0));
        assert_eq!(likelihood(1.2), Some(1.0));
        assert_eq!(likelihood(f64::NAN), None);
    }

    proptest! {
        #[test]
        fn times_are_always_in_order(start in any::<f64>(), end in any::<f64>(), text in "[0-9a-zA-Z.+-]{0,12}s?") {
            for (start, end) in [(json!(start), json!(end)), (json!(text), json!(end))] {
                let word = word("x", &start, &end, 0.0).unwrap();
                prop_assert!(word.start.is_finite() && word.end.is_finite());
                prop_assert!(0.0 <= word.start && word.start <= word.end);
            }
        }
    }
}
