//! Resamples in pieces.
//!
//! The filter works on blocks of a fixed length and has a delay of half a block. This module cuts the delay
//! from the start and flushes it at the end, so the output starts with the input and has the same duration.

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler as _};

use crate::AudioError;
use crate::sample::{clip, is_rate, narrow, scale, wide};

/// The minimum block length on either side, in samples. A longer block has a sharper cutoff and more delay.
const BLOCK: u32 = 1024;

/// Resamples a stream of mono samples.
pub struct Resampler {
    from: u32,
    to: u32,
    /// `None` when both rates are the same.
    engine: Option<Engine>,
    /// Input samples so far.
    taken: u64,
    /// Output samples so far.
    given: u64,
}

struct Engine {
    filter: Fft<f32>,
    /// Input samples of an incomplete block.
    waiting: Vec<f32>,
    block: Vec<f32>,
    /// Samples of the delay that are still to be dropped.
    to_cut: usize,
}

impl Resampler {
    /// A resampler from `from` to `to` samples per second.
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

    /// Resamples the next samples. Returns those that are ready, possibly none.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when the filter rejects its input, which is a bug in this crate.
    pub fn push(&mut self, samples: &[i16]) -> Result<Vec<i16>, AudioError> {
        self.taken = self.taken.saturating_add(wide(samples.len()));
        let Some(engine) = &mut self.engine else {
            return Ok(samples.to_vec());
        };
        let mut out = Vec::new();
        for sample in samples {
            engine.waiting.push(f32::from(*sample));
            if engine.waiting.len() >= engine.filter.input_frames_next() {
                engine.run(&mut out)?;
            }
        }
        self.given = self.given.saturating_add(wide(out.len()));
        Ok(out)
    }

    /// Returns the rest. The whole output lasts as long as the whole input, to the nearest sample.
    ///
    /// # Errors
    /// [`AudioError::Encoder`] when the filter rejects its input, which is a bug in this crate.
    pub fn finish(mut self) -> Result<Vec<i16>, AudioError> {
        let Some(engine) = &mut self.engine else {
            return Ok(Vec::new());
        };
        let total = scale(self.taken, u64::from(self.to), u64::from(self.from));
        let missing = narrow(total.saturating_sub(self.given));
        let mut out = Vec::new();
        while out.len() < missing {
            engine
                .waiting
                .resize(engine.filter.input_frames_next(), 0.0);
            engine.run(&mut out)?;
        }
        out.truncate(missing);
        Ok(out)
    }
}

/// Input samples per block: at least [`BLOCK`] on either side, and an even multiple of the shortest block
/// that the two rates have in common. An odd multiple would place the center of the filter between two
/// samples and delay the output by half a sample.
fn block(from: u32, to: u32) -> u64 {
    let (mut divisor, mut rest) = (from, to);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let shortest = (from / divisor.max(1)).max(1);
    let wanted = scale(u64::from(BLOCK), u64::from(from), u64::from(to)).max(u64::from(BLOCK));
    wanted.div_ceil(u64::from(shortest)).next_multiple_of(2) * u64::from(shortest)
}

impl Engine {
    fn new(from: u32, to: u32) -> Result<Self, AudioError> {
        let chunk = block(from, to);
        let filter = Fft::new(
            narrow(u64::from(from)),
            narrow(u64::from(to)),
            narrow(chunk),
            1,
            FixedSync::Both,
        )
        .map_err(|_| AudioError::Encoder)?;
        let block = vec![0.0; filter.output_frames_max()];
        let to_cut = filter.output_delay();
        Ok(Self {
            filter,
            waiting: Vec::new(),
            block,
            to_cut,
        })
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
