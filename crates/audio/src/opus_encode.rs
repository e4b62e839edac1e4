//! Encodes Ogg Opus (RFC 6716, RFC 7845): chooses sample rate, bit rate and page length. This module does not resample.

use opus_pure::{
    Application, MAX_PACKET_BYTES, OggOpusWriter, OpusEncoder, OpusHead, OpusTags, Signal,
};

use crate::AudioError;
use crate::sample::wide;

/// Sample rates that Opus accepts as input (RFC 6716, section 2.1.3). The stream is always 48 kHz.
const RATES: [u32; 5] = [8_000, 12_000, 16_000, 24_000, 48_000];
/// The unit of the granule position. It does not depend on the input rate (RFC 7845, section 4).
const GRANULE_RATE: u32 = 48_000;
/// Packets per second. A packet lasts 20 ms, the length that RFC 6716 recommends (section 2.1.4).
const PACKETS_A_SECOND: u32 = 50;
/// Bits per second for mono speech. RFC 6716, section 2.1.1, calls 28 to 40 kbit/s the sweet spot for fullband speech.
/// At the upper end, music behind a voice is acceptable too.
const BITS_A_SECOND: i32 = 40_000;
/// For speech, a higher complexity costs more time than the quality gain is worth.
const COMPLEXITY: i32 = 5;
/// Packets per page of a live stream: 100 ms. A page is written when the first packet of the next page arrives.
const LIVE_PAGE: u32 = 5;
/// Packets on the first page of a live stream. A single packet lets playback start early.
const FIRST_LIVE_PAGE: u32 = 1;
/// Packets per page of a whole sound: one second, the maximum that RFC 7845 recommends (section 6).
const WHOLE_PAGE: u32 = 50;
/// A payload target larger than any page. With this value, the writer ends pages only on request.
const NO_TARGET: usize = usize::MAX;

/// An encoder with its container.
pub struct OpusEncode {
    encoder: OpusEncoder,
    writer: OggOpusWriter<Vec<u8>>,
    /// Samples that do not fill a packet yet.
    waiting: Vec<i16>,
    /// Samples per packet, at the encoder's rate.
    frame: usize,
    /// 48 kHz samples per input sample.
    ticks: u64,
    /// 48 kHz samples that a decoder drops at the start.
    pre_skip: u64,
    /// Samples pushed so far.
    taken: u64,
    packets_on_page: u32,
    /// The maximum number of packets on the current page. `further_pages` applies to later pages.
    page: u32,
    further_pages: u32,
    packet: Vec<u8>,
}

impl OpusEncode {
    /// Returns the rate to push samples with: `rate` if Opus accepts it, else 48,000.
    pub fn rate_for(rate: u32) -> u32 {
        if RATES.contains(&rate) {
            rate
        } else {
            GRANULE_RATE
        }
    }

    /// Creates an encoder for a `rate` from [`Self::rate_for`]. A page lasts 100 ms if `live`, otherwise one
    /// second.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] for a different rate.
    pub fn new(rate: u32, live: bool) -> Result<Self, AudioError> {
        if !RATES.contains(&rate) {
            return Err(AudioError::Encoder);
        }
        let signed = i32::try_from(rate).map_err(|_| AudioError::Encoder)?;
        let mut encoder = OpusEncoder::new(signed, 1, Application::Audio).map_err(refused)?;
        encoder.bitrate_bps = BITS_A_SECOND;
        encoder.complexity = COMPLEXITY;
        encoder.signal_type = Some(Signal::Voice);
        let head = OpusHead::for_encoder(&encoder, rate);
        let pre_skip = u64::from(head.pre_skip);
        let mut writer =
            OggOpusWriter::with_tags(Vec::new(), head, OpusTags::new()).map_err(refused)?;
        writer.set_page_target(NO_TARGET);
        let frame = usize::try_from(rate / PACKETS_A_SECOND).map_err(|_| AudioError::Encoder)?;
        Ok(Self {
            encoder,
            writer,
            waiting: Vec::new(),
            frame,
            ticks: u64::from(GRANULE_RATE / rate),
            pre_skip,
            taken: 0,
            packets_on_page: 0,
            page: if live { FIRST_LIVE_PAGE } else { WHOLE_PAGE },
            further_pages: if live { LIVE_PAGE } else { WHOLE_PAGE },
            packet: vec![0; MAX_PACKET_BYTES],
        })
    }

    /// Encodes samples. Returns the complete pages.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when the encoder fails.
    pub fn push(&mut self, samples: &[i16]) -> Result<Vec<u8>, AudioError> {
        self.taken = self.taken.saturating_add(wide(samples.len()));
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend_from_slice(samples);
        let blocks = waiting.chunks_exact(self.frame);
        let rest = blocks.remainder().to_vec();
        for block in blocks {
            self.packet_of(block, None)?;
        }
        self.waiting = rest;
        Ok(self.ready())
    }

    /// Returns the remaining bytes: the waiting samples, padded with silence to flush the encoder's delay. The last
    /// granule position marks the end of the audio (RFC 7845, section 4.4).
    ///
    /// # Errors
    /// [`AudioError::Encoder`] if the encoder fails.
    pub fn finish(mut self) -> Result<Vec<u8>, AudioError> {
        let end = self
            .taken
            .saturating_mul(self.ticks)
            .saturating_add(self.pre_skip);
        let mut block = std::mem::take(&mut self.waiting);
        loop {
            block.resize(self.frame, 0);
            let left = end.saturating_sub(u64::try_from(self.writer.granule()).unwrap_or(0));
            let whole = self.ticks * wide(self.frame);
            if left <= whole {
                let left = u32::try_from(left).map_err(|_| AudioError::Encoder)?;
                self.packet_of(&block, Some(left))?;
                return self.writer.finish().map_err(refused);
            }
            self.packet_of(&block, None)?;
            block.clear();
        }
    }

    /// Encodes one packet. `ticks` is set for the last packet, which may be only partly audible.
    fn packet_of(&mut self, block: &[i16], ticks: Option<u32>) -> Result<(), AudioError> {
        let length = self
            .encoder
            .encode_s16(block, self.frame, &mut self.packet)
            .map_err(refused)?;
        let packet = self.packet.get(..length).ok_or(AudioError::Encoder)?;
        // A page is ended before a packet is added, so the last page is never empty.
        let ends = self.packets_on_page >= self.page;
        self.writer
            .set_page_target(if ends { 1 } else { NO_TARGET });
        if ends {
            self.packets_on_page = 0;
            self.page = self.further_pages;
        }
        self.packets_on_page += 1;
        match ticks {
            Some(ticks) => self.writer.write_packet_with_duration(packet, ticks),
            None => self.writer.write_packet(packet),
        }
        .map_err(refused)
    }

    /// Returns the pages written since the last call.
    fn ready(&mut self) -> Vec<u8> {
        self.writer
            .get_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }
}

/// The library's error describes our call, not the audio.
fn refused(_: opus_pure::Error) -> AudioError {
    AudioError::Encoder
}
