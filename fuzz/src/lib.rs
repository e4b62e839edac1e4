//! How a target makes a request out of the fuzzer's bytes, and what kinds of sound there are.

use gatehouse_audio::Kind;
use http::{HeaderMap, HeaderName, HeaderValue};

/// One header a line, under the names given in turn: `header 0`, `header 1`, … and again. A line
/// that no header can carry is left out, as hyper would have refused it.
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

/// The first byte, by which a target picks a variant, and the rest.
pub fn split(bytes: &[u8]) -> (u8, &[u8]) {
    bytes
        .split_first()
        .map_or((0, bytes), |(first, rest)| (*first, rest))
}

/// Every kind of sound.
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
