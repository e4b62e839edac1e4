//! Samples from a provider as they arrive, for all pieces of the text in sequence.

use super::container::{broken, decoded, other_kind_of_head, peek, read};
use super::observed::Body;
use super::provider_call::speak;
use crate::VoiceError;
use crate::handle::State;
use crate::tts::{Encoding, Speech, TtsCall, TtsId};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use gatehouse_audio::{AudioError, Format, Kind, PcmStream, Resampler, WavStream, pcm_of_samples};
use std::sync::Arc;
use std::vec;

/// Samples at the rate of the first piece.
pub(super) struct Samples {
    state: Arc<State>,
    id: TtsId,
    calls: vec::IntoIter<TtsCall>,
    now: Option<Piece>,
    rate: Option<u32>,
}

/// A piece of text that is being spoken.
struct Piece {
    body: Body,
    reader: Reader,
    resampler: Option<Resampler>,
    has_sound: bool,
}

enum Reader {
    Wav(WavStream),
    Bare(PcmStream, u32),
}

impl Samples {
    /// Creates the stream. The provider is first called by [`Self::next`].
    pub(super) fn new(state: Arc<State>, id: TtsId, calls: Vec<TtsCall>) -> Self {
        Self {
            state,
            id,
            calls: calls.into_iter(),
            now: None,
            rate: None,
        }
    }

    /// Samples per second; `None` before the first samples have arrived.
    pub(super) const fn rate(&self) -> Option<u32> {
        self.rate
    }

    /// Returns the next samples, never empty, or `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<i16>>, VoiceError> {
        loop {
            if self.now.is_none() && !self.begin().await? {
                return Ok(None);
            }
            let Some(piece) = &mut self.now else {
                continue;
            };
            let samples = match piece.body.next().await {
                Some(bytes) => piece.push(&bytes?, &mut self.rate),
                None => self.finish(),
            };
            let samples = samples.map_err(|error| broken(self.id, &error))?;
            if !samples.is_empty() {
                return Ok(Some(samples));
            }
        }
    }

    /// Starts the next piece of text.
    async fn begin(&mut self) -> Result<bool, VoiceError> {
        let Some(call) = self.calls.next() else {
            return Ok(false);
        };
        let speech = speak(&self.state.resources, self.id, &call).await?;
        let (reader, body) = reader_of(&self.state, self.id, speech).await?;
        self.now = Some(Piece {
            body,
            reader,
            resampler: None,
            has_sound: false,
        });
        Ok(true)
    }

    fn finish(&mut self) -> Result<Vec<i16>, AudioError> {
        match self.now.take() {
            Some(piece) => piece.finish(&mut self.rate),
            None => Ok(Vec::new()),
        }
    }
}

impl Piece {
    fn push(&mut self, bytes: &[u8], rate: &mut Option<u32>) -> Result<Vec<i16>, AudioError> {
        let samples = match &mut self.reader {
            Reader::Wav(wav) => wav.push(bytes)?,
            Reader::Bare(pcm, _) => pcm.push(bytes),
        };
        if samples.is_empty() {
            return Ok(samples);
        }
        self.fit(samples, rate)
    }

    /// Resamples to the rate of the first piece.
    fn fit(&mut self, samples: Vec<i16>, rate: &mut Option<u32>) -> Result<Vec<i16>, AudioError> {
        let own = match &self.reader {
            Reader::Wav(wav) => wav.rate().ok_or(AudioError::Unreadable)?,
            Reader::Bare(_, rate) => *rate,
        };
        self.has_sound = true;
        let wanted = *rate.get_or_insert(own);
        if own == wanted {
            return Ok(samples);
        }
        let resampler = match &mut self.resampler {
            Some(resampler) => resampler,
            none => none.insert(Resampler::new(own, wanted)?),
        };
        resampler.push(&samples)
    }

    fn finish(mut self, rate: &mut Option<u32>) -> Result<Vec<i16>, AudioError> {
        let reader = std::mem::replace(&mut self.reader, Reader::Bare(PcmStream::new(), 0));
        let mut rest = Vec::new();
        if let Reader::Wav(wav) = reader {
            let own = wav.rate();
            let last = wav.finish()?;
            if let Some(own) = own.filter(|_| !last.is_empty()) {
                self.reader = Reader::Bare(PcmStream::new(), own);
                rest = self.fit(last, rate)?;
            }
        }
        if !self.has_sound {
            return Err(AudioError::Empty);
        }
        if let Some(resampler) = self.resampler {
            rest.extend(resampler.finish()?);
        }
        Ok(rest)
    }
}

/// Returns the reader of a body. Audio that is evidently in a different container is read as that container.
async fn reader_of(state: &State, id: TtsId, speech: Speech) -> Result<(Reader, Body), VoiceError> {
    let bare = |rate| Reader::Bare(PcmStream::new(), rate);
    let (wanted, reader) = match speech.encoding {
        Encoding::Wav | Encoding::Native(Format::Wav) => (Kind::Wav, Reader::Wav(WavStream::new())),
        Encoding::Samples { rate } => (Kind::Pcm { rate }, bare(rate)),
        Encoding::Native(Format::Pcm) => (Format::Pcm.kind(), bare(Format::PCM_RATE)),
        Encoding::Native(_) => {
            return Err(VoiceError::Internal("a provider returned no samples"));
        }
    };
    let (head, body) = peek(speech.body).await?;
    match other_kind_of_head(&head, wanted) {
        None => Ok((reader, body)),
        Some(Kind::Wav) => Ok((Reader::Wav(WavStream::new()), body)),
        Some(found) => {
            let audio = read(body).await?;
            let sound = decoded(&state.resources.cpu, id, audio, found).await?;
            let samples = Bytes::from(pcm_of_samples(&sound.samples));
            Ok((bare(sound.rate), stream::iter([Ok(samples)]).boxed()))
        }
    }
}
