//! The address and the key of a provider. The key comes from the settings, the vault or the model provider `openai`.
//! The key is sent only to its own address.

use crate::handle::{Inner, State};
use crate::provider::{About, ProviderId, ProviderSettings, Service};
use crate::wyoming;
use crate::{SttId, TtsId, Voice, VoiceError};
use gatehouse_domain::KeyBinding;
use gatehouse_secrets::{SecretKind, SecretsError};
use secrecy::SecretString;
use url::Url;

/// The address and the key of a provider. Both are absent for a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endpoint {
    pub(crate) base_url: Option<Url>,
    pub(crate) key: Option<SecretString>,
    /// The ID under which the key is stored. `None` if the key comes from the settings or the environment.
    stored_as: Option<&'static str>,
}

impl Endpoint {
    /// Returns the address of a Wyoming program, or `None` for any other provider.
    pub(crate) fn wyoming(&self) -> Option<&Url> {
        self.base_url.as_ref().filter(|url| wyoming::is_at(url))
    }
}

/// A provider of either kind, with its settings.
struct Configured<'a> {
    about: &'static About,
    /// `tts` or `stt`.
    section: &'static str,
    settings: Option<&'a ProviderSettings>,
    moved: bool,
}

impl<'a> Configured<'a> {
    fn new<Id: ProviderId>(state: &'a State, id: Id) -> Self {
        let section = Id::section(&state.settings);
        Self {
            about: id.about(),
            section: Id::SECTION,
            settings: section.providers.get(&id),
            moved: section.moved.contains(&id),
        }
    }

    fn own_url(&self) -> Option<&'a Url> {
        self.settings?.base_url.as_ref()
    }

    /// Returns the address of a hosted provider: the configured address, else the address of the borrowed key, else the
    /// vendor's.
    fn hosted_url(&self, state: &State) -> Option<Url> {
        let default = Url::parse(self.about.default_url()?).ok();
        let borrowed = state.settings.openai.base_url.as_ref();
        let borrowed = borrowed.filter(|_| self.about.borrows());
        self.own_url().or(borrowed).cloned().or(default)
    }

    fn missing(&self, what: &str) -> VoiceError {
        let About { id, .. } = self.about;
        let key = format!("voice.{}.{id}.{}", self.section, self.about.needs());
        let hint = format!("{id} has no {what}: set `{key}`.");
        VoiceError::not_configured(key, hint)
    }
}

/// A provider that needs a key, and the address that the key may be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEndpoint {
    /// The provider's ID.
    pub id: &'static str,
    /// `tts` or `stt`.
    pub kind: &'static str,
    pub base_url: Url,
}

fn key_endpoint<Id: ProviderId>(state: &State, name: &str) -> Option<KeyEndpoint> {
    let configured = Configured::new(state, Id::find(name)?);
    Some(KeyEndpoint {
        id: configured.about.id,
        kind: configured.section,
        base_url: configured.hosted_url(state)?,
    })
}

impl Voice {
    /// Returns the providers with this ID or vendor name that need a key. A vendor may offer both
    /// kinds.
    pub fn key_endpoints(&self, name: &str) -> Vec<KeyEndpoint> {
        let state = self.state();
        let speaker = key_endpoint::<TtsId>(&state, name);
        let listener = key_endpoint::<SttId>(&state, name);
        speaker.into_iter().chain(listener).collect()
    }

    /// Returns the address and key of this provider.
    ///
    /// # Errors
    /// Names the missing setting.
    pub(crate) async fn endpoint<Id: ProviderId>(
        &self,
        state: &State,
        id: Id,
    ) -> Result<Endpoint, VoiceError> {
        self.0.endpoint(state, Configured::new(state, id)).await
    }

    /// Records that the key is being sent to its provider.
    pub(crate) fn note_use(&self, endpoint: &Endpoint) {
        if let Some(id) = endpoint.stored_as {
            self.0.secrets.note_use(SecretKind::Provider, id);
        }
    }
}

/// A key, and the ID under which it is stored.
type FoundKey = (SecretString, Option<&'static str>);

impl Inner {
    async fn endpoint(
        &self,
        state: &State,
        configured: Configured<'_>,
    ) -> Result<Endpoint, VoiceError> {
        let about = configured.about;
        let base_url = match &about.service {
            Service::Hosted { .. } => configured.hosted_url(state),
            Service::SelfHosted => match configured.own_url() {
                None => return Err(configured.missing("address")),
                url => {
                    return Ok(Endpoint {
                        base_url: url.cloned(),
                        ..Endpoint::default()
                    });
                }
            },
            Service::Program { .. }
                if configured
                    .settings
                    .is_none_or(|settings| settings.model_path.is_none()) =>
            {
                return Err(configured.missing("model"));
            }
            Service::Program { .. } => return Ok(Endpoint::default()),
        };
        let base_url = base_url.ok_or(VoiceError::Internal("a provider has no base URL"))?;
        let key = self.key(state, &configured, &base_url).await?;
        let (key, stored_as) = key.ok_or_else(|| configured.missing("key"))?;
        Ok(Endpoint {
            key: Some(key),
            base_url: Some(base_url),
            stored_as,
        })
    }

    /// A sealed vault is an error only if there is no other key.
    async fn key(
        &self,
        state: &State,
        configured: &Configured<'_>,
        base_url: &Url,
    ) -> Result<Option<FoundKey>, VoiceError> {
        if let Some(key) = &state.resources.unsaved_key {
            return Ok(Some((key.clone(), None)));
        }
        let given = configured
            .settings
            .and_then(|settings| settings.api_key.as_ref());
        if let Some(key) = given.filter(|_| !configured.moved) {
            return Ok(Some((key.clone(), None)));
        }
        let mut is_sealed = false;
        let mut kept = async |id: &'static str, kind: &str| {
            let service = KeyBinding::of_url(kind, base_url);
            match self.secrets.provider_key(id, &service).await {
                Err(SecretsError::Sealed) => {
                    is_sealed = true;
                    Ok::<_, VoiceError>(None)
                }
                found => {
                    let found = found.map_err(VoiceError::from)?;
                    Ok(found.map(|key| (key, Some(id))))
                }
            }
        };
        if let Some(key) = kept(configured.about.id, configured.section).await? {
            return Ok(Some(key));
        }
        if configured.about.borrows() && !configured.moved {
            // The order of the model provider, so that both use the same key. A key from the vault is bound to the
            // address that it was stored for. The owner configures other keys together with this address.
            if let Some(key) = kept("openai", "openai").await? {
                return Ok(Some(key));
            }
            let openai = &state.settings.openai;
            if let Some(key) = openai.api_key.as_ref().or(openai.environment.as_ref()) {
                return Ok(Some((key.clone(), None)));
            }
        }
        if is_sealed {
            return Err(VoiceError::Sealed);
        }
        Ok(None)
    }
}
