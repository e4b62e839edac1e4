//! Resamples in pieces.
//!
//! The filter has a delay. This module cuts the delay from the start and flushes it at the end, so the output starts
//! with the input and has the same duration.

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{
    Async, FixedAsync, Resampler as _, SincInterpolationParameters, SincInterpolationType,
    WindowFunction,
};

use crate::AudioError;
use crate::sample::{clip, is_rate, narrow, scale, wide};

/// The length of a block of input, in samples.
const BLOCK: usize = 256;
/// The length of the filter in samples of the lower rate. rubato puts its cutoff at 95 % of the band.
const FILTER: u32 = 256;
/// The maximum length of the filter in samples of the input. It limits the memory for rates that are far apart.
const LONGEST_FILTER: u32 = 4096;

/// Resamples a stream of mono samples.
pub struct Resampler {
    from: u32,
    to: u32,
    /// `None` if both rates are equal.
    engine: Option<Engine>,
    /// Input samples so far.
    taken: u64,
    /// Output samples so far.
    given: u64,
}

struct Engine {
    filter: Async<f32>,
    /// Input samples of an incomplete block.
    waiting: Vec<f32>,
    block: Vec<f32>,
    /// Samples of the delay that are still to be dropped.
    to_cut: usize,
}

impl Resampler {
    /// Creates a resampler from `from` to `to` samples per second.
    ///
    /// # Errors
    /// [`AudioError::Unreadable`] for a rate outside 1,000 to 384,000.
    pub fn new(from: u32, to: u32) -> Result<Self, AudioError> {
        if !is_rate(from) || !is_rate(to) {
            return Err(AudioError::Unreadable);
        }
        let engine = if from == to {
            None
        } else {
            Some(Engine::new(from, to)?)
        };
        Ok(Self {
            from,
            to,
            engine,
            taken: 0,
            given: 0,
        })
    }

    /// Resamples the next samples. Returns the output that is ready, possibly none.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] if the filter rejects its input, which is a bug in this crate.
    pub fn push(&mut self, samples: &[i16]) -> Result<Vec<i16>, AudioError> {
        self.taken = self.taken.saturating_add(wide(samples.len()));
        let Some(engine) = &mut self.engine else {
            return Ok(samples.to_vec());
        };
        let mut out = Vec::new();
        for sample in samples {
            engine.push(f32::from(*sample), &mut out)?;
        }
        self.given = self.given.saturating_add(wide(out.len()));
        Ok(out)
    }

    /// Returns the remaining samples. The whole output lasts as long as the whole input, to the
    /// nearest sample.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] if the filter rejects its input, which is a bug in this crate.
    pub fn finish(mut self) -> Result<Vec<i16>, AudioError> {
        let Some(engine) = &mut self.engine else {
            return Ok(Vec::new());
        };
        let total = scale(self.taken, u64::from(self.to), u64::from(self.from));
        let missing = narrow(total.saturating_sub(self.given));
        let mut out = Vec::new();
        while out.len() < missing {
            engine.push(0.0, &mut out)?;
        }
        out.truncate(missing);
        Ok(out)
    }
}

/// Returns the greatest common divisor.
fn common(a: u32, b: u32) -> u32 {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    divisor.max(1)
}

impl Engine {
    fn new(from: u32, to: u32) -> Result<Self, AudioError> {
        let divisor = common(from, to);
        let (from, to) = (from / divisor, to / divisor);
        let length = FILTER.saturating_mul(from.div_ceil(to)).min(LONGEST_FILTER);
        // The filter's table is small, because it is computed for each stream.
        let parameters = SincInterpolationParameters::new(
            narrow(u64::from(length)),
            WindowFunction::BlackmanHarris2,
        )
        .oversampling_factor(128)
        .interpolation(SincInterpolationType::Linear);
        let filter = Async::new_sinc(
            f64::from(to) / f64::from(from),
            1.0,
            &parameters,
            BLOCK,
            1,
            FixedAsync::Input,
        )
        .map_err(|_| AudioError::Encoder)?;
        let block = vec![0.0; filter.output_frames_max()];
        // Silence before the input extends the delay to a multiple of `from`. An output sample then falls exactly on
        // the first sample of the input. The filter starts one step late, hence the `- 1`.
        let delay = (length / 2).next_multiple_of(from);
        let steps = scale(u64::from(delay), u64::from(to), u64::from(from));
        let mut engine = Self {
            filter,
            waiting: Vec::new(),
            block,
            to_cut: narrow(steps.saturating_sub(1)),
        };
        let mut cut = Vec::new();
        for _ in length / 2..delay {
            engine.push(0.0, &mut cut)?;
        }
        Ok(engine)
    }

    fn push(&mut self, sample: f32, out: &mut Vec<i16>) -> Result<(), AudioError> {
        self.waiting.push(sample);
        if self.waiting.len() >= BLOCK {
            self.run(out)?;
        }
        Ok(())
    }

    /// Resamples the full block in `waiting` into `out`.
    fn run(&mut self, out: &mut Vec<i16>) -> Result<(), AudioError> {
        let input = InterleavedSlice::new(&self.waiting, 1, self.waiting.len())
            .map_err(|_| AudioError::Encoder)?;
        let room = self.block.len();
        let mut output =
            InterleavedSlice::new_mut(&mut self.block, 1, room).map_err(|_| AudioError::Encoder)?;
        let (_, made) = self
            .filter
            .process_into_buffer(&input, &mut output, None)
            .map_err(|_| AudioError::Encoder)?;
        self.waiting.clear();
        let cut = self.to_cut.min(made);
        self.to_cut -= cut;
        let made = self.block.get(cut..made).unwrap_or_default();
        out.extend(made.iter().map(|sample| clip(*sample)));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
