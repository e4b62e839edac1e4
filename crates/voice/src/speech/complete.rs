//! Complete audio from one provider, in its own format or encoded from samples.

use super::container::{broken, decoded, other_kind, read};
use super::order::Job;
use super::provider_call::speak;
use super::samples::Samples;
use crate::VoiceError;
use crate::aac::{self, aac};
use crate::cpu::CpuPermits;
use crate::handle::State;
use crate::tts::{Encoding, TtsCall, TtsId};
use bytes::Bytes;
use gatehouse_audio::{Encoder, Format, Kind, Sound, duration_ms, encode};
use std::sync::Arc;

/// Complete audio.
#[derive(Clone, Debug)]
pub(crate) struct CompleteSpeech {
    pub(super) audio: Bytes,
    pub(super) duration_ms: u64,
    /// A warning about the audio.
    pub(super) warning: Option<String>,
    /// Whether the audio could be parsed in its format.
    pub(super) is_sound: bool,
    /// Whether the provider was not called: the audio comes from the cache or from an identical stream.
    pub(super) is_cached: bool,
}

#[cfg(test)]
impl CompleteSpeech {
    pub(crate) const fn of(audio: Bytes) -> Self {
        Self {
            audio,
            duration_ms: 0,
            warning: None,
            is_sound: true,
            is_cached: false,
        }
    }
}

impl Job {
    /// Synthesizes the whole text.
    pub(super) async fn make(&self, state: &Arc<State>) -> Result<CompleteSpeech, VoiceError> {
        match self.native() {
            Some(call) => self.make_native(state, call).await,
            None => self.make_from_samples(state).await,
        }
    }

    async fn make_native(
        &self,
        state: &State,
        call: &TtsCall,
    ) -> Result<CompleteSpeech, VoiceError> {
        let speech = speak(&state.resources, self.id, call).await?;
        if speech.encoding != Encoding::Native(self.format) {
            return Err(VoiceError::Internal(
                "a provider returned a format other than the requested one",
            ));
        }
        let (audio, kind) = (read(speech.body).await?, self.format.kind());
        if let Some(found) = other_kind(&audio, kind) {
            return self.convert(state, audio, found).await;
        }
        if audio.is_empty() {
            return Err(VoiceError::failed(
                self.id.as_str(),
                "returned no audio",
                true,
            ));
        }
        self.measured(state, audio).await
    }

    /// Returns the audio with its duration.
    pub(super) async fn measured(
        &self,
        state: &State,
        audio: Bytes,
    ) -> Result<CompleteSpeech, VoiceError> {
        let (bytes, kind) = (audio.clone(), self.format.kind());
        let cpu = &state.resources.cpu;
        let measured = cpu.run(move || Ok(duration_ms(&bytes, kind))).await?;
        let warning = measured.is_err().then(|| {
            format!(
                "The audio from {} cannot be read as {}.",
                self.id,
                self.format.as_str()
            )
        });
        Ok(CompleteSpeech {
            audio,
            duration_ms: measured.unwrap_or_default(),
            is_sound: warning.is_none(),
            is_cached: false,
            warning,
        })
    }

    /// Encodes audio in the requested format if it has another one.
    pub(super) async fn convert(
        &self,
        state: &State,
        audio: Bytes,
        found: Kind,
    ) -> Result<CompleteSpeech, VoiceError> {
        tracing::debug!(
            provider = self.id.as_str(),
            found = found.as_str(),
            wanted = self.format.as_str(),
            "a provider returned a container other than the requested one"
        );
        let sound = decoded(&state.resources.cpu, self.id, audio, found).await?;
        let (audio, duration_ms) = self.encode_whole(state, sound).await?;
        Ok(CompleteSpeech {
            audio,
            duration_ms,
            warning: None,
            is_sound: true,
            is_cached: false,
        })
    }

    async fn make_from_samples(&self, state: &Arc<State>) -> Result<CompleteSpeech, VoiceError> {
        if self.format == Format::Aac {
            aac::find(&state.resources.programs)?;
        }
        let samples = Samples::new(Arc::clone(state), self.id, self.calls.clone());
        let (audio, duration_ms) = match self.format {
            Format::Wav | Format::Flac | Format::Aac => self.make_whole(state, samples).await?,
            format => encode_as_it_comes(&state.resources.cpu, self.id, samples, format).await?,
        };
        Ok(CompleteSpeech {
            audio,
            duration_ms,
            warning: None,
            is_sound: true,
            is_cached: false,
        })
    }

    /// Makes audio of formats with the length in the header, and of formats that an external
    /// program encodes.
    async fn make_whole(
        &self,
        state: &State,
        mut samples: Samples,
    ) -> Result<(Bytes, u64), VoiceError> {
        let mut all = Vec::new();
        while let Some(more) = samples.next().await? {
            all.extend(more);
        }
        let sound = Sound {
            rate: samples.rate().unwrap_or(Format::PCM_RATE),
            samples: all,
        };
        self.encode_whole(state, sound).await
    }

    async fn encode_whole(&self, state: &State, sound: Sound) -> Result<(Bytes, u64), VoiceError> {
        let (id, duration_ms) = (self.id, sound.duration_ms());
        let is_aac = self.format == Format::Aac;
        let format = if is_aac { Format::Wav } else { self.format };
        let whole = state
            .resources
            .cpu
            .run(move || encode(&sound, format).map_err(|error| broken(id, &error)));
        let whole = Bytes::from(whole.await?);
        if is_aac {
            return Ok((aac(&state.resources.programs, whole).await?, duration_ms));
        }
        Ok((whole, duration_ms))
    }
}

/// Encodes as samples arrive, to avoid holding all samples of a long text in memory.
async fn encode_as_it_comes(
    cpu: &CpuPermits,
    id: TtsId,
    mut samples: Samples,
    format: Format,
) -> Result<(Bytes, u64), VoiceError> {
    let mut encoder: Option<Encoder> = None;
    let (mut audio, mut count) = (Vec::new(), 0_u64);
    while let Some(more) = samples.next().await? {
        count += u64::try_from(more.len()).unwrap_or_default();
        let rate = samples.rate().unwrap_or(Format::PCM_RATE);
        let had = encoder.take();
        let work = move || {
            let mut encoder = match had {
                Some(encoder) => encoder,
                None => Encoder::new(format, rate).map_err(|error| broken(id, &error))?,
            };
            let bytes = encoder.push(&more).map_err(|error| broken(id, &error))?;
            Ok((encoder, bytes))
        };
        let (now, bytes) = cpu.run(work).await?;
        encoder = Some(now);
        audio.extend(bytes);
    }
    if let Some(encoder) = encoder {
        audio.extend(encoder.finish().map_err(|error| broken(id, &error))?);
    }
    let rate = u64::from(samples.rate().unwrap_or(Format::PCM_RATE));
    Ok((audio.into(), (count * 1000 + rate / 2) / rate.max(1)))
}
