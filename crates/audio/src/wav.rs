//! Decodes RIFF WAVE as it arrives. Does not rely on the length in the header. Sources: Microsoft's "Multimedia
//! Programming Interface and Data Specifications 1.0" and "Multiple Channel Audio Data and WAVE Files"; EBU Tech 3306
//! for RF64.

mod layout;

use crate::AudioError;
use crate::read::{little32, little64};
use crate::sample::{is_rate, narrow, wide};
use layout::Layout;

/// The longest chunk to buffer and parse. The `fmt ` chunk has at most 40 bytes.
const MAX_CHUNK: u32 = 4096;

/// Decodes a WAVE file in pieces.
#[derive(Debug, Default)]
pub struct WavStream {
    /// Bytes that wait for the rest of their chunk or frame.
    waiting: Vec<u8>,
    /// The number of waiting bytes that were parsed. They are removed once per piece of input, because chunks may be
    /// tiny.
    read: usize,
    state: State,
    layout: Option<Layout>,
    /// Bytes of audio according to the 64-bit header, if present.
    long_length: Option<u64>,
    given: u64,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Start,
    Chunks,
    /// The number of bytes of a chunk that still must be skipped.
    Skip(u64),
    /// The number of remaining bytes of audio, or `None` if the header does not declare a length.
    Sound(Option<u64>),
    End,
}

impl WavStream {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the samples per second. Returns `None` until the header is parsed.
    pub fn rate(&self) -> Option<u32> {
        match self.state {
            State::Sound(_) | State::End => self.layout.map(|layout| layout.rate),
            State::Start | State::Chunks | State::Skip(_) => None,
        }
    }

    /// Decodes the next bytes. Returns the complete samples with the channels averaged.
    ///
    /// # Errors
    /// [`AudioError::Unreadable`] when the data is not WAVE, or its samples are not 8, 16, 24 or 32-bit
    /// integers or 32 or 64-bit floats.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<i16>, AudioError> {
        self.waiting.extend_from_slice(bytes);
        while self.step()? {}
        self.waiting.drain(..self.read.min(self.waiting.len()));
        self.read = 0;
        let State::Sound(left) = &mut self.state else {
            return Ok(Vec::new());
        };
        let layout = self.layout.ok_or(AudioError::Unreadable)?;
        let frame = layout.frame();
        let ready = left.map_or(self.waiting.len(), |left| {
            narrow(left).min(self.waiting.len())
        });
        let ready = ready / frame * frame;
        let samples: Vec<i16> = self
            .waiting
            .get(..ready)
            .unwrap_or_default()
            .chunks_exact(frame)
            .map(|frame| layout.sample(frame))
            .collect();
        self.waiting.drain(..ready);
        if let Some(left) = left {
            *left = left.saturating_sub(wide(ready));
            if *left < wide(frame) {
                self.waiting = Vec::new();
                self.state = State::End;
            }
        }
        self.given = self.given.saturating_add(wide(samples.len()));
        Ok(samples)
    }

    /// Ends the stream. Always returns an empty `Vec`: a partial sample at the end is dropped.
    ///
    /// # Errors
    /// [`AudioError::Unreadable`] when the header is incomplete; [`AudioError::Empty`] when there were no
    /// samples.
    pub fn finish(self) -> Result<Vec<i16>, AudioError> {
        if self.rate().is_none() {
            Err(AudioError::Unreadable)
        } else if self.given == 0 {
            Err(AudioError::Empty)
        } else {
            Ok(Vec::new())
        }
    }

    /// Parses the next part of the header. Returns `false` when more bytes are needed or the audio begins.
    fn step(&mut self) -> Result<bool, AudioError> {
        match &mut self.state {
            State::Start => {
                let Some(head) = self.ahead().first_chunk::<12>() else {
                    // Reject bytes that cannot become a valid header.
                    let known = [&b"RIFF"[..], b"RF64", b"BW64"];
                    let start = self.ahead().get(..4).unwrap_or(self.ahead());
                    let fits = known.iter().any(|word| word.starts_with(start));
                    return if fits {
                        Ok(false)
                    } else {
                        Err(AudioError::Unreadable)
                    };
                };
                let known = matches!(head.first_chunk(), Some(b"RIFF" | b"RF64" | b"BW64"));
                if !known || !head.ends_with(b"WAVE") {
                    return Err(AudioError::Unreadable);
                }
                self.pass(12);
                self.state = State::Chunks;
                Ok(true)
            }
            State::Skip(left) => {
                let ahead = self.waiting.len().saturating_sub(self.read);
                let skipped = narrow(*left).min(ahead);
                *left = left.saturating_sub(wide(skipped));
                let done = *left == 0;
                self.read += skipped;
                if done {
                    self.state = State::Chunks;
                }
                Ok(done)
            }
            State::Chunks => self.chunk(),
            State::Sound(_) => Ok(false),
            State::End => {
                self.read = self.waiting.len();
                Ok(false)
            }
        }
    }

    /// Bytes that are not parsed yet.
    fn ahead(&self) -> &[u8] {
        self.waiting.get(self.read..).unwrap_or_default()
    }

    /// Marks bytes as parsed.
    fn pass(&mut self, count: usize) {
        self.read = self.read.saturating_add(count);
    }

    fn chunk(&mut self) -> Result<bool, AudioError> {
        let (Some(name), Some(length)) = (
            self.ahead().first_chunk::<4>().copied(),
            little32(self.ahead(), 4),
        ) else {
            return Ok(false);
        };
        if &name == b"data" {
            let layout = self.layout.ok_or(AudioError::Unreadable)?;
            if !is_rate(layout.rate) {
                return Err(AudioError::Unreadable);
            }
            self.pass(8);
            // Writers that cannot seek write 0 or the largest number.
            self.state = State::Sound(match length {
                u32::MAX => self.long_length.filter(|length| *length > 0),
                0 => None,
                length => Some(u64::from(length)),
            });
            return Ok(true);
        }
        if !matches!(&name, b"fmt " | b"ds64") {
            self.pass(8);
            // A chunk of odd length is followed by a padding byte.
            self.state = State::Skip(u64::from(length) + u64::from(length & 1));
            return Ok(true);
        }
        if length > MAX_CHUNK {
            return Err(AudioError::Unreadable);
        }
        let end = 8 + narrow(u64::from(length) + u64::from(length & 1));
        let Some(body) = self.ahead().get(8..end) else {
            return Ok(false);
        };
        if &name == b"fmt " {
            self.layout = Some(Layout::read(body).ok_or(AudioError::Unreadable)?);
        } else {
            self.long_length = little64(body, 8);
        }
        self.pass(end);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
