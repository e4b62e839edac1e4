//! Parses the JSON file that `whisper-cli -ojf` writes: segments and their tokens.

use crate::stt::language::primary;
use crate::stt::words::{Piece, words};
use crate::stt::{Segment, SttResult};
use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::time::Duration;

/// The fields of the output that are used. The strings need not be UTF-8, because a token can be a part of a letter.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    result: WrittenResult,
    transcription: Vec<WrittenSegment>,
}

#[derive(Default, Deserialize)]
struct WrittenResult {
    language: Option<String>,
}

#[derive(Deserialize)]
struct WrittenSegment {
    offsets: Offsets,
    text: Raw,
    #[serde(default)]
    tokens: Vec<WrittenToken>,
}

#[derive(Deserialize)]
struct WrittenToken {
    text: Raw,
    /// Absent in some builds of the program.
    offsets: Option<Offsets>,
}

/// In milliseconds.
#[derive(Clone, Copy, Deserialize)]
struct Offsets {
    from: i64,
    to: i64,
}

impl Offsets {
    fn seconds(self) -> (f64, f64) {
        let seconds = |ms: i64| Duration::from_millis(ms.try_into().unwrap_or(0));
        let start = seconds(self.from).as_secs_f64();
        (start, seconds(self.to).as_secs_f64().max(start))
    }
}

/// Returns the transcription, or `None` if the text is not a valid result.
pub(super) fn recognized(mut text: Vec<u8>) -> Option<SttResult> {
    // The program escapes quotes and backslashes, but not line breaks.
    for byte in text.iter_mut().filter(|byte| **byte < b' ') {
        *byte = b' ';
    }
    let written: Written = serde_json::from_slice(&text).ok()?;
    let mut recognized = SttResult {
        language: written.result.language.as_deref().and_then(primary),
        ..SttResult::default()
    };
    let mut whole = Vec::new();
    for segment in written.transcription {
        whole.extend_from_slice(&segment.text.0);
        let text = segment.text.shown();
        let pieces: Vec<Piece> = segment.tokens.into_iter().filter_map(piece).collect();
        recognized.words.extend(words(&text, &pieces));
        let (start, end) = segment.offsets.seconds();
        if !text.is_empty() {
            recognized.segments.push(Segment { text, start, end });
        }
    }
    recognized.text = Raw(whole).shown();
    Some(recognized)
}

fn piece(token: WrittenToken) -> Option<Piece> {
    let bytes = token.text.0;
    // `[_BEG_]`, `[_TT_150]` and similar tokens are not text.
    let is_mark = bytes.starts_with(b"[_") && bytes.ends_with(b"]");
    let (start, end) = token.offsets?.seconds();
    (!is_mark).then_some(Piece { bytes, start, end })
}

/// A byte string.
struct Raw(Vec<u8>);

impl Raw {
    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.0).trim().to_owned()
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Raw, E> {
                Ok(Raw(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[cfg(test)]
mod tests;
