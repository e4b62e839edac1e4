//! Decodes packets of any codec to mono samples and reports the cost of each packet. Independent of containers and
//! durations.

use symphonia::core::codecs::audio::well_known::{
    CODEC_ID_AAC, CODEC_ID_FLAC, CODEC_ID_MP3, CODEC_ID_VORBIS,
};
use symphonia::core::codecs::audio::{
    AudioCodecId, AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
};
use symphonia::core::packet::PacketRef;
use symphonia::core::units::{Duration, Timestamp};

use crate::read::big;
use crate::sample::{from_unit, wide};
use crate::{AudioError, opus_decode, vorbis};

/// The decoder of one stream.
pub(crate) struct Decoder {
    codec: Codec,
    /// The largest number of samples that one packet can contain, over all channels.
    most: u64,
    /// The cost of decoding one sample, relative to an ordinary codec.
    weight: u64,
    /// The cost of creating this decoder, as the number of samples that could be decoded in the
    /// same time.
    price: u64,
}

enum Codec {
    Opus(opus_decode::Decoder),
    Other(Box<dyn AudioDecoder>),
}

/// Decoded mono samples.
pub(crate) struct Block {
    /// Samples per second.
    pub(crate) rate: u32,
    pub(crate) samples: Vec<i16>,
    /// Number of channels before averaging.
    channels: usize,
}

/// Base cost of creating any decoder, in samples.
const PRICE: u64 = 16_384;

/// The largest number of AAC channels.
const AAC_CHANNELS: u64 = 8;

impl Decoder {
    pub(crate) fn mp3() -> Result<Self, AudioError> {
        Self::other(CODEC_ID_MP3, &[], 2 * 1152)
    }

    /// Creates an AAC decoder for this `AudioSpecificConfig` (ISO 14496-3, 1.6.2.1).
    pub(crate) fn aac(config: &[u8]) -> Result<Self, AudioError> {
        Self::other(CODEC_ID_AAC, config, AAC_CHANNELS * crate::adts::BLOCK)
    }

    /// Creates a Vorbis decoder from the first and third headers. The headers are validated first, because they can
    /// request decoder tables of any size.
    pub(crate) fn vorbis(identification: &[u8], setup: &[u8]) -> Result<Self, AudioError> {
        let known = vorbis::Setup::read(identification, setup).ok_or(AudioError::Unreadable)?;
        let extra = [identification, setup].concat();
        let made = Self::other(CODEC_ID_VORBIS, &extra, known.most())?;
        Ok(Self {
            weight: known.weight(),
            // Decoding one sample takes about as long as writing a few bytes of a table.
            price: PRICE.saturating_add(known.tables() / 8),
            ..made
        })
    }

    /// Creates a FLAC decoder from STREAMINFO, which contains the longest block and the number of channels (RFC 9639,
    /// 8.2).
    pub(crate) fn flac(stream_info: &[u8]) -> Result<Self, AudioError> {
        let block = big(stream_info, 2, 2).unwrap_or_default();
        let channels = (big(stream_info, 12, 1).unwrap_or_default() >> 1 & 7) + 1;
        Self::other(CODEC_ID_FLAC, stream_info, block.saturating_mul(channels))
    }

    pub(crate) fn opus(head: &opus_decode::Head) -> Result<Self, AudioError> {
        let decoder = opus_decode::Decoder::new(head)?;
        let channels = wide(decoder.channels());
        Ok(Self {
            codec: Codec::Opus(decoder),
            most: opus_decode::MOST.saturating_mul(channels),
            weight: 1,
            price: PRICE.saturating_mul(channels),
        })
    }

    fn other(codec: AudioCodecId, extra: &[u8], most: u64) -> Result<Self, AudioError> {
        let mut parameters = AudioCodecParameters::new();
        parameters.for_codec(codec);
        if !extra.is_empty() {
            parameters.with_extra_data(extra.into());
        }
        let decoder = symphonia::default::get_codecs()
            .make_audio_decoder(&parameters, &AudioDecoderOptions::default().gapless(false))
            .map_err(|_| AudioError::Unreadable)?;
        Ok(Self {
            codec: Codec::Other(decoder),
            most: most.max(1),
            weight: 1,
            price: PRICE,
        })
    }

    /// Cost of creating this decoder, in samples.
    pub(crate) fn price(&self) -> u64 {
        self.price
    }

    /// Cost of the packet that produced `block`, in samples over all channels. A broken packet counts as the
    /// largest possible one.
    pub(crate) fn cost(&self, block: Option<&Block>) -> u64 {
        let samples = match block {
            Some(block) if !block.samples.is_empty() => {
                wide(block.samples.len()).saturating_mul(wide(block.channels))
            }
            _ => self.most,
        };
        samples.saturating_mul(self.weight)
    }

    /// Decodes a packet and averages the channels. Returns `None` for a packet that is broken or has no
    /// audio.
    pub(crate) fn decode(&mut self, packet: &[u8]) -> Option<Block> {
        match &mut self.codec {
            Codec::Opus(decoder) => {
                let channels = decoder.channels();
                let samples = decoder.decode(packet)?;
                Some(Block {
                    rate: opus_decode::RATE,
                    samples: average(samples, channels),
                    channels,
                })
            }
            Codec::Other(decoder) => {
                let packet = PacketRef::new(0, Timestamp::ZERO, Duration::ZERO, packet);
                let buffer = decoder.decode_ref(&packet).ok()?;
                let rate = buffer.spec().rate();
                let channels = buffer.num_planes();
                let mut samples: Vec<f32> = Vec::new();
                buffer.copy_to_vec_interleaved(&mut samples);
                Some(Block {
                    rate,
                    samples: average_floats(&samples, channels),
                    channels,
                })
            }
        }
    }
}

/// Returns the mean of interleaved channels.
fn average(samples: &[i16], channels: usize) -> Vec<i16> {
    if channels <= 1 {
        return samples.to_vec();
    }
    let count = i32::try_from(channels).unwrap_or(i32::MAX);
    samples
        .chunks_exact(channels)
        .map(|frame| {
            let sum: i32 = frame.iter().copied().map(i32::from).sum();
            i16::try_from(sum / count).unwrap_or_default()
        })
        .collect()
}

fn average_floats(samples: &[f32], channels: usize) -> Vec<i16> {
    let channels = channels.max(1);
    let share = 1.0 / f32::from(u16::try_from(channels).unwrap_or(u16::MAX));
    samples
        .chunks_exact(channels)
        .map(|frame| from_unit(frame.iter().sum::<f32>() * share))
        .collect()
}
