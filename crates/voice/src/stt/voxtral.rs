//! A self-hosted server: Voxtral on vLLM with `OpenAI`'s API, without a key, or a Wyoming program at `tcp://host:port`.
//! [`crate::wyoming`] calls Wyoming programs, and explains why a program is not a provider of its own.
//!
//! Sources: <https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html>, sections "Transcriptions
//! API" and "Supported APIs", and vLLM's source of the model (`model_executor/models/voxtral.py`):
//! - `file`, `model`, `language` (ISO 639-1, one of the model's languages) and `response_format`.
//! - `verbose_json` is rejected for models without segment timestamps, and Voxtral has none, so `json` is
//!   used. The model's instruction is built from audio and language only, so a `prompt` would be ignored.
//! - The response is `{"text": …, "usage": {"type": "duration", "seconds": …}}`; older servers omit `usage`.
//! - `GET {base}/models` lists the served models: `{"object": "list", "data": [{"id": …}]}`. Without a model
//!   in request or settings the first one is used. It is requested each time, because a restart with another
//!   model is not announced.

use super::{
    MIB, Streaming, SttCall, SttProvider, SttResult, TranscriptStream, language, reading,
    transcriptions, usual,
};
use crate::VoiceError;
use crate::provider::{About, ENDPOINT, LANGUAGE, MODEL, Service};
use crate::resources::{Resources, join};
use crate::wyoming;
use futures_util::FutureExt;
use serde::Deserialize;
use url::Url;

const ID: &str = "stt_local_1";

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "voxtral-local",
        label: "Local server (Voxtral, Wyoming)",
        about: "Your own Voxtral server, or a Wyoming program such as wyoming-faster-whisper. Needs its address.",
        service: Service::SelfHosted,
        settings: &[ENDPOINT, MODEL, LANGUAGE],
    },
    accepts: usual,
    max_bytes: 25 * MIB,
    takes_hints: false,
    translator: None,
    streaming: Some(Streaming {
        // A server may return only whole transcripts. A Wyoming program may do the same.
        can: |_model, url| url.is_some_and(wyoming::is_at),
        begin: |resources, call| stream(resources, call).boxed(),
    }),
    listen: |resources, call| listen(resources, call).boxed(),
};

async fn listen(resources: &Resources, call: &SttCall) -> Result<SttResult, VoiceError> {
    let server = transcriptions::address(call)?;
    if wyoming::is_at(server) {
        let language = language::wanted(call.language.as_deref());
        return wyoming::listen(resources, ID, server, call, language).await;
    }
    let model = match &call.model {
        Some(model) => model.clone(),
        None => served(resources, server, call).await?,
    };
    let mut fields = vec![("model", model), ("response_format", "json".to_owned())];
    if let Some(language) = language::wanted(call.language.as_deref()) {
        fields.push(("language", language));
    }
    transcriptions::transcribe(resources, call, ID, fields).await
}

async fn stream(resources: &Resources, call: &SttCall) -> Result<TranscriptStream, VoiceError> {
    let server = transcriptions::address(call)?;
    let language = language::wanted(call.language.as_deref());
    wyoming::transcribe_stream(resources, ID, server, call, language).await
}

#[derive(Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// Returns the first model that the server lists.
async fn served(resources: &Resources, server: &Url, call: &SttCall) -> Result<String, VoiceError> {
    let url = join(server, "models");
    let request = transcriptions::with_key(ID, resources.get(url), call)?;
    let response = resources.send(ID, request).await?;
    let answer = resources.text(ID, response).await?;
    let models: Models = reading::json(ID, &answer)?;
    let first = models.data.into_iter().next().map(|model| model.id);
    first.ok_or_else(|| VoiceError::failed(ID, "serves no model", false))
}
