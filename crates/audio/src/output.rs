//! Where decoded samples go: counted, bounded, of one rate. It decodes nothing.

use crate::AudioError;
use crate::sample::{is_rate, narrow, wide};

/// Takes blocks of samples and their rate.
pub(crate) type Take<'a> = dyn FnMut(u32, &[i16]) -> Result<(), AudioError> + 'a;

/// Samples on their way out.
pub(crate) struct Output<'a> {
    max_seconds: u32,
    /// Samples a second, 0 before the first.
    rate: u32,
    given: u64,
    take: &'a mut Take<'a>,
}

impl<'a> Output<'a> {
    /// One that lets through at most this many seconds.
    pub(crate) fn new(max_seconds: u32, take: &'a mut Take<'a>) -> Self {
        Self {
            max_seconds,
            rate: 0,
            given: 0,
            take,
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
