//! Extracts the audio from `{"audioContent": "base64…"}` as the response arrives. A Google response can exceed the size
//! limit of text responses.
//!
//! Base64 follows proto3's JSON mapping (<https://protobuf.dev/programming-guides/json/>): writers use the standard
//! alphabet with padding. Readers also accept the URL-safe alphabet and missing padding. A JSON string may escape any
//! character (RFC 8259, section 7), and some writers escape `/` and `=`.

use super::wire;
use crate::VoiceError;
use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// The maximum number of bytes before the audio.
const MAX_BEFORE_BYTES: usize = 64 << 10;
const KEY: &[u8] = b"\"audioContent\"";
/// `\u003d`
const ESCAPE_BYTES: usize = 6;

/// The parse state and the bytes not yet used.
#[derive(Debug, Default)]
pub(super) struct AudioContent {
    position: Position,
    /// Before the audio: all bytes so far. Inside the audio: the beginning of an escape. After the
    /// audio: empty.
    rest: Vec<u8>,
    /// Base64 characters that do not form a group of four yet.
    group: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    #[default]
    Before,
    Inside,
    After,
}

/// Why the response yields no audio, or no further audio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The response contains no audio.
    NotAudio,
    /// The response ended too early.
    CutOff,
}

impl Broken {
    pub(super) const fn of(self, id: &'static str) -> VoiceError {
        match self {
            Self::NotAudio => wire::not_audio(id),
            Self::CutOff => VoiceError::failed(id, "closed the connection early", true),
        }
    }
}

impl AudioContent {
    /// Returns the audio that is complete after this piece of the response, possibly none.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, Broken> {
        match self.position {
            Position::After => Ok(Vec::new()),
            Position::Inside => self.inside(piece),
            Position::Before => {
                self.rest.extend_from_slice(piece);
                let Some(begin) = begin_of_audio(&self.rest)? else {
                    return Ok(Vec::new());
                };
                let before = std::mem::take(&mut self.rest);
                self.position = Position::Inside;
                self.inside(before.get(begin..).unwrap_or_default())
            }
        }
    }

    /// Ends the response. Proto3 writes empty audio as an object without the field.
    pub(super) fn end(&self) -> Result<(), Broken> {
        let is_empty = |object: &[u8]| {
            let mut marks = object.iter().filter(|byte| !byte.is_ascii_whitespace());
            matches!(
                (marks.next(), marks.next(), marks.next()),
                (None, ..) | (Some(b'{'), Some(b'}'), None)
            )
        };
        match self.position {
            Position::After => Ok(()),
            Position::Inside => Err(Broken::CutOff),
            Position::Before if is_empty(&self.rest) => Ok(()),
            Position::Before => Err(Broken::NotAudio),
        }
    }

    fn inside(&mut self, piece: &[u8]) -> Result<Vec<u8>, Broken> {
        for byte in piece {
            if !self.rest.is_empty() {
                self.rest.push(*byte);
                if let Some(meant) = unescaped(&self.rest)? {
                    self.rest.clear();
                    self.group.push(meant);
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.position = Position::After;
                    break;
                }
                b'\\' => self.rest.push(b'\\'),
                // Map the alphabet of RFC 4648, section 5, to the one of section 4.
                b'-' => self.group.push(b'+'),
                b'_' => self.group.push(b'/'),
                other => self.group.push(*other),
            }
        }
        let ready = match self.position {
            Position::After => self.group.len(),
            _ => self.group.len() / 4 * 4,
        };
        let left = self.group.split_off(ready);
        let whole = std::mem::replace(&mut self.group, left);
        reader().decode(whole).map_err(|_| Broken::NotAudio)
    }
}

fn reader() -> GeneralPurpose {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&base64::alphabet::STANDARD, config)
}

/// Returns the position of the first character of the audio, or `None` until the position is known.
fn begin_of_audio(text: &[u8]) -> Result<Option<usize>, Broken> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_some_and(|byte| *byte != b'{') {
        return Err(Broken::NotAudio);
    }
    let key = text.windows(KEY.len()).position(|window| window == KEY);
    if let Some(key) = key {
        let mut marks = [b':', b'"'].into_iter().peekable();
        let after = text.iter().enumerate().skip(key + KEY.len());
        for (at, byte) in after {
            if marks.next_if_eq(byte).is_some() {
                if marks.peek().is_none() {
                    return Ok(Some(at + 1));
                }
            } else if !byte.is_ascii_whitespace() {
                return Err(Broken::NotAudio);
            }
        }
    }
    if text.len() > MAX_BEFORE_BYTES {
        return Err(Broken::NotAudio);
    }
    Ok(None)
}

/// Returns the character of an escape; `None` until it is complete.
fn unescaped(escape: &[u8]) -> Result<Option<u8>, Broken> {
    match escape.get(1) {
        None => Ok(None),
        Some(b'/') => Ok(Some(b'/')),
        Some(b'u') if escape.len() < ESCAPE_BYTES => Ok(None),
        Some(b'u') => {
            let digits = escape.get(2..).and_then(|it| std::str::from_utf8(it).ok());
            let code = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
            code.map(Some).ok_or(Broken::NotAudio)
        }
        Some(_) => Err(Broken::NotAudio),
    }
}

#[cfg(test)]
#[path = "audio_content/tests.rs"]
mod tests;
