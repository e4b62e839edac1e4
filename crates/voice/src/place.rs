//! The address and the key of a provider. The key comes from the settings, the vault or the model provider
//! `openai`. It is sent only to the address that it belongs to.

use crate::capability::Lack;
use crate::handle::{Inner, State};
use crate::provider::{SttId, TtsId};
use crate::settings::{SttProviderSettings, TtsProviderSettings};
use crate::{Voice, VoiceError};
use gatehouse_domain::KeyBinding;
use gatehouse_secrets::SecretsError;
use secrecy::SecretString;
use std::path::PathBuf;
use url::Url;

/// The default address of the model provider `openai`.
const OPENAI: &str = "https://api.openai.com/v1";

/// The address and the key of a provider. A program has neither.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(crate) base_url: Option<Url>,
    pub(crate) key: Option<SecretString>,
}

/// The settings of a provider, either kind.
struct Wanted<'a> {
    id: &'static str,
    /// `tts` or `stt`.
    section: &'static str,
    default_url: Option<&'static str>,
    /// Whether the address of a self-hosted server must be set.
    needs_endpoint: bool,
    /// The required file setting of a program.
    needs_file: Option<(&'static str, &'a Option<PathBuf>)>,
    /// Whether the key of the model provider `openai` may be used.
    borrows: bool,
    base_url: Option<&'a Url>,
    moved: bool,
    api_key: Option<&'a SecretString>,
}

impl Wanted<'_> {
    fn missing(&self, setting: &str, what: &str) -> VoiceError {
        let key = format!("voice.{}.{}.{setting}", self.section, self.id);
        let hint = format!("{} has no {what}: set `{key}`.", self.id);
        VoiceError::not_configured(key, hint)
    }
}

impl TtsId {
    /// The vendor's address; `None` for a program or a self-hosted server.
    pub const fn default_url(self) -> Option<&'static str> {
        match self {
            Self::ElevenLabs => Some("https://api.elevenlabs.io/v1"),
            Self::OpenAi => Some(OPENAI),
            Self::Google => Some("https://texttospeech.googleapis.com/v1"),
            Self::Piper | Self::Coqui => None,
        }
    }

    /// Whether it uses the key and the address of the model provider `openai` when it has none.
    pub const fn borrows(self) -> bool {
        matches!(self, Self::OpenAi)
    }
}

impl SttId {
    /// The vendor's address; `None` for a program or a self-hosted server.
    pub const fn default_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some(OPENAI),
            Self::Groq => Some("https://api.groq.com/openai/v1"),
            Self::Deepgram => Some("https://api.deepgram.com/v1"),
            Self::Google => Some("https://speech.googleapis.com/v1"),
            Self::Mistral => Some("https://api.mistral.ai/v1"),
            Self::Voxtral | Self::WhisperCli | Self::SherpaOnnx => None,
        }
    }

    /// Whether it uses the key and the address of the model provider `openai` when it has none.
    pub const fn borrows(self) -> bool {
        matches!(self, Self::OpenAi)
    }
}

fn of_tts(id: TtsId, settings: &TtsProviderSettings) -> Wanted<'_> {
    Wanted {
        id: id.as_str(),
        section: "tts",
        default_url: id.default_url(),
        needs_endpoint: id == TtsId::Coqui,
        needs_file: (id == TtsId::Piper).then_some(("model_path", &settings.model_path)),
        borrows: id.borrows(),
        base_url: settings.base_url.as_ref(),
        moved: settings.moved,
        api_key: settings.api_key.as_ref(),
    }
}

fn of_stt(id: SttId, settings: &SttProviderSettings) -> Wanted<'_> {
    Wanted {
        id: id.as_str(),
        section: "stt",
        default_url: id.default_url(),
        needs_endpoint: id == SttId::Voxtral,
        needs_file: match id {
            SttId::WhisperCli => Some(("model_path", &settings.model_path)),
            SttId::SherpaOnnx => Some(("model_dir", &settings.model_path)),
            _ => None,
        },
        borrows: id.borrows(),
        base_url: settings.base_url.as_ref(),
        moved: settings.moved,
        api_key: settings.api_key.as_ref(),
    }
}

/// A provider that needs a key, and the address that the key may be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPlace {
    /// The provider's ID.
    pub id: &'static str,
    /// `tts` or `stt`.
    pub kind: &'static str,
    pub base_url: Url,
}

