//! Shared by the fuzz targets: builds requests from the fuzzer's bytes, and lists the kinds of audio.

use gatehouse_audio::Kind;
use http::{HeaderMap, HeaderName, HeaderValue};

/// Builds one header per line, with the given names in turn: `header 0`, `header 1`, … and again from the
/// first. Lines that cannot be a header value are skipped, because hyper would have rejected them.
pub fn headers(bytes: &[u8], names: &[&'static str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let lines = bytes.split(|byte| *byte == b'\n').take(8);
    for (line, name) in lines.zip(names.iter().cycle()) {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    headers
}

/// Splits off the first byte, which selects a variant of the target.
pub fn split(bytes: &[u8]) -> (u8, &[u8]) {
    bytes
        .split_first()
        .map_or((0, bytes), |(first, rest)| (*first, rest))
}

/// Every kind of audio.
pub const SOUNDS: [Kind; 10] = [
    Kind::Mp3,
    Kind::Aac,
    Kind::M4a,
    Kind::Wav,
    Kind::Webm,
    Kind::OggOpus,
    Kind::Ogg,
    Kind::Flac,
    Kind::Pcm { rate: 24_000 },
    Kind::Pcm { rate: 0 },
];
