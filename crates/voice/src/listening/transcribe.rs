//! Audio to text: `stt.transcribe`.

mod samples;

use super::request::{self, Checked, TranscribeRequest};
use super::stream;
use super::transcript::{Heard, InspectedAudio, Transcript, Want, transcript};
use crate::attempt::{Attempt, Tries};
use crate::cpu::CpuPermits;
use crate::handle::State;
use crate::provider::{ProviderId, Service};
use crate::retry::repeated;
use crate::stt::{self, SttCall, SttId, SttResult};
use crate::{Voice, VoiceError, usage};
use bytes::Bytes;
use gatehouse_audio::{duration_ms, sniff};
use samples::fitting;
pub(crate) use samples::samples;

/// A sample rate that every recognizer accepts, in samples per second.
pub(crate) const RECOGNISERS_RATE: u32 = 16_000;

impl Voice {
    /// Transcribes or translates audio. Dropping the future cancels the work.
    pub async fn transcribe(&self, request: TranscribeRequest) -> Result<Transcript, VoiceError> {
        let span = self.begin_request("api.transcription");
        let recognized = span.run(self.recognize(request, Want::Whole)).await;
        let (id, heard, looked, attempts) = span.end(recognized)?;
        match heard {
            Heard::Whole(recognized) => Ok(transcript(id, recognized, &looked, attempts)),
            Heard::Pieces(_) => Err(VoiceError::Internal("a transcript came in pieces")),
        }
    }

    /// Tries the providers in order.
    pub(super) async fn recognize(
        &self,
        request: TranscribeRequest,
        want: Want,
    ) -> Result<(SttId, Heard, InspectedAudio, Vec<Attempt>), VoiceError> {
        let state = self.state();
        let sniffed = sniff(&request.audio);
        let checked = request::check(&request, &state.settings.stt, sniffed)?;
        let first = match checked.provider {
            Some(id) => id,
            None => self.chosen(&state).await.ok_or_else(nobody)?.0,
        };
        let may_help = |id: &SttId| !request.translate || id.provider().translates();
        if !may_help(&first) {
            return Err(cannot_translate(first));
        }
        let looked = look(&state.resources.cpu, &request.audio, &checked).await?;
        let others = state.settings.stt.fallback.iter().copied();
        let others = others.filter(|id| *id != first && may_help(id));
        let mut tries = Tries::default();
        for id in std::iter::once(first).chain(others) {
            let mut asked = request.clone();
            asked.model = asked.model.filter(|_| id == first);
            match self.listen(&state, id, asked, &looked, want).await {
                Ok(heard) => {
                    tries.attempts.push(Attempt::good(id.as_str()));
                    return Ok((id, heard, looked, tries.attempts));
                }
                Err(error) => tries.failed(id.as_str(), error)?,
            }
        }
        Err(tries.over())
    }

    /// Transcribes with one provider. A model in the request applies only to the first provider.
    pub(super) async fn listen(
        &self,
        state: &State,
        id: SttId,
        asked: TranscribeRequest,
        looked: &InspectedAudio,
        want: Want,
    ) -> Result<Heard, VoiceError> {
        let call = self.call(state, id, asked, looked).await?;
        let provider = id.provider();
        let resources = &state.resources;
        if want == Want::Pieces
            && let Some(streaming) = &provider.streaming
            && (streaming.can)(call.model.as_deref(), call.base_url.as_ref())
        {
            let duration_ms = looked.duration_ms.unwrap_or_default();
            let begun = stream::begun(resources, (id, streaming), &call, duration_ms);
            return Ok(Heard::Pieces(begun.await?));
        }
        let counting = usage::begin_transcript(id, resources, call.setup());
        let listening = repeated(resources, &provider.about, || {
            (provider.listen)(resources, &call)
        });
        let mut recognized = counting.of(listening.await)?;
        usage::recognized(
            id,
            looked
                .duration_ms
                .or(milliseconds(&recognized))
                .unwrap_or_default(),
        );
        // If the provider reports no language, use the requested one.
        let asked = call.language.as_deref();
        recognized.language = recognized.language.or_else(|| asked.map(stt::in_short));
        if call.translate {
            recognized.language = Some("en".to_owned());
        }
        Ok(Heard::Whole(recognized))
    }

    /// Resolves the parameters of a call.
    async fn call(
        &self,
        state: &State,
        id: SttId,
        asked: TranscribeRequest,
        looked: &InspectedAudio,
    ) -> Result<SttCall, VoiceError> {
        let endpoint = self.endpoint(state, id).await?;
        self.note_use(&endpoint);
        let provider = id.provider();
        if matches!(provider.about.service, Service::Program { .. }) {
            state.resources.programs.check_queue()?;
        }
        let (audio, kind) =
            fitting(&state.resources.cpu, provider, &asked.audio, looked.kind).await?;
        let settings = state.settings.stt.providers.get(&id).cloned();
        let settings = settings.unwrap_or_default();
        let model = match &provider.translator {
            Some(translator) if asked.translate => {
                translator.choose(asked.model, settings.model.as_ref())?
            }
            _ => asked.model.or_else(|| settings.model.clone()),
        };
        Ok(SttCall {
            audio,
            kind,
            declared: asked.format,
            language: asked.language.or_else(|| settings.language.clone()),
            prompt: asked.prompt.filter(|_| provider.takes_hints),
            timestamps: asked.timestamps,
            translate: asked.translate,
            model,
            base_url: endpoint.base_url,
            key: endpoint.key,
            settings,
        })
    }
}

pub(super) async fn look(
    cpu: &CpuPermits,
    audio: &Bytes,
    checked: &Checked,
) -> Result<InspectedAudio, VoiceError> {
    let Some(kind) = checked.kind else {
        return Ok(InspectedAudio {
            kind: None,
            duration_ms: None,
        });
    };
    let audio = audio.clone();
    let measured = cpu.run(move || Ok(duration_ms(&audio, kind).ok()));
    Ok(InspectedAudio {
        kind: Some(kind),
        duration_ms: measured.await?,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "out-of-range values saturate"
)]
fn milliseconds(recognized: &SttResult) -> Option<u64> {
    recognized
        .duration_seconds
        .map(|seconds| (seconds * 1000.0) as u64)
}

fn cannot_translate(id: SttId) -> VoiceError {
    let all = SttId::ALL.iter();
    let all = all.filter(|id| id.provider().translates());
    let all: Vec<&str> = all.map(|id| id.as_str()).collect();
    let reason = format!("{id} does not translate; {} do", all.join(", "));
    VoiceError::invalid("provider", reason)
}

fn nobody() -> VoiceError {
    let hint =
        "No transcription provider is configured. Set a provider's key or model under `voice.stt`.";
    VoiceError::not_configured("voice.stt.provider", hint)
}
