//! Writing Ogg Opus (RFC 6716, RFC 7845): which rate, how many bits, how long a page. It knows no other
//! format and does not resample.

use opus_pure::{
    Application, MAX_PACKET_BYTES, OggOpusWriter, OpusEncoder, OpusHead, OpusTags, Signal,
};

use crate::AudioError;
use crate::sample::wide;

/// Samples a second that Opus takes as they are (RFC 6716, section 2.1.3). They all become 48 kHz streams.
const RATES: [u32; 5] = [8_000, 12_000, 16_000, 24_000, 48_000];
/// What the granule position counts, whatever rate went in (RFC 7845, section 4).
const GRANULE_RATE: u32 = 48_000;
/// Packets in a second: one is 20 ms, the length that RFC 6716 recommends (section 2.1.4).
const PACKETS_A_SECOND: u32 = 50;
/// Bits a second for one channel of speech: RFC 6716, section 2.1.1 calls 28 to 40 kbit/s the sweet spot of
/// fullband speech; a little more keeps music under a voice bearable.
const BITS_A_SECOND: i32 = 40_000;
/// Beyond this the encoder takes more time than its gain is worth for speech.
const COMPLEXITY: i32 = 5;
/// Packets on a page while somebody listens: 100 ms. A page is ended by the packet after it.
const LIVE_PAGE: u32 = 5;
/// Packets on the first page while somebody listens: what is said is heard at once.
const FIRST_LIVE_PAGE: u32 = 1;
/// Packets on a page of a whole sound: one second, the most that RFC 7845 advises (section 6).
const WHOLE_PAGE: u32 = 50;
/// More payload than a page of ours has: the writer ends pages only where it is told to.
const NO_TARGET: usize = usize::MAX;

/// An encoder and its container.
pub struct OpusEncode {
    encoder: OpusEncoder,
    writer: OggOpusWriter<Vec<u8>>,
    /// Samples that do not fill a packet yet.
    waiting: Vec<i16>,
    /// Samples of one packet, at the encoder's rate.
    frame: usize,
    /// 48 kHz samples for one of ours.
    ticks: u64,
    /// 48 kHz samples that a decoder leaves out at the start.
    pre_skip: u64,
    /// Samples that were pushed.
    taken: u64,
    packets_on_page: u32,
    /// Packets on this page and on those after it.
    page: u32,
    further_pages: u32,
    packet: Vec<u8>,
}

impl OpusEncode {
    /// The rate that sound of `rate` has to be pushed with: its own, if Opus takes it.
    pub fn rate_for(rate: u32) -> u32 {
        if RATES.contains(&rate) {
            rate
        } else {
            GRANULE_RATE
        }
    }

    /// `rate` is one of [`Self::rate_for`]. `live` ends pages each 100 ms rather than each second.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] for another rate.
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

    /// Takes samples; the pages that are complete.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when the encoder refuses.
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

    /// The rest: what waits, and silence until the encoder's delay is out. The last granule position says
    /// where the sound ends within that (RFC 7845, section 4.4).
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when the encoder refuses.
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

    /// Encodes one packet. `ticks` is given for the last, of which less may be heard than it holds.
    fn packet_of(&mut self, block: &[i16], ticks: Option<u32>) -> Result<(), AudioError> {
        let length = self
            .encoder
            .encode_s16(block, self.frame, &mut self.packet)
            .map_err(refused)?;
        let packet = self.packet.get(..length).ok_or(AudioError::Encoder)?;
        // The writer ends a page before a packet, so that the last page is never empty.
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

    /// The pages that were written since the last time.
    fn ready(&mut self) -> Vec<u8> {
        self.writer
            .get_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }
}

/// The library's reason is about our call, not about the sound.
fn refused(_: opus_pure::Error) -> AudioError {
    AudioError::Encoder
}
