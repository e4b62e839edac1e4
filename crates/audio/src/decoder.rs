//! Packets of any codec become samples of one channel. It knows no container, and nothing of lengths.

use symphonia::core::codecs::audio::well_known::{
    CODEC_ID_AAC, CODEC_ID_FLAC, CODEC_ID_MP3, CODEC_ID_VORBIS,
};
use symphonia::core::codecs::audio::{
    AudioCodecId, AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
};
use symphonia::core::packet::PacketRef;
use symphonia::core::units::{Duration, Timestamp};

use crate::sample::from_unit;
use crate::{AudioError, opus_decode};

/// The decoder of one stream.
pub(crate) enum Decoder {
    /// Opus.
    Opus(opus_decode::Decoder),
    /// The other codecs.
    Other(Box<dyn AudioDecoder>),
}

/// Samples of one channel.
pub(crate) struct Block {
    /// Samples a second.
    pub(crate) rate: u32,
    pub(crate) samples: Vec<i16>,
}

impl Decoder {
    /// MPEG audio, Layer III.
    pub(crate) fn mp3() -> Result<Self, AudioError> {
        Self::other(CODEC_ID_MP3, &[])
    }

    /// AAC with this description (`AudioSpecificConfig`, ISO 14496-3, 1.6.2.1).
    pub(crate) fn aac(config: &[u8]) -> Result<Self, AudioError> {
        Self::other(CODEC_ID_AAC, config)
    }

    /// Vorbis with its first and its third header.
    pub(crate) fn vorbis(identification: &[u8], setup: &[u8]) -> Result<Self, AudioError> {
        Self::other(CODEC_ID_VORBIS, &[identification, setup].concat())
    }

    /// FLAC with its STREAMINFO.
    pub(crate) fn flac(stream_info: &[u8]) -> Result<Self, AudioError> {
        Self::other(CODEC_ID_FLAC, stream_info)
    }

    /// Opus with this header.
    pub(crate) fn opus(head: &opus_decode::Head) -> Result<Self, AudioError> {
        opus_decode::Decoder::new(head).map(Self::Opus)
    }

    fn other(codec: AudioCodecId, extra: &[u8]) -> Result<Self, AudioError> {
        let mut parameters = AudioCodecParameters::new();
        parameters.for_codec(codec);
        if !extra.is_empty() {
            parameters.with_extra_data(extra.into());
        }
        symphonia::default::get_codecs()
            .make_audio_decoder(&parameters, &AudioDecoderOptions::default().gapless(false))
            .map(Self::Other)
            .map_err(|_| AudioError::Unreadable)
    }

    /// The samples of a packet, the channels averaged. Nothing for a broken one, or one without sound.
    pub(crate) fn decode(&mut self, packet: &[u8]) -> Option<Block> {
        match self {
            Self::Opus(decoder) => {
                let channels = decoder.channels();
                let samples = decoder.decode(packet)?;
                Some(Block {
                    rate: opus_decode::RATE,
                    samples: average(samples, channels),
                })
            }
            Self::Other(decoder) => {
                let packet = PacketRef::new(0, Timestamp::ZERO, Duration::ZERO, packet);
                let buffer = decoder.decode_ref(&packet).ok()?;
                let rate = buffer.spec().rate();
                let channels = buffer.num_planes();
                let mut samples: Vec<f32> = Vec::new();
                buffer.copy_to_vec_interleaved(&mut samples);
                Some(Block {
                    rate,
                    samples: average_floats(&samples, channels),
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
