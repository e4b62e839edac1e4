//! Samples at one rate become samples at another, in pieces. It knows nothing of files or codecs.
//!
//! A sample can only be made once those after it are there, a few milliseconds later. What comes out lasts as
//! long as what went in and starts with it.

mod filter;

use crate::AudioError;
use crate::sample::{clip, is_rate, narrow, scale, wide};
use filter::Filter;

/// Samples that are turned at once, so that memory does not grow with what is pushed.
const PIECE: usize = 4_096;

/// Changes the rate of a stream of mono samples.
pub struct Resampler {
    from: u32,
    to: u32,
    /// Nothing when both rates are the same.
    engine: Option<Engine>,
    /// Samples that came in.
    taken: u64,
    /// Samples that went out.
    given: u64,
}

struct Engine {
    filter: Filter,
    from: usize,
    to: usize,
    /// Old samples that are still needed.
    waiting: Vec<f32>,
    /// Where in them the next new sample's surroundings begin; beyond the end if some are to be passed over.
    next: usize,
    /// How far the new sample is behind an old one, in parts of `to`.
    part: usize,
}

impl Resampler {
    /// One that takes samples at `from` a second and gives them at `to` a second.
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
            Some(Engine::new(from, to))
        };
        Ok(Self {
            from,
            to,
            engine,
            taken: 0,
            given: 0,
        })
    }

    /// Takes the next samples and gives those that are ready, which may be none.
    ///
    /// # Errors
    /// None at present.
    pub fn push(&mut self, samples: &[i16]) -> Result<Vec<i16>, AudioError> {
        self.taken = self.taken.saturating_add(wide(samples.len()));
        let Some(engine) = &mut self.engine else {
            return Ok(samples.to_vec());
        };
        let mut out = Vec::new();
        for piece in samples.chunks(PIECE) {
            engine
                .waiting
                .extend(piece.iter().map(|sample| f32::from(*sample)));
            engine.run(&mut out);
        }
        self.given = self.given.saturating_add(wide(out.len()));
        Ok(out)
    }

    /// Gives what is left. All that was given together lasts as long as what was taken, to the nearest sample.
    ///
    /// # Errors
    /// None at present.
    pub fn finish(mut self) -> Result<Vec<i16>, AudioError> {
        let Some(engine) = &mut self.engine else {
            return Ok(Vec::new());
        };
        let total = scale(self.taken, u64::from(self.to), u64::from(self.from));
        let missing = narrow(total.saturating_sub(self.given));
        let mut out = Vec::new();
        while out.len() < missing {
            let length = engine.waiting.len() + engine.filter.taps().max(PIECE);
            engine.waiting.resize(length, 0.0);
            engine.run(&mut out);
        }
        out.truncate(missing);
        Ok(out)
    }
}

impl Engine {
    fn new(from: u32, to: u32) -> Self {
        let filter = Filter::new(from, to);
        // Before the first sample is silence.
        let waiting = vec![0.0; filter.half.saturating_sub(1)];
        Self {
            filter,
            from: narrow(u64::from(from)),
            to: narrow(u64::from(to)),
            waiting,
            next: 0,
            part: 0,
        }
    }

    /// Makes all new samples whose surroundings are there.
    fn run(&mut self, out: &mut Vec<i16>) {
        let taps = self.filter.taps();
        while let Some(around) = self.waiting.get(self.next..self.next + taps) {
            let part = u32::try_from(self.part).unwrap_or(0);
            out.push(clip(self.filter.at(part, around)));
            self.part += self.from;
            self.next += self.part / self.to;
            self.part %= self.to;
        }
        let past = self.next.min(self.waiting.len());
        self.waiting.drain(..past);
        self.next -= past;
    }
}

#[cfg(test)]
mod tests;