impl Voice {
    /// The providers with this ID or vendor name that need a key. A vendor may offer both kinds.
    pub fn key_places(&self, name: &str) -> Vec<KeyPlace> {
        let state = self.state();
        let (tts, stt) = (&state.settings.tts.providers, &state.settings.stt.providers);
        let (no_tts, no_stt) = (
            TtsProviderSettings::default(),
            SttProviderSettings::default(),
        );
        let speakers = TtsId::ALL.iter().map(|id| {
            let wanted = of_tts(*id, tts.get(id).unwrap_or(&no_tts));
            (id.alias(), wanted)
        });
        let listeners = SttId::ALL.iter().map(|id| {
            let wanted = of_stt(*id, stt.get(id).unwrap_or(&no_stt));
            (id.alias(), wanted)
        });
        let named = speakers
            .chain(listeners)
            .filter(|(alias, wanted)| *alias == name || wanted.id == name);
        let place = |(_, wanted): (_, Wanted<'_>)| {
            Some(KeyPlace {
                id: wanted.id,
                kind: wanted.section,
                base_url: base_url(&state, &wanted)?,
            })
        };
        named.filter_map(place).collect()
    }

    /// The address and key of this provider.
    ///
    /// # Errors
    /// Names the missing setting.
    pub(crate) async fn tts_place(&self, state: &State, id: TtsId) -> Result<Place, VoiceError> {
        let settings = state.settings.tts.providers.get(&id);
        let none = TtsProviderSettings::default();
        let wanted = of_tts(id, settings.unwrap_or(&none));
        let is_local = id.capability().is_lacking(Lack::Key);
        self.0.place(state, wanted, is_local).await
    }

    /// The address and key of this provider.
    ///
    /// # Errors
    /// Names the missing setting.
    pub(crate) async fn stt_place(&self, state: &State, id: SttId) -> Result<Place, VoiceError> {
        let settings = state.settings.stt.providers.get(&id);
        let none = SttProviderSettings::default();
        let wanted = of_stt(id, settings.unwrap_or(&none));
        let is_local = id.capability().is_lacking(Lack::Key);
        self.0.place(state, wanted, is_local).await
    }
}

impl Inner {
    async fn place(
        &self,
        state: &State,
        wanted: Wanted<'_>,
        is_local: bool,
    ) -> Result<Place, VoiceError> {
        if let Some((setting, None)) = wanted.needs_file {
            return Err(wanted.missing(setting, "model"));
        }
        if wanted.needs_endpoint && wanted.base_url.is_none() {
            return Err(wanted.missing("endpoint", "address"));
        }
        if is_local {
            let base_url = wanted.base_url.cloned();
            return Ok(Place {
                base_url,
                key: None,
            });
        }
        let borrowed = state
            .settings
            .openai
            .base_url
            .as_ref()
            .filter(|_| wanted.borrows);
        let default = || wanted.default_url.and_then(|url| Url::parse(url).ok());
        let base_url = wanted.base_url.or(borrowed).cloned().or_else(default);
        let base_url = base_url.ok_or(VoiceError::Internal("a provider has no base URL"))?;
        let key = self.key(state, &wanted, &base_url).await?;
        Ok(Place {
            key: Some(key.ok_or_else(|| wanted.missing("api_key", "key"))?),
            base_url: Some(base_url),
        })
    }

    /// A sealed vault is an error only if there is no other key.
    async fn key(
        &self,
        state: &State,
        wanted: &Wanted<'_>,
        base_url: &Url,
    ) -> Result<Option<SecretString>, VoiceError> {
        if let Some(key) = wanted.api_key.filter(|_| !wanted.moved) {
            return Ok(Some(key.clone()));
        }
        let mut is_sealed = false;
        let mut kept = async |id: &str, kind: &str| {
            let service = KeyBinding::of_url(kind, base_url);
            match self.secrets.provider_key(id, &service).await {
                Err(SecretsError::Sealed) => {
                    is_sealed = true;
                    Ok(None)
                }
                found => found.map_err(VoiceError::from),
            }
        };
        if let Some(key) = kept(wanted.id, wanted.section).await? {
            return Ok(Some(key));
        }
        if wanted.borrows && !wanted.moved {
            let openai = &state.settings.openai;
            if let Some(key) = &openai.api_key {
                return Ok(Some(key.clone()));
            }
            // A key from the vault is bound to the address that it was stored for. The other keys are
            // configured by the owner together with this address.
            if let Some(key) = kept("openai", "openai").await? {
                return Ok(Some(key));
            }
            if let Some(key) = &openai.environment {
                return Ok(Some(key.clone()));
            }
        }
        if is_sealed {
            return Err(VoiceError::Sealed);
        }
        Ok(None)
    }
}

/// The address of a hosted provider: the configured one, else the address of the borrowed key, else the
/// vendor's.
fn base_url(state: &State, wanted: &Wanted<'_>) -> Option<Url> {
    let default = Url::parse(wanted.default_url?).ok();
    let borrowed = state.settings.openai.base_url.as_ref();
    let borrowed = borrowed.filter(|_| wanted.borrows);
    wanted.base_url.or(borrowed).cloned().or(default)
}
