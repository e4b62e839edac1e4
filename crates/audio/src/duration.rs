//! Measures durations from the audio data. Durations in headers are not used.

use crate::sample::{is_rate, millis, wide};
use crate::wav::WavStream;
use crate::{AudioError, Kind, adts, flac, mp3, mp4, ogg, webm};

/// Bytes of a WAVE file to process at a time.
pub(crate) const PIECE: usize = 64 * 1024;

/// Duration of `bytes` in milliseconds. Decodes at most a few packets.
///
/// # Errors
/// [`AudioError::Unreadable`] when the bytes are not of that kind; [`AudioError::Empty`] when they contain no
/// audio.
pub fn duration_ms(bytes: &[u8], kind: Kind) -> Result<u64, AudioError> {
    if bytes.is_empty() {
        return Err(AudioError::Empty);
    }
    match kind {
        Kind::Mp3 => of_mp3(bytes),
        Kind::Aac => of_adts(bytes),
        Kind::M4a => mp4::duration_ms(bytes),
        Kind::Wav => of_wav(bytes),
        Kind::Webm => webm::duration_ms(bytes),
        Kind::OggOpus | Kind::Ogg => ogg::duration_ms(bytes),
        Kind::Flac => flac::duration_ms(bytes),
        Kind::Pcm { rate } if is_rate(rate) => sound(wide(bytes.len() / 2), rate),
        Kind::Pcm { .. } => Err(AudioError::Unreadable),
    }
}

fn sound(samples: u64, rate: u32) -> Result<u64, AudioError> {
    if samples == 0 {
        return Err(AudioError::Empty);
    }
    Ok(millis(samples, rate))
}

fn of_mp3(bytes: &[u8]) -> Result<u64, AudioError> {
    let parts = mp3::measure(bytes);
    let Some(first) = parts.first() else {
        return Err(AudioError::Unreadable);
    };
    let samples = parts
        .iter()
        .fold(0_u64, |sum, part| sum.saturating_add(part.samples()));
    sound(samples, first.rate)
}

fn of_adts(bytes: &[u8]) -> Result<u64, AudioError> {
    let mut samples = 0_u64;
    let mut rate = 0;
    adts::walk(bytes, &mut |header, _| {
        rate = header.rate();
        samples = samples.saturating_add(header.samples());
        Ok(())
    })?;
    if rate == 0 {
        return Err(AudioError::Unreadable);
    }
    sound(samples, rate)
}

fn of_wav(bytes: &[u8]) -> Result<u64, AudioError> {
    let mut stream = WavStream::new();
    let mut samples = 0_u64;
    for piece in bytes.chunks(PIECE) {
        samples = samples.saturating_add(wide(stream.push(piece)?.len()));
    }
    let rate = stream.rate();
    stream.finish()?;
    sound(samples, rate.ok_or(AudioError::Unreadable)?)
}
