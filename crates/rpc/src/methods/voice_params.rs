//! Shared param types of the voice methods: providers by ID or vendor name, bounded numbers, and audio as
//! base64.

use base64::Engine as _;
use base64::engine::general_purpose::{
    STANDARD, STANDARD_PAD_INDIFFERENT, URL_SAFE_PAD_INDIFFERENT,
};
use gatehouse_domain::{ErrorCode, Problem, input};
use gatehouse_voice::{MAX_AUDIO_BYTES, ProviderId};
use schemars::JsonSchema;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::ops::RangeInclusive;

/// The permitted speeds; 1 is normal.
pub(super) const SPEED: RangeInclusive<f64> = 0.25..=4.0;
/// The permitted range of stability and similarity.
pub(super) const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// Params of `tts.providers` and `stt.providers`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProvidersParams {
    /// Whether to list every provider, including those that the settings hide, each with its description.
    #[serde(default, deserialize_with = "input::or_default")]
    pub(super) details: bool,
}

/// Finds a provider by its ID or vendor name.
pub(super) fn provider_of<Id: ProviderId>(name: &str) -> Result<Id, Problem> {
    Ok(Id::parse("provider", name)?)
}

/// Deserializes an optional number within bounds.
pub(super) fn within<'de, D: Deserializer<'de>>(
    deserializer: D,
    range: &RangeInclusive<f64>,
) -> Result<Option<f64>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    if number.is_none_or(|number| range.contains(&number)) {
        return Ok(number);
    }
    Err(D::Error::custom(format_args!(
        "expected a number from {} to {}",
        range.start(),
        range.end()
    )))
}

/// Encodes audio as base64 (RFC 4648, section 4).
pub(super) fn encode(audio: &[u8]) -> String {
    STANDARD.encode(audio)
}

/// Audio that was decoded from base64 while the params were read. The base64 text is not kept in
/// memory.
pub(super) struct Base64(Result<Vec<u8>, ErrorCode>);

impl Base64 {
    /// Returns the audio, or an error for invalid or too long input.
    pub(super) fn decoded(self, field: &str) -> Result<Vec<u8>, Problem> {
        self.0.map_err(|code| match code {
            ErrorCode::PayloadTooLarge => Problem::too_large("audio", MAX_AUDIO_BYTES),
            _ => Problem::invalid_params(field, "expected base64"),
        })
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Base64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Base64, E> {
                Ok(Base64(decode(text)))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Decodes base64 (RFC 4648, section 4 or 5, with or without padding, no separators). Refuses input that is
/// too large before decoding.
fn decode(text: &str) -> Result<Vec<u8>, ErrorCode> {
    let digits = text.trim_end_matches('=').len();
    // Four digits encode three bytes. The division comes last, because it drops the remainder.
    if digits.saturating_mul(3) / 4 > MAX_AUDIO_BYTES {
        return Err(ErrorCode::PayloadTooLarge);
    }
    let engine = if text.contains(['-', '_']) {
        &URL_SAFE_PAD_INDIFFERENT
    } else {
        &STANDARD_PAD_INDIFFERENT
    };
    engine.decode(text).map_err(|_| ErrorCode::InvalidParams)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> ErrorCode {
        decode(text).unwrap_err()
    }

    #[test]
    fn both_alphabets_with_and_without_padding() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("+/8=", b"\xfb\xff"),
            ("+/8", b"\xfb\xff"),
            ("-_8=", b"\xfb\xff"),
            ("-_8", b"\xfb\xff"),
            ("AQID", b"\x01\x02\x03"),
            ("AQ==", b"\x01"),
            ("AQ", b"\x01"),
        ] {
            assert_eq!(decode(text).unwrap(), bytes, "{text}");
            assert_eq!(decode(&encode(bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in [
            "A",
            "AQI===",
            "AQID=",
            "A=ID",
            "AQ ID",
            "AQID\n",
            "+_8=",
            "AR==",
            "data:audio/wav;base64,AQID",
            "ä",
            "=",
        ] {
            assert_eq!(refused(text), ErrorCode::InvalidParams, "{text}");
        }
    }

    #[test]
    fn at_most_25_mib() {
        let most = encode(&vec![0; MAX_AUDIO_BYTES]);
        assert_eq!(decode(&most).unwrap().len(), MAX_AUDIO_BYTES);
        let over = encode(&vec![0; MAX_AUDIO_BYTES + 1]);
        let problem = Base64(decode(&over)).decoded("audio").unwrap_err();
        assert_eq!(problem.code, ErrorCode::PayloadTooLarge);
        assert_eq!(problem.details["max_bytes"], 26_214_400);
        assert_eq!(
            refused(over.trim_end_matches('=')),
            ErrorCode::PayloadTooLarge
        );
        // The size is checked first, so the invalid content is never read.
        assert_eq!(refused(&"!".repeat(over.len())), ErrorCode::PayloadTooLarge);
    }
}
