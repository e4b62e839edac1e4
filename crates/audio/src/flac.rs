//! Native FLAC. Its frames do not say how long they are, so symphonia's reader finds them.

use std::io::Cursor;

use symphonia::core::codecs::CodecParameters;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::default::formats::FlacReader;

use crate::AudioError;
use crate::decoder::Decoder;
use crate::output::Output;
use crate::sample::millis;

/// How long it lasts, in milliseconds: the sum of the frames that are there.
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

/// Decodes it.
pub(crate) fn decode(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let mut decoder = None;
    walk(bytes, &mut |stream| {
        match stream {
            Event::Start(info, _) => decoder = Some(Decoder::flac(info)?),
            Event::Frame(frame, _) => {
                if let Some(block) = decoder.as_mut().and_then(|decoder| decoder.decode(frame)) {
                    output.push(block.rate, &block.samples)?;
                }
            }
        }
        Ok(())
    })
}

enum Event<'a> {
    /// The STREAMINFO and the samples a second.
    Start(&'a [u8], u32),
    /// A frame and its samples of each channel.
    Frame(&'a [u8], u64),
}

fn walk(
    bytes: &[u8],
    each: &mut dyn FnMut(Event<'_>) -> Result<(), AudioError>,
) -> Result<(), AudioError> {
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
    // The reader finds its way again after broken bytes. An error is the end.
    while let Ok(Some(packet)) = reader.next_packet() {
        each(Event::Frame(&packet.data, packet.dur.get()))?;
    }
    Ok(())
}
