//! The sink for decoded samples. It counts and bounds the samples, and keeps one sample rate.
//!
//! Two amounts are bounded. The output is at most `max_seconds`. The work is at most `max_seconds` of stereo at 48 kHz
//! plus [`SLACK`]. Every packet counts as work with all its channels, before trimming, even if it cannot be decoded.
//! Every new decoder counts as work too. Exceeding either bound is [`AudioError::TooLong`].

use crate::AudioError;
use crate::decoder::Decoder;
use crate::sample::{is_rate, narrow, wide};

/// Receives blocks of samples with their rate.
pub(crate) type Take<'a> = dyn FnMut(u32, &[i16]) -> Result<(), AudioError> + 'a;

/// Samples of work allowed for each second of output: stereo at 48 kHz.
const WORK_A_SECOND: u64 = 2 * 48_000;

/// Extra samples of work, for tables and the silence that encoders add: half a minute of stereo.
const SLACK: u64 = 30 * WORK_A_SECOND;

/// Counts decoded samples and passes them on.
pub(crate) struct Output<'a> {
    max_seconds: u32,
    /// Samples per second, 0 before the first block.
    rate: u32,
    given: u64,
    /// Samples of work that are left.
    work: u64,
    take: &'a mut Take<'a>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(max_seconds: u32, take: &'a mut Take<'a>) -> Self {
        Self {
            max_seconds,
            rate: 0,
            given: 0,
            work: u64::from(max_seconds)
                .saturating_mul(WORK_A_SECOND)
                .saturating_add(SLACK),
            take,
        }
    }

    /// Adds the cost of a new decoder to the work.
    pub(crate) fn made(&mut self, decoder: Decoder) -> Result<Decoder, AudioError> {
        self.spend(decoder.price())?;
        Ok(decoder)
    }

    /// Decodes a packet and forwards the samples that `trim` keeps. Does not decode after the end of `trim`.
    pub(crate) fn packet(
        &mut self,
        decoder: &mut Decoder,
        trim: &mut Trim,
        packet: &[u8],
    ) -> Result<(), AudioError> {
        if trim.is_over() {
            return Ok(());
        }
        let block = decoder.decode(packet);
        self.spend(decoder.cost(block.as_ref()))?;
        match block {
            Some(block) => self.push(block.rate, trim.keep(&block.samples)),
            None => Ok(()),
        }
    }

    fn spend(&mut self, samples: u64) -> Result<(), AudioError> {
        match self.work.checked_sub(samples) {
            Some(left) => {
                self.work = left;
                Ok(())
            }
            None => Err(AudioError::TooLong {
                max_seconds: self.max_seconds,
            }),
        }
    }

    /// Forwards samples. Drops samples whose rate differs from the first rate, because the stream is broken there, or
    /// was joined from two streams that do not match.
    pub(crate) fn push(&mut self, rate: u32, samples: &[i16]) -> Result<(), AudioError> {
        if samples.is_empty() {
            return Ok(());
        }
        if self.rate == 0 {
            if !is_rate(rate) {
                return Err(AudioError::Unreadable);
            }
            self.rate = rate;
        } else if self.rate != rate {
            return Ok(());
        }
        self.given = self.given.saturating_add(wide(samples.len()));
        if self.given > u64::from(self.max_seconds).saturating_mul(u64::from(rate)) {
            return Err(AudioError::TooLong {
                max_seconds: self.max_seconds,
            });
        }
        (self.take)(rate, samples)
    }

    /// Samples of work that are left.
    #[cfg(test)]
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Samples written so far.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }
}

/// Cuts the start and the end of a stream of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trim {
    skip: u64,
    left: u64,
}

impl Trim {
    /// Creates a filter that drops `skip` samples, then keeps `left` samples.
    pub(crate) fn new(skip: u64, left: u64) -> Self {
        Self { skip, left }
    }

    /// Creates a filter that keeps everything.
    pub(crate) fn nothing() -> Self {
        Self::new(0, u64::MAX)
    }

    /// Returns whether every further sample is dropped.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Returns the part of the next block to keep.
    pub(crate) fn keep<'b>(&mut self, block: &'b [i16]) -> &'b [i16] {
        let skip = self.skip.min(wide(block.len()));
        self.skip -= skip;
        let rest = block.get(narrow(skip)..).unwrap_or_default();
        let keep = self.left.min(wide(rest.len()));
        self.left -= keep;
        rest.get(..narrow(keep)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
