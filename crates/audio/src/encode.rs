//! Encodes samples, whole or as they arrive. Each codec has its own file. This file converts the sample rate.

use crate::flac_encode::FlacEncode;
#[cfg(feature = "mp3")]
use crate::mp3_encode::Mp3Encode;
use crate::opus_encode::OpusEncode;
use crate::resample::Resampler;
use crate::sample::{is_rate, narrow};
use crate::wav_header::{Length, wav_header};
use crate::{AudioError, Format, Sound, pcm_of_samples};

/// Encodes samples to one format as they arrive.
///
/// The first bytes are ready after at most 100 ms of audio. Values that are known only at the end are omitted: a WAV or
/// FLAC header declares an unknown length. An MP3 has no length header and starts with the silence of the encoder's
/// delay.
pub struct Encoder {
    resampler: Option<Resampler>,
    codec: Codec,
}

enum Codec {
    Pcm,
    /// The header, until it is written.
    Wav(Vec<u8>),
    Flac(FlacEncode),
    Opus(Box<OpusEncode>),
    #[cfg(feature = "mp3")]
    Mp3(Box<Mp3Encode>),
}

/// Whether the bytes are needed while the sound is still being produced.
#[derive(Clone, Copy)]
enum Use<'a> {
    /// A listener receives the bytes as they are encoded.
    Live,
    /// The whole sound is known in advance.
    Whole(&'a Sound),
}

impl Encoder {
    /// Creates an encoder for mono samples at `rate`. Resamples where the format requires it: PCM uses
    /// [`Format::PCM_RATE`], Opus and MP3 their own rates, and WAV and FLAC any rate.
    ///
    /// # Errors
    /// [`AudioError::NoEncoder`] for AAC, and for MP3 in a build without it; [`AudioError::Unreadable`] for a rate
    /// outside 1,000 to 384,000.
    pub fn new(format: Format, rate: u32) -> Result<Self, AudioError> {
        Self::for_use(format, rate, Use::Live)
    }

    fn for_use(format: Format, rate: u32, purpose: Use<'_>) -> Result<Self, AudioError> {
        if !is_rate(rate) {
            return Err(AudioError::Unreadable);
        }
        let (to, codec) = codec(format, rate, purpose)?;
        let resampler = (to != rate).then(|| Resampler::new(rate, to)).transpose()?;
        Ok(Self { resampler, codec })
    }

    /// Encodes samples. Returns the bytes that are ready, possibly none.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when the encoder rejects the samples.
    pub fn push(&mut self, samples: &[i16]) -> Result<Vec<u8>, AudioError> {
        match &mut self.resampler {
            Some(resampler) => self.codec.push(&resampler.push(samples)?),
            None => self.codec.push(samples),
        }
    }

    /// Returns the remaining bytes.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when the encoder rejects the samples.
    pub fn finish(self) -> Result<Vec<u8>, AudioError> {
        let Self {
            resampler,
            mut codec,
        } = self;
        let last = match resampler {
            Some(resampler) => resampler.finish()?,
            None => Vec::new(),
        };
        let mut bytes = codec.push(&last)?;
        bytes.extend(codec.finish()?);
        Ok(bytes)
    }
}

/// Returns the codec of a format and the sample rate that it needs.
fn codec(format: Format, rate: u32, purpose: Use<'_>) -> Result<(u32, Codec), AudioError> {
    let live = matches!(purpose, Use::Live);
    match format {
        Format::Pcm => Ok((Format::PCM_RATE, Codec::Pcm)),
        Format::Wav => {
            let length = match purpose {
                Use::Live => Length::Unknown,
                Use::Whole(sound) => known(sound),
            };
            Ok((rate, Codec::Wav(wav_header(rate, length))))
        }
        Format::Flac => {
            let samples = match purpose {
                Use::Live => None,
                Use::Whole(sound) => Some(sound.samples.len()),
            };
            Ok((rate, Codec::Flac(FlacEncode::new(rate, samples))))
        }
        Format::Opus | Format::Ogg => {
            let to = OpusEncode::rate_for(rate);
            Ok((to, Codec::Opus(Box::new(OpusEncode::new(to, live)?))))
        }
        #[cfg(feature = "mp3")]
        Format::Mp3 => {
            let to = Mp3Encode::rate_for(rate);
            Ok((to, Codec::Mp3(Box::new(Mp3Encode::new(to, live)?))))
        }
        #[cfg(not(feature = "mp3"))]
        Format::Mp3 => Err(AudioError::NoEncoder(format.as_str())),
        Format::Aac => Err(AudioError::NoEncoder(format.as_str())),
    }
}

/// A WAV size has 32 bits. A longer sound declares an unknown length.
fn known(sound: &Sound) -> Length {
    sound
        .samples
        .len()
        .checked_mul(2)
        .and_then(|bytes| u32::try_from(bytes).ok())
        .filter(|bytes| *bytes < u32::MAX - 64)
        .map_or(Length::Unknown, Length::Bytes)
}

impl Codec {
    fn push(&mut self, samples: &[i16]) -> Result<Vec<u8>, AudioError> {
        match self {
            Self::Pcm => Ok(pcm_of_samples(samples)),
            Self::Wav(header) => {
                let mut bytes = std::mem::take(header);
                bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
                Ok(bytes)
            }
            Self::Flac(flac) => Ok(flac.push(samples)),
            Self::Opus(opus) => opus.push(samples),
            #[cfg(feature = "mp3")]
            Self::Mp3(mp3) => mp3.push(samples),
        }
    }

    fn finish(self) -> Result<Vec<u8>, AudioError> {
        match self {
            Self::Pcm => Ok(Vec::new()),
            Self::Wav(header) => Ok(header),
            Self::Flac(flac) => Ok(flac.finish()),
            Self::Opus(opus) => opus.finish(),
            #[cfg(feature = "mp3")]
            Self::Mp3(mp3) => mp3.finish(),
        }
    }
}

/// Encodes a whole sound with its exact length: WAV and FLAC contain the true sizes, MP3 the header that LAME writes,
/// and Opus the end position.
///
/// # Errors
/// [`AudioError::Empty`] for a sound without samples; otherwise the errors of [`Encoder`].
pub fn encode(sound: &Sound, format: Format) -> Result<Vec<u8>, AudioError> {
    if sound.samples.is_empty() {
        return Err(AudioError::Empty);
    }
    let mut encoder = Encoder::for_use(format, sound.rate, Use::Whole(sound))?;
    let mut bytes = Vec::new();
    // One second is encoded at a time, because the whole resampled sound would take too much
    // memory.
    let second = narrow(u64::from(sound.rate));
    for piece in sound.samples.chunks(second) {
        bytes.extend(encoder.push(piece)?);
    }
    bytes.extend(encoder.finish()?);
    Ok(bytes)
}

#[cfg(test)]
mod tests;
