//! Limits for the texts and numbers of a persona.

use crate::VoiceError;
use std::ops::RangeInclusive;

/// The longest label, in characters.
pub(super) const MAX_LABEL: usize = 200;
/// The longest voice or model.
const MAX_WORD: usize = 200;
/// The longest description or prompt field.
pub(super) const MAX_TEXT: usize = 4000;
pub(super) const MAX_BINDINGS: usize = 20;
/// Speed and speaking rate.
pub(super) const SPEED: RangeInclusive<f64> = 0.25..=4.0;
/// Stability and similarity boost.
pub(super) const UNIT: RangeInclusive<f64> = 0.0..=1.0;
/// In semitones.
pub(super) const PITCH: RangeInclusive<f64> = -20.0..=20.0;

pub(super) type Checked<T> = Result<T, VoiceError>;

pub(super) fn invalid<T>(field: &'static str, reason: impl Into<String>) -> Checked<T> {
    Err(VoiceError::invalid(field, reason))
}

/// Returns a non-empty single line, trimmed.
pub(super) fn line(field: &'static str, text: &str, max: usize) -> Checked<String> {
    let text = text.trim();
    if text.is_empty() {
        return invalid(field, "must not be empty");
    }
    if text.chars().count() > max {
        return invalid(field, format!("at most {max} characters"));
    }
    if text.contains(char::is_control) {
        return invalid(field, "no control characters");
    }
    Ok(text.to_owned())
}

/// Returns a vendor's name for a voice or model. Empty means absent.
pub(super) fn word(field: &'static str, word: Option<String>) -> Checked<Option<String>> {
    let word = word.filter(|word| !word.is_empty());
    word.map(|word| line(field, &word, MAX_WORD)).transpose()
}

/// Returns a text of any number of lines. NUL is rejected because PostgreSQL cannot store it.
pub(super) fn text(field: &'static str, text: Option<String>) -> Checked<String> {
    let text = text.unwrap_or_default();
    if text.chars().count() > MAX_TEXT {
        return invalid(field, format!("at most {MAX_TEXT} characters"));
    }
    if text.contains('\0') {
        return invalid(field, "no NUL character");
    }
    Ok(text)
}

pub(super) fn in_range(
    field: &'static str,
    number: Option<f64>,
    range: &RangeInclusive<f64>,
) -> Checked<Option<f64>> {
    match number {
        Some(number) if !range.contains(&number) => {
            let (least, most) = (range.start(), range.end());
            invalid(field, format!("expected {least} to {most}"))
        }
        number => Ok(number),
    }
}
