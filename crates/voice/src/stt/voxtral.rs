//! Voxtral on a vLLM server: `OpenAI`'s API at a self-hosted address, without a key.
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

use super::transcriptions::{self, Request};
use super::{Heard, Stt, SttCall, language, reading};
use crate::VoiceError;
use crate::means::{Means, join};
use crate::provider::SttId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;

/// The provider ID for errors.
const PROVIDER: &str = SttId::Voxtral.as_str();

/// Voxtral on a self-hosted server.
#[derive(Debug)]
pub(super) struct Voxtral;

impl Stt for Voxtral {
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>> {
        listen(means, call).boxed()
    }
}

async fn listen(means: &Means, call: &SttCall) -> Result<Heard, VoiceError> {
    let model = match &call.model {
        Some(model) => model.clone(),
        None => served(means, call).await?,
    };
    let mut fields = vec![("model", model), ("response_format", "json".to_owned())];
    if let Some(language) = language::wanted(call.language.as_deref()) {
        fields.push(("language", language));
    }
    let request = Request {
        provider: PROVIDER,
        fields,
    };
    transcriptions::transcribe(means, call, request).await
}

#[derive(Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// The first model that the server lists.
async fn served(means: &Means, call: &SttCall) -> Result<String, VoiceError> {
    let url = join(transcriptions::address(call)?, "models");
    let request = transcriptions::with_key(PROVIDER, means.get(url), call)?;
    let response = means.send(PROVIDER, request).await?;
    let answer = means.text(PROVIDER, response).await?;
    let models: Models = reading::json(PROVIDER, &answer)?;
    let first = models.data.into_iter().next().map(|model| model.id);
    first.ok_or_else(|| VoiceError::failed(PROVIDER, "serves no model", false))
}
