//! Encodes MP3 with LAME: chooses rate and bit rate, and writes the header with the exact length. This module does not
//! resample.

use mp3lame_encoder::{
    Bitrate, Builder, Encoder, FlushGap, Mode, MonoPcm, Quality, max_required_buffer_size,
};

use crate::AudioError;

/// Sample rates of MPEG-1 and MPEG-2 Layer III (ISO/IEC 11172-3 and 13818-3, 2.4.2.3). The rates of the later MPEG-2.5
/// are omitted because not every player supports them.
const RATES: [u32; 6] = [16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/// The lowest rate of MPEG-1. MPEG-1 has twice as many samples per frame as MPEG-2.
const MPEG_1: u32 = 32_000;
/// LAME's search effort, from 0 (best) to 9. The default is 5. This setting takes 1.5 times as long as the default, but
/// encodes more than 100 times faster than real time.
const QUALITY: Quality = Quality::VeryNice;
/// Samples to pass to LAME at a time, which keeps its buffer small.
const PIECE: usize = 8_192;
/// The maximum number of bytes that a flush may write, according to `lame.h`.
const FLUSH_BYTES: usize = 7_200;

/// An encoder for mono at a constant bit rate. Readers can compute the duration of such a file from any part of it.
pub struct Mp3Encode {
    encoder: Encoder,
    /// All output, kept until the end because the first frame is written last. `None` for a live
    /// stream.
    whole: Option<Vec<u8>>,
}

impl Mp3Encode {
    /// Returns the rate to push samples with: `rate` if MPEG supports it, else twice `rate` if supported, else the next
    /// higher rate.
    pub fn rate_for(rate: u32) -> u32 {
        let twice = rate.saturating_mul(2);
        [rate, twice]
            .into_iter()
            .find(|wanted| RATES.contains(wanted))
            .or_else(|| RATES.into_iter().find(|offered| *offered >= rate))
            .unwrap_or(48_000)
    }

    /// Creates an encoder for a `rate` from [`Self::rate_for`]. Unless `live`, the first frame declares the
    /// length and the encoder's delay (LAME's "Info" frame), and all output is returned at the end.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] for a different rate.
    pub fn new(rate: u32, live: bool) -> Result<Self, AudioError> {
        if !RATES.contains(&rate) {
            return Err(AudioError::Encoder);
        }
        let bits = if rate < MPEG_1 {
            Bitrate::Kbps64
        } else {
            Bitrate::Kbps96
        };
        let encoder = Builder::new()
            .ok_or(AudioError::Encoder)?
            .with_num_channels(1)
            .and_then(|builder| builder.with_mode(Mode::Mono))
            .and_then(|builder| builder.with_sample_rate(rate))
            .and_then(|builder| builder.with_output_sample_rate(std::num::NonZeroU32::new(rate)))
            .and_then(|builder| builder.with_brate(bits))
            .and_then(|builder| builder.with_quality(QUALITY))
            .and_then(|builder| builder.with_to_write_vbr_tag(!live))
            .and_then(Builder::build)
            .map_err(|_| AudioError::Encoder)?;
        Ok(Self {
            encoder,
            whole: (!live).then(Vec::new),
        })
    }

    /// Encodes samples. Returns the complete frames.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when LAME fails.
    pub fn push(&mut self, samples: &[i16]) -> Result<Vec<u8>, AudioError> {
        let mut ready = self.whole.take();
        let kept = ready.is_some();
        let bytes = ready.get_or_insert_default();
        for piece in samples.chunks(PIECE) {
            bytes.reserve(max_required_buffer_size(piece.len()));
            self.encoder
                .encode_to_vec(MonoPcm(piece), bytes)
                .map_err(|_| AudioError::Encoder)?;
        }
        if kept {
            self.whole = ready;
            return Ok(Vec::new());
        }
        Ok(ready.unwrap_or_default())
    }

    /// Returns the remaining bytes, padded with silence until the last sample is encoded. `FlushNoGap` would lose that
    /// sample.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] if LAME fails.
    pub fn finish(mut self) -> Result<Vec<u8>, AudioError> {
        let whole = self.whole.take();
        let kept = whole.is_some();
        let mut bytes = whole.unwrap_or_default();
        bytes.reserve(FLUSH_BYTES);
        self.encoder
            .flush_to_vec::<FlushGap>(&mut bytes)
            .map_err(|_| AudioError::Encoder)?;
        if kept {
            self.write_length(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Replaces the placeholder that LAME wrote as the first frame.
    fn write_length(&self, bytes: &mut [u8]) -> Result<(), AudioError> {
        let mut tag = Vec::with_capacity(self.encoder.lame_tag_size());
        self.encoder
            .lame_tag_encode_to_vec(&mut tag)
            .ok_or(AudioError::Encoder)?;
        bytes
            .get_mut(..tag.len())
            .ok_or(AudioError::Encoder)?
            .copy_from_slice(&tag);
        Ok(())
    }
}
