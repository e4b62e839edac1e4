//! Who speaks and who listens, as it is told: the chosen provider, and which could be chosen.

use crate::handle::State;
use crate::provider::{SttId, TtsId};
use crate::settings::AutoSpeak;
use crate::{Voice, VoiceError, stt, tts};
use schemars::JsonSchema;
use serde::Serialize;

/// `tts.status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TtsStatus {
    /// Whether there is any speech.
    pub enabled: bool,
    /// The chosen provider's id; empty when none is configured.
    pub provider: String,
    /// What of agents' answers is spoken.
    pub auto: AutoSpeak,
    /// The longest text, in characters.
    pub max_text_length: usize,
    /// Whether what the chosen provider requires is set.
    pub configured: bool,
}

/// `stt.status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SttStatus {
    /// Whether anything is understood.
    pub enabled: bool,
    /// The chosen provider's id; empty when none is configured.
    pub provider: String,
    /// Whether what the chosen provider requires is set.
    pub configured: bool,
}

/// A provider, as `tts.providers` and `stt.providers` list it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderStatus {
    /// Its id.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Whether what it requires is set.
    pub configured: bool,
}

impl Voice {
    /// `tts.status`.
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

    /// `stt.status`.
    pub async fn stt_status(&self) -> SttStatus {
        let state = self.state();
        let chosen = self.chosen_stt(&state).await;
        SttStatus {
            enabled: state.settings.stt.enabled,
            provider: chosen.map_or("", |(id, _)| id.as_str()).to_owned(),
            configured: chosen.is_some_and(|(_, configured)| configured),
        }
    }

    /// `tts.providers`: those that are to be shown.
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

    /// `stt.providers`: those that are to be shown.
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

    /// Everybody who can speak, shown or not.
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

    /// Everybody who can listen, shown or not.
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

    /// What this speaker lacks, be it a setting or its program; nothing when it can be used.
    pub async fn tts_lacks(&self, id: TtsId) -> Option<VoiceError> {
        let state = self.state();
        let place = self.tts_place(&state, id).await;
        place.err().or_else(|| {
            let settings = state.settings.tts.providers.get(&id).cloned();
            tts::program_lacks(id, &settings.unwrap_or_default(), &state.means.programs)
        })
    }

    /// What this listener lacks, in the same way.
    pub async fn stt_lacks(&self, id: SttId) -> Option<VoiceError> {
        let state = self.state();
        let place = self.stt_place(&state, id).await;
        place.err().or_else(|| {
            let settings = state.settings.stt.providers.get(&id).cloned();
            stt::program_lacks(id, &settings.unwrap_or_default(), &state.means.programs)
        })
    }

    /// The one that is set, or the first that is configured; and whether it is.
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

    /// The same of listeners.
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

/// While the vault is sealed nobody can tell whether there is a key: then there is none to use. That
/// the keys cannot be read for another reason is in the log of whoever uses them.
const fn is_there(place: &Result<(), VoiceError>) -> bool {
    place.is_ok()
}

/// A sealed vault changes nobody's voice: whoever may have a key in it is asked, and that fails clearly,
/// rather than the next one who needs none.
const fn may_be_there(place: &Result<(), VoiceError>) -> bool {
    matches!(place, Ok(()) | Err(VoiceError::Sealed))
}
