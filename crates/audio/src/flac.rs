//! FLAC. Native frames do not declare their length, so symphonia's reader finds them. The reader examines up to 33 kB
//! at each position where a frame could begin. The number of such positions in a file is therefore limited to
//! [`MAX_PLACES`].

use std::io::Cursor;

use symphonia::core::codecs::CodecParameters;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::default::formats::FlacReader;

use crate::AudioError;
use crate::decoder::Decoder;
use crate::output::{Output, Trim};
use crate::read::big;
use crate::sample::millis;

/// Duration in milliseconds: the sum of the frames that are present.
pub(crate) fn duration_ms(bytes: &[u8]) -> Result<u64, AudioError> {
    let mut samples = 0_u64;
    let mut rate = 0;
    walk(bytes, &mut |stream| {
        if let Event::Start(_, its_rate) = stream {
            rate = its_rate;
        } else if let Event::Frame(_, its_samples) = stream {
            samples = samples.saturating_add(its_samples);
        }
        Ok(())
    })?;
    if samples == 0 {
        return Err(AudioError::Empty);
    }
    Ok(millis(samples, rate))
}

/// Decodes the file.
pub(crate) fn decode(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let mut decoder = None;
    walk(bytes, &mut |stream| {
        match stream {
            Event::Start(info, _) => decoder = Some(output.made(Decoder::flac(info)?)?),
            Event::Frame(frame, _) => {
                if let Some(decoder) = &mut decoder {
                    output.packet(decoder, &mut Trim::nothing(), frame)?;
                }
            }
        }
        Ok(())
    })
}

/// The maximum number of positions at which a frame could begin. Three hours at 48 kHz with blocks of 2,048 samples
/// have fewer.
const MAX_PLACES: usize = 256 * 1024;

/// Returns the number of positions at which a frame could begin (RFC 9639, 9.1).
fn places(bytes: &[u8]) -> usize {
    bytes
        .windows(2)
        .filter(|word| matches!(word, [0xFF, 0xF8 | 0xF9]))
        .count()
}

/// Samples per channel in the frame at the start of `frame` (RFC 9639, 9.1.1 and 9.1.6).
pub(crate) fn frame_samples(frame: &[u8]) -> Option<u64> {
    let [0xFF, 0xF8 | 0xF9, sizes, _, number] = *frame.first_chunk()? else {
        return None;
    };
    // The frame number is encoded like UTF-8.
    let after = 4 + usize::try_from(number.leading_ones().max(1)).ok()?;
    match sizes >> 4 {
        1 => Some(192),
        power @ 2..=5 => Some(144 << power),
        6 => Some(big(frame, after, 1)? + 1),
        7 => Some(big(frame, after, 2)? + 1),
        power @ 8..=15 => Some(1 << power),
        _ => None,
    }
}

enum Event<'a> {
    /// The STREAMINFO and the sample rate.
    Start(&'a [u8], u32),
    /// A frame and its samples per channel.
    Frame(&'a [u8], u64),
}

fn walk(
    bytes: &[u8],
    each: &mut dyn FnMut(Event<'_>) -> Result<(), AudioError>,
) -> Result<(), AudioError> {
    if places(bytes) > MAX_PLACES {
        return Err(AudioError::Unreadable);
    }
    let stream = MediaSourceStream::new(
        Box::new(Cursor::new(bytes)),
        MediaSourceStreamOptions::default(),
    );
    let mut reader = FlacReader::try_new(stream, FormatOptions::default())
        .map_err(|_| AudioError::Unreadable)?;
    let parameters = reader
        .tracks()
        .first()
        .and_then(|track| match &track.codec_params {
            Some(CodecParameters::Audio(audio)) => Some(audio),
            _ => None,
        });
    let info = parameters
        .and_then(|audio| audio.extra_data.clone())
        .ok_or(AudioError::Unreadable)?;
    let rate = parameters
        .and_then(|audio| audio.sample_rate)
        .filter(|rate| *rate > 0)
        .ok_or(AudioError::Unreadable)?;
    each(Event::Start(&info, rate))?;
    // The reader resynchronizes after broken bytes. An error ends the stream.
    while let Ok(Some(packet)) = reader.next_packet() {
        each(Event::Frame(&packet.data, packet.dur.get()))?;
    }
    Ok(())
}
