//! Packets of any codec become samples of one channel, and what each of them costs. It knows no container, and
//! nothing of lengths.

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
    /// Samples of all channels that a packet holds at most.
    most: u64,
    /// How many times as dear as an ordinary one a sample is.
    weight: u64,
    /// Samples that could be decoded in the time that it took to make this.
    price: u64,
}

enum Codec {
    Opus(opus_decode::Decoder),
    Other(Box<dyn AudioDecoder>),
}

/// Samples of one channel.
pub(crate) struct Block {
    /// Samples a second.
    pub(crate) rate: u32,
    pub(crate) samples: Vec<i16>,
    /// How many channels they were made of.
    channels: usize,
}

/// What it costs to make any decoder, in samples.
const PRICE: u64 = 16_384;

/// The most channels of AAC.
const AAC_CHANNELS: u64 = 8;

impl Decoder {
    /// MPEG audio, Layer III.
    pub(crate) fn mp3() -> Result<Self, AudioError> {
        Self::other(CODEC_ID_MP3, &[], 2 * 1152)
    }

    /// AAC with this description (`AudioSpecificConfig`, ISO 14496-3, 1.6.2.1).
    pub(crate) fn aac(config: &[u8]) -> Result<Self, AudioError> {
        Self::other(CODEC_ID_AAC, config, AAC_CHANNELS * crate::adts::BLOCK)
    }

    /// Vorbis with its first and its third header. They are looked through before: the tables of the decoder
    /// could be of any size.
    pub(crate) fn vorbis(identification: &[u8], setup: &[u8]) -> Result<Self, AudioError> {
        let known = vorbis::Setup::read(identification, setup).ok_or(AudioError::Unreadable)?;
        let extra = [identification, setup].concat();
        let made = Self::other(CODEC_ID_VORBIS, &extra, known.most())?;
        Ok(Self {
            weight: known.weight(),
            // A sample takes about as long as a few bytes of a table.
            price: PRICE.saturating_add(known.tables() / 8),
            ..made
        })
    }

    /// FLAC with its STREAMINFO, which holds the longest block and the number of channels (RFC 9639, 8.2).
    pub(crate) fn flac(stream_info: &[u8]) -> Result<Self, AudioError> {
        let block = big(stream_info, 2, 2).unwrap_or_default();
        let channels = (big(stream_info, 12, 1).unwrap_or_default() >> 1 & 7) + 1;
        Self::other(CODEC_ID_FLAC, stream_info, block.saturating_mul(channels))
    }

    /// Opus with this header.
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

    /// What it cost to make this, in samples.
    pub(crate) fn price(&self) -> u64 {
        self.price
    }

    /// What a packet cost of which this came, in samples of all channels. One that is broken can have cost as
    /// much as any.
    pub(crate) fn cost(&self, block: Option<&Block>) -> u64 {
        let samples = match block {
            Some(block) if !block.samples.is_empty() => {
                wide(block.samples.len()).saturating_mul(wide(block.channels))
            }
            _ => self.most,
        };
        samples.saturating_mul(self.weight)
    }

    /// The samples of a packet, the channels averaged. Nothing for a broken one, or one without sound.
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

/// The mean of channels that stand side by side.
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
