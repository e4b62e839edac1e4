//! Sounds: which kind some bytes are, how long they last, what samples they hold, and how samples become
//! bytes of another kind. It must not know files, programs, networks or vendors.
//!
//! Bytes of strangers are bounded work: recognising and measuring is linear in them, in time and in memory;
//! decoding takes the memory of its result and of some tables (64 MiB at most), and the time of as many
//! samples as `max_seconds` of stereo at 48 kHz hold, whatever the bytes claim (`output.rs`).

mod adts;
mod decode;
mod decoder;
mod duration;
mod encode;
mod error;
mod flac;
mod format;
mod frames;
mod join;
mod kind;
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

pub use decode::{decode, to_wav};
pub use duration::duration_ms;
pub use encode::{Encoder, encode};
pub use error::AudioError;
pub use format::Format;
pub use join::join;
pub use kind::Kind;
pub use pcm::{PcmStream, pcm_of_samples, samples_of_pcm};
pub use resample::Resampler;
pub use sniff::sniff;
pub use wav::WavStream;

/// Samples of one channel.
#[derive(Clone, PartialEq)]
pub struct Sound {
    /// Samples a second.
    pub rate: u32,
    /// Signed 16-bit samples.
    pub samples: Vec<i16>,
}

impl Sound {
    /// How long it lasts, in milliseconds, to the nearest.
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
