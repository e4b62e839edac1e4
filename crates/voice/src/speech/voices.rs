//! The voices that a speech request can name.

use super::request;
use crate::retry::repeated;
use crate::{TtsId, Voice, VoiceError};
use schemars::JsonSchema;
use serde::Serialize;

/// A voice of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OfferedVoice {
    /// The value for `voice` in requests.
    pub id: String,
    /// The display name.
    pub name: String,
}

impl OfferedVoice {
    pub(crate) fn named(name: &str) -> Self {
        Self {
            id: name.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl Voice {
    /// Returns the voices of a provider, by default of the default provider. Asks the vendor if the vendor has a list.
    /// The result is empty if the provider has no voices to choose from.
    pub async fn voices(&self, provider: Option<TtsId>) -> Result<Vec<OfferedVoice>, VoiceError> {
        let state = self.state();
        request::check_enabled(&state.settings)?;
        let persona = self.personas().active().await?;
        let id = self.speaker(&state, provider, persona.as_ref()).await?;
        let endpoint = self.endpoint(&state, id).await?;
        let Some(list) = id.provider().voices else {
            return Ok(Vec::new());
        };
        self.note_use(&endpoint);
        let resources = &state.resources;
        let listed = repeated(resources, &id.provider().about, || {
            list(resources, &endpoint)
        });
        let mut voices = listed.await?;
        voices.retain(|voice| request::is_name(&voice.id));
        Ok(voices)
    }
}
