//! Writing MP3, by LAME: which rate, how many bits, and the header that tells the true length. It knows no
//! other format and does not resample.

use mp3lame_encoder::{
    Bitrate, Builder, Encoder, FlushGap, Mode, MonoPcm, Quality, max_required_buffer_size,
};

use crate::AudioError;

/// Samples a second that MPEG-1 and MPEG-2 Layer III know (ISO/IEC 11172-3 and 13818-3, 2.4.2.3). Those of
/// the later "2.5" are left out: not every player reads them.
const RATES: [u32; 6] = [16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/// From this rate on it is MPEG-1, with twice the samples in a frame.
const MPEG_1: u32 = 32_000;
/// How hard LAME searches, from 0 (best) to 9. Its own choice is 5; this takes half as long again, and is still
/// more than a hundred times as fast as the sound.
const QUALITY: Quality = Quality::VeryNice;
/// Samples that are given to LAME at once, so that its buffer stays small.
const PIECE: usize = 8_192;
/// What a flush may write at most, as `lame.h` says.
const FLUSH_BYTES: usize = 7_200;

/// An encoder of one channel at a constant bit rate: a length can be told from any part of the stream.
pub struct Mp3Encode {
    encoder: Encoder,
    /// The bytes that are kept until the end, because the frame in front is written last.
    whole: Option<Vec<u8>>,
}

impl Mp3Encode {
    /// The rate that sound of `rate` has to be pushed with: its own, if MPEG has it, else one of which it
    /// is a half, else the next above.
    pub fn rate_for(rate: u32) -> u32 {
        let twice = rate.saturating_mul(2);
        [rate, twice]
            .into_iter()
            .find(|wanted| RATES.contains(wanted))
            .or_else(|| RATES.into_iter().find(|offered| *offered >= rate))
            .unwrap_or(48_000)
    }

    /// `rate` is one of [`Self::rate_for`]. Unless it is `live`, the first frame tells the length and the
    /// encoder's delay ("Info", as LAME writes it), and nothing is given out before the end.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] for another rate.
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

    /// Takes samples; the frames that are complete.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when LAME refuses.
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

    /// The rest, padded with silence until the last sample is out. `FlushNoGap` would leave it inside.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when LAME refuses.
    pub fn finish(mut self) -> Result<Vec<u8>, AudioError> {
        let whole = self.whole.take();
        let kept = whole.is_some();
        let mut bytes = whole.unwrap_or_default();
        bytes.reserve(FLUSH_BYTES);
        self.encoder
            .flush_to_vec::<FlushGap>(&mut bytes)
            .map_err(|_| AudioError::Encoder)?;
        if kept {
            self.tell_length(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// LAME began with an empty frame; the true one takes its place.
    fn tell_length(&self, bytes: &mut [u8]) -> Result<(), AudioError> {
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
