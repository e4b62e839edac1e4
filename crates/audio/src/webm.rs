//! `WebM` and Matroska with Opus or Vorbis (RFC 8794 for EBML, RFC 9559 for Matroska). Supports browser recordings,
//! which lack lengths and may be truncated anywhere. Measuring uses timestamps and packet headers, decodes nothing, and
//! takes time linear in the input.

mod ebml;
mod lacing;

use crate::AudioError;
use crate::decoder::Decoder;
use crate::opus_decode::{self, Head};
use crate::output::{Output, Trim};
use crate::sample::{millis, scale};
use ebml::{Event, Track};

/// The codec of the selected track.
enum Setup {
    Opus(Head),
    Vorbis {
        identification: Vec<u8>,
        setup: Vec<u8>,
    },
}

impl Setup {
    fn read(track: &Track<'_>) -> Option<Self> {
        match track.codec {
            b"A_OPUS" => Head::read(track.private).map(Self::Opus),
            b"A_VORBIS" => {
                let [identification, _, setup] = lacing::vorbis_headers(track.private)?;
                Some(Self::Vorbis {
                    identification: identification.to_vec(),
                    setup: setup.to_vec(),
                })
            }
            _ => None,
        }
    }

    fn decoder(&self) -> Result<Decoder, AudioError> {
        match self {
            Self::Opus(head) => Decoder::opus(head),
            Self::Vorbis {
                identification,
                setup,
            } => Decoder::vorbis(identification, setup),
        }
    }
}

/// Counters for measuring.
struct Tally {
    /// Samples in Opus packets.
    samples: u64,
    /// Nanoseconds to cut from the end.
    discard: u64,
    /// The first and last block timestamps in ticks, and the number of blocks.
    first: Option<i64>,
    last: i64,
    blocks: u64,
    /// Nanoseconds per tick.
    tick: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            samples: 0,
            discard: 0,
            first: None,
            last: i64::MIN,
            blocks: 0,
            // RFC 9559, 5.1.2.9.
            tick: 1_000_000,
        }
    }
}

/// Duration in milliseconds.
pub(crate) fn duration_ms(bytes: &[u8]) -> Result<u64, AudioError> {
    let (track, setup) = find_track(bytes)?;
    let tally = measure(bytes, track, &setup)?;
    let total = match &setup {
        Setup::Opus(head) => millis(tally.samples_of(head), opus_decode::RATE),
        Setup::Vorbis { .. } => tally.by_time(),
    };
    if total == 0 {
        return Err(AudioError::Empty);
    }
    Ok(total)
}

/// Decodes the file.
pub(crate) fn decode(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let (track, setup) = find_track(bytes)?;
    let mut trim = match &setup {
        Setup::Opus(head) => {
            let samples = measure(bytes, track, &setup)?.samples_of(head);
            Trim::new(head.pre_skip, samples)
        }
        Setup::Vorbis { .. } => Trim::nothing(),
    };
    if trim.is_over() {
        return Ok(());
    }
    let mut decoder = output.made(setup.decoder()?)?;
    ebml::walk(bytes, &mut |event| {
        if let Event::Block(block) = event
            && block.track == track
        {
            lacing::packets(block.data, block.flags, &mut |packet| {
                output.packet(&mut decoder, &mut trim, packet)
            })?;
        }
        Ok(())
    })
}

/// Returns the number and codec of the first supported track.
fn find_track(bytes: &[u8]) -> Result<(u64, Setup), AudioError> {
    let mut found = None;
    ebml::walk(bytes, &mut |event| {
        if let Event::Track(track) = event
            && found.is_none()
        {
            found = Setup::read(&track).map(|setup| (track.number, setup));
        }
        Ok(())
    })?;
    found.ok_or(AudioError::Unreadable)
}

fn measure(bytes: &[u8], track: u64, setup: &Setup) -> Result<Tally, AudioError> {
    let mut tally = Tally::default();
    ebml::walk(bytes, &mut |event| {
        match event {
            Event::Block(block) if block.track == track => {
                if let Setup::Opus(_) = setup {
                    lacing::packets(block.data, block.flags, &mut |packet| {
                        let samples = opus_decode::samples(packet).unwrap_or_default();
                        tally.samples = tally.samples.saturating_add(samples);
                        Ok(())
                    })?;
                }
                tally.first = tally.first.or(Some(block.time));
                tally.last = tally.last.max(block.time);
                tally.blocks = tally.blocks.saturating_add(1);
                // The padding follows its block. Only the padding of the last block counts.
                tally.discard = 0;
            }
            Event::Tick(nanoseconds) => tally.tick = nanoseconds,
            Event::Discard(nanoseconds) => tally.discard = nanoseconds,
            Event::Block(_) | Event::Track(_) => {}
        }
        Ok(())
    })?;
    Ok(tally)
}

impl Tally {
    /// Samples of audio in an Opus stream.
    fn samples_of(&self, head: &Head) -> u64 {
        let cut = scale(self.discard, u64::from(opus_decode::RATE), 1_000_000_000);
        self.samples
            .saturating_sub(head.pre_skip)
            .saturating_sub(cut)
    }

    /// Returns the duration in milliseconds by block timestamps. The last block is assumed to last as long as the
    /// average of the other blocks.
    fn by_time(&self) -> u64 {
        let span = self.first.map_or(0, |first| self.last.abs_diff(first));
        let span = scale(span, self.tick, 1_000_000);
        scale(span, self.blocks, self.blocks.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests;
