//! Recognizes, measures, decodes and encodes audio. The crate does not use files, processes or networks, and contains
//! nothing about vendors.
//!
//! The input is untrusted, so the work is bounded. Recognizing and measuring take time and memory linear in
//! the input. Decoding needs the memory of its result plus at most 64 MiB of tables. Its time is bounded by
//! `max_seconds` of stereo at 48 kHz, whatever the headers claim (see `output.rs`).

mod adts;
mod decode;
mod decoder;
mod duration;
mod encode;
mod error;
mod flac;
mod flac_encode;
mod format;
mod frames;
mod join;
mod kind;
mod meter;
mod mp3;
#[cfg(feature = "mp3")]
mod mp3_encode;
mod mp4;
mod ogg;
mod opus_decode;
mod opus_encode;
mod output;
mod pcm;
mod read;
mod resample;
mod sample;
mod sniff;
mod vorbis;
mod wav;
mod wav_header;
mod webm;

pub use decode::{decode, to_pcm, to_wav};
pub use duration::duration_ms;
pub use encode::{Encoder, encode};
pub use error::AudioError;
pub use format::Format;
pub use join::join;
pub use kind::Kind;
pub use meter::Meter;
pub use pcm::{PcmStream, pcm_of_samples, samples_of_pcm};
pub use resample::Resampler;
pub use sniff::sniff;
pub use wav::WavStream;

/// Mono samples.
#[derive(Clone, PartialEq)]
pub struct Sound {
    /// Samples per second.
    pub rate: u32,
    pub samples: Vec<i16>,
}

impl Sound {
    /// Duration in milliseconds, rounded to the nearest.
    pub fn duration_ms(&self) -> u64 {
        let rate = u64::from(self.rate.max(1));
        let samples = u64::try_from(self.samples.len()).unwrap_or(u64::MAX);
        samples.saturating_mul(1000).saturating_add(rate / 2) / rate
    }
}

impl std::fmt::Debug for Sound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sound")
            .field("rate", &self.rate)
            .field("samples", &self.samples.len())
            .finish()
    }
}
