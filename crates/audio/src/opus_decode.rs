//! Decodes Opus packets. No other module calls the Opus decoder.

use opus_pure::multistream::OpusMSDecoder;
use opus_pure::{MAX_PACKET_SAMPLES, OpusDecoder, packet};

use crate::AudioError;
use crate::read::little16;
use crate::sample::wide;

/// The output rate and the unit of granule positions (RFC 7845, 4).
pub(crate) const RATE: u32 = 48_000;
/// The output rate in the decoder's type.
const RATE_SIGNED: i32 = 48_000;

/// The maximum number of samples per channel in a packet: 120 ms (RFC 6716, 3.2).
pub(crate) const MOST: u64 = 5760;

/// Maximum number of channels to decode: the largest speaker layout (RFC 7845, 5.1.1.2). A stream with 255 channels,
/// each with its own decoder, would cost too much per packet.
const MAX_CHANNELS: usize = 8;

/// The header of a stream (RFC 7845, 5.1).
#[derive(Clone, Debug)]
pub(crate) struct Head {
    channels: u8,
    /// Samples to drop at the start.
    pub(crate) pre_skip: u64,
    /// Output gain, in 1/256 dB.
    gain: i16,
    family: u8,
}

impl Head {
    /// Parses an `OpusHead`.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let body = bytes.strip_prefix(b"OpusHead")?;
        let version = *body.first()?;
        let channels = *body.get(1)?;
        let head = Self {
            channels,
            pre_skip: u64::from(little16(body, 2)?),
            gain: i16::from_le_bytes(little16(body, 8)?.to_le_bytes()),
            family: *body.get(10)?,
        };
        (version >> 4 == 0 && channels > 0).then_some(head)
    }
}

/// Samples per channel in a packet, at 48 kHz (RFC 6716, 3.1 and 3.2). `None` if it is not a valid packet.
pub(crate) fn samples(bytes: &[u8]) -> Option<u64> {
    packet::samples_48k(bytes).ok().map(wide)
}

/// The decoder of one stream.
pub(crate) struct Decoder {
    inner: Inner,
    channels: usize,
    block: Vec<i16>,
}

enum Inner {
    Plain(Box<OpusDecoder>),
    Surround(Box<OpusMSDecoder>),
}

impl Decoder {
    pub(crate) fn new(head: &Head) -> Result<Self, AudioError> {
        let channels = usize::from(head.channels);
        if channels > MAX_CHANNELS {
            return Err(AudioError::Unreadable);
        }
        let inner = if channels <= 2 {
            let mut decoder =
                OpusDecoder::new(RATE_SIGNED, channels).map_err(|_| AudioError::Unreadable)?;
            decoder.gain_q8 = i32::from(head.gain);
            Inner::Plain(Box::new(decoder))
        } else {
            let decoder = OpusMSDecoder::new(RATE_SIGNED, channels, head.family)
                .map_err(|_| AudioError::Unreadable)?;
            Inner::Surround(Box::new(decoder))
        };
        Ok(Self {
            inner,
            channels,
            block: vec![0; MAX_PACKET_SAMPLES.saturating_mul(channels)],
        })
    }

    /// Returns the number of interleaved channels that [`Self::decode`] returns.
    pub(crate) fn channels(&self) -> usize {
        self.channels
    }

    /// Decodes a packet to interleaved samples. `None` if it is broken.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Option<&[i16]> {
        if bytes.is_empty() {
            return None;
        }
        let made = match &mut self.inner {
            Inner::Plain(decoder) => decoder.decode_s16(bytes, MAX_PACKET_SAMPLES, &mut self.block),
            Inner::Surround(decoder) => {
                decoder.decode_s16(bytes, MAX_PACKET_SAMPLES, &mut self.block)
            }
        };
        self.block.get(..made.ok()?.checked_mul(self.channels)?)
    }
}
