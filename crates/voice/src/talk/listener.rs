//! Finds where a person begins and stops speaking in audio that arrives in pieces.
//!
//! The detector of `earshot` scores frames of 16 ms. A single frame is not enough to decide: speech begins when most of
//! the last frames are voiced, and ends after a silence. The samples shortly before the beginning are kept, because the
//! first sound of a word is often quiet.

use crate::VoiceError;
use earshot::Detector;
use gatehouse_audio::{PcmStream, Resampler};
use std::collections::VecDeque;
use std::fmt;

/// The sample rate of the detector and every recognizer, in samples per second.
pub(crate) const RATE: u32 = 16_000;
/// Samples of a frame: 16 ms.
const FRAME: usize = 256;
const FRAME_MS: u64 = 16;
/// The score from which a frame can begin speech. Steady noise stays below it.
const VOICED: f32 = 0.7;
/// The score below which a frame is silent. It is below [`VOICED`], so a quiet syllable does not end a sentence.
const SILENT: f32 = 0.4;
/// Speech begins with this many voiced frames among the last [`WINDOW`].
const BEGINS_WITH: usize = 4;
const WINDOW: usize = 6;
/// Samples kept from before the beginning: 320 ms.
const BEFORE: usize = 20 * FRAME;
/// The number of silent frames that the detector processes first. Without them, its first scores
/// are arbitrary.
const WARM_UP: usize = 40;

/// An event of the listener.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Noticed {
    /// A person has begun to speak.
    Began,
    /// The person has stopped speaking. The samples are at [`RATE`].
    Ended(Vec<i16>),
}

/// Listens to one microphone.
pub(super) struct Listener {
    bytes: PcmStream,
    resampler: Resampler,
    detector: Box<Detector>,
    /// Samples of an incomplete frame.
    rest: Vec<i16>,
    /// Which of the last frames were voiced.
    window: VecDeque<bool>,
    /// The latest samples while no one speaks; all samples while someone does.
    heard: Vec<i16>,
    is_speaking: bool,
    /// How long it has been silent.
    silent_ms: u64,
    /// The length of the silence that ends an utterance.
    ends_after_ms: u64,
    /// The maximum number of samples of an utterance.
    most: usize,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("is_speaking", &self.is_speaking)
            .finish_non_exhaustive()
    }
}

impl Listener {
    /// Creates a listener for raw samples at this rate.
    pub(super) fn new(
        rate: u32,
        ends_after_ms: u64,
        most_seconds: u32,
    ) -> Result<Self, VoiceError> {
        let resampler = Resampler::new(rate, RATE)
            .map_err(|_| VoiceError::invalid("input.rate", "is not supported"))?;
        let mut detector = Box::<Detector>::default();
        for _ in 0..WARM_UP {
            detector.predict_i16(&[0; FRAME]);
        }
        let most = usize::try_from(most_seconds.saturating_mul(RATE)).unwrap_or(usize::MAX);
        Ok(Self {
            bytes: PcmStream::new(),
            resampler,
            detector,
            rest: Vec::new(),
            window: VecDeque::new(),
            heard: Vec::new(),
            is_speaking: false,
            silent_ms: 0,
            ends_after_ms,
            most,
        })
    }

    pub(super) const fn is_speaking(&self) -> bool {
        self.is_speaking
    }

    /// Takes the next bytes: 16-bit little-endian samples. A piece may end inside a sample.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Noticed>, VoiceError> {
        let samples = self.bytes.push(bytes);
        let broken = |_| VoiceError::Internal("the samples of a microphone could not be resampled");
        let samples = self.resampler.push(&samples).map_err(broken)?;
        self.rest.extend(samples);
        let rest = std::mem::take(&mut self.rest);
        let (frames, rest) = rest.as_chunks::<FRAME>();
        self.rest = rest.to_vec();
        Ok(frames
            .iter()
            .filter_map(|frame| self.frame(frame))
            .collect())
    }

    /// Ends the utterance now, if there is one.
    pub(super) fn end(&mut self) -> Option<Noticed> {
        self.is_speaking.then(|| self.ended())
    }

    fn frame(&mut self, frame: &[i16; FRAME]) -> Option<Noticed> {
        let score = self.detector.predict_i16(frame);
        self.heard.extend_from_slice(frame);
        if self.is_speaking {
            self.silent_ms = if score < SILENT {
                self.silent_ms + FRAME_MS
            } else {
                0
            };
            let is_over = self.silent_ms >= self.ends_after_ms || self.heard.len() >= self.most;
            return is_over.then(|| self.ended());
        }
        self.window.push_back(score >= VOICED);
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
        let excess = self.heard.len().saturating_sub(BEFORE);
        self.heard.drain(..excess);
        let voiced = self.window.iter().filter(|is_voiced| **is_voiced).count();
        if voiced < BEGINS_WITH {
            return None;
        }
        self.is_speaking = true;
        self.silent_ms = 0;
        Some(Noticed::Began)
    }

    fn ended(&mut self) -> Noticed {
        self.is_speaking = false;
        self.window.clear();
        self.silent_ms = 0;
        Noticed::Ended(std::mem::take(&mut self.heard))
    }
}

#[cfg(test)]
mod tests;
