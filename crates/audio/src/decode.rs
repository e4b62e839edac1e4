//! Decodes bytes of any kind to mono samples.

use crate::decoder::Decoder;
use crate::duration::PIECE;
use crate::output::{Output, Take, Trim};
use crate::read::little16;
use crate::wav::WavStream;
use crate::{AudioError, Kind, Resampler, Sound, adts, flac, mp3, mp4, ogg, webm};

/// Decodes `bytes` at their original sample rate (Opus: 48,000) and averages the channels. Skips broken parts in the
/// middle. A truncated file yields the samples that it contains.
///
/// # Errors
/// [`AudioError::Unreadable`] if nothing can be decoded; [`AudioError::Empty`] if there is no audio;
/// [`AudioError::TooLong`] as soon as the output exceeds `max_seconds`, or decoding takes more work than that many
/// seconds can need.
pub fn decode(bytes: &[u8], kind: Kind, max_seconds: u32) -> Result<Sound, AudioError> {
    let mut sound = Sound {
        rate: 0,
        samples: Vec::new(),
    };
    stream(bytes, kind, max_seconds, &mut |rate, samples| {
        sound.rate = rate;
        sound.samples.extend_from_slice(samples);
        Ok(())
    })?;
    Ok(sound)
}

/// Converts `bytes` to a plain WAVE file: 16 bits, mono, `rate` samples per second. Needs little more memory
/// than the result.
///
/// # Errors
/// As [`decode`]; also [`AudioError::Unreadable`] for a rate outside 1,000 to 384,000.
pub fn to_wav(
    bytes: &[u8],
    kind: Kind,
    rate: u32,
    max_seconds: u32,
) -> Result<Vec<u8>, AudioError> {
    let mut wav = vec![0; WAV_HEADER];
    put_all(&mut wav, bytes, kind, (rate, max_seconds))?;
    let header = wav_header(rate, wav.len().saturating_sub(WAV_HEADER))?;
    if let Some(start) = wav.first_chunk_mut() {
        *start = header;
    }
    Ok(wav)
}

/// Converts `bytes` like [`to_wav`], without the header.
///
/// # Errors
/// Like [`to_wav`].
pub fn to_pcm(
    bytes: &[u8],
    kind: Kind,
    rate: u32,
    max_seconds: u32,
) -> Result<Vec<u8>, AudioError> {
    let mut pcm = Vec::new();
    put_all(&mut pcm, bytes, kind, (rate, max_seconds))?;
    Ok(pcm)
}

/// Appends all samples of `bytes` at this rate.
fn put_all(
    out: &mut Vec<u8>,
    bytes: &[u8],
    kind: Kind,
    (rate, max_seconds): (u32, u32),
) -> Result<(), AudioError> {
    let mut resampler: Option<Resampler> = None;
    stream(bytes, kind, max_seconds, &mut |from, samples| {
        let resampler = match &mut resampler {
            Some(resampler) => resampler,
            none => none.insert(Resampler::new(from, rate)?),
        };
        put(out, &resampler.push(samples)?);
        Ok(())
    })?;
    if let Some(resampler) = resampler {
        put(out, &resampler.finish()?);
    }
    Ok(())
}

/// Size of the WAVE header in bytes.
const WAV_HEADER: usize = 44;

fn put(out: &mut Vec<u8>, samples: &[i16]) {
    out.reserve(samples.len().saturating_mul(2));
    for sample in samples {
        out.extend_from_slice(&sample.to_le_bytes());
    }
}

/// Returns a WAVE header for `length` bytes of 16-bit mono samples.
fn wav_header(rate: u32, length: usize) -> Result<[u8; WAV_HEADER], AudioError> {
    let length = u32::try_from(length).map_err(|_| AudioError::Encoder)?;
    let whole = length.checked_add(36).ok_or(AudioError::Encoder)?;
    let mut header = [0; WAV_HEADER];
    let fields = [
        &b"RIFF"[..],
        &whole.to_le_bytes(),
        b"WAVEfmt ",
        &16_u32.to_le_bytes(),
        &1_u16.to_le_bytes(),
        &1_u16.to_le_bytes(),
        &rate.to_le_bytes(),
        &rate.saturating_mul(2).to_le_bytes(),
        &2_u16.to_le_bytes(),
        &16_u16.to_le_bytes(),
        b"data",
        &length.to_le_bytes(),
    ]
    .concat();
    for (to, from) in header.iter_mut().zip(fields) {
        *to = from;
    }
    Ok(header)
}

/// Decodes block by block.
fn stream(
    bytes: &[u8],
    kind: Kind,
    max_seconds: u32,
    take: &mut Take<'_>,
) -> Result<(), AudioError> {
    if bytes.is_empty() {
        return Err(AudioError::Empty);
    }
    let mut output = Output::new(max_seconds, take);
    match kind {
        Kind::Mp3 => from_mp3(bytes, &mut output),
        Kind::Aac => from_adts(bytes, &mut output),
        Kind::M4a => mp4::decode(bytes, &mut output),
        Kind::Wav => from_wav(bytes, &mut output),
        Kind::Webm => webm::decode(bytes, &mut output),
        Kind::OggOpus | Kind::Ogg => ogg::decode(bytes, &mut output),
        Kind::Flac => flac::decode(bytes, &mut output),
        Kind::Pcm { rate } => from_pcm(bytes, rate, &mut output),
    }?;
    if output.given() > 0 {
        return Ok(());
    }
    // An empty file and a file that cannot be decoded need different errors.
    match crate::duration_ms(bytes, kind) {
        Err(error) => Err(error),
        Ok(_) => Err(AudioError::Unreadable),
    }
}

fn from_mp3(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let parts = mp3::measure(bytes);
    if parts.is_empty() {
        return Err(AudioError::Unreadable);
    }
    let mut parts = parts.into_iter();
    let mut current: Option<(Decoder, Trim)> = None;
    mp3::walk(bytes, &mut |event| {
        match event {
            mp3::Event::Part => {
                current = match parts.next() {
                    Some(part) if part.samples() > 0 => Some((
                        output.made(Decoder::mp3()?)?,
                        Trim::new(part.skip(), part.samples()),
                    )),
                    Some(_) | None => None,
                };
            }
            mp3::Event::Frame(frame) => {
                if let Some((decoder, trim)) = &mut current {
                    output.packet(decoder, trim, frame)?;
                }
            }
        }
        Ok(())
    })
}

fn from_adts(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let mut decoder: Option<Decoder> = None;
    adts::walk(bytes, &mut |header, frame| {
        let decoder = match &mut decoder {
            Some(decoder) => decoder,
            none => none.insert(output.made(Decoder::aac(&header.config())?)?),
        };
        output.packet(decoder, &mut Trim::nothing(), frame)
    })
}

fn from_wav(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let mut stream = WavStream::new();
    for piece in bytes.chunks(PIECE) {
        let samples = stream.push(piece)?;
        output.push(stream.rate().unwrap_or_default(), &samples)?;
    }
    stream.finish().map(drop)
}

fn from_pcm(bytes: &[u8], rate: u32, output: &mut Output<'_>) -> Result<(), AudioError> {
    for piece in bytes.chunks(PIECE) {
        let samples: Vec<i16> = piece
            .chunks_exact(2)
            .filter_map(|sample| little16(sample, 0))
            .map(|sample| i16::from_le_bytes(sample.to_le_bytes()))
            .collect();
        output.push(rate, &samples)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
