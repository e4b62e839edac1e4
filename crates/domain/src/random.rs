//! Randomness as an injected value.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of random bytes. Two implementations ship: the operating system's generator, and a seeded one
/// for reproducible tests and fuzzing.
pub trait Random: Send + Sync + fmt::Debug {
    fn fill(&self, buffer: &mut [u8]);
}

impl dyn Random + '_ {
    /// Returns an array of random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Returns a uniformly distributed number below `bound` (rejection sampling).
    pub fn below(&self, bound: u32) -> u32 {
        let bound = bound.max(1);
        let limit = u32::MAX - u32::MAX % bound;
        loop {
            let candidate = u32::from_le_bytes(self.bytes());
            if candidate < limit {
                return candidate % bound;
            }
        }
    }
}

/// The operating system's generator.
#[derive(Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    /// Aborts the process if the system returns no random bytes, because predictable keys are worse.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the system"
    )]
    fn fill(&self, buffer: &mut [u8]) {
        if getrandom::fill(buffer).is_err() {
            std::process::abort();
        }
    }
}

/// A reproducible generator (`SplitMix64`). Never use it for keys outside tests.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// Creates a generator. The same seed produces the same bytes.
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Random for SeededRandom {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let mut z = self
                .0
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst)
                .wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            for (byte, random) in chunk.iter_mut().zip((z ^ (z >> 31)).to_le_bytes()) {
                *byte = random;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_bounds_hold() {
        let (a, b): (&dyn Random, &dyn Random) = (&SeededRandom::new(7), &SeededRandom::new(7));
        assert_eq!(a.bytes::<20>(), b.bytes::<20>());
        assert!((0..1000).all(|_| a.below(10) < 10));
    }
}
