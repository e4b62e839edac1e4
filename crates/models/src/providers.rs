//! The list of providers, for people.

use crate::handle::Models;
use crate::keys::{Key, WhyAbsent};
use crate::{ModelError, ProviderKind};
use gatehouse_domain::KeyBinding;

/// A provider and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderInfo {
    pub id: String,
    pub kind: ProviderKind,
    /// The base URL without a trailing slash.
    pub base_url: String,
    /// Whether the provider can be used: it has a key, or is local and needs none.
    pub configured: bool,
    /// Whether the provider was auto-detected: its key comes from the environment, or it is the
    /// local server.
    pub detected: bool,
    /// The last characters of the stored key.
    pub key_hint: Option<String>,
    /// The base URL that the stored key was entered for. Set only if the key is not used because the provider's kind or
    /// origin has changed.
    pub key_for: Option<String>,
    /// Whether the provider rejected this key in the last request from this process.
    pub key_rejected: bool,
}

impl Models {
    /// Returns the kind of a provider, with or without a key, or `None` if there is no provider
    /// with this ID.
    pub fn provider_kind(&self, id: &str) -> Option<ProviderKind> {
        let settings = self.inner.settings.load();
        let endpoint = self.inner.candidates(&settings).find(id)?;
        Some(endpoint.kind)
    }

    /// Returns the service to which the key of a provider is sent, or `None` if there is no provider with this ID.
    pub fn key_binding(&self, id: &str) -> Option<KeyBinding> {
        let settings = self.inner.settings.load();
        let endpoint = self.inner.candidates(&settings).find(id)?;
        Some(endpoint.service())
    }

    /// Returns the two vendors, the providers of the settings, and a local server that answers, sorted by ID.
    ///
    /// A stored key's hint is shown only while the provider's kind and origin are the ones that the key was entered
    /// for.
    pub async fn providers(&self) -> Result<Vec<ProviderInfo>, ModelError> {
        let settings = self.inner.settings.load_full();
        let candidates = self.inner.candidates(&settings);
        let stored = self.inner.secrets.list_provider_keys().await?;
        let mut all = Vec::new();
        for endpoint in candidates.all() {
            let key_rejected = self.inner.is_key_rejected(&endpoint).await;
            let base_url = endpoint.base_url.as_str().trim_end_matches('/').to_owned();
            let service = endpoint.service();
            let own = stored.iter().find(|key| key.id == endpoint.id);
            let hint = own.filter(|key| key.serves(&service));
            let unused = own.filter(|key| !key.serves(&service));
            let given = endpoint.settings_key.or(endpoint.environment_key);
            let absent = || {
                Key::Absent(if unused.is_some() {
                    WhyAbsent::ForAnotherService
                } else {
                    WhyAbsent::NeverEntered
                })
            };
            let key = given.map_or_else(absent, Key::Given);
            let in_settings = hint.is_some() || endpoint.settings_key.is_some();
            all.push(ProviderInfo {
                configured: hint.is_some() || key.serves(&endpoint),
                detected: !in_settings && endpoint.environment_key.is_some(),
                key_hint: hint.map(|key| key.key_hint.clone()),
                key_for: unused.map(|key| key.base_url.clone()),
                key_rejected,
                kind: endpoint.kind,
                id: endpoint.id.into_owned(),
                base_url,
            });
        }
        let nothing_else = !all.iter().any(|provider| provider.configured);
        if let Some(endpoint) = candidates.local()
            && (settings.autodetect || nothing_else)
            && self.inner.local_models().await.is_some()
        {
            all.push(ProviderInfo {
                base_url: endpoint.base_url.as_str().trim_end_matches('/').to_owned(),
                id: endpoint.id.into_owned(),
                kind: endpoint.kind,
                configured: true,
                detected: true,
                key_hint: None,
                key_for: None,
                key_rejected: false,
            });
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }
}
