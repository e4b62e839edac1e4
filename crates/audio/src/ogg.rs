//! Ogg: from pages to the packets of the streams of sound in it (RFC 3533), and how long those are (RFC 7845,
//! 4; Vorbis I, A.2; the FLAC-to-Ogg mapping 1.0).

mod page;
mod stream;

use crate::decoder::Decoder;
use crate::output::{Output, Trim};
use crate::sample::{millis, wide};
use crate::{AudioError, opus_decode};
use page::Page;
use stream::{Event, Setup};

/// How long a stream is.
#[derive(Clone, Copy, Debug)]
struct Length {
    /// Samples to leave out at the front.
    skip: u64,
    /// Samples of sound.
    samples: u64,
    /// Samples a second.
    rate: u32,
}

/// How long all streams last together, in milliseconds.
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

/// Decodes the streams one after the other.
pub(crate) fn decode(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let mut lengths = measure(bytes)?.into_iter();
    let mut current: Option<(Decoder, Trim)> = None;
    stream::walk(bytes, &mut |event| {
        match event {
            Event::Start(setup) => {
                let length = lengths.next();
                current = setup
                    .decoder()
                    .ok()
                    .zip(length.map(|length| Trim::new(length.skip, length.samples)));
            }
            Event::Packet(packet) => {
                if let Some((decoder, trim)) = &mut current
                    && let Some(block) = decoder.decode(packet)
                {
                    output.push(block.rate, trim.keep(&block.samples))?;
                }
            }
            Event::Page(_) => {}
        }
        Ok(())
    })
}

/// Counts the samples of packets: those of Opus say how many they hold, the others have to be decoded.
enum Counter {
    Opus,
    Other(Box<Decoder>),
}

impl Counter {
    fn count(&mut self, packet: &[u8]) -> (u64, Option<u32>) {
        match self {
            Self::Opus => (
                opus_decode::samples(packet).unwrap_or_default(),
                Some(opus_decode::RATE),
            ),
            Self::Other(decoder) => decoder.decode(packet).map_or((0, None), |block| {
                (wide(block.samples.len()), Some(block.rate))
            }),
        }
    }
}

/// What is known of a stream while its packets go by.
struct Tally {
    counter: Counter,
    skip: u64,
    rate: u32,
    /// The most samples that a packet can hold.
    most: u64,
    packets: u64,
    /// Samples in the packets up to the first position.
    before: u64,
    /// The first position, and the last.
    positions: Option<(u64, u64)>,
    /// The last packet that a position covers, and those that came after it.
    last: Vec<u8>,
    behind: Vec<Vec<u8>>,
}

impl Tally {
    fn new(setup: &Setup) -> Option<Self> {
        let (counter, skip, rate, most) = match setup {
            Setup::Opus(head) => (Counter::Opus, head.pre_skip, opus_decode::RATE, 5760),
            Setup::Vorbis { rate, .. } => (
                Counter::Other(Box::new(setup.decoder().ok()?)),
                0,
                *rate,
                8192,
            ),
            Setup::Flac { rate, .. } => (
                Counter::Other(Box::new(setup.decoder().ok()?)),
                0,
                *rate,
                65_535,
            ),
        };
        Some(Self {
            counter,
            skip,
            rate,
            most,
            packets: 0,
            before: 0,
            positions: None,
            last: Vec::new(),
            behind: Vec::new(),
        })
    }

    fn packet(&mut self, packet: &[u8]) {
        self.packets = self.packets.saturating_add(1);
        if self.positions.is_none() {
            if self.packets > BEHIND && matches!(self.counter, Counter::Other(_)) {
                // A page holds no more; that there is no position yet is a lie that would be costly.
                return;
            }
            self.before = self.before.saturating_add(self.counter.count(packet).0);
        } else if wide(self.behind.len()) < BEHIND {
            self.behind.push(packet.to_vec());
        }
    }

    fn page(&mut self, position: u64) {
        let first = self.positions.map_or(position, |(first, _)| first);
        self.positions = Some((first, position.max(first)));
        if let Some(last) = self.behind.pop() {
            self.last = last;
        }
        self.behind.clear();
    }

    fn length(mut self) -> Length {
        let Some((first, last)) = self.positions else {
            return Length {
                skip: self.skip,
                samples: self.before.saturating_sub(self.skip),
                rate: self.rate,
            };
        };
        // A stream that was cut out of a longer one does not begin at 0.
        let start = first.saturating_sub(self.before);
        let mut samples = last - start;
        if !self.last.is_empty() {
            self.counter.count(&self.last);
        }
        for packet in &self.behind {
            samples = samples.saturating_add(self.counter.count(packet).0);
        }
        // A position that no number of samples in these packets can reach is a lie.
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

/// The most packets that are held to be counted: those of one page.
const BEHIND: u64 = 255;

/// The most streams one after the other that are read. Reading the headers of one is dear.
const MAX_STREAMS: usize = 100;

/// The length of each stream.
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
