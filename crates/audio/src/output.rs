//! Where decoded samples go: counted, bounded, of one rate. It knows no container and no codec.
//!
//! Two things are bounded. What is given: at most `max_seconds` of it. And what is worked: every packet that is
//! tried counts with all its channels, before anything is cut off and whether or not it could be decoded, and
//! so does every decoder that is made; together at most as many samples as `max_seconds` of stereo at 48 kHz
//! hold, and [`SLACK`] besides. What is more than either is [`AudioError::TooLong`].

use crate::AudioError;
use crate::decoder::Decoder;
use crate::sample::{is_rate, narrow, wide};

/// Takes blocks of samples and their rate.
pub(crate) type Take<'a> = dyn FnMut(u32, &[i16]) -> Result<(), AudioError> + 'a;

/// Samples of work that each second that is taken allows: stereo at 48 kHz.
const WORK_A_SECOND: u64 = 2 * 48_000;

/// Samples of work that are allowed besides: silence that encoders add, and tables. Half a minute of stereo.
const SLACK: u64 = 30 * WORK_A_SECOND;

/// Samples on their way out.
pub(crate) struct Output<'a> {
    max_seconds: u32,
    /// Samples a second, 0 before the first.
    rate: u32,
    given: u64,
    /// Samples of work that are left.
    work: u64,
    take: &'a mut Take<'a>,
}

impl<'a> Output<'a> {
    /// One that lets through at most this many seconds.
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

    /// Counts a decoder that was made.
    pub(crate) fn made(&mut self, decoder: Decoder) -> Result<Decoder, AudioError> {
        self.spend(decoder.price())?;
        Ok(decoder)
    }

    /// Decodes a packet and lets through what the trim leaves of it. Once that leaves nothing more, nothing is
    /// decoded any more.
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

    /// Lets samples through. What comes at another rate than the first is left out: a stream that changes is
    /// broken there, or was put together of two that do not fit.
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

    /// Samples that came through.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }
}

/// Cuts a stream of blocks at the front and at the back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trim {
    skip: u64,
    left: u64,
}

impl Trim {
    /// Leaves out `skip` samples, then lets `left` through.
    pub(crate) fn new(skip: u64, left: u64) -> Self {
        Self { skip, left }
    }

    /// Lets everything through.
    pub(crate) fn nothing() -> Self {
        Self::new(0, u64::MAX)
    }

    /// Whether nothing more will stay.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// What stays of the next block.
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
