//! Looks up a provider's key: first the stored one, then the settings, then the environment.

use crate::ModelError;
use crate::candidates::Endpoint;
use crate::handle::Inner;
use crate::refusal::Reason;
use gatehouse_secrets::{SecretKind, SecretsError};
use secrecy::{ExposeSecret, SecretString};

/// A key and its source.
pub(crate) enum Key<'s> {
    Stored(SecretString),
    Given(&'s SecretString),
    /// The key was entered for a test. It is not the key in use.
    Unsaved(&'s SecretString),
    Absent(WhyAbsent),
}

/// Why there is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyAbsent {
    NeverEntered,
    /// The vault is sealed and may contain the key.
    Sealed,
    /// The stored key was entered for another kind or origin.
    ForAnotherService,
}

impl Key<'_> {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Stored(key) => Some(key.expose_secret()),
            Self::Given(key) | Self::Unsaved(key) => Some(key.expose_secret()),
            Self::Absent(_) => None,
        }
    }

    /// Returns whether the provider can be called with this key.
    pub(crate) fn serves(&self, endpoint: &Endpoint<'_>) -> bool {
        match self {
            Self::Stored(_) | Self::Given(_) | Self::Unsaved(_) => true,
            // A provider with a stored key does not work without a key, even in the local network.
            Self::Absent(WhyAbsent::ForAnotherService) => false,
            Self::Absent(_) => endpoint.is_local(),
        }
    }

    pub(crate) const fn is_sealed(&self) -> bool {
        matches!(self, Self::Absent(WhyAbsent::Sealed))
    }

    /// Checks like [`Self::serves`], but returns an error that contains the next step for the
    /// owner.
    pub(crate) fn check(&self, endpoint: &Endpoint<'_>) -> Result<(), ModelError> {
        if self.serves(endpoint) {
            return Ok(());
        }
        if self.is_sealed() {
            return Err(ModelError::Sealed);
        }
        let id = &endpoint.id;
        if matches!(self, Self::Absent(WhyAbsent::ForAnotherService)) {
            return Err(ModelError::not_configured(
                format!("models.providers.{id}.api_key"),
                format!(
                    "The key of the model provider {id} was entered for another service; enter it again in the \
                     settings, or delete it."
                ),
            ));
        }
        Err(ModelError::not_configured(
            format!("models.providers.{id}.api_key"),
            format!("The model provider {id} has no key; enter one in the settings."),
        ))
    }
}

impl Inner {
    /// Records that a stored key is being sent to its provider.
    pub(crate) fn note_use(&self, endpoint: &Endpoint<'_>, key: &Key<'_>) {
        if matches!(key, Key::Stored(_)) {
            self.secrets.note_use(SecretKind::Provider, &endpoint.id);
        }
    }

    /// Returns the key. While the vault is sealed, a stored key counts as absent, so a key from another source is used.
    pub(crate) async fn key<'s>(&self, endpoint: &Endpoint<'s>) -> Result<Key<'s>, ModelError> {
        let stored = self
            .secrets
            .provider_key(&endpoint.id, &endpoint.service())
            .await;
        let sealed = match stored {
            Ok(Some(key)) => return Ok(Key::Stored(key)),
            Ok(None) => false,
            Err(SecretsError::Sealed) => true,
            Err(error) => return Err(error.into()),
        };
        if let Some(key) = endpoint.settings_key.or(endpoint.environment_key) {
            return Ok(Key::Given(key));
        }
        if sealed {
            return Ok(Key::Absent(WhyAbsent::Sealed));
        }
        let stored = self.secrets.list_provider_keys().await?;
        let is_for_another = stored.iter().any(|key| key.id == endpoint.id);
        Ok(Key::Absent(if is_for_another {
            WhyAbsent::ForAnotherService
        } else {
            WhyAbsent::NeverEntered
        }))
    }
    /// Returns whether the provider rejected the key in use. A key that was entered after the rejection, on any node,
    /// does not count as rejected.
    pub(crate) async fn is_key_rejected(&self, endpoint: &Endpoint<'_>) -> bool {
        if !self.rejected_keys.has(endpoint) {
            return false;
        }
        let Ok(key) = self.key(endpoint).await else {
            return false;
        };
        key.text()
            .is_some_and(|text| self.rejected_keys.is(endpoint, text))
    }

    /// Records that a provider answered a request with this key.
    pub(crate) fn note_accepted(&self, endpoint: &Endpoint<'_>, key: &Key<'_>) {
        if let Some(text) = key.text() {
            self.rejected_keys.note_accepted(endpoint, text);
        }
    }

    /// Records why a provider refused a request. Does nothing if the reason was not the key.
    pub(crate) fn note_refused(&self, endpoint: &Endpoint<'_>, key: &Key<'_>, reason: Reason) {
        // The recorded rejection of the key in use must be kept.
        if matches!(key, Key::Unsaved(_)) {
            return;
        }
        // A local server may require a key although none is configured.
        if let Some(text) = key.text().filter(|_| reason == Reason::KeyRejected) {
            self.rejected_keys.note_rejected(endpoint, text);
        }
    }
}
