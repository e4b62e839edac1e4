//! Reports the chosen providers and the available ones.

use crate::endpoint::Endpoint;
use crate::handle::State;
use crate::last_use::{LastUse, Setup};
use crate::provider::{About, ProviderId, ProviderSetting, ProviderSettings, Service};
use crate::settings::AutoSpeak;
use crate::{SttId, TtsId, Voice, VoiceError, wyoming};
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderStatus {
    /// The provider's ID.
    pub id: &'static str,
    /// The display name.
    pub name: &'static str,
    /// Whether the provider has all required settings.
    pub configured: bool,
    /// The outcome of the last request to it with its current address, key and settings, since the start of this
    /// process. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_use: Option<LastUse>,
    /// The description of the provider, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<ProviderDetails>,
}

/// The description of a provider.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProviderDetails {
    /// Whether the settings hide the provider from lists.
    pub hidden: bool,
    /// A description with the requirements, for the owner.
    pub about: &'static str,
    /// The setting that it cannot work without: `api_key`, `endpoint`, or the file of a program's model.
    pub needs: &'static str,
    /// The provider's settings except the key, in the order of a form. `config.describe` has their types and bounds.
    pub settings: &'static [ProviderSetting],
    /// The fields of a persona's binding that it supports; empty if it does not speak.
    pub binding: Vec<&'static str>,
    /// The lowest and the highest speed, where 1 is normal; null if it has no speed.
    pub speeds: Option<[f64; 2]>,
}

impl Voice {
    /// Implements `tts.status`.
    pub async fn tts_status(&self) -> TtsStatus {
        let state = self.state();
        let chosen = self.chosen::<TtsId>(&state).await;
        TtsStatus {
            enabled: state.settings.tts.enabled,
            provider: chosen.map_or("", |(id, _)| id.as_str()).to_owned(),
            auto: state.settings.speaking.auto,
            max_text_length: state.settings.speaking.max_text_length,
            configured: chosen.is_some_and(|(_, configured)| configured),
        }
    }

    /// Implements `stt.status`.
    pub async fn stt_status(&self) -> SttStatus {
        let state = self.state();
        let chosen = self.chosen::<SttId>(&state).await;
        SttStatus {
            enabled: state.settings.stt.enabled,
            provider: chosen.map_or("", |(id, _)| id.as_str()).to_owned(),
            configured: chosen.is_some_and(|(_, configured)| configured),
        }
    }

    /// Implements `tts.providers`: the providers configured to be listed, or all of them with their details.
    pub async fn tts_providers(&self, details: bool) -> Vec<ProviderStatus> {
        let mut list = self.providers::<TtsId>(details).await;
        for (status, id) in list.iter_mut().zip(TtsId::ALL) {
            if let Some(details) = &mut status.details {
                details.binding = id.provider().binding();
                let speed = id.provider().speed.as_ref();
                details.speeds = speed.map(|range| [*range.start(), *range.end()]);
            }
        }
        list
    }

    /// Implements `stt.providers`, like [`Self::tts_providers`].
    pub async fn stt_providers(&self, details: bool) -> Vec<ProviderStatus> {
        self.providers::<SttId>(details).await
    }

    async fn providers<Id: ProviderId>(&self, details: bool) -> Vec<ProviderStatus> {
        let state = self.state();
        let shown = &Id::section(&state.settings).shown;
        let mut list = Vec::new();
        for id in Id::ALL {
            let hidden = !shown.is_empty() && !shown.contains(id);
            if hidden && !details {
                continue;
            }
            let about = id.about();
            let endpoint = self.endpoint(&state, *id).await;
            list.push(ProviderStatus {
                id: about.id,
                name: about.label,
                configured: is_configured(&endpoint),
                last_use: endpoint.ok().and_then(|it| last_use(&state, *id, &it)),
                details: details.then(|| ProviderDetails {
                    hidden,
                    about: about.about,
                    needs: about.needs(),
                    settings: about.settings,
                    binding: Vec::new(),
                    speeds: None,
                }),
            });
        }
        list
    }

    /// Checks without cost whether this provider is usable. Asks a Wyoming program for its description and returns it.
    ///
    /// # Errors
    /// Returns an error that names the missing setting or program.
    pub async fn check<Id: ProviderId>(&self, id: Id) -> Result<Option<String>, VoiceError> {
        let state = self.state();
        let endpoint = self.endpoint(&state, id).await?;
        let About {
            id: name, service, ..
        } = id.about();
        let Some(settings) = Id::section(&state.settings).providers.get(&id) else {
            return Ok(None);
        };
        if let Some(address) = endpoint.wyoming() {
            let provider = (Id::SECTION, *name);
            let has = wyoming::check(&state.resources, provider, address, settings);
            return has.await.map(Some);
        }
        let Service::Program { missing, .. } = service else {
            return Ok(None);
        };
        missing(settings, &state.resources.programs).map_or(Ok(None), Err)
    }

    /// Returns the configured provider, or else the first available one, and whether the provider
    /// is ready.
    pub(crate) async fn chosen<Id: ProviderId>(&self, state: &State) -> Option<(Id, bool)> {
        if let Some(id) = Id::section(&state.settings).provider {
            let endpoint = self.endpoint(state, id).await;
            return Some((id, is_configured(&endpoint)));
        }
        for id in Id::ALL {
            let endpoint = self.endpoint(state, *id).await;
            if may_be_configured(&endpoint) {
                return Some((*id, is_configured(&endpoint)));
            }
        }
        None
    }

    /// Returns whether a request can be attempted: with `preferred` or else the chosen provider, or with one of its
    /// fallbacks.
    pub(crate) async fn can_be_tried<Id: ProviderId>(&self, preferred: Option<Id>) -> bool {
        let state = self.state();
        let first = match preferred {
            Some(id) => id,
            None => match self.chosen(&state).await {
                Some((id, _)) => id,
                None => return false,
            },
        };
        let others = Id::section(&state.settings).fallback.iter().copied();
        for id in std::iter::once(first).chain(others) {
            match self.endpoint(&state, id).await {
                Ok(_) => return true,
                Err(error) if error.is_providers() => {}
                Err(_) => return false,
            }
        }
        false
    }
}

/// Returns the outcome of the last request with this endpoint and the current settings.
fn last_use<Id: ProviderId>(state: &State, id: Id, endpoint: &Endpoint) -> Option<LastUse> {
    let (url, key) = (endpoint.base_url.as_ref(), endpoint.key.as_ref());
    let setup = match Id::section(&state.settings).providers.get(&id) {
        Some(settings) => Setup::of(url, key, settings),
        None => Setup::of(url, key, &ProviderSettings::default()),
    };
    let last_uses = &state.resources.last_uses;
    last_uses.find((Id::SECTION, id.about().id), setup)
}

/// While the vault is sealed, keys in the vault count as missing. Other errors of reading keys are logged when the keys
/// are used.
const fn is_configured(endpoint: &Result<Endpoint, VoiceError>) -> bool {
    endpoint.is_ok()
}

/// A provider whose key may be in the sealed vault still counts as configured. Its use then fails with a clear error.
/// Otherwise another provider would speak in another voice.
const fn may_be_configured(endpoint: &Result<Endpoint, VoiceError>) -> bool {
    matches!(endpoint, Ok(_) | Err(VoiceError::Sealed))
}
