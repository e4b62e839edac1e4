//! Joins the parts of a spoken answer to one recording.

use crate::speech::Converted;
use bytes::{Bytes, BytesMut};
use gatehouse_audio::{AudioError, Format, Sound, decode, encode};

/// The longest audio to re-encode, in seconds. The parts of a longer recording are concatenated as they are.
const MAX_ENCODED_SECONDS: u32 = 600;

/// Joins the parts to one recording in this format. Returns `None` if there are no parts.
pub(super) fn join(parts: Vec<Converted>, to: Format) -> Option<Converted> {
    let (audio, duration_ms, format) = match encoded(&parts, to) {
        Ok((audio, duration_ms)) => (audio, duration_ms, to),
        // Raw samples without a header, and several files in one, are not a usable recording.
        Err(_) if parts.iter().any(|part| part.format != Format::Mp3) => return None,
        // MP3 frames are independent, so players accept concatenated parts.
        Err(_) => (
            appended(&parts),
            parts.iter().map(|part| part.duration_ms).sum(),
            Format::Mp3,
        ),
    };
    let first = parts.into_iter().next()?;
    Some(Converted {
        audio,
        format,
        duration_ms,
        ..first
    })
}

fn encoded(parts: &[Converted], to: Format) -> Result<(Bytes, u64), AudioError> {
    let mut left = MAX_ENCODED_SECONDS;
    let mut sounds = Vec::new();
    for part in parts {
        let sound: Sound = decode(&part.audio, part.format.kind(), left)?;
        let seconds = u32::try_from(sound.duration_ms() / 1000).unwrap_or(u32::MAX);
        left = left.saturating_sub(seconds);
        sounds.push(sound);
    }
    let whole = gatehouse_audio::join(sounds)?;
    let duration_ms = whole.duration_ms();
    Ok((encode(&whole, to)?.into(), duration_ms))
}

fn appended(parts: &[Converted]) -> Bytes {
    let mut whole = BytesMut::new();
    for part in parts {
        whole.extend_from_slice(&part.audio);
    }
    whole.freeze()
}
