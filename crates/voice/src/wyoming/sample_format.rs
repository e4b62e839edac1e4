//! The format of audio events: samples of 16 bits, mono or stereo.

use super::event::Event;
use crate::listening::MICROPHONE_RATES;
use gatehouse_audio::samples_of_pcm;
use serde_json::{Value, json};

const WIDTH: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleFormat {
    /// Samples per second.
    pub(super) rate: u32,
    channels: u32,
}

impl SampleFormat {
    pub(super) const fn mono(rate: u32) -> Self {
        Self { rate, channels: 1 }
    }

    /// Returns the format that the event names, or `None` if it is missing or not supported.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let (rate, channels) = (event.number("rate")?, event.number("channels")?);
        let fits = event.number("width") == Some(WIDTH)
            && MICROPHONE_RATES.contains(&rate)
            && (1..=2).contains(&channels);
        fits.then_some(Self { rate, channels })
    }

    pub(super) const fn is_mono(self) -> bool {
        self.channels == 1
    }

    /// Returns whether the last frame is complete, that is, whether it has a sample for each channel.
    pub(super) fn is_whole(self, bytes: &[u8]) -> bool {
        let frame = usize::try_from(self.channels.saturating_mul(WIDTH)).unwrap_or(usize::MAX);
        bytes.len().is_multiple_of(frame)
    }

    /// Returns the samples, with the channels averaged.
    pub(super) fn samples(self, bytes: &[u8]) -> Vec<i16> {
        let samples = samples_of_pcm(bytes);
        if self.is_mono() {
            return samples;
        }
        let (pairs, _) = samples.as_chunks::<2>();
        let pairs = pairs.iter();
        pairs.map(|[left, right]| left.midpoint(*right)).collect()
    }

    /// Returns an event with this format.
    pub(super) fn event(self, kind: &str, payload: Vec<u8>) -> Event {
        let Self { rate, channels } = self;
        let data: Value = json!({ "rate": rate, "width": WIDTH, "channels": channels });
        Event {
            payload,
            ..Event::new(kind, data)
        }
    }
}
