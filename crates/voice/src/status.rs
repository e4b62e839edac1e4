//! Reports the chosen providers and the available ones.

use crate::handle::State;
use crate::provider::{SttId, TtsId};
use crate::settings::AutoSpeak;
use crate::{Voice, VoiceError, stt, tts};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of `tts.status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TtsStatus {
    /// Whether speech is enabled.
    pub enabled: bool,
    /// The ID of the selected provider; empty if none is configured.
    pub provider: String,
    /// Which agent answers are spoken automatically.
    pub auto: AutoSpeak,
    /// The longest text, in characters.
    pub max_text_length: usize,
    /// Whether the selected provider has all required settings.
    pub configured: bool,
}

/// The result of `stt.status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SttStatus {
    /// Whether transcription is enabled.
    pub enabled: bool,
    /// The ID of the selected provider; empty if none is configured.
    pub provider: String,
    /// Whether the selected provider has all required settings.
    pub configured: bool,
}

/// A provider, as listed by `tts.providers` and `stt.providers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderStatus {
    /// The provider's ID.
    pub id: &'static str,
    /// The display name.
    pub name: &'static str,
    /// Whether the provider has all required settings.
    pub configured: bool,
}

impl Voice {
    /// Implements `tts.status`.
    pub async fn tts_status(&self) -> TtsStatus {
        let state = self.state();
        let chosen = self.chosen_tts(&state).await;
        TtsStatus {
            enabled: state.settings.tts.enabled,
            provider: chosen.map_or("", |(id, _)| id.as_str()).to_owned(),
            auto: state.settings.tts.auto,
            max_text_length: state.settings.tts.max_text_length,
            configured: chosen.is_some_and(|(_, configured)| configured),
        }
    }

    /// Implements `stt.status`.
    pub async fn stt_status(&self) -> SttStatus {
        let state = self.state();
        let chosen = self.chosen_stt(&state).await;
        SttStatus {
            enabled: state.settings.stt.enabled,
            provider: chosen.map_or("", |(id, _)| id.as_str()).to_owned(),
            configured: chosen.is_some_and(|(_, configured)| configured),
        }
    }

    /// Implements `tts.providers`, limited to the providers configured to be listed.
    pub async fn tts_providers(&self) -> Vec<ProviderStatus> {
        let state = self.state();
        let shown = &state.settings.tts.shown;
        let mut list = Vec::new();
        for id in TtsId::ALL
            .iter()
            .filter(|id| shown.is_empty() || shown.contains(id))
        {
            list.push(ProviderStatus {
                id: id.as_str(),
                name: id.label(),
                configured: is_there(&self.tts_place(&state, *id).await.map(drop)),
            });
        }
        list
    }

    /// Implements `stt.providers`, limited to the providers configured to be listed.
    pub async fn stt_providers(&self) -> Vec<ProviderStatus> {
        let state = self.state();
        let shown = &state.settings.stt.shown;
        let mut list = Vec::new();
        for id in SttId::ALL
            .iter()
            .filter(|id| shown.is_empty() || shown.contains(id))
        {
            list.push(ProviderStatus {
                id: id.as_str(),
                name: id.label(),
                configured: is_there(&self.stt_place(&state, *id).await.map(drop)),
            });
        }
        list
    }

    /// All text-to-speech providers, including unlisted ones.
    pub async fn all_speakers(&self) -> Vec<ProviderStatus> {
        let state = self.state();
        let mut list = Vec::new();
        for id in TtsId::ALL {
            list.push(ProviderStatus {
                id: id.as_str(),
                name: id.label(),
                configured: is_there(&self.tts_place(&state, *id).await.map(drop)),
            });
        }
        list
    }

    /// All speech-to-text providers, including unlisted ones.
    pub async fn all_listeners(&self) -> Vec<ProviderStatus> {
        let state = self.state();
        let mut list = Vec::new();
        for id in SttId::ALL {
            list.push(ProviderStatus {
                id: id.as_str(),
                name: id.label(),
                configured: is_there(&self.stt_place(&state, *id).await.map(drop)),
            });
        }
        list
    }

    /// The missing setting or program of this text-to-speech provider; `None` if it is usable.
    pub async fn tts_lacks(&self, id: TtsId) -> Option<VoiceError> {
        let state = self.state();
        let place = self.tts_place(&state, id).await;
        place.err().or_else(|| {
            let settings = state.settings.tts.providers.get(&id).cloned();
            tts::program_lacks(id, &settings.unwrap_or_default(), &state.means.programs)
        })
    }

    /// The missing setting or program of this speech-to-text provider; `None` if it is usable.
    pub async fn stt_lacks(&self, id: SttId) -> Option<VoiceError> {
        let state = self.state();
        let place = self.stt_place(&state, id).await;
        place.err().or_else(|| {
            let settings = state.settings.stt.providers.get(&id).cloned();
            stt::program_lacks(id, &settings.unwrap_or_default(), &state.means.programs)
        })
    }

    /// The configured provider, or else the first available one, and whether it is ready.
    pub(crate) async fn chosen_tts(&self, state: &State) -> Option<(TtsId, bool)> {
        if let Some(id) = state.settings.tts.provider {
            let place = self.tts_place(state, id).await.map(drop);
            return Some((id, is_there(&place)));
        }
        for id in TtsId::ALL {
            let place = self.tts_place(state, *id).await.map(drop);
            if may_be_there(&place) {
                return Some((*id, is_there(&place)));
            }
        }
        None
    }

    /// Like [`Self::chosen_tts`], for speech-to-text providers.
    pub(crate) async fn chosen_stt(&self, state: &State) -> Option<(SttId, bool)> {
        if let Some(id) = state.settings.stt.provider {
            let place = self.stt_place(state, id).await.map(drop);
            return Some((id, is_there(&place)));
        }
        for id in SttId::ALL {
            let place = self.stt_place(state, *id).await.map(drop);
            if may_be_there(&place) {
                return Some((*id, is_there(&place)));
            }
        }
        None
    }
}

/// While the vault is sealed, its keys count as missing. Other errors of reading keys are logged when the
/// keys are used.
const fn is_there(place: &Result<(), VoiceError>) -> bool {
    place.is_ok()
}

/// A provider whose key may be in the sealed vault still counts. Its use then fails with a clear error,
/// instead of switching to another provider and another voice.
const fn may_be_there(place: &Result<(), VoiceError>) -> bool {
    matches!(place, Ok(()) | Err(VoiceError::Sealed))
}
