//! The answer to `describe`: the configured providers, as models and voices.

use super::event::Event;
use crate::listening::LANGUAGES;
use crate::status::ProviderStatus;
use crate::{SttId, Voice};
use serde_json::{Value, json};

const NAME: &str = "Gatehouse";
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Voice {
    /// Returns whether the selected provider streams transcripts with its configured model. A client may name another
    /// provider, which may send the transcript as a single piece.
    pub(super) async fn streams_transcripts(&self) -> bool {
        let state = self.state();
        let Some((id, true)) = self.chosen::<SttId>(&state).await else {
            return false;
        };
        let Ok(endpoint) = self.endpoint(&state, id).await else {
            return false;
        };
        let settings = state.settings.stt.providers.get(&id);
        let model = settings.and_then(|settings| settings.model.as_deref());
        let streaming = id.provider().streaming.as_ref();
        streaming.is_some_and(|it| (it.can)(model, endpoint.base_url.as_ref()))
    }

    pub(super) async fn wyoming_info(&self) -> Event {
        let (listens, speaks) = (self.stt_status().await, self.tts_status().await);
        let (mut models, mut voices) = (Vec::new(), Vec::new());
        if listens.enabled {
            models = listed(self.stt_providers(false).await, &listens.provider);
        }
        if speaks.enabled {
            voices = listed(self.tts_providers(false).await, &speaks.provider);
        }
        let streams = self.streams_transcripts().await;
        let asr = program("models", models, ("supports_transcript_streaming", streams));
        let tts = program("voices", voices, ("supports_synthesize_streaming", true));
        let info = json!({ "asr": asr, "tts": tts,
            "handle": [], "intent": [], "wake": [], "mic": [], "snd": [] });
        Event::new("info", info)
    }
}

/// Returns the fields that every program, model and voice has.
fn artifact(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "installed": true, "version": VERSION,
        "attribution": { "name": NAME, "url": "" } })
}

/// Returns the program with these models or voices, if it has any, and whether the program streams.
fn program(what: &str, list: Vec<Value>, (streaming, streams): (&str, bool)) -> Value {
    if list.is_empty() {
        return json!([]);
    }
    let mut program = artifact("gatehouse", NAME);
    if let Value::Object(program) = &mut program {
        program.insert(what.to_owned(), Value::Array(list));
        program.insert(streaming.to_owned(), Value::Bool(streams));
    }
    json!([program])
}

/// Returns the configured providers. The selected provider is first, and is used for clients that
/// name none.
fn listed(mut providers: Vec<ProviderStatus>, chosen: &str) -> Vec<Value> {
    providers.retain(|provider| provider.configured);
    providers.sort_by_key(|provider| provider.id != chosen);
    let languages: Vec<&str> = LANGUAGES.split(' ').collect();
    let one = |provider: ProviderStatus| {
        let mut artifact = artifact(provider.id, provider.name);
        if let Value::Object(artifact) = &mut artifact {
            artifact.insert("languages".to_owned(), json!(languages));
        }
        artifact
    };
    providers.into_iter().map(one).collect()
}
