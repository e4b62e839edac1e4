//! Voxtral behind vLLM's server: `OpenAI`'s form at an address of one's own, without a key.
//!
//! <https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html>, sections "Transcriptions API"
//! and "Supported APIs", and vLLM's source of the model (`model_executor/models/voxtral.py`):
//! - `file`, `model`, `language` (ISO 639-1, of the model's languages) and `response_format`.
//! - `verbose_json` is refused for a model that gives no times of segments, and Voxtral gives none: `json`
//!   it is. Its instruction is made of audio and language only, so a `prompt` would be read by nobody.
//! - The answer is `{"text": …, "usage": {"type": "duration", "seconds": …}}`; older servers leave `usage` out.
//! - `GET {base}/models` lists what is served: `{"object": "list", "data": [{"id": …}]}`. Without a model in
//!   request or settings the first is taken; it is asked for each time, since whoever starts the server with
//!   another model tells nobody.

use super::transcriptions::{self, Request};
use super::{Heard, Stt, SttCall, language, reading};
use crate::VoiceError;
use crate::means::{Means, join};
use crate::provider::SttId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;

/// The provider's id, for errors.
const PROVIDER: &str = SttId::Voxtral.as_str();

/// Voxtral on a server of one's own.
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

/// The first model that the server has.
async fn served(means: &Means, call: &SttCall) -> Result<String, VoiceError> {
    let url = join(transcriptions::address(call)?, "models");
    let request = transcriptions::with_key(PROVIDER, means.get(url), call)?;
    let response = means.send(PROVIDER, request).await?;
    let answer = means.text(PROVIDER, response).await?;
    let models: Models = reading::json(PROVIDER, &answer)?;
    let first = models.data.into_iter().next().map(|model| model.id);
    first.ok_or_else(|| VoiceError::failed(PROVIDER, "serves no model", false))
}
