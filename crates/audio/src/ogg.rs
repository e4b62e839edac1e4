//! Ogg: extracts the packets of audio streams from pages (RFC 3533) and measures the streams (RFC 7845, 4; Vorbis I,
//! A.2; the FLAC-to-Ogg mapping 1.0).
//!
//! Measuring decodes nothing and takes time linear in the input. At most [`MAX_STREAMS`] streams are measured, and no
//! others are decoded.

mod page;
mod stream;

use crate::decoder::Decoder;
use crate::output::{Output, Trim};
use crate::sample::millis;
use crate::{AudioError, flac, opus_decode, vorbis};
use page::Page;
use stream::{Event, Setup};

/// The length of a stream.
#[derive(Clone, Copy, Debug)]
struct Length {
    /// Samples to drop at the start.
    skip: u64,
    /// Samples of audio.
    samples: u64,
    /// Samples per second.
    rate: u32,
}

/// Total duration of all streams, in milliseconds.
pub(crate) fn duration_ms(bytes: &[u8]) -> Result<u64, AudioError> {
    let lengths = measure(bytes)?;
    let total = lengths
        .iter()
        .map(|length| millis(length.samples, length.rate))
        .fold(0, u64::saturating_add);
    if total == 0 {
        return Err(AudioError::Empty);
    }
    Ok(total)
}

/// Decodes the streams in sequence.
pub(crate) fn decode(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let mut lengths = measure(bytes)?.into_iter();
    let mut current: Option<(Decoder, Trim)> = None;
    stream::walk(bytes, &mut |event| {
        match event {
            Event::Start(setup) => {
                // Check the length first: an empty stream does not need a decoder.
                let length = lengths.next().filter(|length| length.samples > 0);
                current = match length.map(|length| (length, setup.decoder())) {
                    Some((length, Ok(decoder))) => Some((
                        output.made(decoder)?,
                        Trim::new(length.skip, length.samples),
                    )),
                    Some((_, Err(_))) | None => None,
                };
            }
            Event::Packet(packet) => {
                if let Some((decoder, trim)) = &mut current {
                    output.packet(decoder, trim, packet)?;
                }
            }
            Event::Page(_) => {}
        }
        Ok(())
    })
}

/// Counts the samples of packets without decoding them.
enum Counter {
    Opus,
    /// The setup, and the size of the previous block.
    Vorbis(vorbis::Setup, Option<u64>),
    Flac,
}

impl Counter {
    /// Samples per channel that a decoder would return for the packet.
    fn count(&mut self, packet: &[u8]) -> u64 {
        match self {
            Self::Opus => opus_decode::samples(packet).unwrap_or_default(),
            Self::Vorbis(setup, before) => setup.block(packet).map_or(0, |block| {
                // The second half of a block overlaps the first half of the next (Vorbis I, 4.3.8).
                (before.replace(block).unwrap_or(block) + block) / 4
            }),
            Self::Flac => flac::frame_samples(packet).unwrap_or_default(),
        }
    }
}

/// Counters of one stream.
struct Tally {
    counter: Counter,
    skip: u64,
    rate: u32,
    /// The maximum number of samples that a packet can contain.
    most: u64,
    packets: u64,
    /// Samples in the packets up to the first position.
    before: u64,
    /// The first and the last position.
    positions: Option<(u64, u64)>,
    /// Samples in the packets after the last position.
    behind: u64,
}

impl Tally {
    fn new(setup: &Setup) -> Option<Self> {
        let (counter, skip, rate, most) = match setup {
            Setup::Opus(head) => (
                Counter::Opus,
                head.pre_skip,
                opus_decode::RATE,
                opus_decode::MOST,
            ),
            Setup::Vorbis {
                identification,
                setup,
                rate,
            } => {
                let setup = vorbis::Setup::read(identification, setup)?;
                (Counter::Vorbis(setup, None), 0, *rate, 8192)
            }
            Setup::Flac { rate, .. } => (Counter::Flac, 0, *rate, 65_536),
        };
        Some(Self {
            counter,
            skip,
            rate,
            most,
            packets: 0,
            before: 0,
            positions: None,
            behind: 0,
        })
    }

    fn packet(&mut self, packet: &[u8]) {
        self.packets = self.packets.saturating_add(1);
        let samples = self.counter.count(packet);
        let sum = if self.positions.is_none() {
            &mut self.before
        } else {
            &mut self.behind
        };
        *sum = sum.saturating_add(samples);
    }

    fn page(&mut self, position: u64) {
        let first = self.positions.map_or(position, |(first, _)| first);
        self.positions = Some((first, position.max(first)));
        self.behind = 0;
    }

    fn length(self) -> Length {
        let Some((first, last)) = self.positions else {
            return Length {
                skip: self.skip,
                samples: self.before.saturating_sub(self.skip),
                rate: self.rate,
            };
        };
        // A stream that was cut out of a longer one does not begin at 0.
        let start = first.saturating_sub(self.before);
        let samples = (last - start).saturating_add(self.behind);
        // Ignore a position that this number of packets cannot reach.
        let most = self.packets.saturating_mul(self.most);
        Length {
            skip: self.skip,
            samples: samples.min(most).saturating_sub(self.skip),
            rate: self.rate,
        }
    }
}

#[cfg(test)]
mod tests;

/// The maximum number of consecutive streams to read, because parsing stream headers is expensive.
const MAX_STREAMS: usize = 100;

/// Returns the length of each stream.
fn measure(bytes: &[u8]) -> Result<Vec<Length>, AudioError> {
    let mut lengths = Vec::new();
    let mut current: Option<Tally> = None;
    stream::walk(bytes, &mut |event| {
        match event {
            Event::Start(setup) => {
                lengths.extend(current.take().map(Tally::length));
                if lengths.len() >= MAX_STREAMS {
                    return Ok(());
                }
                current = Tally::new(setup);
                if current.is_none() {
                    lengths.push(Length {
                        skip: 0,
                        samples: 0,
                        rate: 1,
                    });
                }
            }
            Event::Packet(packet) => {
                if let Some(tally) = &mut current {
                    tally.packet(packet);
                }
            }
            Event::Page(position) => {
                if let Some(tally) = &mut current {
                    tally.page(position);
                }
            }
        }
        Ok(())
    })?;
    lengths.extend(current.map(Tally::length));
    if lengths.is_empty() {
        return Err(AudioError::Unreadable);
    }
    Ok(lengths)
}
